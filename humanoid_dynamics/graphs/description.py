# SPDX-License-Identifier: Apache-2.0
"""A graph of nodes as data: what runs, with which parameters and names, and what a user may choose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from humanoid_dynamics.errors import DescriptionError, UnknownNameError

VARIABLE = re.compile(r"\$(\w+)")
NODE_KEYS = (
    "node",
    "name",
    "parameters",
    "remappings",
    "console",
    "unless",
    "where",
    "needs",
    "optional",
)
GRAPH_KEYS = ("title", "arguments", "nodes")

AUTO, OTHER = "auto", "other"


@dataclass(frozen=True)
class Argument:
    """What a user may choose.

    Attributes:
        default: Value where nobody chooses.
        description: What it does.
    """

    default: str
    description: str


@dataclass(frozen=True)
class GraphNode:
    """A node of a graph.

    Attributes:
        node: Name of the program.
        name: Name of the node.
        parameters: Parameters that are not at their defaults; values may be ``$argument``.
        remappings: Topic -> the name it has in the graph.
        console: Whether it writes on the terminal.
        unless: Argument with which it does not run, where that is ``true``; empty for none.
        where: Argument with which alone it runs, where that is neither ``false`` nor empty, or ``argument=value``; empty for none.
        needs: Python package without which it does not run; empty for none.
        optional: Whether the graph goes on without it where it refuses to start.
        namespace: Namespace of the node; that of its launch file where empty.
    """

    node: str
    name: str
    parameters: Mapping[str, Any]
    remappings: Mapping[str, str]
    console: bool = False
    unless: str = ""
    where: str = ""
    needs: str = ""
    optional: bool = False
    namespace: str = ""


COMMON = {
    "namespace": Argument("", "Namespace of all nodes, such as `/a`, one for each robot"),
    "clock": Argument(
        "clock",
        "Topic of simulated time, in the namespace; `/clock` where several robots share one simulator",
    ),
    "frame_prefix": Argument(
        AUTO, "Prefix of frame names, such as `a/`; `auto` takes the namespace"
    ),
}


@dataclass(frozen=True)
class Graph:
    """Nodes that run together.

    Attributes:
        name: Its name.
        title: What it is for, in a sentence.
        arguments: What a user may choose.
        nodes: The nodes.
    """

    name: str
    title: str
    arguments: Mapping[str, Argument]
    nodes: tuple[GraphNode, ...]

    def choose(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the value of every argument.

        Args:
            given: Those a user has chosen.

        Raises:
            UnknownNameError: If there is no such argument.
        """
        for name in given:
            if name not in self.arguments:
                raise UnknownNameError("argument", name, self.arguments)
        return {
            name: given.get(name, argument.default) for name, argument in self.arguments.items()
        }

    def resolve(self, given: Mapping[str, str]) -> tuple[GraphNode, ...]:
        """Return the nodes to run, with the values of all arguments filled in.

        Args:
            given: Arguments a user has chosen.

        Raises:
            UnknownNameError: If there is no such argument.
        """
        values = self.choose(given)
        common: dict[str, Any] = (
            {} if values["frame_prefix"] == AUTO else {"frame_prefix": values["frame_prefix"]}
        )
        clock = {} if values["clock"] == COMMON["clock"].default else {"clock": values["clock"]}
        return tuple(
            GraphNode(
                node.node,
                node.name,
                {key: substitute(value, values) for key, value in node.parameters.items()} | common,
                {topic: str(substitute(new, values)) for topic, new in node.remappings.items()}
                | clock,
                node.console,
                optional=node.optional,
                namespace=values["namespace"],
            )
            for node in self.nodes
            if values.get(node.unless, "false") != "true"
            and _holds(node.where, values)
            and (not node.needs or find_spec(node.needs) is not None)
        )


def substitute(value: Any, values: Mapping[str, str]) -> Any:
    """Return a parameter with arguments filled in; text that is an argument alone takes the type of what is chosen, as YAML reads it.

    Args:
        value: The parameter; a mapping ``{argument: {choice: value, ...}}`` stands for the value of the choice, ``other`` for all others.
        values: Arguments by name.

    Raises:
        UnknownNameError: If an argument has none of the choices.
    """
    if isinstance(value, Mapping):
        ((argument, choices),) = value.items()
        chosen_value = choices.get(values[argument], choices.get(OTHER))
        if chosen_value is None:
            raise UnknownNameError(f"choice of {argument}", values[argument], choices)
        return substitute(chosen_value, values)
    if not isinstance(value, str):
        return value
    if VARIABLE.fullmatch(value):
        chosen = yaml.safe_load(values[value[1:]])
        return "" if chosen is None else chosen
    return VARIABLE.sub(lambda match: values[match[1]], value)


def _holds(condition: str, values: Mapping[str, str]) -> bool:
    """Return whether an argument is neither empty nor false, or whether it has the value after ``=``."""
    argument, equals, value = condition.partition("=")
    chosen = values.get(argument, "true")
    return chosen == value if equals else chosen not in {"", "false"}


def _list_arguments(value: Any) -> set[str]:
    """Return the arguments that a parameter depends on."""
    if isinstance(value, Mapping):
        inner = [part for choices in value.values() for part in choices.values()]
        return set(value).union(*map(_list_arguments, inner))
    return set(VARIABLE.findall(value)) if isinstance(value, str) else set()


def graph_names() -> tuple[str, ...]:
    """Return the names of the graphs that come with the package, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def load_graph(name: str) -> Graph:
    """Load a graph.

    Args:
        name: Name of a graph that comes with the package, or path of a YAML file.

    Raises:
        UnknownNameError: If it is neither.
        DescriptionError: If the file breaks the schema.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else _folder() / f"{name}.yaml"
    if not path.is_file():
        raise UnknownNameError("graph", name, graph_names())
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    _check_keys(path, "graph", content, GRAPH_KEYS)
    arguments = {
        key: Argument(str(about["default"]), str(about["description"]))
        for key, about in (content.get("arguments") or {}).items()
    }
    arguments |= {name: argument for name, argument in COMMON.items() if name not in arguments}
    nodes = []
    for k, entry in enumerate(content.get("nodes") or ()):
        _check_keys(path, f"nodes.{k}", entry, NODE_KEYS)
        texts = [*entry.get("parameters", {}).values(), *entry.get("remappings", {}).values()]
        used = set().union(*map(_list_arguments, texts))
        used |= {entry[key].partition("=")[0] for key in ("unless", "where") if entry.get(key)}
        for argument in used - set(arguments):
            raise DescriptionError(
                str(path), f"nodes.{k}", str(UnknownNameError("argument", argument, arguments))
            )
        nodes.append(
            GraphNode(
                entry["node"],
                entry.get("name", entry["node"]),
                entry.get("parameters", {}),
                entry.get("remappings", {}),
                bool(entry.get("console", False)),
                entry.get("unless", ""),
                entry.get("where", ""),
                entry.get("needs", ""),
                bool(entry.get("optional", False)),
            )
        )
    return Graph(path.stem, content["title"], arguments, tuple(nodes))


def _check_keys(path: Path, where: str, content: Any, known: tuple[str, ...]) -> None:
    if not isinstance(content, dict):
        raise DescriptionError(
            str(path), where, f"received {type(content).__name__}, expected keys {', '.join(known)}"
        )
    for key in content:
        if key not in known:
            raise DescriptionError(
                str(path), f"{where}.{key}", str(UnknownNameError("key", key, known))
            )


def _folder() -> Path:
    return Path(str(files("humanoid_dynamics") / "config" / "graphs"))
