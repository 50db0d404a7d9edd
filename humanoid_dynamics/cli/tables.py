# SPDX-License-Identifier: Apache-2.0
"""What is printed for people: the same look for every verb."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

FILE_WIDTH = 160  # columns where the output goes to a file or another program
LEAST_WIDTH = 72  # columns, so that a narrower terminal breaks lines
FOLDED = 16  # columns a first column of long names has at least, where there is no room for more


def make_console(error: bool = False) -> Console:
    """Return the console of a verb: as wide as the terminal, wide enough for every table elsewhere; plain where NO_COLOR is set.

    Args:
        error: Whether it writes on the error stream, where the output is for JSON.
    """
    wide = (sys.stderr if error else sys.stdout).isatty() or "COLUMNS" in os.environ
    width = max(LEAST_WIDTH, shutil.get_terminal_size().columns) if wide else FILE_WIDTH
    if os.environ.get("NO_COLOR"):
        return Console(highlight=False, width=width, color_system=None, stderr=error)
    return Console(highlight=False, width=width, stderr=error)


def print_table(
    console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Print a table whole: a terminal that is too narrow for it breaks its lines, and no cell loses anything.

    The first column is left-aligned and folds where there is no room; the others are right-aligned.
    """
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(
            column, justify="left" if i == 0 else "right", no_wrap=i > 0, overflow="fold"
        )
    names = [columns[0]]
    for row in rows:
        table.add_row(*row)
        names.append(row[0])
    whole = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
    longest = max(cell_len(Text.from_markup(name).plain) for name in names)
    least = whole - longest + min(longest, FOLDED)
    console.print(
        _Wide(table, least) if least > console.width else table, crop=least <= console.width
    )


@dataclass(frozen=True)
class _Wide:
    """A table that is given more columns than the console has."""

    table: Table
    width: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        yield from console.render(self.table, options.update(max_width=self.width))


def span(lower: float | None, upper: float | None) -> str:
    """Write an interval, ``free`` where it has no end on either side."""
    if lower is None and upper is None:
        return "free"
    ends = (
        "-inf" if lower is None else fixed(lower, 2),
        "inf" if upper is None else fixed(upper, 2),
    )
    return f"{ends[0]} .. {ends[1]}"


def fixed(value: float, digits: int) -> str:
    """Write a number with fixed digits, without the sign of a zero that was rounded."""
    return f"{round(value, digits) + 0.0:.{digits}f}"
