# SPDX-License-Identifier: Apache-2.0
"""Parts of a symmetric matrix of which one triangle counts."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Indices, Matrix


class SymmetricBlocks:
    """Takes a symmetric matrix apart by two sets of coordinates, into buffers of its own.

    Attributes:
        first: (m, m) block of the first set.
        mixed: (m, n) block of the first set against the second.
        second: (n, n) block of the second set.
    """

    def __init__(self, first: Indices, second: Indices) -> None:
        """Prepare.

        Args:
            first: (m,) coordinates.
            second: (n,) all others.
        """
        size, pairs = len(first) + len(second), ((first, first), (second, first), (second, second))
        blocks = [_upper(rows, columns, size) for rows, columns in pairs]
        self._places = np.concatenate([block.ravel() for block in blocks])
        self._entries = np.zeros(len(self._places))
        ends = np.cumsum([block.size for block in blocks])
        parts = [
            part.reshape(block.shape)
            for part, block in zip(np.split(self._entries, ends[:-1]), blocks, strict=True)
        ]
        self.first, self.mixed, self.second = (
            part.T for part in parts
        )  # column-major, as BLAS wants them

    def take(self, M: Matrix) -> None:
        """Fill the blocks.

        Args:
            M: (m + n, m + n) row-major matrix whose upper triangle counts.
        """
        M.reshape(-1).take(self._places, out=self._entries, mode="clip")


def _upper(rows: Indices, columns: Indices, size: int) -> Indices:
    """Return where in the upper triangle, counted row by row, the entries of a block stand."""
    i, j = rows[:, None], columns[None, :]
    places: Indices = np.minimum(i, j) * size + np.maximum(i, j)
    return np.ascontiguousarray(places)
