# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics walk``: a robot walks by velocity commands, with a report."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from humanoid_dynamics.cli.options import JsonOption, RobotArgument
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError

if TYPE_CHECKING:
    from humanoid_dynamics.filtering.walk_report import VelocityScript

WRITTEN = (".npz", ".csv", ".mcap")
LONGEST = 3600.0  # s
VelocityOption = Annotated[
    str,
    typer.Option(
        "--velocity",
        help="Command: forward [m/s], sideways [m/s], turning [rad/s]; commas between.",
    ),
]
DurationOption = Annotated[
    float,
    typer.Option(
        "--duration", help="Time in which commands are followed; the robot stops then [s]."
    ),
]
ScriptOption = Annotated[
    str,
    typer.Option(
        "--script", help="CSV file of commands with the columns time, forward, sideways, turning."
    ),
]
OutOption = Annotated[str, typer.Option("--out", help="Output file, .npz, .csv or .mcap.")]
EXAMPLES = """\b
Examples:
  humanoid-dynamics walk g1 --velocity "0.3,0,0"
  humanoid-dynamics walk g1 --velocity "0.4,0,0.2" --duration 20 --out walk.npz
  humanoid-dynamics walk human28 --velocity "0,0.2,0" --json
  humanoid-dynamics walk talos --script commands.csv --duration 30
"""


def walk(
    robot: RobotArgument,
    velocity: VelocityOption = "0.3,0,0",
    duration: DurationOption = 10.0,
    script: ScriptOption = "",
    out: OutOption = "",
    as_json: JsonOption = False,
) -> None:
    """Let a robot walk by velocity commands on the model's own state, and report velocity errors, limits and margins."""
    from humanoid_dynamics.filtering.walk_report import VelocityScript, walk_script
    from humanoid_dynamics.filtering.walking import WalkingFilter
    from humanoid_dynamics.model.load import load_robot

    if out and Path(out).suffix not in WRITTEN:
        raise HumanoidDynamicsError(
            f"--out: received {out!r}, expected the path of a .npz, .csv or .mcap file"
        )
    if not 0.0 < duration <= LONGEST:
        raise HumanoidDynamicsError(
            f"--duration: received {duration:g}, expected more than 0 s and at most {LONGEST:g} s"
        )
    commands = VelocityScript.read(Path(script)) if script else _read_velocity(velocity)
    loaded = load_robot(robot)
    walking = WalkingFilter(loaded)
    with show_progress(f"walk of {loaded.name}") as bar:
        frames, report = walk_script(walking, commands, duration, watch=bar.tell)
    if out:
        from humanoid_dynamics.cli.gait import write_clip
        from humanoid_dynamics.filtering.clip_filter import build_clip_of

        write_clip(build_clip_of(loaded, frames, "walk by command"), Path(out))
    facts = report.to_dict()
    if as_json:
        typer.echo(json.dumps({**facts, "file": out or None}, indent=2, allow_nan=False))
    else:
        _print(facts)
        typer.echo(f"wrote {out}\n" if out else "", nl=False)


def _read_velocity(text: str) -> "VelocityScript":
    from humanoid_dynamics.filtering.walk_report import VelocityScript

    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise HumanoidDynamicsError(
            f"--velocity: received {text!r}, expected three finite numbers with commas between"
        )
    return VelocityScript.constant(numbers)


def _print(facts: dict[str, Any]) -> None:
    console = make_console()
    ended = "finished" if facts["finished"] else f"fell at {facts['fell_at']:.2f} s"
    console.print(
        f"[bold]walk of {facts['robot']}[/]  {facts['seconds']:.2f} s, {facts['steps']} steps, "
        f"{facts['distance']:.2f} m, turn {facts['turn']:.2f} rad: {ended}"
    )
    forward, sideways, turning = facts["velocity_rms"]
    rows = [
        ("frames inside all limits", f"{100.0 * facts['all_limits']:.2f} %"),
        ("frames with a relaxed limit", f"{100.0 * facts['relaxed']:.2f} %"),
        ("frames on a fall-back plan", f"{100.0 * facts['fallback']:.2f} %"),
        ("velocity RMS forward, sideways", f"{forward:.3f}, {sideways:.3f} m/s"),
        ("velocity RMS turning", f"{turning:.3f} rad/s"),
        ("least capture margin", f"{facts['capture_margin']:.3f} m"),
        ("largest terminal slack", f"{facts['slack']:.4f} m"),
        ("least CoP margin", f"{facts['cop_margin']:.4f} m"),
        (
            "largest torque, speed, friction",
            " ".join(f"{100.0 * facts[k]:.0f} %" for k in ("torque", "speed", "friction")),
        ),
        ("repairs", ", ".join(f"{k} {v}" for k, v in facts["repairs"].items()) or "none"),
    ]
    print_table(console, "report", ("measure", "value"), rows)
