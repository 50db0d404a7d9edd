# SPDX-License-Identifier: Apache-2.0
"""Write the tables of the documentation, and the parameter files, from what they describe.

``python docs/generate.py`` rewrites every table between ``<!-- table NAME -->`` and ``<!-- end -->``; ``python docs/generate.py --check``
writes nothing, exits 1 and names the tables that differ.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import course_and_commands
import human_steps
import paper_items
import refusals
import yaml

from humanoid_dynamics.cli.app import VERBS, build_app
from humanoid_dynamics.control.holding import HoldingStatus
from humanoid_dynamics.control.snake_driver import SnakeDriverStatus
from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.graphs.description import graph_names, load_graph
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.catalogue import catalogue_names, find_entry
from humanoid_dynamics.motion.walking.gait_r1 import GaitR1
from humanoid_dynamics.motion.walking.rolling_step import build_planar_step, build_spatial_step
from humanoid_dynamics.motion.walking.step_rules import LAWS, StepComparison
from humanoid_dynamics.nodes.configs import CONFIGS, write_parameter_file
from humanoid_dynamics.nodes.interfaces import INTERFACES, QOS
from humanoid_dynamics.nodes.security import write_policy
from humanoid_dynamics.papers.biped.schedule import STEP_RULES, build_step, measure_jumps
from humanoid_dynamics.resolution.certificate import AnswerStatus
from humanoid_dynamics.resolution.rules import RULES
from humanoid_dynamics.simulation.scenes.names import scene_names
from humanoid_dynamics.status import StatusEnum

PROJECT = Path(__file__).resolve().parents[1]
sys.path.append(str(PROJECT))  # where the package ``benchmarks`` is found
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{path.name}" for path in sorted((PROJECT / "docs").glob("*.md"))),
)
TABLE = re.compile(r"(<!-- table ([a-z_]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PARAMETER_FILES = PROJECT / "config" / "nodes"
WAYS = {"in": "subscription", "out": "publication"}
POLICY = PROJECT / "config" / "security" / "policy.xml"


def write_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def build_robots(current: str) -> str:
    """Return the catalogue; the row of a robot whose files are not installed stays as it is."""
    kept = {
        match[1]: match[0]
        for match in re.finditer(r"^\| `([a-z0-9_]+)` .*\n", current, re.MULTILINE)
    }
    header = (
        "robot",
        "what it is",
        "root",
        "nq / nv",
        "motors",
        "mass [kg]",
        "surfaces",
        "loops, wheels",
    )
    table = write_table(header, ())
    for name in catalogue_names():
        try:
            table += _robot_line(name)
        except MissingExtraError:
            table += kept.get(name, "")
    return table


def build_robots_short(current: str) -> str:
    """Return name and purpose of every robot."""
    del current
    return write_table(
        ("robot", "what it is"),
        ((f"`{name}`", re.split("[:;] ", summarise(name))[0]) for name in catalogue_names()),
    )


def build_nodes(current: str) -> str:
    """Return every topic, service, parameter and status code of every node."""
    del current
    header = ("node", "", "name", "type", "quality of service, or default and range", "what it is")
    rows: list[tuple[object, ...]] = []
    for node, interface in INTERFACES.items():
        rows.append((f"**`{node}`**", "", "", "", "", interface.purpose))
        rows += [
            ("", WAYS[topic.way], f"`{topic.name}`", f"`{topic.kind}`", topic.qos, topic.content)
            for topic in interface.topics
        ]
        rows += [
            ("", "service", f"`~/{service.name}`", f"`{service.kind}`", "", service.purpose)
            for service in interface.services
        ]
        rows += [("", "parameter", *row) for row in read_parameters(CONFIGS[node])]
        rows += [
            ("", "status", f"`{status}`", code, "", status.description)
            for code, status in enumerate(interface.statuses)
        ]
    return write_table(header, rows)


def build_topics(current: str) -> str:
    """Return every topic of every node in one line, with publishers and subscribers."""
    del current
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for node, interface in INTERFACES.items():
        for topic in interface.topics:
            publishers, subscribers = found.setdefault((topic.name, topic.kind), ([], []))
            (publishers if topic.way == "out" else subscribers).append(f"`{node}`")
    rows = (
        (f"`{name}`", f"`{kind}`", ", ".join(pubs), ", ".join(subs))
        for (name, kind), (pubs, subs) in found.items()
    )
    return write_table(("topic", "type", "publishers", "subscribers"), rows)


def build_qos(current: str) -> str:
    """Return what the names of qualities of service stand for."""
    del current
    return write_table(
        ("quality of service", "meaning"), ((f"{name}", meaning) for name, meaning in QOS.items())
    )


def build_graphs(current: str) -> str:
    """Return the graphs and their arguments."""
    del current
    rows: list[tuple[str, ...]] = []
    for name in graph_names():
        graph = load_graph(name)
        rows.append(
            (
                f"**`{name}`**",
                "",
                f"{graph.title} Nodes: {', '.join(node.name for node in graph.nodes)}.",
            )
        )
        rows += [
            ("", f"`{key}:={argument.default}`", argument.description)
            for key, argument in graph.arguments.items()
        ]
    return write_table(("graph", "argument", "what it is"), rows)


def build_commands(current: str) -> str:
    """Return the verbs of the command line."""
    del current
    rows = []
    for command in build_app(VERBS).registered_commands:
        summary = (command.callback.__doc__ or "").partition("\n")[0]
        rows.append((f"`humanoid-dynamics {command.name}`", summary))
    return write_table(("command", "what it does"), rows)


def build_refusals(current: str) -> str:
    """Return what is refused, with the messages the code makes and what to do about them."""
    del current
    return write_table(("error", "what it is", "such as", "what to do"), refusals.write_rows())


def build_goals(current: str) -> str:
    """Return the goals of the speed benchmarks."""
    del current
    from benchmarks.goals import GOALS

    return write_table(
        ("row", "ours", "against", "goal"),
        ((f"`{g.name}`", g.path, g.against, g.bound) for g in GOALS),
    )


def build_rules(current: str) -> str:
    """Return the rules that choose among torques."""
    del current
    return write_table(
        ("rule", "what it makes small", "source"),
        ((f"`{r.name}`", r.summary, r.source) for r in RULES.values()),
    )


def build_answer_statuses(current: str) -> str:
    """Return the statuses of a certificate."""
    del current
    return _statuses(AnswerStatus)


def build_command_statuses(current: str) -> str:
    """Return the statuses of a command."""
    del current
    return _statuses(HoldingStatus)


def build_snake_statuses(current: str) -> str:
    """Return the statuses of a snake that is driven."""
    del current
    return _statuses(SnakeDriverStatus)


def build_papers(paper: str) -> Callable[[str], str]:
    """Return the writer of the items of one paper with their code and tests."""
    header = ("item", "what", "where", "code", "tests")
    return lambda _current: write_table(header, paper_items.write_rows(paper))


def build_step_jumps(current: str) -> str:
    """Return how far torques jump at each switch of the reference step, law by law, in the plane and in space."""
    del current
    gait = GaitR1()
    step = build_step(gait.parameters.body, gait.at, gait.switches)
    planar, spatial = (
        StepComparison(build_planar_step(load_robot("biped7"))),
        StepComparison(build_spatial_step(load_robot("legs12"))),
    )
    rows = []
    for law in LAWS:
        in_plane = measure_jumps(step, law) if law in STEP_RULES else planar.jumps(law)
        rows.append((f"`{law}`", *(_jump(jump) for jump in (*in_plane, *spatial.jumps(law)))))
    places = ("heel down", "rolling over", "toe off")
    return write_table(
        (
            "law",
            *(f"{place}, planar" for place in places),
            *(f"{place}, in space" for place in places),
        ),
        rows,
    )


def build_load_shares(current: str) -> str:
    """Return how far measured double supports are from each transfer function; as it is where the measurements are not installed."""
    header = ("double support", "lasts [s]", "next one after [s]", *human_steps.CURVES)
    return write_table(header, human_steps.write_rows()) if human_steps.is_there() else current


def read_parameters(config: type) -> list[tuple[str, ...]]:
    """Return name, type, default with unit and range, and description of every parameter of a node."""
    rows = []
    for entry in fields(config):
        about = entry.metadata
        span = (
            f" {about['unit']}, {about['lowest']:g} to {about['highest']:g}"
            if about["lowest"] is not None
            else ""
        )
        default = f"`{entry.default}`" if entry.default not in {"", ()} else "empty"
        settable = "" if about["read_only"] else "; settable while running"
        choices = f" ({' or '.join(about['choices'])})" if about["choices"] else ""
        kind = str(entry.type).removeprefix("tuple[").replace(", ...]", " list")
        rows.append(
            (f"`{entry.name}`", kind, default + span, about["description"] + choices + settable)
        )
    return rows


def summarise(name: str) -> str:
    """Return the first sentence of the comment at the head of a robot's YAML file."""
    first = (
        (PROJECT / "config" / "robots" / f"{name}.yaml")
        .read_text(encoding="utf-8")
        .partition("\n")[0]
    )
    return (
        re.split(r"\.(?:\s|$)", first.removeprefix("#").strip())[0] if first.startswith("#") else ""
    )


