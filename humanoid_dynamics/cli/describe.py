# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics describe``: what a robot is."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import math
from typing import TYPE_CHECKING, Any

import typer

from humanoid_dynamics.cli.options import ConfigOption, JsonOption, RobotArgument, RootOption
from humanoid_dynamics.cli.tables import fixed, make_console, print_table, span

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

EXAMPLES = """\b
Examples:
  humanoid-dynamics describe human28
  humanoid-dynamics describe my_robot.urdf --config my_robot.yaml --json
  humanoid-dynamics describe 'my_robot.urdf.xacro hands:=false'
"""


def describe(
    robot: RobotArgument,
    config: ConfigOption = "",
    root: RootOption = "",
    as_json: JsonOption = False,
) -> None:
    """Describe a robot model: joints, degrees of freedom, mass, limits, contact surfaces, loops, frames, and warnings."""
    from humanoid_dynamics.model.facts import describe_robot
    from humanoid_dynamics.model.load import load_robot
    from humanoid_dynamics.model.reading.catalogue import find_description

    facts = describe_robot(
        load_robot(robot, description=find_description(config), root=root or None)
    )
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        print_facts(facts, make_console())


def print_facts(facts: dict[str, Any], console: "Console") -> None:
    """Print the facts of a robot as tree and tables."""
    console.print(
        f"[bold]{facts['name']}[/]  ({facts['origin']}), root {facts['root'].replace('_', '-')}"
    )
    console.print(
        f"mass {facts['mass']:.3f} kg   nq {facts['nq']}   nv {facts['nv']}   links {facts['links']}   "
        f"actuated {len(facts['actuated'])}   passive {len(facts['passive'])}"
    )
    console.print(_tree(facts))
    rows = _joint_rows(facts)
    if rows:
        console.print()
        print_table(
            console,
            r"joints  \[rad, m, s, N·m, N]",
            ("name", "kind", "position", "velocity", "effort", "rests at"),
            rows,
        )
    if facts["surfaces"]:
        console.print()
        print_table(
            console,
            "contact surfaces",
            ("name", "link", "kind", "size x, y", "friction", "height"),
            _surface_rows(facts),
        )
    _print_loops(facts, console)
    if facts["aliases"]:
        console.print(
            "\n[bold]REP-120 frames[/]  "
            + ", ".join(f"{alias} = {link}" for alias, link in facts["aliases"].items())
        )
    if facts["notes"] or facts["warnings"]:
        console.print()
    for note in facts["notes"]:
        console.print(f"note: {note}", markup=False)
    for warning in facts["warnings"]:
        console.print(f"warning: {warning}", markup=False, style="yellow")


def _tree(facts: dict[str, Any]) -> "Tree":
    """Show what moves on what; links on fixed joints are part of what carries them."""
    from rich.tree import Tree

    top = Tree("world" if facts["root"] != "fixed" else f"{facts['root_link']}  [dim]fixed[/]")
    branches: dict[str, Tree] = {}
    for joint in facts["joints"]:
        label = (
            joint["child"]
            if joint["kind"] in {"free_flyer", "planar"}
            else f"{joint['child']}  [dim]{joint['name']}[/]"
        )
        branches[joint["name"]] = branches.get(joint["carried_by"], top).add(label)
    return top


def _joint_rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for joint in facts["joints"]:
        if joint["kind"] not in {"free_flyer", "planar"}:
            bounded = len(joint["lower"]) == 1
            rows.append(
                (
                    joint["name"],
                    joint["kind"],
                    span(joint["lower"][0], joint["upper"][0]) if bounded else "free",
                    _limit(joint["velocity"]),
                    _limit(joint["effort"]) if joint["actuated"] else "passive",
                    _rest(joint["posture"]),
                )
            )
    return rows


def _rest(q: list[float]) -> str:
    if len(q) > 2:
        return ""
    return fixed(
        q[0] if len(q) == 1 else math.atan2(q[1], q[0]), 3
    )  # a continuous joint is a cosine and a sine


def _limit(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return fixed(min(known), 1) if known else "free"


def _surface_rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            surface["link"],
            surface["kind"] + (" (assumed)" if surface["assumed"] else ""),
            f"{surface['size'][0] * 100:.1f} x {surface['size'][1] * 100:.1f} cm",
            f"{surface['friction']:.2f}",
            f"{surface['position'][2]:.3f} m",
        )
        for name, surface in facts["surfaces"].items()
    ]


def _print_loops(facts: dict[str, Any], console: "Console") -> None:
    if facts["loops"]:
        console.print()
        rows = [(loop["name"], loop["kind"], loop["a"], loop["b"]) for loop in facts["loops"]]
        print_table(console, "loops", ("name", "cut joint", "link A", "link B"), rows)
    if facts["mimics"]:
        followers = [
            (m["joint"], m["leader"], f"{m['ratio']:g}", f"{m['offset']:g}")
            for m in facts["mimics"]
        ]
        console.print()
        print_table(console, "mimic joints", ("follower", "leader", "ratio", "offset"), followers)
