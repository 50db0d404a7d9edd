# SPDX-License-Identifier: Apache-2.0
"""Many clips: on processes of this machine or on a cluster, resumable, failures collected, nothing lost and nothing done twice."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path

from humanoid_dynamics.errors import BatchError
from humanoid_dynamics.filtering.batches.clean import CleanJob
from humanoid_dynamics.filtering.batches.clips import BatchClip
from humanoid_dynamics.filtering.batches.cluster import run_on_cluster
from humanoid_dynamics.filtering.batches.job import FilterJob, build_tasks
from humanoid_dynamics.filtering.batches.store import Store
from humanoid_dynamics.filtering.batches.task import ClipOutcome, ClipTask, Job, StoredJob
from humanoid_dynamics.filtering.batches.workers import run_on_workers

Watch = Callable[[int, int], None]
"""Told how many clips have ended and how many there are to do, a few times a second."""


def filter_clips(
    job: FilterJob | CleanJob,
    clips: Sequence[BatchClip],
    *,
    jobs: int = 1,
    cluster: str = "",
    out: Path | None = None,
    overwrite: bool = False,
    watch: Watch | None = None,
) -> tuple[ClipOutcome, ...]:
    """Filter many clips.

    Args:
        job: How, see ``build_job`` and ``CleanJob``.
        clips: The clips, see ``find_clips``.
        jobs: Number of processes; one per core where 0.
        cluster: Scheduler of dask.distributed instead, whose workers see the same files.
        out: Folder of the results; without one nothing is written and nothing remembered.
        overwrite: Whether to replace earlier results.
        watch: Told how far the batch is.

    Returns:
        What became of each clip, in order.
    """
    store = None if out is None else Store(Path(os.path.abspath(out)), job.ending)
    return run_batch(
        job,
        build_tasks([part for clip in clips for part in job.split(clip)], job.key),
        jobs=jobs,
        cluster=cluster,
        store=store,
        overwrite=overwrite,
        watch=watch,
    )


def run_batch(
    job: Job,
    tasks: Sequence[ClipTask],
    *,
    jobs: int = 1,
    cluster: str = "",
    store: Store | None = None,
    overwrite: bool = False,
    watch: Watch | None = None,
) -> tuple[ClipOutcome, ...]:
    """Do a job to many clips; one that fails, or ends the process it runs in, stops no other.

    A clip that ended three processes is a failure.  What was done is done, however this ends: called once more it goes on from there, and
    what failed is tried once more.

    Args:
        job: What is done to each.
        tasks: The clips, each with a name of its own.
        jobs: Number of processes; one per core where 0.
        cluster: Scheduler of dask.distributed instead, whose workers see the same files.
        store: The folder of results; without one nothing is remembered.
        overwrite: Whether to replace earlier results.
        watch: Told how far the batch is.

    Returns:
        What became of each clip, in order.

    Raises:
        BatchError: If two clips have one name, the number of processes is none, or another batch writes into the same folder.
    """
    twice = [name for name, times in Counter(task.name for task in tasks).items() if times > 1]
    if twice:
        raise BatchError(
            f"more than one clip is called {twice[0]!r}; their results would have the same path"
        )
    if jobs < 0:
        raise BatchError(
            f"jobs: received {jobs}, expected a number of processes, or 0 for one per core"
        )
    with store.hold() if store is not None else nullcontext():
        done = {} if overwrite else _recall(tasks, store)
        wanted = [task for task in tasks if task.name not in done]
        if overwrite and store is not None:
            for task in wanted:
                store.forget(task.name)
        stored = StoredJob(job, store)
        beat = _Beat(len(wanted), watch)
        if cluster and wanted:  # noqa: SIM108
            running = run_on_cluster(stored, wanted, cluster, beat)
        else:
            running = run_on_workers(stored, wanted, jobs or count_cores(), beat)
        ended = {}
        with closing(running):
            for outcome in running:
                ended[outcome.task.name] = outcome
                beat.ended += 1
        beat()
    return tuple(done.get(task.name) or ended[task.name] for task in tasks)


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


class _Beat:
    """Counts what has ended, and tells."""

    def __init__(self, total: int, watch: Watch | None) -> None:
        self.ended = 0
        self._total, self._watch = total, watch

    def __call__(self) -> None:
        if self._watch is not None:
            self._watch(self.ended, self._total)


def _recall(tasks: Sequence[ClipTask], store: Store | None) -> dict[str, ClipOutcome]:
    """Return what is done already."""
    if store is None:
        return {}
    found = {task.name: (task, store.find(task.name, task.key)) for task in tasks}
    return {
        name: ClipOutcome(task, facts, before=True)
        for name, (task, facts) in found.items()
        if facts is not None
    }
