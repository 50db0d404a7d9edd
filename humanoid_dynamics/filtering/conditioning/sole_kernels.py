# SPDX-License-Identifier: Apache-2.0
"""Stage A5 as loops that numba compiles: offsets that swing, rotations, and how fast soles move."""

from __future__ import annotations

import math

from humanoid_dynamics.filtering.ticks.wish_kernels import SMALL, quaternion_of
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SHORTEST = 1e-3  # s
HURRIED = 0.022  # s; before now a way that ends sooner was as its rates say: its polynomial, followed backwards, is anywhere
Ends = tuple[Matrix, Matrix, float]


def follow_quintic(ends: Ends, times: Vector, out: Matrix) -> None:
    """Write the states of a polynomial of fifth order; see ``swing.go_on``.

    Args:
        ends: (3, k) states now and in the end, and how long it takes [s].
        times: (n,) instants [s].
        out: (n, 3, k) states; overwritten.
    """
    state, goal, T = ends[0], ends[1], max(ends[2], SHORTEST)
    for j in range(state.shape[1]):
        x, v, a = state[0, j], state[1, j], state[2, j]
        gap, rate, second = (
            goal[0, j] - x - v * T - 0.5 * a * T * T,
            (goal[1, j] - v - a * T) * T,
            (goal[2, j] - a) * T * T,
        )
        c3 = (10.0 * gap - 4.0 * rate + 0.5 * second) / T**3
        c4 = (-15.0 * gap + 7.0 * rate - second) / T**4
        c5 = (6.0 * gap - 3.0 * rate + 0.5 * second) / T**5
        for i in range(len(times)):
            t = min(times[i], T)
            s = max(t, 0.0) if T < HURRIED else t
            out[i, 0, j] = x + t * (v + t * (0.5 * a + s * (c3 + s * (c4 + s * c5))))
            out[i, 1, j] = v + t * (a + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
            out[i, 2, j] = a + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))


def move_rows(states: Matrix, place: Matrix, turn: Matrix, places: Matrix, turns: Matrix) -> None:
    """Move rows of a sole by offsets.

    Args:
        states: (n, 3, 6) offsets with their rates.
        place: (n, 3) places [m].
        turn: (n, 3, 3) orientations.
        places: (n, 3) moved places [m]; overwritten.
        turns: (n, 3, 3) turned orientations; overwritten.
    """
    for i in range(len(states)):
        x, y, z = states[i, 0, 3], states[i, 0, 4], states[i, 0, 5]
        half = 0.5 * math.sqrt(x * x + y * y + z * z)
        share = 0.5 * (math.sin(half) / half) if half > SMALL else 0.5
        w, x, y, z = math.cos(half), share * x, share * y, share * z
        for j in range(3):
            places[i, j] = place[i, j] + states[i, 0, j]
            a, b, c = turn[i, 0, j], turn[i, 1, j], turn[i, 2, j]
            turns[i, 0, j] = (
                (1.0 - 2.0 * (y * y + z * z)) * a
                + 2.0 * (x * y - w * z) * b
                + 2.0 * (x * z + w * y) * c
            )
            turns[i, 1, j] = (
                2.0 * (x * y + w * z) * a
                + (1.0 - 2.0 * (x * x + z * z)) * b
                + 2.0 * (y * z - w * x) * c
            )
            turns[i, 2, j] = (
                2.0 * (x * z - w * y) * a
                + 2.0 * (y * z + w * x) * b
                + (1.0 - 2.0 * (x * x + y * y)) * c
            )


def lift_rows(
    places: Matrix, turns: Matrix, lift: float, times: tuple[float, float], corners: Matrix
) -> None:
    """Lift rows of a swinging sole, and keep its corners above the ground, in place; see ``swing.swing_path``.

    Args:
        places: (n, 3) places [m]; changed.
        turns: (n, 3, 3) orientations.
        lift: How much higher it is half way [m].
        times: Share of the time of the swing at the first row, and what each row adds to it.
        corners: (k, 3) corners of the sole in its frame [m].
    """
    for i in range(len(places)):
        s = min(max(times[0] + i * times[1], 0.0), 1.0)
        if lift > 0.0:
            places[i, 2] += lift * 64.0 * (s * (1.0 - s)) ** 3
        lowest = math.inf
        for k in range(len(corners)):
            lowest = min(
                lowest,
                turns[i, 2, 0] * corners[k, 0]
                + turns[i, 2, 1] * corners[k, 1]
                + turns[i, 2, 2] * corners[k, 2],
            )
        places[i, 2] = max(places[i, 2], -lowest)


def find_rates(places: Matrix, turns: Matrix, dt: float, rate: Matrix, second: Matrix) -> None:
    """Write velocities and accelerations of a sole by central differences.

    Args:
        places: (n + 2, 3) places [m].
        turns: (n + 2, 3, 3) orientations.
        dt: Time between rows [s].
        rate: (n, 6) velocities, linear then angular, axes of the world; overwritten.
        second: (n, 6) accelerations; overwritten.
    """
    n = len(rate)
    for i in range(n + 1):
        step = turn_between(turns[i], turns[i + 1])
        for j in range(3):
            if i < n:
                rate[i, j] = (places[i + 2, j] - places[i, j]) / (2.0 * dt)
                second[i, j] = (places[i + 2, j] - 2.0 * places[i + 1, j] + places[i, j]) / (
                    dt * dt
                )
                rate[i, 3 + j], second[i, 3 + j] = step[j] / (2.0 * dt), -step[j] / (dt * dt)
            if i:
                rate[i - 1, 3 + j] += step[j] / (2.0 * dt)
                second[i - 1, 3 + j] += step[j] / (dt * dt)


def turn_between(A: Matrix, B: Matrix) -> tuple[float, float, float]:
    """Return the rotation vector from one orientation to another, axes of the world."""
    w, x, y, z = quaternion_of(
        (
            B[0, 0] * A[0, 0] + B[0, 1] * A[0, 1] + B[0, 2] * A[0, 2],
            B[0, 0] * A[1, 0] + B[0, 1] * A[1, 1] + B[0, 2] * A[1, 2],
            B[0, 0] * A[2, 0] + B[0, 1] * A[2, 1] + B[0, 2] * A[2, 2],
            B[1, 0] * A[0, 0] + B[1, 1] * A[0, 1] + B[1, 2] * A[0, 2],
            B[1, 0] * A[1, 0] + B[1, 1] * A[1, 1] + B[1, 2] * A[1, 2],
            B[1, 0] * A[2, 0] + B[1, 1] * A[2, 1] + B[1, 2] * A[2, 2],
            B[2, 0] * A[0, 0] + B[2, 1] * A[0, 1] + B[2, 2] * A[0, 2],
            B[2, 0] * A[1, 0] + B[2, 1] * A[1, 1] + B[2, 2] * A[1, 2],
            B[2, 0] * A[2, 0] + B[2, 1] * A[2, 1] + B[2, 2] * A[2, 2],
        )
    )
    size = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(size, w) / size if size > SMALL else 2.0
    return factor * x, factor * y, factor * z
