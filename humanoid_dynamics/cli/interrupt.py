"""Ctrl-C that is not lost: where Python drops the exception, as it does in a finalizer, the next look finds that it was pressed."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


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
