"""Stage A1 as loops that numba compiles: what is seen of the legs in one posture."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Matrix, Vector

Seen = tuple[Matrix, Matrix, Matrix, Matrix]


def see_legs(frames: tuple[Matrix, ...], points: Matrix, leg: float, row: int, out: Seen) -> None:
    """Write where soles are, how they are turned, and how straight the legs are.

    Args:
        frames: Poses (4, 4) of left and right sole, hip and ankle.
        points: (6, 3) what is seen in each: middles of the soles, hips and ankles [m].
        leg: Length of a leg [m].
        row: Row to write.
        out: (n, 2, 3) origins of soles, (n, 2, 3, 3) orientations, (n, 2, 3) middles, (n, 2) stretch; that row is overwritten.
    """
    place, turn, centre, stretch = out
    for foot in range(2):
        X, hip, ankle, square = frames[foot], frames[2 + foot], frames[4 + foot], 0.0
        for i in range(3):
            place[row, foot, i], centre[row, foot, i] = X[i, 3], X[i, 3]
            apart = hip[i, 3] - ankle[i, 3]
            for j in range(3):
                turn[row, foot, i, j] = X[i, j]
                centre[row, foot, i] += X[i, j] * points[foot, j]
                apart += hip[i, j] * points[2 + foot, j] - ankle[i, j] * points[4 + foot, j]
            square += apart * apart
        stretch[row, foot] = math.sqrt(square) / leg
