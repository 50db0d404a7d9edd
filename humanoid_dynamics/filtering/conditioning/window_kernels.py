# SPDX-License-Identifier: Apache-2.0
"""Windows of a reference as loops that numba compiles: weighted means along time, and what is seen of soles on the ground."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector

SLIDING, ALIKE = (
    0.45,
    0.04,
)  # m/s; soles that are faster, and go nearly alike, are not lifted: their robot slides


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


def falls_freely(com: Matrix, least: float) -> bool:
    """Return whether a centre of mass falls so fast anywhere that nothing bears it.

    Args:
        com: (n, 3) its places [m].
        least: By how much its height bends down in one row, at least, where it is not borne [m].
    """
    lowest = 0.0
    for i in range(1, len(com) - 1):
        lowest = min(lowest, com[i + 1, 2] - 2.0 * com[i, 2] + com[i - 1, 2])
    return lowest < -least


def put_on_ground(
    seen: tuple[Matrix, ...], ground: Vector, dt: float, out: tuple[Matrix, ...]
) -> None:
    """Put the rows of a reference on the ground, and write how its soles move.

    Args:
        seen: (n, 3) centres of mass, (n, 2, 3) soles and (n, 2, 3) their middles [m].
        ground: (n,) height of the ground [m].
        dt: Time between rows [s].
        out: (n, 3) centres of mass and (n, 2, 3) soles on the ground [m], (n, 2) heights [m] and speeds [m/s] of soles, and (n, 3) by how
            much all moves [m]; overwritten.
    """
    com, place, centre = seen
    com_out, place_out, height, speed, shift = out
    n = len(ground)
    for i in range(n):
        for j in range(3):
            down = ground[i] if j == 2 else 0.0
            com_out[i, j], shift[i, j] = com[i, j] - down, -down
            place_out[i, 0, j], place_out[i, 1, j] = place[i, 0, j] - down, place[i, 1, j] - down
        k = min(max(i, 1), n - 2)  # the ends repeat their neighbours
        alike, slow = 0.0, np.inf
        for j in range(3):
            apart = (
                centre[k + 1, 0, j]
                - centre[k - 1, 0, j]
                - centre[k + 1, 1, j]
                + centre[k - 1, 1, j]
            ) / (2.0 * dt)
            alike += apart * apart
        for foot in range(2):
            height[i, foot] = max(centre[i, foot, 2] - ground[i], 0.0)
            square = 0.0
            for j in range(3):
                rate = (centre[k + 1, foot, j] - centre[k - 1, foot, j]) / (2.0 * dt)
                square += rate * rate
            speed[i, foot] = math.sqrt(square)
            slow = min(slow, speed[i, foot])
        if slow > SLIDING and alike < ALIKE * ALIKE:  # what both stand on slides
            speed[i] = 0.5 * math.sqrt(alike)


def move_along(way: Matrix, shift: Matrix, com: Matrix, place: Matrix) -> None:
    """Move the rows of a reference, seen from above, in place.

    Args:
        way: (n, 2) by how much [m].
        shift: (n, 3) by how much all moves; what is seen from above is overwritten [m].
        com: (n, 3) centres of mass [m].
        place: (n, 2, 3) soles [m].
    """
    for i in range(len(way)):
        for j in range(2):
            shift[i, j] = way[i, j]
            com[i, j] += way[i, j]
            place[i, 0, j] += way[i, j]
            place[i, 1, j] += way[i, j]
