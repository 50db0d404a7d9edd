# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C that is not lost: where Python drops the exception, as it does in a finalizer, or cannot raise it, as inside a compiler."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPED = 130  # exit code, as shells have it for Ctrl-C
PATIENCE = 2.0  # s; how long an orderly end may take


def end_after_interrupt() -> None:
    """Let Ctrl-C end this process within a short time, although Python raises no exception before compiled code returns.

    The signal is written into a pipe at once; a thread reads it, and ends the process where it has not ended by itself in time.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    if before != -1:  # another library waits for signals
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
        return
    mask = signal.pthread_sigmask(
        signal.SIG_BLOCK, signal.valid_signals()
    )  # signals are for the main thread alone
    threading.Thread(target=_end_late, args=(reading,), daemon=True).start()
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _end_late(pipe: int) -> None:
    while signal.SIGINT not in os.read(pipe, 1):
        pass
    threading.Event().wait(PATIENCE)
    if "multiprocessing" in sys.modules:
        for child in sys.modules["multiprocessing"].active_children():
            child.terminate()
    os._exit(STOPPED)


@contextmanager
def hear_interrupt() -> Iterator[Callable[[], None]]:
    """Listen to Ctrl-C, also where the shell that started this has switched it off.

    Yields:
        A function to call now and then, which raises ``KeyboardInterrupt`` once it was pressed.
    """
    pressed = threading.Event()

    def press(_number: int, _frame: FrameType | None) -> None:
        pressed.set()
        raise KeyboardInterrupt

    def look() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield look  # signals are for the main thread alone
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield look
    finally:
        signal.signal(signal.SIGINT, before)
