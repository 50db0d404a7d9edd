# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics gait``: a walk for a robot, written as a reference."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from humanoid_dynamics.cli.options import FpsOption, JsonOption, RobotArgument
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError

if TYPE_CHECKING:
    from humanoid_dynamics.motion.clip import Clip
    from humanoid_dynamics.motion.gait import Walk


WRITTEN = (".npz", ".csv", ".mcap")
OPTIONS = {
    "steps": "--steps",
    "turn": "--turn",
    "slope": "--slope",
    "rate": "--sample-rate",
    "stop_time": "--stop",
    "step_length": "--speed",
}
StepsOption = Annotated[
    int, typer.Option("--steps", help="Number of steps; the last one brings the feet together.")
]
SpeedOption = Annotated[
    float | None,
    typer.Option(
        "--speed",
        help="Forward speed [m/s], negative backwards; chosen by leg length if not given.",
        show_default=False,
    ),
]
TurnOption = Annotated[float, typer.Option("--turn", help="Left turn over the whole walk [rad].")]
SlopeOption = Annotated[
    float, typer.Option("--slope", help="Slope of the ground, uphill along x [rad].")
]
RateOption = Annotated[
    float, typer.Option("--sample-rate", help="Samples per second of the written motion [Hz].")
]
StopOption = Annotated[
    float | None,
    typer.Option(
        "--stop",
        help="Double support after the last step [s]; chosen by leg length if not given.",
        show_default=False,
    ),
]
HeadingOption = Annotated[
    float,
    typer.Option(
        "--heading", help="Turn the planned walk to the left by this angle on its way [rad]."
    ),
]
AtOption = Annotated[
    float | None,
    typer.Option(
        "--turn-time",
        help="Start of that turn [s]; half of the walk if not given.",
        show_default=False,
    ),
]
OverOption = Annotated[float, typer.Option("--turn-duration", help="Duration of that turn [s].")]
ThenOption = Annotated[str, typer.Option("--append", help="Motion file that follows the walk.")]
BlendOption = Annotated[
    float, typer.Option("--blend", help="Duration of the transition to the appended motion [s].")
]
OutOption = Annotated[str, typer.Option("--out", help="Output file, .npz, .csv or .mcap.")]
EXAMPLES = """\b
Examples:
  humanoid-dynamics gait g1 --out walk.npz
  humanoid-dynamics gait g1 --steps 8 --speed 0.2 --turn 0.5 --out walk.csv
  humanoid-dynamics gait talos_reduced --slope 0.087 --json
  humanoid-dynamics gait g1 --stop 1.5 --heading 0.52 --append kick.csv --blend 0.5 --out turned.npz
"""


def gait(  # noqa: PLR0913
    robot: RobotArgument,
    *,
    steps: StepsOption = 6,
    speed: SpeedOption = None,
    turn: TurnOption = 0.0,
    slope: SlopeOption = 0.0,
    stop: StopOption = None,
    heading: HeadingOption = 0.0,
    heading_at: AtOption = None,
    heading_over: OverOption = 1.0,
    then: ThenOption = "",
    blend_over: BlendOption = 0.4,
    rate: RateOption = 200.0,
    fps: FpsOption = 0.0,
    out: OutOption = "",
    as_json: JsonOption = False,
) -> None:
    """Plan a walk with its contact schedule: steps, turns and slopes, from standing to standing."""
    from humanoid_dynamics.model.load import load_robot
    from humanoid_dynamics.motion.gait import plan_walk, step_period
    from humanoid_dynamics.motion.load import load_clip
    from humanoid_dynamics.motion.walking.footsteps import WalkStyle

    if out and Path(out).suffix not in WRITTEN:
        raise HumanoidDynamicsError(
            f"--out: received {out!r}, expected the path of a .npz, .csv or .mcap file"
        )
    _refuse_infinite(
        {
            "--speed": speed,
            "--stop": stop,
            "--heading": heading,
            "--turn-time": heading_at,
            "--turn-duration": heading_over,
            "--blend": blend_over,
        }
    )
    loaded = load_robot(robot)
    try:
        style = WalkStyle(
            steps=steps, turn=turn / max(steps - 1, 1), slope=slope, rate=rate, stop_time=stop
        )
        if speed is not None:
            style = replace(style, step_length=speed * step_period(loaded, style))
    except ShapeError as problem:
        raise HumanoidDynamicsError(f"{OPTIONS[problem.field]}: {problem}") from problem
    following = load_clip(Path(then), loaded, fps=fps or None) if then else None
    with show_progress(f"walk of {loaded.name}") as bar:
        walk = plan_walk(loaded, style, watch=bar.tell)
    clip = _change(walk.clip, (heading, heading_at, heading_over), (following, blend_over))
    if out:
        write_clip(clip, Path(out))
    facts = {
        **gait_facts(walk),
        "seconds": clip.duration,
        "frames": len(clip),
        "heading": heading,
        "then": then or None,
    }
    if as_json:
        typer.echo(json.dumps({**facts, "file": out or None}, indent=2, allow_nan=False))
    else:
        _print(facts, make_console())
        typer.echo(f"wrote {out}\n" if out else "", nl=False)


