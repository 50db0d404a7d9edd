# SPDX-License-Identifier: Apache-2.0
"""Weighted means along time: without delay inside what is known, one-sided at its ends."""

from __future__ import annotations

from functools import cache

import numpy as np

from humanoid_dynamics.filtering.conditioning.window_kernels import smooth_table
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
    smooth = compile_kernel(smooth_table)
    if smooth is smooth_table:
        return np.column_stack(
            [smooth_line(column, kernel)[len(table) - rows :] for column in table.T]
        )
    out = np.empty((rows, table.shape[1]))
    smooth(np.ascontiguousarray(table), kernel, out)
    return out


def smooth_line(values: Vector, kernel: Vector) -> Vector:
    """Smooth one column; see ``smooth_columns``.

    Args:
        values: (n,) samples.
        kernel: (2 half + 1,) weights.

    Returns:
        (n,) weighted means.
    """
    half = len(kernel) // 2
    if half == 0 or len(values) == 0:
        return np.array(values)
    longer = np.concatenate((np.full(half, values[0]), values, np.full(half, values[-1])))
    return np.convolve(longer, kernel, mode="valid")
