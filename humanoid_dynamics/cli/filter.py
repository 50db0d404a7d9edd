# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics filter``: motion clips to consistent motion, with a table of before and after."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import os
import shlex
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from humanoid_dynamics.cli.filter_batch import (
    BatchOptions,
    check_folder,
    filter_many,
    is_batch,
    tell,
)
from humanoid_dynamics.cli.filter_pictures import Pictures, check_pictures, draw_pictures
from humanoid_dynamics.cli.names import MODES
from humanoid_dynamics.cli.options import FpsOption, JointMapOption, JointOrderOption, JsonOption
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.errors import HumanoidDynamicsError

if TYPE_CHECKING:
    from humanoid_dynamics.filtering.settings import Settings
    from humanoid_dynamics.motion.formats.mapping import JointMap
    from humanoid_dynamics.spatial.arrays import Vector

    How = tuple[str, Settings, bool, JointMap | None, Vector | None, float | None]

SHORTEST, LONGEST = 0.005, 5.0  # s of look-ahead; a tick at least
TURN = 6.3  # rad; once around

RobotArgument = Annotated[
    str, typer.Argument(help="Catalogue name, or path of a URDF or xacro file.", metavar="ROBOT")
]
ClipsArgument = Annotated[
    list[str], typer.Argument(help="Motion files, folders or glob patterns.", metavar="CLIP...")
]
ModeOption = Annotated[str, typer.Option("--mode", help=f"Tracking law: {', '.join(MODES)}.")]
LookaheadOption = Annotated[float, typer.Option("--lookahead", help="Look-ahead horizon [s].")]
OfflineOption = Annotated[
    bool, typer.Option("--offline", help="Retry with other settings if the robot falls.")
]
OutOption = Annotated[
    str, typer.Option("--out", help="Output folder of the filtered clips, as npz.")
]
ReportOption = Annotated[
    str, typer.Option("--report", help="Report file: a table if it ends in .csv, else JSON.")
]
JobsOption = Annotated[
    int, typer.Option("--jobs", min=0, help="Number of parallel processes; 0 for one per core.")
]
DaskOption = Annotated[
    str,
    typer.Option(
        "--dask", help="Run on the cluster of this dask.distributed scheduler.", metavar="ADDRESS"
    ),
]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Filter all clips and replace earlier results in --out.")
]
PictureOption = Annotated[
    str,
    typer.Option(
        "--picture", help="PNG file with feet, centre of mass and ZMP before and after filtering."
    ),
]
FilmOption = Annotated[
    str, typer.Option("--film", help="Animated GIF of the clip before and after filtering.")
]
SlopeOption = Annotated[
    float,
    typer.Option(
        "--slope", help="Inclination of the ground, rising in the direction of --uphill [rad]."
    ),
]
UphillOption = Annotated[
    float,
    typer.Option("--uphill", help="Direction in which the ground rises, from the x axis [rad]."),
]
ToeRollOption = Annotated[
    bool,
    typer.Option(
        "--toe-roll",
        help="Let soles roll over their front edge before lift-off, for longer strides.",
    ),
]
SensitivityOption = Annotated[
    bool,
    typer.Option(
        "--sensitivity",
        help="Filter each clip under five small perturbations too; it is preserved if four of them are.",
    ),
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics filter g1 walk.npz
  humanoid-dynamics filter g1 walk.npz kick.csv --offline --out filtered --report report.json
  humanoid-dynamics filter g1 walk.npz --picture walk.png --film walk.gif
  humanoid-dynamics filter human28 walk.bvh --lookahead 0.6 --json
  humanoid-dynamics filter g1 walk.npz --toe-roll --out filtered
  humanoid-dynamics filter g1 walk.npz --sensitivity
  humanoid-dynamics filter g1 lafan1/*.csv --fps 30 --out filtered
  humanoid-dynamics filter g1 uphill.npz --slope 0.087 --out filtered
  humanoid-dynamics filter g1 clips/ "more/**/*.csv" --jobs 4 --out filtered --report table.csv
"""


def filter(  # noqa: PLR0913
    robot: RobotArgument,
    clips: ClipsArgument,
    mode: ModeOption = "balanced",
    lookahead: LookaheadOption = 0.8,
    offline: OfflineOption = False,
    out: OutOption = "",
    report: ReportOption = "",
    joints: JointMapOption = "",
    jobs: JobsOption = 1,
    dask: DaskOption = "",
    overwrite: OverwriteOption = False,
    picture: PictureOption = "",
    film: FilmOption = "",
    slope: SlopeOption = 0.0,
    uphill: UphillOption = 0.0,
    toe_roll: ToeRollOption = False,
    fps: FpsOption = 0.0,
    joint_order: JointOrderOption = "",
    sensitivity: SensitivityOption = False,
    as_json: JsonOption = False,
) -> None:
    """Filter motion clips to feasible motion of a robot, and certify contact forces, torques and joint limits."""
    from humanoid_dynamics.filtering.batches.job import build_job
    from humanoid_dynamics.filtering.settings import Settings
    from humanoid_dynamics.motion.formats.mapping import load_joint_map

    if not SHORTEST <= lookahead <= LONGEST:
        raise HumanoidDynamicsError(
            f"--lookahead: received {lookahead:g}, expected {SHORTEST:g} s to {LONGEST:g} s"
        )
    if out and Path(out).exists() and not Path(out).is_dir():
        raise HumanoidDynamicsError(f"--out: {out!r} is a file, expected a folder")
    check_folder("--report", report, made=out)
    normal = _check_slope(slope, uphill)
    pictures = Pictures(picture, film)
    check_pictures(pictures)
    settings = replace(Settings(), lookahead=lookahead, toe_roll=toe_roll)
    joint_map = load_joint_map(Path(joints)) if joints else None
    options = BatchOptions(jobs, dask, overwrite, out, report, as_json)
    if is_batch(clips, options):
        if any(pictures):
            raise HumanoidDynamicsError(
                "--picture and --film: received more than one clip, expected one file and one process"
            )
        job = build_job(
            robot,
            mode=mode,
            settings=settings,
            offline=offline,
            joint_map=joint_map,
            normal=normal,
            fps=fps or None,
            sensitivity=sensitivity,
            joint_order=joint_order,
        )
        outcomes, seconds = filter_many(job, clips, options)
        tell(outcomes, options, {"robot": job.name, **_about(mode, settings, normal)}, seconds)
        return
    _filter_one(
        robot,
        clips[0],
        (mode, settings, offline, joint_map, normal, fps or None, sensitivity, joint_order),
        options,
        pictures,
    )


def _check_slope(slope: float, uphill: float) -> "Vector | None":
    """Return the normal of the ground; None where it is level."""
    from humanoid_dynamics.filtering.slope import STEEPEST_SLOPE, normal_of

    if not abs(slope) <= STEEPEST_SLOPE:
        raise HumanoidDynamicsError(
            f"--slope: received {slope:g}, expected {-STEEPEST_SLOPE:g} to {STEEPEST_SLOPE:g} rad"
        )
    if not abs(uphill) <= TURN:
        raise HumanoidDynamicsError(
            f"--uphill: received {uphill:g}, expected {-TURN:g} to {TURN:g} rad"
        )
    if uphill and not slope:
        raise HumanoidDynamicsError("--uphill: received a direction and no --slope, expected both")
    return normal_of(slope, uphill) if slope else None


def _about(mode: str, settings: "Settings", normal: "Vector | None") -> dict[str, Any]:
    ground = [0.0, 0.0, 1.0] if normal is None else normal.tolist()
    return {
        "mode": mode,
        "lookahead": settings.lookahead,
        "toe_roll": settings.toe_roll,
        "normal": ground,
    }


def _filter_one(
    robot: str,
    source: str,
    how: "tuple[str, Settings, bool, JointMap | None, Vector | None, float | None, bool, str]",
    options: BatchOptions,
    pictures: Pictures,
) -> None:
    """Filter one file in this process, and draw it where that is wanted."""
    from humanoid_dynamics.filtering.batches.clips import find_clips
    from humanoid_dynamics.filtering.batches.store import place_result
    from humanoid_dynamics.filtering.batches.task import ClipOutcome, ClipTask
    from humanoid_dynamics.filtering.clip_facts import clip_facts
    from humanoid_dynamics.filtering.clip_filter import LADDER, filter_clip
    from humanoid_dynamics.filtering.filtered_recording import build_filtered_recording
    from humanoid_dynamics.filtering.slope import GroundSlope
    from humanoid_dynamics.model.load import load_robot
    from humanoid_dynamics.motion.formats.npz_file import write_npz
    from humanoid_dynamics.motion.load import load_clip

    (mode, settings, offline, joint_map, normal, fps, sensitivity, joint_order), out = (
        how,
        options.out,
    )
    model, path = load_robot(robot), Path(source)
    result = find_clips([source], results=Path(out))[0].name if out else ""
    if out:
        _make_folder(out)
    began = monotonic()
    clip = load_clip(path, model, joint_map=joint_map, fps=fps, joint_order=joint_order)
    slope = None if normal is None else GroundSlope(model, normal)
    ladder = LADDER if offline else LADDER[:1]
    with show_progress(f"filtering {path.name}") as bar:
        found = filter_clip(
            model,
            clip,
            mode,
            settings=settings,
            ladder=ladder,
            watch=bar.tell,
            normal=normal,
            sensitivity=sensitivity,
        )
    draw_pictures(pictures, clip, found, slope)
    written = ""
    if out:
        finished = found.report.finished
        place, stale = (
            place_result(Path(out), result, rejected=rejected)
            for rejected in (not finished, finished)
        )
        write_npz(build_filtered_recording(found), place)
        stale.unlink(missing_ok=True)
        written = str(place)
    outcome = ClipOutcome(ClipTask(path.stem, path, ""), clip_facts(str(path), clip, found, slope))
    about = {"robot": model.name, **_about(mode, settings, normal), **pictures._asdict()}
    where = "" if options.as_json else _tell_where(pictures, robot, written)
    tell([outcome], options, about, monotonic() - began, where=where)


def _make_folder(out: str) -> None:
    """Make the folder of results; refuse one nobody can write, before minutes of work go into it."""
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise HumanoidDynamicsError(f"--out: {cause}") from cause
    if not os.access(out, os.W_OK | os.X_OK):
        raise HumanoidDynamicsError(f"--out: nothing can be written into {out!r}")


def _tell_where(pictures: Pictures, robot: str, written: str) -> str:
    """Say which files there are, and how to see the motion itself."""
    lines = [f"wrote {path}\n" for path in (written, *pictures) if path]
    if written:
        lines.append(
            f"to see it in a browser: humanoid-dynamics view {shlex.quote(written)} --robot {shlex.quote(robot)}\n"
        )
    return "".join(lines)