def write_clip(clip: "Clip", path: Path) -> None:
    """Write a clip in the format of the suffix of its path."""
    from humanoid_dynamics.motion.formats.bag_motion_file import write_bag_motion
    from humanoid_dynamics.motion.formats.csv_file import write_csv
    from humanoid_dynamics.motion.formats.mapping import build_recording
    from humanoid_dynamics.motion.formats.npz_file import write_npz

    write = {".npz": write_npz, ".csv": write_csv, ".mcap": write_bag_motion}[path.suffix]
    try:
        write(build_recording(clip), path)
    except OSError as cause:
        raise HumanoidDynamicsError(f"--out: {cause}") from cause


def _refuse_infinite(given: dict[str, float | None]) -> None:
    for name, value in given.items():
        if value is not None and not math.isfinite(value):
            raise HumanoidDynamicsError(f"{name}: received {value:g}, expected a finite number")


def _change(
    clip: "Clip", turn: tuple[float, float | None, float], then: "tuple[Clip | None, float]"
) -> "Clip":
    """Let a walk go on in another heading (by how much, when, over how long), and over into another motion (which, over how long)."""
    from humanoid_dynamics.motion.editing import blend, turn_heading

    angle, start, duration = turn
    if angle:
        if start is not None and not 0.0 <= start < clip.duration:
            raise HumanoidDynamicsError(
                f"--turn-time: received {start:g} s, expected 0 to {clip.duration:.4g} s, in which the clip lasts"
            )
        clip = turn_heading(clip, angle, 0.5 * clip.duration if start is None else start, duration)
    return clip if then[0] is None else blend(clip, then[0], then[1])


def gait_facts(walk: "Walk") -> dict[str, Any]:
    """Tell a walk in plain data, ready for JSON: SI units."""
    import numpy as np

    from humanoid_dynamics.motion.walking.schedule_phases import name_phases

    clip, plan = walk.clip, walk.plan
    start, end = (np.mean(poses, axis=0) for poses in (plan.stand, plan.landing_poses()[-1]))
    way = float(np.linalg.norm((end - start)[:2]))
    walking = plan.steps[-1].lands - plan.steps[0].leaves
    return {
        "robot": clip.robot.name,
        "seconds": clip.duration,
        "frames": len(clip),
        "rate": clip.rate,
        "way": way,
        "turn": float(end[2] - start[2]),
        "speed": way / walking,
        "lowered": walk.lowered,
        "zmp_inside": walk.zmp_share,
        "zmp_margin": float(walk.zmp_margin.min()),
        "miss": walk.miss,
        "notices": list(clip.notices),
        "phases": [
            {"name": name, "from": phase.start, "to": phase.end, "surfaces": sorted(phase.surfaces)}
            for name, phase in name_phases(walk.schedule)
        ],
        "footsteps": [
            {
                "foot": ("left", "right")[step.foot],
                "leaves": step.leaves,
                "lands": step.lands,
                "pose": [float(x) for x in step.end],
            }
            for step in plan.steps
        ],
    }


def _print(facts: dict[str, Any], console: Console) -> None:
    console.print(
        f"[bold]walk of {facts['robot']}[/]  {facts['seconds']:.2f} s, {facts['frames']} frames at {facts['rate']:g} Hz"
    )
    console.print(
        f"way {facts['way']:.3f} m at {facts['speed']:.3f} m/s, turn {facts['turn']:.3f} rad, lowered {facts['lowered']:.3f} m"
    )
    if facts["heading"]:
        console.print(
            f"then turned by {facts['heading']:.3f} rad as a whole; the values below are those before this turn"
        )
    console.print(
        f"zero-moment point inside the feet in {100.0 * facts['zmp_inside']:.1f} % of the frames, at least {facts['zmp_margin']:.3f} m; "
        f"soles and centre of mass missed by {facts['miss']:.1e}"
    )
    for notice in facts["notices"]:
        console.print(f"note: {notice}", highlight=False)
    rows = [
        (p["name"], f"{p['from']:.3f}", f"{p['to']:.3f}", ", ".join(p["surfaces"]))
        for p in facts["phases"]
    ]
    console.print()
    print_table(console, r"phases \[s]", ("phase", "from", "to", "stands on"), rows)
