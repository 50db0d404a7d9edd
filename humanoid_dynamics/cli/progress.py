# SPDX-License-Identifier: Apache-2.0
"""A bar for work that takes long enough to wonder about."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, Timer
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

PATIENCE, BETWEEN = 2.0, 0.2  # s
BEGAN = monotonic()  # when the program began to load the verb, which counts as waiting too


class ProgressBar:
    """A bar with the expected end; appears on a terminal once one has waited two seconds.

    It draws in the thread that does the work, and but once in another: drawing all the time would take time from what is measured.
    """

    def __init__(self, text: str, console: Console, began: float | None = None) -> None:
        """Prepare.

        Args:
            text: What is going on.
            console: Where to draw.
            began: When waiting began [s]; now where None.
        """
        self._text = text
        self._console = console
        self._drawn = monotonic()
        self._began = self._drawn if began is None else began
        self._share = 0.0
        self._bar: Progress | None = None
        self._lock = RLock()
        self._waiting: Timer | None = None

    def start(self) -> None:
        """Show the bar when patience ends, even if nobody has told anything by then."""
        if self._console.is_terminal:
            self._waiting = Timer(max(self._began + PATIENCE - monotonic(), BETWEEN), self._draw)
            self._waiting.daemon = True
            self._waiting.start()

    def tell(self, share: float) -> None:
        """Show how far the work is.

        Args:
            share: Part that is done, 0 to 1.
        """
        self._share = min(share, 1.0)
        now = monotonic()
        if (
            self._console.is_terminal
            and now - self._began >= PATIENCE
            and now - self._drawn >= BETWEEN
        ):
            self._draw()

    def _draw(self) -> None:
        with self._lock:
            self._drawn = monotonic()
            if self._bar is None:
                columns = (
                    TextColumn("{task.description}"),
                    BarColumn(),
                    TaskProgressColumn(),
                    TimeRemainingColumn(),
                )
                self._bar = Progress(
                    *columns, console=self._console, auto_refresh=False, transient=True
                )
                self._bar.add_task(self._text, total=1.0)
                self._bar.start()
            self._bar.update(self._bar.task_ids[0], completed=self._share)
            self._bar.refresh()

    def stop(self) -> None:
        """Take the bar away."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting.join()
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def show_progress(text: str) -> Iterator[ProgressBar]:
    """Show a bar on the error stream, which leaves the output to the answer.

    Args:
        text: What is going on.

    Yields:
        The bar, to be told how far the work is.
    """
    bar = ProgressBar(
        text,
        Console(stderr=True, highlight=False, no_color=bool(os.environ.get("NO_COLOR"))),
        BEGAN,
    )
    bar.start()
    try:
        yield bar
    finally:
        bar.stop()
