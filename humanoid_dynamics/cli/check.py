# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics check``: where, when and why a clip is impossible."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from humanoid_dynamics.cli.names import CUTOFF
from humanoid_dynamics.cli.options import (
    ConfigOption,
    FpsOption,
    JointMapOption,
    JointOrderOption,
    JsonOption,
    RobotArgument,
)
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import ClipError, HumanoidDynamicsError

if TYPE_CHECKING:
    from humanoid_dynamics.motion.clip import Clip
    from humanoid_dynamics.motion.clip_check import ClipReport


SHOWN = 12
MATCHED = "this clip filtered"
FILTERING = 0.6  # of the work, where false alarms are measured
DESCRIPTIONS = ("", ".urdf", ".xacro", ".xml")  # how names and files of robots end
ClipArgument = Annotated[str, typer.Argument(help="Motion file.", metavar="CLIP")]
CutoffOption = Annotated[
    float,
    typer.Option(
        "--cutoff",
        help="Cut-off of the low-pass before differentiation, for clips without velocities [Hz].",
    ),
]
MotionOption = Annotated[
    str, typer.Option("--motion", help="Name of the motion in a library of several.")
]
ControlOption = Annotated[
    bool,
    typer.Option(
        "--control/--no-control", help="Whether to measure the false-alarm rate on feasible motion."
    ),
]
FilteredOption = Annotated[
    bool,
    typer.Option(
        "--filtered-control/--no-filtered-control",
        help="Whether to filter the clip, too, and measure the false-alarm rate on the result.",
    ),
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics check g1 walk.npz
  humanoid-dynamics check g1 walk.npz --filtered-control
  humanoid-dynamics check g1 dance.csv --fps 30 --json
"""


def check(  # noqa: PLR0913
    robot: RobotArgument,
    clip: ClipArgument,
    *,
    cutoff: CutoffOption = CUTOFF,
    fps: FpsOption = 0.0,
    joints: JointMapOption = "",
    joint_order: JointOrderOption = "",
    motion_name: MotionOption = "",
    control: ControlOption = True,
    filtered_control: FilteredOption = False,
    config: ConfigOption = "",
    as_json: JsonOption = False,
) -> None:
    """Check the physical feasibility of a motion clip and report violations with their false-alarm rate."""
    from humanoid_dynamics.model.load import load_robot
    from humanoid_dynamics.model.reading.catalogue import find_description
    from humanoid_dynamics.motion.clip_check import check_clip
    from humanoid_dynamics.motion.formats.mapping import load_joint_map
    from humanoid_dynamics.motion.load import load_clip

    if Path(robot.split()[0] if robot.split() else "").suffix.lower() not in DESCRIPTIONS:
        robot, clip = clip, robot  # the other way round is understood too
    if not 0.0 < cutoff < 1e3:
        raise HumanoidDynamicsError(
            f"--cutoff: received {cutoff:g}, expected a frequency between 0 and 1000 Hz"
        )
    if not Path(clip).exists():
        raise ClipError(clip, "no such file")
    loaded = load_robot(robot, description=find_description(config))
    joint_map = load_joint_map(Path(joints)) if joints else None
    motion = load_clip(
        Path(clip),
        loaded,
        joint_map=joint_map,
        fps=fps or None,
        joint_order=joint_order,
        motion=motion_name,
    )
    with show_progress(f"checking {Path(clip).name}") as bar:
        filtered = control and filtered_control
        made = _filter_clip(motion, lambda share: bar.tell(FILTERING * share)) if filtered else None
        begun = FILTERING if filtered else 0.0
        others = {MATCHED: made} if made else {}
        report = check_clip(
            motion,
            cutoff=cutoff,
            control=control,
            others=others,
            watch=lambda share: bar.tell(begun + (1.0 - begun) * share),
        )
    facts = report_facts(report)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        _print(facts, make_console())


def _filter_clip(motion: "Clip", watch: Callable[[float], None]) -> "Clip | None":
    """Return a clip after the filter; the filter is imported, and compiled, only where it is asked for."""
    from humanoid_dynamics.filtering.matched_control import make_matched_control

    return make_matched_control(motion, watch)


def report_facts(report: "ClipReport") -> dict[str, Any]:
    """Tell a report in plain data, ready for JSON: SI units."""
    return {
        "robot": report.robot.name,
        "clip": report.origin,
        "seconds": report.seconds,
        "frames": report.frames,
        "ground": report.level,
        "cutoff": report.smoothed,
        "impossible": report.impossible,
        "false_alarms": report.false_alarms or None,
        "alarms": report.alarms,
        "shares": report.shares,
        "notices": list(report.notices),
        "doubtful": report.doubtful,
        "findings": [asdict(finding) for finding in report.findings],
    }


def _print(facts: dict[str, Any], console: Console) -> None:
    from humanoid_dynamics.motion.checking.findings import KINDS

    console.print(
        f"[bold]{facts['clip']}[/]  {facts['seconds']:.2f} s, {facts['frames']} frames, on {facts['robot']}",
        highlight=False,
    )
    for notice in facts["notices"]:
        console.print(f"note: {notice}", markup=False)
    alarms = ", ".join(
        f"{kind} {100 * shares['impossible']:.1f} %" for kind, shares in facts["alarms"].items()
    )
    beside = alarms or "not measured, or no motion could be made to compare with"
    console.print(
        f"no forces within the limits make {100 * facts['impossible']:.1f} % of the frames; false alarms on possible motion: {beside}"
    )
    if facts["doubtful"]:
        console.print(
            f"limits differ between left and right and are not judged: {', '.join(facts['doubtful'])}",
            highlight=False,
        )
    rates = facts["false_alarms"] or {}
    rows = [
        (
            KINDS[kind],
            f"{100 * share:.1f} %",
            f"{100 * rates[kind]:.1f} %" if kind in rates else "not measured",
        )
        for kind, share in facts["shares"].items()
        if share > 0.0
    ]
    if rows:
        console.print()
        print_table(
            console, "what is wrong", ("", "share of the frames", "false alarms, at most"), rows
        )
        console.print()
    kinds = {kind: [f for f in facts["findings"] if f["kind"] == kind] for kind in KINDS}
    for found in kinds.values():
        for finding in sorted(found, key=lambda f: -f["value"])[:SHOWN]:
            console.print(
                f"{finding['text']} ({finding['start']:.2f} to {finding['end']:.2f} s)",
                markup=False,
                highlight=False,
            )
        if len(found) > SHOWN:
            console.print(
                f"... and {len(found) - SHOWN} more of this kind; --json lists all", style="dim"
            )
