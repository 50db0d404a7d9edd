# SPDX-License-Identifier: Apache-2.0
"""Where joints put their bodies, and how a way moves a configuration; written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.steps.joint_kinds import (
    ABOVE,
    B_AXIS,
    B_R,
    B_T,
    BALL,
    FIRST_Q,
    HINGE,
    KIND,
    PLAIN,
    SLIDER,
    TILTED,
    WHEEL,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

QUARTERS = 0.63661977236758134308  # of a turn in a radian
QUARTER_HIGH, QUARTER_LOW = (
    1.57079632673412561417,
    6.07710050650619224932e-11,
)  # 33 bits of a quarter of a turn, and the rest of it
MOST_QUARTERS = 2.0**30
S_1, S_2, S_3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S_4, S_5, S_6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C_1, C_2, C_3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C_4, C_5, C_6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


def find_turns(joints: Indices, q: Vector, turns: Matrix) -> None:
    """Write cosine and sine of the angles of all hinges, to the last digit but one; without branches, so that many are found at a time.

    The angle is brought between -pi/4 and pi/4, where both are short series [fdlibm].

    Args:
        joints: Table of joints.
        q: (nq,) configuration.
        turns: (nj, 2) cosine and sine, overwritten.
    """
    for i in range(1, len(joints)):
        angle = q[joints[i, FIRST_Q]]
        quarters = np.rint(angle * QUARTERS)
        x = (angle - quarters * QUARTER_HIGH) - quarters * QUARTER_LOW
        n, z = int(quarters) if abs(quarters) < MOST_QUARTERS else 0, x * x
        sine = x + x * z * (S_1 + z * (S_2 + z * (S_3 + z * (S_4 + z * (S_5 + z * S_6)))))
        cosine = 1.0 - (
            0.5 * z - z * z * (C_1 + z * (C_2 + z * (C_3 + z * (C_4 + z * (C_5 + z * C_6)))))
        )
        first, second = (sine, cosine) if n & 1 else (cosine, sine)
        turns[i, 0], turns[i, 1] = -first if (n + 1) & 2 else first, -second if n & 2 else second


def turn_plainly(
    poses: Matrix, places: tuple[int, int], axis: int, turn: tuple[float, float]
) -> None:
    """Turn a joint about one of its axes; number by number, because short loops are what a compiler is slow with.

    Args:
        poses: (nj, 12) poses, rotation column by column and translation.
        places: The joint whose rotation it starts from, and the joint.
        axis: Which axis.
        turn: Cosine and sine of the angle.
    """
    source, i = places
    cosine, sine = turn
    x_0, x_1, x_2 = poses[source, 0], poses[source, 1], poses[source, 2]
    y_0, y_1, y_2 = poses[source, 3], poses[source, 4], poses[source, 5]
    z_0, z_1, z_2 = poses[source, 6], poses[source, 7], poses[source, 8]
    if axis == 0:
        y_0, z_0 = cosine * y_0 + sine * z_0, cosine * z_0 - sine * y_0
        y_1, z_1 = cosine * y_1 + sine * z_1, cosine * z_1 - sine * y_1
        y_2, z_2 = cosine * y_2 + sine * z_2, cosine * z_2 - sine * y_2
    elif axis == 1:
        z_0, x_0 = cosine * z_0 + sine * x_0, cosine * x_0 - sine * z_0
        z_1, x_1 = cosine * z_1 + sine * x_1, cosine * x_1 - sine * z_1
        z_2, x_2 = cosine * z_2 + sine * x_2, cosine * x_2 - sine * z_2
    else:
        x_0, y_0 = cosine * x_0 + sine * y_0, cosine * y_0 - sine * x_0
        x_1, y_1 = cosine * x_1 + sine * y_1, cosine * y_1 - sine * x_1
        x_2, y_2 = cosine * x_2 + sine * y_2, cosine * y_2 - sine * x_2
    poses[i, 0], poses[i, 1], poses[i, 2] = x_0, x_1, x_2
    poses[i, 3], poses[i, 4], poses[i, 5] = y_0, y_1, y_2
    poses[i, 6], poses[i, 7], poses[i, 8] = z_0, z_1, z_2


def start_from_above(bodies: Matrix, poses: Matrix, above: int, i: int) -> None:
    """Write the rotation of a joint before it moves.

    Args:
        bodies: Table of bodies.
        poses: (nj, 12) poses.
        above: The joint that carries it.
        i: The joint.
    """
    x_0, x_1, x_2 = poses[above, 0], poses[above, 1], poses[above, 2]
    y_0, y_1, y_2 = poses[above, 3], poses[above, 4], poses[above, 5]
    z_0, z_1, z_2 = poses[above, 6], poses[above, 7], poses[above, 8]
    for k in range(0, 9, 3):
        a, b, c = bodies[i, B_R + k], bodies[i, B_R + k + 1], bodies[i, B_R + k + 2]
        poses[i, k] = x_0 * a + y_0 * b + z_0 * c
        poses[i, k + 1] = x_1 * a + y_1 * b + z_1 * c
        poses[i, k + 2] = x_2 * a + y_2 * b + z_2 * c


def turn_by(poses: Matrix, i: int, turn: tuple[float, float, float, float]) -> None:
    """Turn a joint by a quaternion.

    Args:
        poses: (nj, 12) poses.
        i: The joint.
        turn: x, y, z, w of the quaternion.
    """
    x, y, z, w = turn
    for r in range(3):
        a, b, c = poses[i, r], poses[i, 3 + r], poses[i, 6 + r]
        poses[i, r] = (
            a * (1.0 - 2.0 * (y * y + z * z))
            + b * (2.0 * (x * y + w * z))
            + c * (2.0 * (x * z - w * y))
        )
        poses[i, 3 + r] = (
            a * (2.0 * (x * y - w * z))
            + b * (1.0 - 2.0 * (x * x + z * z))
            + c * (2.0 * (y * z + w * x))
        )
        poses[i, 6 + r] = (
            a * (2.0 * (x * z + w * y))
            + b * (2.0 * (y * z - w * x))
            + c * (1.0 - 2.0 * (x * x + y * y))
        )


def shift(poses: Matrix, i: int, x: float, y: float, z: float) -> None:
    """Shift a joint along its axes.

    Args:
        poses: (nj, 12) poses.
        i: The joint.
        x: Along x [m].
        y: Along y [m].
        z: Along z [m].
    """
    for r in range(3):
        poses[i, 9 + r] += poses[i, r] * x + poses[i, 3 + r] * y + poses[i, 6 + r] * z


def turn_tilted(bodies: Matrix, poses: Matrix, i: int, turn: tuple[float, float]) -> None:
    """Turn a joint about an axis that is none of its frame.

    Args:
        bodies: Table of bodies.
        poses: (nj, 12) poses.
        i: The joint.
        turn: Cosine and sine of the angle.
    """
    cosine, sine = turn
    x, y, z, rest = bodies[i, B_AXIS], bodies[i, B_AXIS + 1], bodies[i, B_AXIS + 2], 1.0 - cosine
    for r in range(3):
        a, b, c = poses[i, r], poses[i, 3 + r], poses[i, 6 + r]
        along = (a * x + b * y + c * z) * rest
        poses[i, r] = cosine * a + sine * (b * z - c * y) + along * x
        poses[i, 3 + r] = cosine * b + sine * (c * x - a * z) + along * y
        poses[i, 6 + r] = cosine * c + sine * (a * y - b * x) + along * z


def place_bodies(joints: Indices, bodies: Matrix, q: Vector, poses: Matrix) -> None:
    """Write the poses of all joints.

    Args:
        joints: Table of joints.
        bodies: Table of bodies.
        q: (nq,) configuration.
        poses: (nj, 12) poses, overwritten but for that of the world.
    """
    turns = np.empty((len(joints), 2))
    find_turns(joints, q, turns)
    for i in range(1, len(joints)):
        above, kind = joints[i, ABOVE], joints[i, KIND]
        x, y, z = bodies[i, B_T], bodies[i, B_T + 1], bodies[i, B_T + 2]
        poses[i, 9] = (
            poses[above, 9] + poses[above, 0] * x + poses[above, 3] * y + poses[above, 6] * z
        )
        poses[i, 10] = (
            poses[above, 10] + poses[above, 1] * x + poses[above, 4] * y + poses[above, 7] * z
        )
        poses[i, 11] = (
            poses[above, 11] + poses[above, 2] * x + poses[above, 5] * y + poses[above, 8] * z
        )
        source = above
        if joints[i, PLAIN] == 0:
            source = i
            start_from_above(bodies, poses, above, i)
        if kind < TILTED:
            turn_plainly(poses, (source, i), kind - HINGE, (turns[i, 0], turns[i, 1]))
        elif kind == TILTED:
            turn_tilted(bodies, poses, i, (turns[i, 0], turns[i, 1]))
        else:
            move_rarely(joints, bodies, q, poses, i)


def move_rarely(joints: Indices, bodies: Matrix, q: Vector, poses: Matrix, i: int) -> None:
    """Move a joint that is no hinge with an angle.

    Args:
        joints: Table of joints.
        bodies: Table of bodies.
        q: (nq,) configuration.
        poses: (nj, 12) poses, of which one is overwritten.
        i: The joint.
    """
    kind, k = joints[i, KIND], joints[i, FIRST_Q]
    if kind == SLIDER:
        shift(
            poses,
            i,
            q[k] * bodies[i, B_AXIS],
            q[k] * bodies[i, B_AXIS + 1],
            q[k] * bodies[i, B_AXIS + 2],
        )
    elif kind == WHEEL:
        turn_tilted(bodies, poses, i, (q[k], q[k + 1]))
    elif kind == BALL:
        turn_by(poses, i, (q[k], q[k + 1], q[k + 2], q[k + 3]))
    else:
        shift(poses, i, q[k], q[k + 1], q[k + 2])
        turn_by(poses, i, (q[k + 3], q[k + 4], q[k + 5], q[k + 6]))


PARTS = (
    find_turns,
    start_from_above,
    turn_plainly,
    turn_by,
    shift,
    turn_tilted,
    move_rarely,
    place_bodies,
)
