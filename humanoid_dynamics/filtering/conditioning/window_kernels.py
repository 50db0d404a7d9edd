"""Windows of a reference as loops that numba compiles: weighted means along time, and what is seen of soles on the ground."""

from __future__ import annotations

import math

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
        weigh_line(longer, kernel, total)
        for i in range(m):
            out[i, column] = total[i]


def weigh_line(longer: Vector, kernel: Vector, total: Vector) -> None:
    """Write the weighted means of a line that is longer by half a window at both ends."""
    m, half = len(total), len(kernel) // 2
    whole = half - half % TOGETHER
    for i in range(m):
        total[i] = kernel[half] * longer[i + half]
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


def put_on_ground(seen: tuple[Matrix, Matrix, Vector], dt: float, moved: tuple[Matrix, Matrix], out: tuple[Matrix, ...]) -> None:
    """Put the rows of a reference on the ground, and write how its soles move.

    Args:
        seen: (n, 2, 3) middles of both soles [m], (n, 2, 3, 3) their orientations, (n,) height of the ground [m].
        dt: Time between rows [s].
        moved: (n, 3) centres of mass and (n, 2, 3) soles [m]; changed.
        out: (n, 2) headings [rad], heights [m] and speeds [m/s] of soles, and (n, 3) by how much all moves [m]; overwritten.
    """
    centre, turn, ground = seen
    heading, height, speed, shift = out
    n = len(ground)
    for i in range(n):
        moved[0][i, 2] -= ground[i]
        shift[i, 2] = -ground[i]
        k = min(max(i, 1), n - 2)  # the ends repeat their neighbours
        for foot in range(2):
            moved[1][i, foot, 2] -= ground[i]
            heading[i, foot] = math.atan2(turn[i, foot, 1, 0], turn[i, foot, 0, 0])
            height[i, foot] = max(centre[i, foot, 2] - ground[i], 0.0)
            square = 0.0
            for j in range(3):
                rate = (centre[k + 1, foot, j] - centre[k - 1, foot, j]) / (2.0 * dt)
                square += rate * rate
            speed[i, foot] = math.sqrt(square)
