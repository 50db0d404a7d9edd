# SPDX-License-Identifier: Apache-2.0
"""Stage A1 as loops that numba compiles: even rows between samples, and what is seen of the legs in one posture."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

OTHER_CLOCK = 0.1  # s; by so much the clock of the sender differs from ours, from one sample to the next, only where it is another one

Seen = tuple[Matrix, Matrix, Matrix, Matrix, Matrix]
Four = tuple[Vector, Vector, Vector, Vector]
Times = tuple[float, float, float, float]


def sample_cubic(
    knots: Four,
    times: Times,
    late: tuple[float, float],
    rows: tuple[float, float],
    units: Indices,
    out: tuple[Matrix, Vector],
) -> None:
    """Write rows of the local cubic between the second and the third of four samples.

    Args:
        knots: (nq,) samples in a row; the second or the third once more where there is none before or after.
        times: Their instants [s].
        late: By how much the second and the third are later than their stamps say [s].
        rows: Instant of the first row, and time between rows [s].
        units: (k, 2) where parts of unit length begin and end.
        out: (n, nq) rows, and (n,) by how much they are later than their stamps say [s]; overwritten.
    """
    before, one, other, after = knots
    h = times[2] - times[1]
    behind = late[1] - late[0] if abs(late[1] - late[0]) < OTHER_CLOCK else 0.0
    for i in range(len(out[0])):
        s = (rows[0] + i * rows[1] - times[1]) / h
        s2, s3 = s * s, s * s * s
        a, b, c, d = (
            2.0 * s3 - 3.0 * s2 + 1.0,
            (s3 - 2.0 * s2 + s) * h,
            3.0 * s2 - 2.0 * s3,
            (s3 - s2) * h,
        )
        for j in range(out[0].shape[1]):
            rate, next_rate = (
                (other[j] - before[j]) / (times[2] - times[0]),
                (after[j] - one[j]) / (times[3] - times[1]),
            )
            out[0][i, j] = a * one[j] + b * rate + c * other[j] + d * next_rate
        out[1][i] = late[1] + (s - 1.0) * behind
    make_unit(out[0], units)


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


def see_legs(
    poses: Matrix, joints: Indices, points: Matrix, turns: Matrix, leg: float, out: Seen
) -> None:
    """Write where soles are, how they are turned, and how straight the legs are.

    Args:
        poses: (n, nj, 12) poses of the joints, rotations column by column, then places [m].
        joints: (8,) those that carry the points.
        points: (8, 3) origins and middles of the soles, hips and ankles, left and right, in axes of their joints [m].
        turns: (2, 3, 3) how soles are turned in their joints.
        leg: Length of a leg [m].
        out: (n, 2, 3) origins of soles, (n, 2, 3, 3) orientations, (n, 2) headings, (n, 2, 3) middles, (n, 2) stretch; overwritten.
    """
    place, turn, heading, centre, stretch = out
    for row in range(len(poses)):
        for foot in range(2):
            X, hip, ankle, square = (
                poses[row, joints[foot]],
                poses[row, joints[4 + foot]],
                poses[row, joints[6 + foot]],
                0.0,
            )
            for i in range(3):
                place[row, foot, i] = place_of(X, points[foot], i)
                centre[row, foot, i] = place_of(X, points[2 + foot], i)
                for j in range(3):
                    turn[row, foot, i, j] = (
                        X[i] * turns[foot, 0, j]
                        + X[3 + i] * turns[foot, 1, j]
                        + X[6 + i] * turns[foot, 2, j]
                    )
                apart = place_of(hip, points[4 + foot], i) - place_of(ankle, points[6 + foot], i)
                square += apart * apart
            heading[row, foot] = math.atan2(turn[row, foot, 1, 0], turn[row, foot, 0, 0])
            stretch[row, foot] = math.sqrt(square) / leg


def place_of(pose: Vector, point: Vector, i: int) -> float:
    """Return a coordinate of a point that a joint carries."""
    x, y, z = point[0], point[1], point[2]
    return float(pose[9 + i] + pose[i] * x + pose[3 + i] * y + pose[6 + i] * z)
