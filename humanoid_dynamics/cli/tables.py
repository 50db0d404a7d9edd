"""Tables for people: the same look for every verb."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table


def make_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table whose first column is left-aligned and whose others are right-aligned."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def span(lower: float | None, upper: float | None) -> str:
    """Write an interval, ``free`` where it has no end on either side."""
    if lower is None and upper is None:
        return "free"
    ends = ("-inf" if lower is None else f"{lower:.2f}", "inf" if upper is None else f"{upper:.2f}")
    return f"{ends[0]} .. {ends[1]}"


def fixed(value: float, digits: int) -> str:
    """Write a number with fixed digits, without the sign of a zero that was rounded."""
    return f"{round(value, digits) + 0.0:.{digits}f}"
