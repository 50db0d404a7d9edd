"""Stage A1 as loops that numba compiles: even rows between samples, and what is seen of the legs in one posture."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Matrix, Vector

Seen = tuple[Matrix, Matrix, Matrix, Matrix]


def sample_cubic(ends: tuple[float, float], knots: tuple[Vector, Vector, Vector, Vector], times: tuple[float, float], out: Matrix) -> None:
    """Write rows of the cubic between two samples.

    Args:
        ends: Their instants [s].
        knots: The first and its rate, the second and its rate.
        times: Instant of the first row, and time between rows [s].
        out: (n, nq) rows; overwritten.
    """
    h = ends[1] - ends[0]
    for i in range(len(out)):
        s = (times[0] + i * times[1] - ends[0]) / h
        s2, s3 = s * s, s * s * s
        a, b, c, d = 2.0 * s3 - 3.0 * s2 + 1.0, (s3 - 2.0 * s2 + s) * h, 3.0 * s2 - 2.0 * s3, (s3 - s2) * h
        for j in range(out.shape[1]):
            out[i, j] = a * knots[0][j] + b * knots[1][j] + c * knots[2][j] + d * knots[3][j]


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
