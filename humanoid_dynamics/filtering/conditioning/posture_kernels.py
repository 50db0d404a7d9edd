# SPDX-License-Identifier: Apache-2.0
"""What counts of a posture, as loops that numba compiles."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

HIGH = (
    0.5,
    1.0,
)  # of the leg; a sole so much over the other one begins to bear nothing, and bears nothing
NEAR = 0.15  # of the leg; soles less far over the lower one count where tilts are asked for
LEAST = 1e-9  # m^2
LEAN, HEIGHT, FAR, TILT = range(4)  # places in the numbers
UP, BEARS, SOLES = slice(4, 7), slice(7, 9), slice(9, 13)


def see_posture(
    now: tuple[Vector, Vector, Matrix], joints: Indices, soles: Matrix, known: Vector, out: Vector
) -> None:
    """Write what counts of a posture; see ``posture_bound.Seen``.

    Args:
        now: (nq,) configuration, (3,) centre of mass [m], (nj, 12) poses of the joints, rotations column by column, then places [m].
        joints: (2,) those that carry left and right sole.
        soles: (2, 6) middle of each sole [m] and its normal, in axes of its joint.
        known: Direction upward in axes of the base at rest, where the ground pulls the centre of mass to, seen from above [m], and length
            of a leg [m].
        out: Lean [rad], height [m], distance [m], tilt [rad], direction upward, point that bears [m], middles of soles [m]; overwritten.
    """
    q, com, poses = now
    x, y, z, w = q[3], q[4], q[5], q[6]
    up = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y
    out[4], out[5], out[6] = up
    out[LEAN] = angle_between(up, (known[0], known[1], known[2]))
    px, py = com[0] + known[3], com[1] + known[4]
    out[7], out[8] = px, py
    left, right = poses[joints[0]], poses[joints[1]]
    one, other = _height_of(left, soles[0]), _height_of(right, soles[1])
    for j in range(2):
        out[9 + j] = (
            left[9 + j]
            + left[j] * soles[0, 0]
            + left[3 + j] * soles[0, 1]
            + left[6 + j] * soles[0, 2]
        )
        out[11 + j] = (
            right[9 + j]
            + right[j] * soles[1, 0]
            + right[3 + j] * soles[1, 1]
            + right[6 + j] * soles[1, 2]
        )
    lower = 1 if other < one else 0
    over = abs(other - one) / known[5]
    out[HEIGHT] = q[2] - min(one, other)
    upright = 1.0
    for k in range(2):
        if k == lower or over < NEAR:
            pose = poses[joints[k]]
            upright = min(
                upright, pose[2] * soles[k, 3] + pose[5] * soles[k, 4] + pose[8] * soles[k, 5]
            )
    out[TILT] = math.acos(max(upright, -1.0))
    bears = min(max((HIGH[1] - over) / (HIGH[1] - HIGH[0]), 0.0), 1.0)
    a, b = 9 + 2 * lower, 11 - 2 * lower
    out[FAR] = distance_from(
        px, py, (out[a], out[a + 1]), (bears * (out[b] - out[a]), bears * (out[b + 1] - out[a + 1]))
    )


def _height_of(pose: Vector, sole: Vector) -> float:
    x, y, z = sole[0], sole[1], sole[2]
    return float(pose[11] + pose[2] * x + pose[5] * y + pose[8] * z)


def angle_between(up: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return the angle between two directions [rad]."""
    return math.acos(min(max(up[0] * other[0] + up[1] * other[1] + up[2] * other[2], -1.0), 1.0))


def distance_from(
    x: float, y: float, start: tuple[float, float], across: tuple[float, float]
) -> float:
    """Return the distance of a point from a line that starts somewhere and goes some way [m]."""
    square = across[0] * across[0] + across[1] * across[1]
    share = min(
        max(((x - start[0]) * across[0] + (y - start[1]) * across[1]) / max(square, LEAST), 0.0),
        1.0,
    )
    return math.hypot(x - start[0] - share * across[0], y - start[1] - share * across[1])
