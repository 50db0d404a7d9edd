# SPDX-License-Identifier: Apache-2.0
"""Compile kernels ahead of time, in short-lived processes, two at a time, so that nodes only load them.

Compilation needs a gigabyte of memory and a minute of processor time once per machine and version.  What was compiled is remembered by
a mark, which holds until one of their files, numba, numpy, Python or the processor changes.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import IO

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.program import BLAS_VARIABLES
from humanoid_dynamics.status import StatusEnum

PROGRAM = "humanoid_dynamics.graphs.kernel_jobs"
ROBOT = "human28"  # whose kernels fit nearly every robot: sizes are no part of them
PROCESSES = 2
LOOK = 0.05  # s
PROGRESS_PERIOD = 5.0  # s; between log lines
NEARLY = 0.95  # share of its expected time that an unfinished job counts for
CACHE, LIBRARIES = "NUMBA_CACHE_DIR", ("numba", "numpy")


class KernelStatus(StatusEnum):
    """What became of a job."""

    COMPILED = "COMPILED", "its kernels were compiled"
    LOADED = "LOADED", "all its kernels were in the cache"
    UNSUPPORTED = "UNSUPPORTED", "the robot does not support it"
    FAILED = "FAILED", "its process ended with an error"


@dataclass(frozen=True)
class KernelJob:
    """Kernels that are compiled together.

    Attributes:
        name: Its name.
        seconds: Processor time with an empty cache, on one machine [s]; only weighs the progress.
        nodes: Nodes that need it.
    """

    name: str
    seconds: float
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelReport:
    """What a job did.

    Attributes:
        job: Its name.
        status: What became of it.
        compiled: Number of kernels that were compiled.
        loaded: Number of kernels that were loaded.
        seconds: Wall time [s].
        reason: Why it failed; empty where it did not.
    """

    job: str
    status: KernelStatus
    compiled: int
    loaded: int
    seconds: float
    reason: str = ""


@dataclass(frozen=True)
class KernelProgress:
    """How far compilation is.

    Attributes:
        share: Part that is done, 0 to 1.
        seconds_left: Expected wall time that is left [s].
        running: Jobs that run now.
    """

    share: float
    seconds_left: float
    running: tuple[str, ...]


@dataclass(eq=False)
class _Running:
    job: KernelJob
    process: subprocess.Popen[str]
    errors: IO[str]
    began: float


JOBS = (
    KernelJob("simulation", 34.0, ("simulator", "viewer")),
    KernelJob("filter", 32.0, ("dynamics_filter",)),
    KernelJob("controller", 14.0, ("inverse_dynamics", "effort_guard")),
    KernelJob("estimator", 6.0, ("state_estimator",)),
    KernelJob("solver", 4.0),
)
Watch = Callable[[KernelProgress], None]


def find_jobs(names: Sequence[str] = ()) -> tuple[KernelJob, ...]:
    """Return the jobs of these names; all where there are none.

    Args:
        names: Names of jobs.

    Raises:
        UnknownNameError: If there is no such job.
    """
    known = {job.name: job for job in JOBS}
    for name in names:
        if name not in known:
            raise UnknownNameError("kernel job", name, tuple(known))
    return tuple(known[name] for name in names) or JOBS


def find_stale_jobs(nodes: Sequence[str], robot: str = ROBOT) -> tuple[KernelJob, ...]:
    """Return the jobs that nodes need and whose kernels are not known to be in the cache.

    Args:
        nodes: Names of nodes.
        robot: Source of the robot.
    """
    needed = [job for job in JOBS if set(nodes).intersection(job.nodes)]
    return tuple(job for job in needed if not is_cached(job, robot))


def is_cached(job: KernelJob, robot: str = ROBOT) -> bool:
    """Whether the kernels of a job were compiled by these sources on this machine, and still are on disk.

    Args:
        job: The job.
        robot: Source of the robot.
    """
    with suppress(OSError, ValueError, LookupError, TypeError):
        found = json.loads(_mark(job, robot).read_text(encoding="utf-8"))
        folders, files = found["folders"], found["files"]
        is_there = bool(folders) and all(any(Path(each).glob("*.nbi")) for each in folders)
        return is_there and all(_stamp(path) == stamp for path, stamp in files.items())
    return False


def compile_jobs(
    jobs: Sequence[KernelJob], robot: str = ROBOT, progress: Watch | None = None
) -> tuple[KernelReport, ...]:
    """Run jobs in processes of their own, two at a time; a job that fails is reported, not raised.

    Args:
        jobs: The jobs.
        robot: Source of the robot.
        progress: Called with the progress several times a second.

    Returns:
        What each did, in the order of the jobs.
    """
    waiting = sorted(jobs, key=lambda job: job.seconds)
    running: list[_Running] = []
    reports: dict[str, KernelReport] = {}
    began = monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < PROCESSES:
                job = waiting.pop()
                running.append(_start(job, robot))
            with suppress(subprocess.TimeoutExpired):
                running[0].process.wait(LOOK)
            for each in [each for each in running if each.process.poll() is not None]:
                running.remove(each)
                reports[each.job.name] = _report(each, robot)
            if progress is not None:
                progress(_measure_progress(jobs, running, reports, monotonic() - began))
    finally:
        for each in running:
            each.process.kill()
            each.process.communicate()
            each.errors.close()
    return tuple(reports[job.name] for job in jobs)


def _measure_progress(
    jobs: Sequence[KernelJob],
    running: Sequence[_Running],
    reports: dict[str, KernelReport],
    elapsed: float,
) -> KernelProgress:
    now = monotonic()
    done = sum(job.seconds for job in jobs if job.name in reports)
    done += sum(min(NEARLY * each.job.seconds, now - each.began) for each in running)
    share = done / sum(job.seconds for job in jobs)
    left = elapsed * (1.0 - share) / share if share > 0.0 else float("inf")
    return KernelProgress(share, left, tuple(each.job.name for each in running))


def _start(job: KernelJob, robot: str) -> _Running:
    errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed by the report
    process = subprocess.Popen(  # noqa: S603 - the command is ours, its arguments are passed as they are
        [sys.executable, "-m", PROGRAM, job.name, robot],
        env={**os.environ, **dict.fromkeys(BLAS_VARIABLES, "1")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
    return _Running(job, process, errors, monotonic())


def _report(each: _Running, robot: str) -> KernelReport:
    text, _ = each.process.communicate()
    with each.errors:
        each.errors.seek(0)
        last = (each.errors.read().strip().splitlines() or [""])[-1]
    seconds = monotonic() - each.began
    try:
        facts = json.loads(text.strip().splitlines()[-1])
    except (IndexError, ValueError):
        reason = f"exit status {each.process.returncode}: {last}"
        return KernelReport(each.job.name, KernelStatus.FAILED, 0, 0, seconds, reason)
    if "reason" in facts:
        status = KernelStatus.UNSUPPORTED
        return KernelReport(each.job.name, status, 0, 0, seconds, facts["reason"])
    with suppress(OSError):
        mark = _mark(each.job, robot)
        mark.parent.mkdir(parents=True, exist_ok=True)
        files = {path: _stamp(path) for path in facts["files"]}
        text = json.dumps({"folders": facts["folders"], "files": files})
        mark.write_text(text, encoding="utf-8")
    status = KernelStatus.COMPILED if facts["compiled"] else KernelStatus.LOADED
    return KernelReport(each.job.name, status, facts["compiled"], facts["loaded"], seconds)


def _mark(job: KernelJob, robot: str) -> Path:
    """Return the file that exists where the kernels of a job are in the cache."""
    folder = os.environ.get(CACHE) or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "humanoid_dynamics"
    )
    key = sha256(f"{_name_machine()} {robot} {os.environ.get(CACHE)}".encode()).hexdigest()[:16]
    return Path(folder) / f"kernels_{job.name}_{key}.json"


def _stamp(path: str) -> list[int]:
    """Return size and time of change of a file, by which numba goes as well."""
    stat = os.stat(path)
    return [stat.st_size, stat.st_mtime_ns]


@cache
def _name_machine() -> str:
    """Return a text that changes with this package's place, the libraries, Python and the processor."""
    place = str(Path(__file__).resolve().parents[1])
    return " ".join((place, *_name_libraries(), sys.version, platform.machine(), _name_processor()))


def _name_libraries() -> Iterator[str]:
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            yield f"{name} {version(name)}"


def _name_processor() -> str:
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return "".join(
            next((x for x in lines if x.startswith(y)), "") for y in ("model name", "flags")
        )
    return platform.processor()
