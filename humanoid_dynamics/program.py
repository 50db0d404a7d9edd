# SPDX-License-Identifier: Apache-2.0
"""What every program of the package does first; importing the library does none of it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDING = (signal.SIGINT, signal.SIGTERM)
LOOK = 0.05  # s
READY = "HUMANOID_DYNAMICS_READY"  # names the file that a program makes once it is ready
BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_blas_thread() -> None:
    """Ask BLAS for one thread, unless the user has asked for more; to be called before numpy is imported.

    The matrices of a robot are small: a pool of threads makes every product slower and its time uneven.
    """
    for variable in BLAS_VARIABLES:
        os.environ.setdefault(variable, "1")


def wait_for_end(seconds: float) -> bool:
    """Wait for a blocked SIGINT or SIGTERM, and return whether one came.

    A process that is stopped and continued while it waits is no reason to end: Python then returns a signal that never came.

    Args:
        seconds: How long to wait at most [s].
    """
    came = signal.sigtimedwait(ENDING, max(0.0, seconds))
    return came is not None and came.si_signo in ENDING


def end_at_once() -> None:
    """End the process with exit status 0 now, whatever other threads do; what was printed is written."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


@contextmanager
def interruptible() -> Iterator[None]:
    """End the process as soon as SIGINT or SIGTERM comes while the block runs, although both are blocked and a compiler may be busy.

    Signals are waited for in another thread, because Python looks at them only between its own instructions.
    """
    if not set(ENDING) <= set(signal.pthread_sigmask(signal.SIG_BLOCK, ())):
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            if wait_for_end(LOOK):
                end_at_once()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def tell_ready() -> None:
    """Tell whoever started this program that it is ready, where it wants to know."""
    mark = os.environ.get(READY)
    if mark:
        Path(mark).touch()
