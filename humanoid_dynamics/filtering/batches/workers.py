# SPDX-License-Identifier: Apache-2.0
"""The clips of a batch on processes of this machine, any of which may be killed at any time.

A worker holds one task at a time and one end of a pipe.  Whatever ends it closes the pipe: the task it held goes to the next worker, and a
new worker takes the place.  A pool of the standard library gives up there.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from humanoid_dynamics.errors import BatchError
from humanoid_dynamics.filtering.batches.task import ClipOutcome, ClipTask
from humanoid_dynamics.program import BLAS_VARIABLES

TRIES = 3  # workers that may end over one task
FALSE_STARTS = 3  # workers in a row that may end before they are ready
BEAT = 0.2  # s
LAST = 5.0  # s a worker has to end by itself
READY = "ready"

StoredCall = Callable[[ClipTask], ClipOutcome]


def run_on_workers(
    job: StoredCall, tasks: Sequence[ClipTask], jobs: int, beat: Callable[[], None] | None = None
) -> Generator[ClipOutcome, None, None]:
    """Do tasks on processes; where one ends half way its task is done by another.

    Args:
        job: What is done to each; can be pickled, and its module imported without harm.
        tasks: The tasks.
        jobs: Number of processes.
        beat: Called a few times a second.

    Yields:
        What became of each task, once each, as they end.  No worker is left when this ends, however it ends.
    """
    crew = _Crew(job, tasks)
    try:
        while crew.left:
            crew.fill(jobs)
            yield from crew.collect()
            if beat is not None:
                beat()
    finally:
        crew.stop()


class _Worker:
    """A process, our end of its pipe, and the task it holds."""

    def __init__(self, job: StoredCall) -> None:
        context = get_context("spawn")
        self.pipe, far = context.Pipe()
        self.task: ClipTask | None = None
        self.ready = False
        self.process: BaseProcess = context.Process(target=_serve, args=(far, job), daemon=True)
        with far, _quiet_start():
            self.process.start()

    def give(self, task: ClipTask) -> bool:
        """Hand over a task; return whether that worked."""
        try:
            self.pipe.send(task)
        except OSError:
            return False
        self.task = task
        return True

    def take(self) -> ClipOutcome | str | None:
        """Return what the worker says, None where it has ended."""
        try:
            said: ClipOutcome | str = self.pipe.recv()
        except (EOFError, OSError):
            return None
        return said

    def bury(self) -> str:
        """Make sure that the worker has ended, and tell how it did."""
        self.pipe.close()
        self.process.join(LAST)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


class _Crew:
    """The workers, the tasks that wait, and how often each was begun."""

    def __init__(self, job: StoredCall, tasks: Sequence[ClipTask]) -> None:
        self.left = len(tasks)
        self._job = job
        self._waiting = deque((task, 1) for task in tasks)
        self._tries: dict[str, int] = {}
        self._workers: list[_Worker] = []
        self._false_starts = 0

    def fill(self, jobs: int) -> None:
        """Start workers that are missing, and give the free ones something to do."""
        while len(self._workers) < min(jobs, self.left):
            self._workers.append(_Worker(self._job))
        for worker in self._workers:
            if worker.ready and worker.task is None and self._waiting:
                task, tries = self._waiting.popleft()
                self._tries[task.name] = tries
                if not worker.give(task):
                    self._waiting.appendleft((task, tries))

    def collect(self) -> Iterator[ClipOutcome]:
        """Yield what has ended."""
        heard = set(wait([worker.pipe for worker in self._workers], BEAT))
        for worker in [worker for worker in self._workers if worker.pipe in heard]:
            said = worker.take()
            if said is None:
                yield from self._replace(worker)
            elif isinstance(said, ClipOutcome):
                worker.task = None
                self.left -= 1
                yield replace(said, tries=self._tries[said.task.name])
            else:
                worker.ready, self._false_starts = True, 0

    def _replace(self, worker: _Worker) -> Iterator[ClipOutcome]:
        """Take leave of a worker that has ended; its task waits again, unless it ended too many."""
        self._workers.remove(worker)
        how, task = worker.bury(), worker.task
        if not worker.ready:
            self._false_starts += 1
            if self._false_starts >= FALSE_STARTS:
                raise BatchError(
                    f"workers end before they begin ({how}); what is run must be a module that can be imported"
                )
        if task is None:
            return
        tries = self._tries[task.name]
        if tries < TRIES:
            self._waiting.appendleft((task, tries + 1))
            return
        self.left -= 1
        yield ClipOutcome(task, problem=f"ended {tries} workers, the last with {how}", tries=tries)

    def stop(self) -> None:
        """End all workers: free ones by themselves, busy ones now; what those were writing is not there."""
        for worker in self._workers:
            if worker.task is not None or not worker.ready:
                worker.process.terminate()
            worker.pipe.close()
        for worker in self._workers:
            worker.bury()
        self._workers.clear()


def _serve(pipe: Connection, job: StoredCall) -> None:
    """Do tasks until nobody wants more: the work of a worker.  An interrupt from the keyboard is for the one who started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with suppress(EOFError, OSError):
        pipe.send(READY)
        while True:
            pipe.send(job(pipe.recv()))


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Let a process begin with one thread for BLAS, and deaf to the keyboard until it has said what it does about it."""
    resource_tracker.ensure_running()  # or it would open the ears again half way
    missing = [variable for variable in BLAS_VARIABLES if variable not in os.environ]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.environ.update(dict.fromkeys(missing, "1"))
    try:
        yield
    finally:
        for variable in missing:
            del os.environ[variable]
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
