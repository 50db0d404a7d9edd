"""A bar for work that takes long enough to wonder about."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

PATIENCE, BETWEEN = 2.0, 0.2  # s


class ProgressBar:
    """A bar with the expected end; appears on a terminal once the work has taken two seconds.

    It draws in the thread that does the work: a thread of its own would take time from what is measured.
    """

    def __init__(self, text: str, console: Console) -> None:
        """Prepare.

        Args:
            text: What is going on.
            console: Where to draw.
        """
        self._text = text
        self._console = console
        self._began = self._drawn = monotonic()
        self._bar: Progress | None = None

    def tell(self, share: float) -> None:
        """Show how far the work is.

        Args:
            share: Part that is done, 0 to 1.
        """
        now = monotonic()
        if not self._console.is_terminal or now - self._began < PATIENCE or now - self._drawn < BETWEEN:
            return
        self._drawn = now
        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, auto_refresh=False, transient=True)
            self._bar.add_task(self._text, total=1.0)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=min(share, 1.0))
        self._bar.refresh()

    def stop(self) -> None:
        """Take the bar away."""
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
    bar = ProgressBar(text, Console(stderr=True, highlight=False, no_color=bool(os.environ.get("NO_COLOR"))))
    try:
        yield bar
    finally:
        bar.stop()
