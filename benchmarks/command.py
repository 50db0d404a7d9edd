# SPDX-License-Identifier: Apache-2.0
"""Command line of the speed benchmarks: ``python -m benchmarks``."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from benchmarks.goals import GOAL_ROBOT
from humanoid_dynamics.cli.options import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError
from humanoid_dynamics.graphs.supervisor import local_environment

if TYPE_CHECKING:
    from benchmarks.bench import BenchReport
    from benchmarks.rows import Row


OnlyOption = Annotated[
    str,
    typer.Option(
        "--only", help="Name of a row, or of all rows of a path such as inverse_dynamics."
    ),
]
RepeatOption = Annotated[int, typer.Option("--repeat", help="Calls of every contender.")]
RobotOption = Annotated[
    str,
    typer.Option("--robot", help=f"Catalogue name or path; the goals are those of {GOAL_ROBOT}."),
]
PeerOption = Annotated[
    list[str],
    typer.Option(
        "--peer-python",
        help="Python interpreter that has TSID or placo, which are timed there in turn with ours.",
    ),
]
RosOption = Annotated[
    bool, typer.Option("--ros", help="Time the graph on ROS 2 topics instead, beside a bare echo.")
]
SoakOption = Annotated[
    float,
    typer.Option(
        "--soak",
        help="With --ros: a closed loop at 500 Hz for so long, its periods and memory [s].",
    ),
]
ROOT = Path(__file__).parents[1]  # where the package ``benchmarks`` is found
SHORTEST = 5.0  # s; of a soak
EXAMPLES = """\b
Examples:
  .venv/bin/python -m benchmarks
  .venv/bin/python -m benchmarks --only closed_chain --repeat 500
  .venv/bin/python -m benchmarks --only snake --json
  .venv/bin/python -m benchmarks --only inverse_dynamics --peer-python ~/placo/bin/python
  .venv/bin/python -m benchmarks --ros
  .venv/bin/python -m benchmarks --ros --soak 600
"""


def bench(
    only: OnlyOption = "",
    repeat: RepeatOption = 2000,
    robot: RobotOption = GOAL_ROBOT,
    peer_python: PeerOption = [],  # noqa: B006  # typer reads it, nobody writes to it
    ros: RosOption = False,
    soak: SoakOption = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Measure computation times as ratios to floors, literal routes and peers timed in the same run."""
    from benchmarks.bench import run_bench

    if soak and not (ros and soak >= SHORTEST):
        raise HumanoidDynamicsError(
            f"--soak: received {soak:g}, expected at least {SHORTEST:g} s, together with --ros"
        )
    if ros:
        print_graph_rows(measure_graph(soak), as_json)
        return
    with show_progress("timing") as bar:
        report = run_bench(robot, repeat, only, bar.tell, peer_python)
    if as_json:
        typer.echo(json.dumps(report_facts(report), indent=2, allow_nan=False))
    else:
        print_report(report, make_console())


def measure_graph(soak: float = 0.0) -> list[dict[str, Any]]:
    """Return what the graph on topics was measured to take, by a process of its own.

    Args:
        soak: Run a closed loop so long instead [s]; not where zero.

    Returns:
        Rows of name, value, unit, goal and whether it was reached.

    Raises:
        MissingExtraError: If there is no ROS.
        HumanoidDynamicsError: If the measurement fails.
    """
    if find_spec("rclpy") is None:
        raise MissingExtraError("rclpy", "ros", "the benchmark of the graph")
    environment = local_environment() | {
        "ROS_DOMAIN_ID": os.environ.get("ROS_DOMAIN_ID", str(SystemRandom().randint(1, 101)))
    }
    command = [sys.executable, "-m", "benchmarks.ros.latency", *([str(soak)] if soak else [])]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise HumanoidDynamicsError(
            f"the measurement ended with {done.returncode}: {done.stderr.strip()[-300:]}"
        )
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def print_graph_rows(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print the rows of ``measure_graph``."""
    if as_json:
        typer.echo(json.dumps(rows, indent=2, allow_nan=False))
        return
    cells = [
        (
            row["name"],
            f"{row['value']:.3g} {row['unit']}",
            row["goal"],
            "" if row["goal"] == "beside it" else "yes" if row["reached"] else "no",
        )
        for row in rows
    ]
    print_table(make_console(), "the graph on topics", ("what", "measured", "goal", "ok"), cells)


def report_facts(report: "BenchReport") -> dict[str, Any]:
    """Tell a run in plain data, ready for JSON; times in us."""
    return {
        "machine": dict(report.machine),
        "robot": report.robot,
        "notes": list(report.notes),
        "rows": [row.facts() for row in report.rows],
        "times": [
            {"path": path, **vars(timing)}
            for path, timings in report.times.items()
            for timing in timings
        ],
    }


def print_report(report: "BenchReport", console: Console) -> None:
    """Print ratios first, then times, then on what they were measured."""
    for note in report.notes:
        console.print(f"note: {note}", markup=False)
    columns = ("path", "ratio", "goal", "ok", r"ours \[us]", r"against \[us]")
    print_table(
        console, f"{report.robot}: ratios of medians", columns, [_cells(row) for row in report.rows]
    )
    shown = [row for row in report.rows if row.measured is not None]
    if shown:
        console.print()
        entries = [
            (f"{row.goal.name}: {row.goal.path} against {row.goal.against}", _error(row))
            for row in shown
        ]
        print_table(console, "what was compared", ("path", "answers differ by"), entries)
    times = [
        (f"{path}: {timing.name}", f"{timing.median:.2f}", f"{timing.p99:.2f}")
        for path, timings in report.times.items()
        for timing in timings
    ]
    if times:
        console.print()
        print_table(console, "times", ("contender", r"median \[us]", r"p99 \[us]"), times)
    for row in report.rows:
        if row.note:
            console.print(f"note: {row.goal.name}: {row.note}", markup=False)
    _print_machine(report.machine, console)


def _cells(row: "Row") -> tuple[str, ...]:
    if row.measured is None:
        return (
            f"[dim]{row.goal.name}[/]",
            "[dim]-[/]",
            f"[dim]{row.goal.bound}[/]",
            "[dim]not measured[/]",
            "",
            "",
        )
    words = {True: "[green]yes[/]", False: "[red]no[/]", None: "not judged"}
    measured = row.measured
    unit = "" if row.goal.unit == "x" else f" {row.goal.unit}"
    return (
        row.goal.name,
        f"{measured.value:.3g}{unit}",
        row.goal.bound,
        words[row.ok],
        _time(measured.ours),
        _time(measured.against),
    )


def _time(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _error(row: "Row") -> str:
    error = None if row.measured is None else row.measured.error
    return (
        ""
        if error is None or row.goal.tolerance is None
        else f"{error:.1e} of {row.goal.tolerance:.0e}"
    )


def _print_machine(machine: Any, console: Console) -> None:
    packages = ", ".join(
        f"{name} {version}" for name, version in machine["packages"].items() if version
    )
    core = (
        "no core of its own"
        if machine["core"] is None
        else f"core {machine['core']} of {machine['cores']}"
    )
    load = "" if machine["load"] is None else f", load {machine['load']:.2f}"
    console.print(
        f"\n{machine['processor']}, {core}{load}, Python {machine['python']}, {packages}",
        markup=False,
    )