def count(number: int, noun: str) -> str:
    """Return a number with its noun, or nothing for none."""
    return f"{number} {noun}{'s' if number > 1 else ''}" if number else ""


def _jump(jump: float) -> str:
    return "0" if jump < 1e-6 else f"{jump:.2f}"


def _robot_line(name: str) -> str:
    robot = load_robot(name)
    entry = find_entry(name)
    source = f" (`{entry.description.package}`)" if entry and entry.description.package else ""
    row = (
        f"`{name}`",
        summarise(name) + source,
        robot.root.replace("_", "-"),
        f"{robot.nq} / {robot.nv}",
        len(robot.actuated),
        f"{robot.mass:.2f}",
        ", ".join(robot.surfaces),
        ", ".join(
            filter(None, (count(len(robot.loops), "loop"), count(len(robot.wheels), "wheel")))
        ),
    )
    return f"| {' | '.join(str(cell) for cell in row)} |\n"


def _statuses(statuses: type[StatusEnum]) -> str:
    return write_table(
        ("status", "meaning"), ((f"`{status}`", status.description) for status in statuses)
    )


def build_scenes(current: str) -> str:
    """Return the scenes, each with its picture and how to read it."""
    del current
    parts = []
    readings = yaml.safe_load((PROJECT / "docs" / "scenes.yaml").read_text(encoding="utf-8"))
    for name in scene_names():
        reading = f" {readings[name]}" if name in readings else ""
        picture = f"![{name}](images/scene_{name}.png)"
        parts.append(f"### `{name}`\n\n{load_title(name)}{reading}\n\n{picture}\n\n")
    return "\n" + "".join(parts)


