# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics teleop``: recorded poses of an operator through teleoperation, with a table of what became of them."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from humanoid_dynamics.cli.options import JsonOption, RobotArgument
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import ClipError, HumanoidDynamicsError, UnknownNameError

if TYPE_CHECKING:
    from humanoid_dynamics.filtering.poses.replay import Replay
    from humanoid_dynamics.motion.poses import PoseStream
    from humanoid_dynamics.spatial.arrays import Vector


PosesArgument = Annotated[
    str, typer.Argument(help="npz file with arrays NAME_pos and NAME_quat_xyzw.", metavar="POSES")
]
FrameOption = Annotated[
    list[str],
    typer.Option(
        "--frame",
        help="Robot frame, or NAME=FRAME if the file has several streams; may be repeated.",
    ),
]
RateOption = Annotated[float, typer.Option("--control-rate", help="Control rate [Hz].")]
ScaleOption = Annotated[float, typer.Option("--scale", help="Robot motion per operator motion.")]
WorldOption = Annotated[
    bool,
    typer.Option(
        "--absolute",
        help="Use poses in world coordinates; otherwise they are relative to the initial pose of the frame.",
    ),
]
LatencyOption = Annotated[float, typer.Option("--latency", help="Latency of poses [s].")]
JitterOption = Annotated[float, typer.Option("--jitter", help="Mean random extra latency [s].")]
LossOption = Annotated[float, typer.Option("--loss", help="Share of lost poses.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of random latency and loss.")]
OutOption = Annotated[str, typer.Option("--out", help="Output npz file with the robot motion.")]
ERRORS = {
    "rms": "rms to goal in reach",
    "largest": "largest",
    "rms_to_operator": "rms to operator",
    "largest_to_operator": "largest to operator",
}
EXAMPLES = """\b
Examples:
  humanoid-dynamics teleop g1 hand.npz --frame right_hand --scale 0.25
  humanoid-dynamics teleop human28 both.npz --frame left=left_hand --frame right=right_hand --latency 0.05 --loss 0.1
  humanoid-dynamics teleop talos_reduced hand.npz --json --out motion.npz
"""


def teleop(  # noqa: PLR0913
    robot: RobotArgument,
    poses: PosesArgument,
    frame: FrameOption = [],  # noqa: B006
    rate: RateOption = 500.0,
    scale: ScaleOption = 1.0,
    world: WorldOption = False,
    latency: LatencyOption = 0.0,
    jitter: JitterOption = 0.0,
    loss: LossOption = 0.0,
    seed: SeedOption = 0,
    out: OutOption = "",
    as_json: JsonOption = False,
) -> None:
    """Replay recorded operator poses through teleoperation and report tracking errors and limits."""
    import numpy as np

    from humanoid_dynamics.filtering.poses.replay import (
        Line,
        largest_scale,
        move_to_robot,
        replay_poses,
        tell_jumps,
    )
    from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation
    from humanoid_dynamics.model.load import load_robot
    from humanoid_dynamics.motion.clip import Clip
    from humanoid_dynamics.motion.formats.mapping import build_recording
    from humanoid_dynamics.motion.formats.npz_file import read_pose_streams, write_npz

    if out and (Path(out).suffix != ".npz" or not Path(out).absolute().parent.is_dir()):
        raise HumanoidDynamicsError(
            f"--out: received {out!r}, expected the path of a .npz file in a folder that exists"
        )
    if not 10.0 <= rate <= 2000.0:
        raise HumanoidDynamicsError(f"--control-rate: received {rate:g}, expected 10 Hz to 2000 Hz")
    line = Line(latency, jitter, loss, seed)
    if not Path(poses).is_file():
        raise ClipError(poses, "no such file")
    streams = _choose(read_pose_streams(Path(poses)), frame)
    led = [
        f"{name} follows the poses of {stream.name!r}; --frame selects others"
        for name, stream in streams.items()
        if not frame
    ]
    model = load_robot(robot)
    with show_progress(f"leading {model.name}") as bar:
        try:
            tele = Teleoperation(model, tuple(streams), rate=rate)
        except UnknownNameError as unknown:
            raise HumanoidDynamicsError(f"--frame: expected NAME=FRAME: {unknown}") from unknown
        largest = {name: largest_scale(tele, stream, name) for name, stream in streams.items()}
        if not world:
            streams = {
                name: move_to_robot(tele, stream, name, scale) for name, stream in streams.items()
            }
        replay = replay_poses(tele, streams, line, bar.tell)
    if out:
        times = np.array([one.time for one in replay.frames])
        write_npz(
            build_recording(Clip(model, times, np.array([one.q for one in replay.frames]))),
            Path(out),
        )
    told = [
        notice
        for stream in dict.fromkeys(streams.values())
        for notice in (*stream.notices, tell_jumps(stream))
        if notice
    ]
    wide = [
        f"{name} is led farther than its limb reaches: --scale {most:.2g} is enough"
        for name, most in largest.items()
        if scale > most
    ]
    facts = {
        "robot": model.name,
        "poses": poses,
        "rate": rate,
        **replay_facts(replay),
        "notices": led + told if world else led + told + wide,
        "file": out or None,
    }
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        _print(facts)


