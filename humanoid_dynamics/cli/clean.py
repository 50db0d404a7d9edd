# SPDX-License-Identifier: Apache-2.0
"""``humanoid-dynamics clean``: a data set of clips to feasible clips in the format of a trainer."""

# No postponed annotations here: older typer, such as Ubuntu 24.04's, finds no options in them.

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from humanoid_dynamics.cli.filter import DaskOption, JobsOption, OfflineOption, OverwriteOption
from humanoid_dynamics.cli.filter_batch import (
    NOT_PRESERVED,
    REFUSED,
    SHOWN,
    BatchOptions,
    filter_many,
)
from humanoid_dynamics.cli.options import FpsOption, JointMapOption, JointOrderOption, JsonOption
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError

if TYPE_CHECKING:
    from humanoid_dynamics.filtering.batches.task import ClipOutcome

HEADS = ("rank", "clip", "state", "feasibility before", "after", "verdict")
SourcesArgument = Annotated[
    list[str], typer.Argument(help="Folders, motion files or glob patterns.", metavar="DIR...")
]
RobotOption = Annotated[
    str, typer.Option("--robot", help="Catalogue name, or path of a URDF or xacro file.")
]
ToOption = Annotated[
    str,
    typer.Option(
        "--to",
        help="Format: npz, csv, gmr, mjlab, beyondmimic, lafan1, holosoma or motion_lib.",
        metavar="FORMAT",
    ),
]
OutOption = Annotated[str, typer.Option("--out", help="Output folder of clips and table.")]
RateOption = Annotated[
    float,
    typer.Option(
        "--sample-rate",
        min=0.0,
        help="Frames per second of the results [Hz]; 0 for the usual rate of the format.",
    ),
]
PieceOption = Annotated[
    float,
    typer.Option(
        "--piece",
        min=0.0,
        help="Longest clip that stays whole; longer ones are cut where they move least [s]; 0 for none.",
    ),
]
EXAMPLES = """\b
Examples:
  humanoid-dynamics clean lafan1/ --robot g1 --to mjlab --fps 30 --out cleaned
  humanoid-dynamics clean retargeted/ --robot g1 --to gmr --jobs 2 --out cleaned
  humanoid-dynamics clean clips/ --robot g1.urdf --to motion_lib --sample-rate 50 --out cleaned
  humanoid-dynamics clean /shared/clips --robot g1 --to mjlab --dask tcp://head:8786 --out /shared/cleaned
"""


def clean(  # noqa: PLR0913
    sources: SourcesArgument,
    robot: RobotOption,
    to: ToOption = "npz",
    out: OutOption = "cleaned",
    rate: RateOption = 0.0,
    piece: PieceOption = 60.0,
    fps: FpsOption = 0.0,
    joints: JointMapOption = "",
    joint_order: JointOrderOption = "",
    offline: OfflineOption = False,
    jobs: JobsOption = 1,
    dask: DaskOption = "",
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
) -> None:
    """Clean a data set: score each clip, filter it, score it again, and write it in the format of a trainer."""
    from humanoid_dynamics.filtering.batches.clean import CleanJob, tell_cleaned
    from humanoid_dynamics.filtering.batches.job import build_job
    from humanoid_dynamics.filtering.batches.table import name_state
    from humanoid_dynamics.motion.formats.mapping import load_joint_map
    from humanoid_dynamics.motion.save import find_writable_format

    find_writable_format(to)
    if Path(out).exists() and not Path(out).is_dir():
        raise HumanoidDynamicsError(f"--out: {out!r} is a file, expected a folder")
    job = build_job(
        robot,
        offline=offline,
        joint_map=load_joint_map(Path(joints)) if joints else None,
        fps=fps or None,
        joint_order=joint_order,
    )
    options = BatchOptions(jobs, dask, overwrite, out, "", as_json)
    outcomes, seconds = filter_many(CleanJob(job, to, rate or None, piece), sources, options)
    rows = tell_cleaned(outcomes)
    for row, outcome in zip(rows, outcomes, strict=True):
        row["state"] = name_state(outcome)
    written = write_rows(rows, Path(out))
    if as_json:
        typer.echo(json.dumps({"robot": job.name, "to": to, "clips": rows}, indent=2))
    else:
        _print(rows, outcomes, seconds, make_console())
        typer.echo(f"wrote {written}")
    if any(outcome.problem for outcome in outcomes):
        raise typer.Exit(REFUSED)
    if any(row["state"] != "preserved" for row in rows):
        raise typer.Exit(NOT_PRESERVED)


def write_rows(rows: Sequence[dict[str, Any]], out: Path) -> Path:
    """Write the table of a data set, one row a clip, and return its path.

    Args:
        rows: The rows, see ``tell_cleaned``.
        out: Folder of the results.
    """
    from humanoid_dynamics.filtering.batches.clean import COLUMNS
    from humanoid_dynamics.filtering.batches.store import TABLE

    path = out / TABLE
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def _print(
    rows: Sequence[dict[str, Any]],
    outcomes: "Sequence[ClipOutcome]",
    seconds: float,
    console: Console,
) -> None:
    done = sorted((row for row in rows if "rank" in row), key=lambda row: int(row["rank"]))
    if done:
        print_table(console, "", HEADS, [_cells(row) for row in done[:SHOWN]])
    if len(done) > SHOWN:
        console.print(f"{len(done) - SHOWN} more clips are in the table", highlight=False)
    for row in rows:
        if row.get("problem"):
            console.print(
                f"{row['clip']}: {row['problem']}", style="red", markup=False, soft_wrap=True
            )
    motion, before = (
        sum(float(row.get("seconds", 0.0)) for row in rows),
        sum(outcome.before for outcome in outcomes),
    )
    told = f"; {before} were done before" if before else ""
    console.print(
        f"{len(rows)} clips, {motion:.0f} s of motion, in {seconds:.1f} s{told}", highlight=False
    )


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    before, after = (f"{row[name]:.2f}" for name in ("feasibility_before", "feasibility_after"))
    return (str(row["rank"]), row["clip"], row["state"], before, after, row["verdict"])
