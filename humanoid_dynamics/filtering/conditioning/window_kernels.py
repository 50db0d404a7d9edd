"""Weighted means along time as a loop that numba compiles; the same as ``smooth_columns`` computes in arrays."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector

TOGETHER = 4  # pairs of weights


def smooth_table(table: Matrix, kernel: Vector, out: Matrix) -> None:
    """Smooth the columns of a table; beyond its ends it is taken as standing still.

    Args:
        table: (n, k) samples.
        kernel: (2 half + 1,) weights, the same on both sides.
        out: (m, k) weighted means of the last rows, m <= n; overwritten.
    """
    n, half, m = len(table), len(kernel) // 2, len(out)
    longer, total, begin = np.empty(m + 2 * half), np.empty(m), n - m - half
    for column in range(table.shape[1]):
        for i in range(m + 2 * half):
            longer[i] = table[min(max(i + begin, 0), n - 1), column]
        for i in range(m):
            total[i] = kernel[half] * longer[i + half]
        whole = half - half % TOGETHER
        for k in range(0, whole, TOGETHER):
            a, b, c, d = kernel[k], kernel[k + 1], kernel[k + 2], kernel[k + 3]
            back = 2 * half - k
            for i in range(m):
                one = a * (longer[i + k] + longer[i + back]) + b * (longer[i + k + 1] + longer[i + back - 1])
                two = c * (longer[i + k + 2] + longer[i + back - 2]) + d * (longer[i + k + 3] + longer[i + back - 3])
                total[i] += one + two
        for k in range(whole, half):
            weight, back = kernel[k], 2 * half - k
            for i in range(m):
                total[i] += weight * (longer[i + k] + longer[i + back])
        for i in range(m):
            out[i, column] = total[i]