def build_gallery(current: str) -> str:
    """Return the pictures of scenes on the page."""
    del current
    return "\n" + "".join(
        f"`{name}`: {load_title(name)}\n\n![{name} on the page](images/page_{name}.png)\n\n"
        for name in scene_names()
    )


def load_title(name: str) -> str:
    """Return what a scene shows, without its robots, which need not be installed."""
    path = PROJECT / "config" / "scenes" / f"{name}.yaml"
    return str(yaml.safe_load(path.read_text(encoding="utf-8"))["title"])


def build_motion(_current: str) -> str:
    """Return what the frozen record holds of the development clips, per class."""
    from benchmarks.motion.record import load_record, part_to_runs
    from benchmarks.motion.table import CLASS_COLUMNS, class_rows

    runs = part_to_runs(load_record().get("clips", []))
    return write_table(CLASS_COLUMNS, class_rows(runs)) if runs else ""


TABLES: Mapping[str, Callable[[str], str]] = {
    "robots": build_robots,
    "robots_short": build_robots_short,
    "nodes": build_nodes,
    "topics": build_topics,
    "qos": build_qos,
    "graphs": build_graphs,
    "commands": build_commands,
    "command_help": lambda _current: course_and_commands.describe_commands(write_table),
    "refusals": build_refusals,
    "examples": lambda _current: write_table(*course_and_commands.list_examples()),
    "rules": build_rules,
    "scenes": build_scenes,
    "gallery": build_gallery,
    "goals": build_goals,
    "motion": build_motion,
    "answer_statuses": build_answer_statuses,
    "command_statuses": build_command_statuses,
    "snake_statuses": build_snake_statuses,
    "step_jumps": build_step_jumps,
    "load_shares": build_load_shares,
    **{f"papers_{paper.lower()}": build_papers(paper) for paper in paper_items.PAPERS},
}


def regenerate(text: str) -> str:
    """Return a page with every table in it written anew."""
    return TABLE.sub(lambda match: match[1] + TABLES[match[2]](match[3]) + match[4], text)


def main(arguments: Sequence[str]) -> int:
    """Write or check the tables.

    Returns:
        Exit code: 1 where ``--check`` found a difference.
    """
    parser = argparse.ArgumentParser(
        description="Write the tables of the documentation, or check that they are what this script writes."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 and name the tables that differ"
    )
    check = parser.parse_args(arguments).check
    differing = []
    for page in PAGES:
        path = PROJECT / page
        before = path.read_text(encoding="utf-8")
        after = regenerate(before)
        names = [
            old[2]
            for old, new in zip(TABLE.finditer(before), TABLE.finditer(after), strict=True)
            if old[3] != new[3]
        ]
        differing += [f"{page}: table {name} is not what docs/generate.py writes" for name in names]
        if not check and before != after:
            path.write_text(after, encoding="utf-8")
    written = {PARAMETER_FILES / f"{node}.yaml": write_parameter_file(node) for node in CONFIGS} | {
        POLICY: write_policy()
    }
    for path, text in written.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            differing.append(f"{path.relative_to(PROJECT)} is not what docs/generate.py writes")
            if not check:
                path.write_text(text, encoding="utf-8")
    if check:
        sys.stdout.write("".join(f"{line}\n" for line in differing))
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