def replay_facts(replay: "Replay") -> dict[str, Any]:
    """Tell a replay in plain data, ready for JSON: SI units."""
    import numpy as np

    from humanoid_dynamics.filtering.poses.gate import PoseStreamStatus

    certificates = [frame.certificate for frame in replay.frames]
    spent = 1e6 * replay.seconds
    return {
        "ticks": len(replay.frames),
        "fell": replay.fell,
        "in_limits": float(np.mean([certificate.holds for certificate in certificates])),
        "residual": max(certificate.residual for certificate in certificates),
        "clearance": _finite(min(frame.clearance for frame in replay.frames)),
        "statuses": dict(Counter(frame.status for frame in replay.frames)),
        "microseconds": {
            "median": float(np.median(spent)),
            "p99": float(np.percentile(spent, 99.0)),
            "worst": float(spent.max()),
        },
        "frames": {
            name: {
                "followed": replay.statuses[name].get(PoseStreamStatus.TRACKING, 0)
                / len(replay.frames),
                "rms": _rms(errors),
                "largest": _largest(errors),
                "rms_to_operator": _rms(replay.misses[name]),
                "largest_to_operator": _largest(replay.misses[name]),
                "statuses": replay.statuses[name],
            }
            for name, errors in replay.errors.items()
        },
    }


def _choose(streams: "tuple[PoseStream, ...]", frames: list[str]) -> "dict[str, PoseStream]":
    """Return which frame of the robot is led by which stream."""
    by_name = {stream.name: stream for stream in streams}
    if not frames:
        frames = ["right_hand"] if len(streams) == 1 else [f"{name}={name}" for name in by_name]
    chosen: dict[str, PoseStream] = {}
    for text in frames:
        source, _, led = text.rpartition("=")
        if not source and len(streams) == 1:
            source = streams[0].name
        if source not in by_name:
            raise HumanoidDynamicsError(
                f"--frame: {text!r}, expected NAME=FRAME with a NAME out of {', '.join(by_name)}"
            )
        if led in chosen:
            raise HumanoidDynamicsError(
                f"--frame: {text!r}, but {led} is led by {chosen[led].name} already"
            )
        chosen[led] = by_name[source]
    return chosen


def _rms(errors: "Vector") -> float | None:
    return float((errors @ errors / len(errors)) ** 0.5) if len(errors) else None


def _largest(errors: "Vector") -> float | None:
    return float(errors.max()) if len(errors) else None


def _finite(value: float) -> float | None:
    import numpy as np

    return value if np.isfinite(value) else None


def _print(facts: dict[str, Any]) -> None:
    console, spent = make_console(), facts["microseconds"]
    console.print(
        f"[bold]{facts['robot']}[/]  {facts['ticks']} ticks at {facts['rate']:g} Hz, {'fell' if facts['fell'] else 'stood'}"
    )
    told = ", ".join(f"{name} {count}" for name, count in facts["statuses"].items())
    console.print(
        f"inside all limits in {100.0 * facts['in_limits']:.1f} % of the ticks; {told}; equation of motion {facts['residual']:.0e}"
    )
    console.print(
        f"median {spent['median']:.0f} us a tick, 99 % below {spent['p99']:.0f} us, worst {spent['worst']:.0f} us"
    )
    rows = [
        (
            name,
            f"{100.0 * one['followed']:.0f} %",
            *("-" if one[key] is None else f"{100.0 * one[key]:.1f} cm" for key in ERRORS),
            ", ".join(f"{status} {count}" for status, count in one["statuses"].items()),
        )
        for name, one in facts["frames"].items()
    ]
    print_table(console, "led frames", ("frame", "followed", *ERRORS.values(), "ticks"), rows)
    for notice in facts["notices"]:
        console.print(f"note: {notice}", highlight=False, markup=False)
    if facts["file"]:
        console.print(f"wrote {facts['file']}", highlight=False, markup=False)
