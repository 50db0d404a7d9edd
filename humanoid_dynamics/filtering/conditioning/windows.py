# SPDX-License-Identifier: Apache-2.0
"""Weighted means along time: without delay inside what is known, one-sided at its ends."""

from __future__ import annotations

from functools import cache

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.compiling import compile_kernel


def flat_kernel(half: int) -> Vector:
    """Return a smooth window that leaves parabolas as they are.

    A Gaussian of standard deviation ``half / 2.5`` times the polynomial that makes its second moment vanish: motion much slower than the
    window passes unchanged to the fourth order.

    Args:
        half: Samples to either side.

    Returns:
        (2 half + 1,) weights of sum one.
    """
    if half < 2:
        return read_only(np.ones(1))
    x = np.arange(-half, half + 1) / (half / 2.5)
    bell = np.exp(-0.5 * x * x)
    moments = [float(np.sum(bell * x**k)) for k in (0, 2, 4)]
    slope = moments[1] / moments[2]
    kernel = bell * (1.0 - slope * x * x)
    return read_only(kernel / kernel.sum())


@cache
def bell_kernel(deviation: float) -> Vector:
    """Return a Gaussian window.

    Args:
        deviation: Its standard deviation in samples.

    Returns:
        (2 k + 1,) weights of sum one, to three deviations.
    """
    half = int(np.ceil(3.0 * deviation))
    x = np.arange(-half, half + 1) / max(deviation, 1e-9)
    bell = np.exp(-0.5 * x * x)
    return read_only(bell / bell.sum())


def smooth_columns(table: Matrix, kernel: Vector, last: int | None = None) -> Matrix:
    """Smooth the columns of a table; beyond its ends it is taken as standing still.

    Args:
        table: (n, k) samples.
        kernel: (2 half + 1,) weights.
        last: How many rows at the end are asked for, at most n; all where None.

    Returns:
        (last, k) weighted means.
    """
    rows = len(table) if last is None else last
    if len(kernel) < 2 or rows == 0:
        return np.array(table[len(table) - rows :])
    out = np.empty((rows, table.shape[1]))
    compile_kernel(smooth_table)(np.ascontiguousarray(table), kernel, out)
    return out


def smooth_table(table: Matrix, kernel: Vector, out: Matrix) -> None:
    """Smooth the columns of a table; beyond its ends it is taken as standing still.

    Args:
        table: (n, k) samples.
        kernel: (2 half + 1,) weights, the same on both sides.
        out: (m, k) weighted means of the last rows, m <= n; overwritten.
    """
    n, size, m = len(table), len(kernel), len(out)
    longer, begin = np.empty(m + size - 1), n - m - size // 2
    for column in range(table.shape[1]):
        for i in range(len(longer)):
            longer[i] = table[min(max(i + begin, 0), n - 1), column]
        for i in range(m):
            seen, total = longer[i : i + size], 0.0
            for k in range(size):
                total += kernel[k] * seen[k]
            out[i, column] = total
