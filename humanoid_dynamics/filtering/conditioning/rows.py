# SPDX-License-Identifier: Apache-2.0
"""Rows of numbers that grow at one end and are forgotten at the other."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix

MOST = 512  # rows that are put at the end at a time
ROOM = 4096  # rows at first


class RingBuffer:
    """Numbers by row: made once, appended at the end; rows keep their index when old ones that are not needed any more are forgotten.

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
        self.first = self.end = self._needed = 0

    def begin(self, row: int) -> None:
        """Begin anew.

        Args:
            row: Index of the row that comes first; before it all rows are zero.
        """
        self._table[0] = 0.0
        self.first = self.end = self._needed = row

    def forget(self, row: int) -> None:
        """Say which rows are not needed any more.

        Args:
            row: Index of the oldest one that is.
        """
        self._needed = min(max(row, self._needed), self.end)

    def cut(self, row: int) -> None:
        """Take the newest rows back.

        Args:
            row: Index of the oldest one that goes.
        """
        self.end = max(min(row, self.end), self.first)
        self._needed = min(self._needed, self.end)

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
        for k in range(0, len(rows), MOST):
            part = rows[k : k + MOST]
            self.room(len(part))[:] = part

    def room(self, count: int) -> Matrix:
        """Return rows at the end to write to, a view; where memory is full rows are forgotten, and where most are needed it grows.

        Args:
            count: How many, at most ``MOST``.
        """
        filled = self.end - self.first
        if filled + count > len(self._table):
            kept = self._table[self._needed - self.first : filled]
            if 2 * len(kept) > len(self._table):
                self._table = np.concatenate((kept, np.zeros_like(self._table)))
            else:
                self._table[: len(kept)] = kept
            self.first, filled = self._needed, len(kept)
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
