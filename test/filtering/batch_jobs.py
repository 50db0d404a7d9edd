# SPDX-License-Identifier: Apache-2.0
"""Jobs that cost nothing and write down when they begin and end; a module of its own, because workers import it."""

import os
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.filtering.batches.task import ClipTask, StoredJob

LONG = 600.0  # s, that a worker may need to begin where many others work


@dataclass(frozen=True)
class Fake:
    """Writes every clip twice over; one clip waits to be killed when it is begun for the first time, one kills whoever begins it."""

    log: Path
    waits: str = ""
    kills: str = ""

    def __call__(self, clip, out):
        write_line(self.log, f"begin {clip.name} {os.getpid()}")
        if clip.name == self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        if (
            clip.name == self.waits
            and sum(name == clip.name for _, name, _ in read_lines(self.log)) == 1
        ):
            Event().wait(LONG)
        if not clip.exists():
            raise ClipError(str(clip), "no such file")
        if out is not None:
            out.write_bytes(2 * clip.read_bytes())
        write_line(self.log, f"end {clip.name} {os.getpid()}")
        return {"length": clip.stat().st_size}


@dataclass(frozen=True)
class DiesOnceDone:
    """Does a clip, and ends its worker before anybody hears of it, the first time."""

    stored: StoredJob
    clip: str

    def __call__(self, task):
        known = self.stored.store.find(task.name, task.key) is not None
        outcome = self.stored(task)
        if task.name == self.clip and not known:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome


class WritesHalf:
    """Has a mistake in it."""

    def __call__(self, clip, out):
        out.write_bytes(b"mo")
        raise ZeroDivisionError("half way")


@dataclass(frozen=True)
class NeverArrives:
    """Cannot be unpickled."""

    log: Path

    def __setstate__(self, state):
        raise RuntimeError("cannot be put together here")

    def __call__(self, task):
        raise NotImplementedError


def write_line(log, line):
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def read_lines(log):
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def count(log, word):
    return Counter(name for said, name, _ in read_lines(log) if said == word)


def write_clips(folder, number):
    folder.mkdir()
    tasks = []
    for index in range(number):
        path = folder / f"clip{index}"
        path.write_text(f"motion {index} ")
        tasks.append(ClipTask(f"part{index % 7}/clip{index}", path, f"key {index}"))
    return tasks


def kill_who_begins(log, name):
    """Kill the process that begins a clip, once it does; return its id."""
    until = monotonic() + LONG
    while monotonic() < until:
        for said, clip, pid in read_lines(log):
            if (said, clip) == ("begin", name):
                os.kill(int(pid), signal.SIGKILL)
                return int(pid)
        Event().wait(0.05)
    raise AssertionError(f"{name} was never begun")
