"""Stage A1 as loops that numba compiles: even rows between samples, and what is seen of the legs in one posture."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Seen = tuple[Matrix, Matrix, Matrix, Matrix]
Joints = tuple[tuple[Matrix, ...], tuple[Vector, ...]]
Known = tuple[Matrix, Matrix, float]


def sample_cubic(
    ends: tuple[float, float],
    knots: tuple[Vector, Vector, Vector, Vector],
    times: tuple[float, float],
    units: Indices,
    out: Matrix,
) -> None:
    """Write rows of the cubic between two samples.

    Args:
        ends: Their instants [s].
        knots: The first and its rate, the second and its rate.
        times: Instant of the first row, and time between rows [s].
        units: (k, 2) where parts of unit length begin and end.
        out: (n, nq) rows; overwritten.
    """
    h = ends[1] - ends[0]
    for i in range(len(out)):
        s = (times[0] + i * times[1] - ends[0]) / h
        s2, s3 = s * s, s * s * s
        a, b, c, d = 2.0 * s3 - 3.0 * s2 + 1.0, (s3 - 2.0 * s2 + s) * h, 3.0 * s2 - 2.0 * s3, (s3 - s2) * h
        for j in range(out.shape[1]):
            out[i, j] = a * knots[0][j] + b * knots[1][j] + c * knots[2][j] + d * knots[3][j]
    make_unit(out, units)


def smooth_rows(raw: Matrix, kernel: Vector, units: Indices, out: Matrix) -> None:
    """Write weighted means of rows.

    Args:
        raw: (n + k - 1, nq) rows.
        kernel: (k,) weights.
        units: (m, 2) where parts of unit length begin and end.
        out: (n, nq) means; overwritten.
    """
    for i in range(len(out)):
        out[i] = 0.0
        for k in range(len(kernel)):
            for j in range(out.shape[1]):
                out[i, j] += kernel[k] * raw[i + k, j]
    make_unit(out, units)


def make_unit(rows: Matrix, units: Indices) -> None:
    """Give parts of rows unit length, in place."""
    for i in range(len(rows)):
        for k in range(len(units)):
            square = 0.0
            for j in range(units[k, 0], units[k, 1]):
                square += rows[i, j] * rows[i, j]
            for j in range(units[k, 0], units[k, 1]):
                rows[i, j] /= math.sqrt(square)


def see_legs(joints: Joints, known: Known, row: int, out: Seen) -> None:
    """Write where soles are, how they are turned, and how straight the legs are.

    Args:
        joints: Orientations (3, 3) and places (3,) [m] of the joints that carry left and right sole, hip and ankle.
        known: (8, 3) what is seen in each: origins and middles of the soles, hips and ankles, axes of the joints [m]; (2, 3, 3) how
            soles are turned in their joints; length of a leg [m].
        row: Row to write.
        out: (n, 2, 3) origins of soles, (n, 2, 3, 3) orientations, (n, 2, 3) middles, (n, 2) stretch; that row is overwritten.
    """
    (turns, places), (points, soles, leg), (place, turn, centre, stretch) = joints, known, out
    for foot in range(2):
        R, p, square = turns[foot], places[foot], 0.0
        Rh, ph, Ra, pa = turns[2 + foot], places[2 + foot], turns[4 + foot], places[4 + foot]
        for i in range(3):
            place[row, foot, i] = p[i] + R[i, 0] * points[foot, 0] + R[i, 1] * points[foot, 1] + R[i, 2] * points[foot, 2]
            centre[row, foot, i] = p[i] + R[i, 0] * points[2 + foot, 0] + R[i, 1] * points[2 + foot, 1] + R[i, 2] * points[2 + foot, 2]
            apart = ph[i] - pa[i]
            for j in range(3):
                turn[row, foot, i, j] = R[i, 0] * soles[foot, 0, j] + R[i, 1] * soles[foot, 1, j] + R[i, 2] * soles[foot, 2, j]
                apart += Rh[i, j] * points[4 + foot, j] - Ra[i, j] * points[6 + foot, j]
            square += apart * apart
        stretch[row, foot] = math.sqrt(square) / leg
