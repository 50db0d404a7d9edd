"""Weighted means along time: without delay inside what is known, one-sided at its ends."""

from __future__ import annotations

from functools import cache

import numpy as np

from humanoid_dynamics.filtering.conditioning.window_kernels import smooth_table
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.compiling import Kernel, compile_kernel, is_compiler_installed


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


def smooth_columns(table: Matrix, kernel: Vector) -> Matrix:
    """Smooth the columns of a table; beyond its ends it is taken as standing still.

    Args:
        table: (n, k) samples.
        kernel: (2 half + 1,) weights.

    Returns:
        (n, k) weighted means.
    """
    if len(kernel) < 2 or len(table) == 0:
        return np.array(table)
    kernel_of_all = _compiled()
    if kernel_of_all is None:
        return np.column_stack([smooth_line(column, kernel) for column in table.T])
    given = np.ascontiguousarray(table)
    out = np.empty_like(given)
    kernel_of_all(given, kernel, out)
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


def prepare_windows() -> None:
    """Compile, or load what is compiled, before somebody waits for it."""
    smooth_columns(np.zeros((2, 1)), flat_kernel(2))


@cache
def _compiled() -> Kernel | None:
    return compile_kernel(smooth_table) if is_compiler_installed() else None


def slopes(table: Matrix, dt: float) -> tuple[Matrix, Matrix]:
    """Return central first and second differences of the columns of a table; the ends repeat their neighbours.

    Args:
        table: (n, k) samples, n >= 3.
        dt: Time between them [s].

    Returns:
        first: (n, k) rates.
        second: (n, k) second rates.
    """
    first, second = np.empty_like(table), np.empty_like(table)
    first[1:-1] = (table[2:] - table[:-2]) / (2.0 * dt)
    second[1:-1] = (table[2:] - 2.0 * table[1:-1] + table[:-2]) / (dt * dt)
    first[0], first[-1], second[0], second[-1] = first[1], first[-2], second[1], second[-2]
    return first, second
