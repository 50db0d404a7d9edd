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
        if self.end - self.first == ROOM:
            self._table[:KEPT] = self._table[ROOM - KEPT :]
            self.first = self.end - KEPT
        self._table[self.end - self.first] = row
        self.end += 1

    def between(self, start: int, stop: int) -> Matrix:
        """Return rows, a view; before the oldest one the oldest is repeated.

        Args:
            start: Index of the first.
            stop: Index after the last; not beyond the end.
        """
        if start < self.first:
            missing = np.repeat(self._table[:1], self.first - start, axis=0)
            return np.concatenate((missing, self._table[: stop - self.first]))
        return self._table[start - self.first : stop - self.first]
