"""``humanoid-dynamics filter``: motion clips to consistent motion, with a table of before and after."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from humanoid_dynamics.cli.describe import JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, make_table
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.filtering.clip_filter import LADDER, FilteredClip, filter_clip
from humanoid_dynamics.filtering.modes import MODES
from humanoid_dynamics.filtering.scoring import Score, false_alarms, score_motion
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.npz_file import write_npz
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.mapping import build_recording, load_joint_map

SHORTEST, LONGEST = 0.01, 5.0  # s of look-ahead
FELL = 1  # exit code where a robot did not stay on its feet

RobotArgument = Annotated[str, typer.Argument(help="Catalogue name, or path of a URDF or xacro file.", metavar="ROBOT")]
ClipsArgument = Annotated[list[str], typer.Argument(help="Motion files of any known format.", metavar="CLIP...")]
ModeOption = Annotated[str, typer.Option("--mode", help=f"One of {', '.join(MODES)}.")]
LookaheadOption = Annotated[float, typer.Option("--lookahead", help="How much of the reference is known ahead, in seconds.")]
OfflineOption = Annotated[bool, typer.Option("--offline", help="Try other settings where the robot falls.")]
OutOption = Annotated[str, typer.Option("--out", help="Write the filtered clips into this folder, as npz.")]
MapOption = Annotated[str, typer.Option("--map", help="YAML file: which column is which joint, and which nobody wants.")]
ReportOption = Annotated[str, typer.Option("--report", help="Write all figures into this JSON file.")]
EXAMPLES = """\b
Examples:
  humanoid-dynamics filter g1 walk.npz
  humanoid-dynamics filter g1 walk.npz kick.csv --offline --out filtered --report report.json
  humanoid-dynamics filter human28 walk.bvh --lookahead 0.6 --json
"""


def filter(  # noqa: PLR0913
    robot: RobotArgument,
    clips: ClipsArgument,
    mode: ModeOption = "balanced",
    lookahead: LookaheadOption = 0.8,
    offline: OfflineOption = False,
    out: OutOption = "",
    report: ReportOption = "",
    joints: MapOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make clips consistent: motion a robot can do with its motors, joints and feet, and the certificate that it can."""
    if not SHORTEST <= lookahead <= LONGEST:
        raise HumanoidDynamicsError(f"--lookahead: received {lookahead:g}, expected {SHORTEST:g} s to {LONGEST:g} s")
    if out and Path(out).exists() and not Path(out).is_dir():
        raise HumanoidDynamicsError(f"--out: {out!r} is a file, expected a folder")
    model = load_robot(robot)
    settings = replace(Settings(), lookahead=lookahead)
    joint_map = load_joint_map(Path(joints)) if joints else None
    facts = []
    for path in clips:
        clip = load_clip(Path(path), model, joint_map=joint_map)
        with show_progress(f"filtering {Path(path).name}") as bar:
            found = filter_clip(model, clip, mode, settings=settings, ladder=LADDER if offline else LADDER[:1], watch=bar.tell)
        if out:
            _write(found, Path(out) / f"{Path(path).stem}.npz")
        facts.append(clip_facts(path, clip, found))
    answer = {"robot": model.name, "mode": mode, "lookahead": lookahead, "delay": settings.lookahead, "clips": facts}
    if report:
        Path(report).write_text(json.dumps(answer, indent=2), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(answer, indent=2, allow_nan=False))
    else:
        _print(model, facts, make_console())
    if not all(one["after"]["finished"] for one in facts):
        raise typer.Exit(FELL)


def clip_facts(path: str, clip: Clip, found: FilteredClip) -> dict[str, Any]:
    """Tell what the filter did to a clip in plain data, ready for JSON: SI units."""
    after = {key: _plain(value) for key, value in asdict(found.verdict).items()}
    return {
        "clip": path,
        "seconds": clip.duration,
        "before": asdict(score_motion(clip)),
        "after": after,
        "false_alarms": asdict(_alarms(found, clip)),
        "attempt": found.attempt.name,
        "attempts": {name: verdict.finished for name, verdict in found.verdicts.items()},
    }


def _alarms(found: FilteredClip, clip: Clip) -> Score:
    return false_alarms(found.clip, clip.rate)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _write(found: FilteredClip, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_npz(build_recording(found.clip), path)


def _print(robot: RobotModel, facts: list[dict[str, Any]], console: Console) -> None:
    heads = ("clip", "finished", "impossible before", "in limits", "residual", "joint rms", "CoM rms", "slip", "rungs", "us")
    rows = []
    for one in facts:
        after = one["after"]
        finished = "yes" if after["finished"] else f"fell at {after['fell']:.2f} s"
        finished += "" if one["attempt"] == LADDER[0].name else f" ({one['attempt']})"
        before = f"{100 * one['before']['impossible']:.0f} % ({100 * one['false_alarms']['impossible']:.0f} % false alarm)"
        rows.append(
            (
                Path(one["clip"]).stem,
                finished,
                before,
                f"{100 * after['all_limits']:.1f} %",
                f"{after['residual']:.0e}",
                f"{np.rad2deg(after['joint_rms']):.1f} deg",
                f"{100 * after['com_rms']:.1f} cm",
                f"{1e3 * after['slip']:.0f} mm",
                ", ".join(f"{name} {count}" for name, count in after["rungs"].items()),
                f"{after['microseconds']:.0f}",
            )
        )
    console.print(make_table(f"{robot.name}", heads, rows))
    for one in facts:
        for notice in one["after"]["notices"]:
            console.print(f"{Path(one['clip']).name}: {notice}", style="yellow", markup=False)
