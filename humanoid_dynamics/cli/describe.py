"""``humanoid-dynamics describe``: what a robot is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.tree import Tree

from humanoid_dynamics.cli.tables import fixed, make_table, span
from humanoid_dynamics.model.facts import describe_robot
from humanoid_dynamics.model.load import load_robot

RobotArgument = Annotated[str, typer.Argument(help="Catalogue name, or path of a URDF or xacro file.", metavar="ROBOT")]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON instead of tables.")]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="YAML file that says what the URDF cannot.")]
RootOption = Annotated[str | None, typer.Option("--root", help="free_flyer, fixed or planar.")]


def describe(robot: RobotArgument, config: ConfigOption = None, root: RootOption = None, as_json: JsonOption = False) -> None:
    """Tell what a robot is: joints, freedoms, mass, limits, contact surfaces, loops, frames, and what is wrong with it.

    Example: humanoid-dynamics describe human28
    """
    facts = describe_robot(load_robot(robot, description=config, root=root))
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        print_facts(facts, Console(highlight=False))


def print_facts(facts: dict[str, Any], console: Console) -> None:
    """Print the facts of a robot as tree and tables."""
    console.print(f"[bold]{facts['name']}[/]  ({facts['origin']}), root {facts['root'].replace('_', '-')}")
    console.print(
        f"mass {facts['mass']:.3f} kg   nq {facts['nq']}   nv {facts['nv']}   links {facts['links']}   "
        f"actuated {len(facts['actuated'])}   passive {len(facts['passive'])}"
    )
    console.print(_tree(facts))
    console.print(
        make_table(r"joints  \[rad, m, s, N·m, N]", ("name", "kind", "position", "velocity", "effort", "rests at"), _joint_rows(facts))
    )
    if facts["surfaces"]:
        console.print()
        console.print(make_table("contact surfaces", ("name", "link", "kind", "size x, y", "friction", "height"), _surface_rows(facts)))
    _print_loops(facts, console)
    if facts["aliases"]:
        console.print("\n[bold]REP-120 frames[/]  " + ", ".join(f"{alias} = {link}" for alias, link in facts["aliases"].items()))
    for note in facts["notes"]:
        console.print(f"note: {note}", markup=False)
    for warning in facts["warnings"]:
        console.print(f"warning: {warning}", markup=False, style="yellow")


def _tree(facts: dict[str, Any]) -> Tree:
    top = Tree("world")
    branches = {"world": top}
    for joint in facts["joints"]:
        parent = branches.get(joint["parent"], top)
        label = joint["child"] if joint["kind"] in {"free_flyer", "planar"} else f"{joint['child']}  [dim]{joint['name']}[/]"
        branches[joint["child"]] = parent.add(label)
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
                    fixed(joint["posture"][0], 3) if bounded else "",
                )
            )
    return rows


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


def _print_loops(facts: dict[str, Any], console: Console) -> None:
    if facts["loops"]:
        console.print()
        rows = [(loop["name"], loop["kind"], loop["a"], loop["b"]) for loop in facts["loops"]]
        console.print(make_table("loops", ("name", "cut joint", "link A", "link B"), rows))
    if facts["mimics"]:
        followers = [(m["joint"], m["leader"], f"{m['ratio']:g}", f"{m['offset']:g}") for m in facts["mimics"]]
        console.print()
        console.print(make_table("mimic joints", ("follower", "leader", "ratio", "offset"), followers))
