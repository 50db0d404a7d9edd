# SPDX-License-Identifier: Apache-2.0
"""Many clips for ``humanoid-dynamics filter``: folders, patterns, processes, clusters, and one table for all."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from rich.console import Console

from humanoid_dynamics.cli.filter_table import BESIDE, HEADS, compare, figures
from humanoid_dynamics.cli.interrupt import STOPPED, hear_interrupt
from humanoid_dynamics.cli.progress import show_progress
from humanoid_dynamics.cli.tables import make_console, print_table
from humanoid_dynamics.errors import HumanoidDynamicsError

if TYPE_CHECKING:
    from humanoid_dynamics.filtering.batches.clean import CleanJob
    from humanoid_dynamics.filtering.batches.job import FilterJob
    from humanoid_dynamics.filtering.batches.task import ClipOutcome


NOT_PRESERVED, REFUSED = 1, 2  # exit statuses
SHOWN = 40  # rows a person reads; where there are more, those that finished are only counted


class BatchOptions(NamedTuple):
    """Options of the command for a batch."""

    jobs: int
    dask: str
    overwrite: bool
    out: str
    report: str
    as_json: bool


def is_batch(clips: Sequence[str], options: BatchOptions) -> bool:
    """Return whether there is more to do than one motion of a file in this process."""
    from humanoid_dynamics.motion.formats.pickle_file import list_motions

    return (
        len(clips) > 1
        or options.jobs != 1
        or bool(options.dask)
        or options.overwrite
        or not Path(clips[0]).is_file()
        or len(list_motions(Path(clips[0]))) > 1
    )


def filter_many(
    job: "FilterJob | CleanJob", sources: Sequence[str], options: BatchOptions
) -> "tuple[tuple[ClipOutcome, ...], float]":
    """Filter clips as a batch; return what became of them, and the seconds it took.  Stopped from the keyboard, exit with 130."""
    from humanoid_dynamics.filtering.batches.batch import filter_clips
    from humanoid_dynamics.filtering.batches.clips import find_clips

    out = Path(options.out) if options.out else None
    clips = find_clips(sources, results=out, ending=job.ending)
    began, done = monotonic(), [0]
    with hear_interrupt() as look, show_progress(f"filtering {len(clips)} clips") as bar:

        def watch(ended: int, wanted: int) -> None:
            look()
            done[0] = ended + len(clips) - wanted
            bar.tell(ended / wanted if wanted else 1.0)

        try:
            outcomes = filter_clips(
                job,
                clips,
                jobs=options.jobs,
                cluster=options.dask,
                out=out,
                overwrite=options.overwrite,
                watch=watch,
            )
        except KeyboardInterrupt as stop:
            bar.stop()
            kept = (
                "the same command without --overwrite continues"
                if options.out
                else "no results were kept, because --out was not given"
            )
            typer.echo(f"stopped: {done[0]} of {len(clips)} clips were done; {kept}", err=True)
            raise typer.Exit(STOPPED) from stop
    return outcomes, monotonic() - began


def tell(
    outcomes: "Sequence[ClipOutcome]",
    options: BatchOptions,
    facts: dict[str, Any],
    seconds: float,
    *,
    where: str = "",
) -> None:
    """Print and write what became of clips and where they are, and exit with 1 where one is not preserved, with 2 where one was refused."""
    from humanoid_dynamics.filtering.batches.table import (
        STATES,
        name_state,
        tell_outcome,
        write_table,
    )

    delay = max(
        (outcome.facts["after"].get("delay", 0.0) for outcome in outcomes if not outcome.problem),
        default=None,
    )
    answer = {
        **facts,
        "delay": delay,
        "counts": _count(outcomes),
        "clips": [tell_outcome(outcome) for outcome in outcomes],
    }
    if options.report:
        Path(options.report).absolute().parent.mkdir(exist_ok=True)
    if options.report.endswith(".csv"):
        write_table(outcomes, Path(options.report))
    elif options.report:
        Path(options.report).write_text(
            json.dumps(answer, indent=2, allow_nan=False), encoding="utf-8"
        )
    if options.as_json:
        typer.echo(json.dumps(answer, indent=2, allow_nan=False))
    else:
        _print(str(facts["robot"]), outcomes, seconds, make_console())
        typer.echo(where, nl=False)
    if any(outcome.problem for outcome in outcomes):
        raise typer.Exit(REFUSED)
    if any(name_state(outcome) != STATES[0] for outcome in outcomes):
        raise typer.Exit(NOT_PRESERVED)


def check_folder(option: str, path: str, made: str = "") -> None:
    """Refuse a file to write whose folder does not exist and is not the one that is made, before hours of work go into it."""
    folder = Path(path).absolute().parent
    if path and not (folder.is_dir() or (made and folder == Path(made).absolute())):
        raise HumanoidDynamicsError(f"{option}: no such folder: {str(Path(path).parent)!r}")


def _count(outcomes: "Sequence[ClipOutcome]") -> dict[str, int]:
    from humanoid_dynamics.filtering.batches.table import STATES, name_state

    counted = Counter(name_state(outcome) for outcome in outcomes)
    return {
        **{state: counted[state] for state in STATES},
        "done_before": sum(outcome.before for outcome in outcomes),
    }


def _print(robot: str, outcomes: "Sequence[ClipOutcome]", seconds: float, console: Console) -> None:
    from humanoid_dynamics.filtering.batches.table import STATES, name_state

    shown = [o for o in outcomes if len(outcomes) <= SHOWN or name_state(o) != STATES[0]]
    good = [(o.task.name, *figures(o.facts)) for o in shown if not o.problem]
    if len(good) == 1:
        facts = next(o.facts for o in shown if not o.problem)
        print_table(console, f"{good[0][0]} on {robot}", BESIDE, compare(facts))
    elif good:
        print_table(console, robot, HEADS, good)
    for outcome in shown:
        if outcome.problem:
            console.print(
                f"{outcome.task.name}: {outcome.problem}",
                style="red",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
    for notice, times in Counter(
        notice for o in shown if not o.problem for notice in o.facts["after"]["notices"]
    ).items():
        console.print(
            f"{notice} ({times} clips)" if times > 1 else notice, style="yellow", markup=False
        )
    if len(outcomes) == 1:
        return
    counts = _count(outcomes)
    before = f"; {counts['done_before']} were done before" if counts["done_before"] else ""
    told = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    console.print(f"{len(outcomes)} clips in {seconds:.1f} s: {told}{before}", highlight=False)
