# SPDX-License-Identifier: Apache-2.0
"""Stage A2, heights: recorded feet float and sink by centimetres; the lower one of the moment is where the ground is."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning.windows import bell_kernel, smooth_columns
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

FREE = 0.5  # share of gravity; a centre of mass that falls faster is not borne
SHORTEST_FLIGHT = 0.08  # s
GLIMPSE = 0.04  # s; of a flight that goes on beyond what is known
CLEAR = 0.015  # m; the lower sole must come so far off the ground


def find_ground(heights: Matrix, deviation: float, aloft: Labels | None = None) -> Vector:
    """Return how high the ground of a recording is, row by row.

    Args:
        heights: (n, 2) heights of both soles [m].
        deviation: Standard deviation of the window under which the lower sole counts [samples].
        aloft: (n,) rows in which both feet are off the ground and tell nothing about it.

    Returns:
        (n,) heights to take off everything [m].
    """
    lowest: Vector = np.minimum(heights[:, 0], heights[:, 1])
    if aloft is not None and aloft.any() and not aloft.all():
        rows, known = np.arange(len(lowest)), ~aloft
        lowest = np.interp(rows, rows[known], lowest[known])
    return (
        smooth_columns(lowest[:, None], bell_kernel(deviation))[:, 0] if deviation > 0.5 else lowest
    )


def find_flights(height: Vector, lowest: Vector, dt: float, gravity: float) -> Labels:
    """Tell in which rows the reference flies: the centre of mass falls freely, and both soles are off the ground.

    Args:
        height: (n,) heights of the centre of mass [m].
        lowest: (n,) heights of the lower sole [m].
        dt: Time between rows [s].
        gravity: Size of gravity [m/s^2].

    Returns:
        (n,) labels.
    """
    aloft = np.zeros(len(height), dtype=np.bool_)
    falls = np.zeros(len(height), dtype=np.bool_)
    falls[1:-1] = height[2:] - 2.0 * height[1:-1] + height[:-2] < -FREE * gravity * dt * dt
    if not falls.any():
        return aloft
    edges = np.flatnonzero(
        np.diff(np.concatenate(([False], falls, [False])).astype(np.int8))
    ).reshape(-1, 2)
    for first, after in edges:
        whole = after < len(height) - 1
        if (after - first) * dt < (SHORTEST_FLIGHT if whole else GLIMPSE):
            continue
        ends = (lowest[first - 1], lowest[after] if whole else lowest[first - 1])
        floor = np.linspace(*ends, after - first)
        aloft[first:after] = float(np.max(lowest[first:after] - floor)) > CLEAR
    return aloft
