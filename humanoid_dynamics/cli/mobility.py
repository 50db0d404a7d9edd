# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics mobility``: what closed loops leave a robot, and what its motors can do about it."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.padding import Padding

from humanoid_dynamics.cli.options import ConfigOption, JsonOption, RobotArgument, RootOption
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import SourceError

if TYPE_CHECKING:
    from humanoid_dynamics.dynamics.mobility import MobilityReport
    from humanoid_dynamics.model.description import Description


LoopsOption = Annotated[
    str,
    typer.Option("--loops", help="YAML file with loops, motors and joint substitutions to add."),
]
SHOWN = 12
EXAMPLES = """\b
Examples:
  humanoid-dynamics mobility stewart
  humanoid-dynamics mobility my_robot.urdf --loops robot.yaml --json
"""


def mobility(
    robot: RobotArgument,
    loops: LoopsOption = "",
    config: ConfigOption = "",
    root: RootOption = "",
    as_json: JsonOption = False,
) -> None:
    """Analyse closed loops: rank, degrees of freedom, generalized coordinates, internal forces, and actuation.

    Example: humanoid-dynamics mobility stewart
    """
    from humanoid_dynamics.dynamics.mobility import report_mobility
    from humanoid_dynamics.model.load import load_robot

    report = report_mobility(
        load_robot(robot, description=_describe(robot, config, loops), root=root or None)
    )
    if as_json:
        typer.echo(json.dumps(asdict(report), indent=2, allow_nan=False))
    else:
        print_report(report, make_console())


def print_report(report: "MobilityReport", console: Console) -> None:
    """Print a report of mobility as tables and sentences."""
    from humanoid_dynamics.constraints.null_space import DynamicsStatus

    console.print(
        f"[bold]{report.robot}[/]  {report.freedoms} freedoms of the tree - rank {report.rank} = mobility {report.mobility}"
    )
    if report.mobility > report.internal_mobility:
        console.print(
            f"{report.internal_mobility} of them move joints, {report.mobility - report.internal_mobility} the root alone"
        )
    if report.constraints:
        rows = [
            (b.name, b.kind, str(b.rows), str(b.rank), f"{b.error:.1e} m")
            for b in report.constraints
        ]
        console.print()
        print_table(console, "constraints", ("name", "kind", "rows", "rank", "open by"), rows)
        console.print(f"\n[bold]singular values[/]  {_numbers(report)}")
        console.print(
            f"{report.rank} of {report.rows} rows count (above {report.tolerance:.0e} of the largest)"
        )
    _print_names("generalized coordinates", report.generalized, console)
    _print_names("dependent coordinates", report.dependent, console)
    _print_names("motors", report.motors, console)
    console.print(
        f"motors drive {report.actuation_rank} of {report.internal_mobility} freedoms; "
        f"internal forces: {report.internal_forces} of the motors, {report.indeterminate_forces} of the constraints"
    )
    style = (
        "green"
        if report.status is DynamicsStatus.OK
        else "yellow"
        if report.status is DynamicsStatus.RANK_DEFICIENT
        else "red"
    )
    console.print(f"\n[bold]status[/]  [{style}]{report.status}[/]")
    for reason in report.reasons:
        console.print(f"  {reason}", markup=False)


def _describe(robot: str, config: str, loops: str) -> "Description | None":
    """Return what is known of the robot, with the loops of a file added."""
    from humanoid_dynamics.model.description import add_loops
    from humanoid_dynamics.model.reading.catalogue import find_description
    from humanoid_dynamics.model.reading.description_file import load_description
    from humanoid_dynamics.model.reading.source import read_source

    described = find_description(config)
    if not loops:
        return described
    path = Path(loops).expanduser()
    if not path.is_file():
        raise SourceError(f"no loop file {path}")
    return add_loops(described or read_source(robot).description, load_description(path))


def _numbers(report: "MobilityReport") -> str:
    shown = [f"{value:.3g}" for value in report.singular_values]
    if len(shown) <= SHOWN:
        return " ".join(shown)
    half = SHOWN // 2
    return " ".join((*shown[:half], "...", *shown[-half:]))


def _print_names(title: str, names: tuple[str, ...], console: Console) -> None:
    console.print(f"\n[bold]{title}[/]  {len(names)}")
    if names:
        console.print(Padding(", ".join(names), (0, 0, 0, 2)))
