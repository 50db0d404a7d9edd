"""Weighted means along time as a loop that numba compiles; the same as ``smooth_columns`` computes in arrays."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector


def smooth_table(table: Matrix, kernel: Vector, out: Matrix) -> None:
    """Smooth the columns of a table; beyond its ends it is taken as standing still.

    Args:
        table: (n, k) samples.
        kernel: (2 half + 1,) weights, the same on both sides.
        out: (n, k) weighted means; overwritten.
    """
    n, half = len(table), len(kernel) // 2
    longer, total = np.empty(n + 2 * half), np.empty(n)
    for column in range(table.shape[1]):
        for i in range(n + 2 * half):
            longer[i] = table[min(max(i - half, 0), n - 1), column]
        for i in range(n):
            total[i] = kernel[half] * longer[i + half]
        for k in range(half):
            weight, back = kernel[k], 2 * half - k
            for i in range(n):
                total[i] += weight * (longer[i + k] + longer[i + back])
        for i in range(n):
            out[i, column] = total[i]
