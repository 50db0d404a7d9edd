"""Rows of numbers that grow at one end and are forgotten at the other."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix

KEPT = 512  # rows that are kept when memory is full
ROOM = 4096


class Rows:
    """Numbers by row: made once, appended at the end; rows keep their index when old ones are forgotten.

    Attributes:
        first: Index of the oldest row that is still there.
        end: Index after the newest.
    """

    def __init__(self, *shape: int) -> None:
        """Take the memory.

        Args:
            shape: Shape of one row.
        """
        self._table: Matrix = np.zeros((ROOM, *shape))
        self.first = self.end = 0

    def begin(self, row: int) -> None:
        """Begin anew.

        Args:
            row: Index of the row that comes first; before it all rows are zero.
        """
        self._table[0] = 0.0
        self.first = self.end = row

    def append(self, row: Matrix | float) -> None:
        """Put a row at the end.

        Args:
            row: The row.
        """
        self.room(1)[0] = row

    def extend(self, rows: Matrix) -> None:
        """Put some rows at the end.

        Args:
            rows: The rows.
        """
        for k in range(0, len(rows), KEPT):
            part = rows[k : k + KEPT]
            self.room(len(part))[:] = part

    def room(self, count: int) -> Matrix:
        """Return rows at the end to write to, a view; old rows are forgotten where memory is full.

        Args:
            count: How many, at most ``KEPT``.
        """
        filled = self.end - self.first
        if filled + count > ROOM:
            self._table[:KEPT] = self._table[filled - KEPT : filled]
            self.first, filled = self.end - KEPT, KEPT
        self.end += count
        return self._table[filled : filled + count]

    def between(self, start: int, stop: int) -> Matrix:
        """Return rows, a view; before the oldest one the oldest is repeated.

        Args:
            start: Index of the first.
            stop: Index after the last; not beyond the end.
        """
        if start < self.first:
            missing = np.repeat(self._table[:1], min(self.first, stop) - start, axis=0)
            return np.concatenate((missing, self._table[: max(stop - self.first, 0)]))
        return self._table[start - self.first : stop - self.first]
