# SPDX-License-Identifier: Apache-2.0
"""How a way moves a configuration, how far it is to another one, and what energy it has; written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.steps.body_table import Body, BodyTable
from humanoid_dynamics.simulation.steps.joint_kernel import place_bodies
from humanoid_dynamics.simulation.steps.joint_kinds import (
    ABOVE,
    B_AXIS,
    B_C,
    B_I,
    B_MASS,
    BALL,
    DOFS,
    FIRST_Q,
    FIRST_V,
    FREE,
    KIND,
    SLIDER,
    WHEEL,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SMALL = 1e-4  # angle below which series are as exact as what they stand for [rad]
MOTIONS: int = 9
START: int = 12  # column of the table of poses where velocities begin


def move_configuration(
    joints: Indices, q: Vector, way: tuple[Vector, float], moved: Vector
) -> None:
    """Write where a way leads.

    Args:
        joints: Table of joints.
        q: (nq,) configuration.
        way: (nv,) velocity, and for how long [s].
        moved: (nq,) configuration at its end, overwritten.
    """
    v, dt = way
    for i in range(1, len(joints)):
        kind, k, d = joints[i, KIND], joints[i, FIRST_Q], joints[i, FIRST_V]
        if kind <= SLIDER:
            moved[k] = q[k] + dt * v[d]
        elif kind == WHEEL:
            cosine, sine = np.cos(dt * v[d]), np.sin(dt * v[d])
            c, s = cosine * q[k] - sine * q[k + 1], sine * q[k] + cosine * q[k + 1]
            share = 0.5 * (3.0 - c * c - s * s)
            moved[k], moved[k + 1] = share * c, share * s
        elif kind == BALL:
            turn_ball(q, k, (dt * v[d], dt * v[d + 1], dt * v[d + 2]), moved)
        else:
            shift_free(q, k, way, d, moved)
            turn_ball(q, k + 3, (dt * v[d + 3], dt * v[d + 4], dt * v[d + 5]), moved)


def turn_ball(q: Vector, k: int, angle: tuple[float, float, float], moved: Vector) -> None:
    """Write a quaternion turned by an angle, seen from its body.

    Args:
        q: (nq,) configuration.
        k: Where the quaternion begins.
        angle: Along the axis, as long as the angle [rad].
        moved: (nq,) overwritten there.
    """
    a, b, c = angle
    square = a * a + b * b + c * c
    length = np.sqrt(square)
    share = np.sin(0.5 * length) / length if length > SMALL else 0.5 - square / 48.0
    a, b, c, w = share * a, share * b, share * c, np.cos(0.5 * length)
    x, y, z, u = q[k], q[k + 1], q[k + 2], q[k + 3]
    x_1, y_1, z_1 = (
        u * a + w * x + y * c - z * b,
        u * b + w * y + z * a - x * c,
        u * c + w * z + x * b - y * a,
    )
    u_1 = u * w - x * a - y * b - z * c
    norm = x_1 * x_1 + y_1 * y_1 + z_1 * z_1 + u_1 * u_1
    same = x * x_1 + y * y_1 + z * z_1 + u * u_1  # of a quaternion and its negative, the nearer one
    share = 0.5 * (3.0 - norm) if same >= 0.0 else -0.5 * (3.0 - norm)
    moved[k], moved[k + 1], moved[k + 2], moved[k + 3] = (
        share * x_1,
        share * y_1,
        share * z_1,
        share * u_1,
    )


def shift_free(q: Vector, k: int, way: tuple[Vector, float], d: int, moved: Vector) -> None:
    """Write the place of a free body after it has moved with a constant twist, seen from itself.

    Args:
        q: (nq,) configuration.
        k: Where the place begins.
        way: (nv,) velocity, and for how long [s].
        d: Where its twist begins.
        moved: (nq,) overwritten there.
    """
    v, dt = way
    a, b, c = dt * v[d + 3], dt * v[d + 4], dt * v[d + 5]
    p_x, p_y, p_z = dt * v[d], dt * v[d + 1], dt * v[d + 2]
    square = a * a + b * b + c * c
    length = np.sqrt(square)
    if length > SMALL:
        half = np.sin(0.5 * length)
        along, across = np.sin(length) / length, 2.0 * half * half / square
        held = (1.0 - along) / square * (a * p_x + b * p_y + c * p_z)
    else:
        along, across = 1.0 - square / 6.0, 0.5 - square / 24.0
        held = (1.0 / 6.0 - square / 120.0) * (a * p_x + b * p_y + c * p_z)
    u, s, t = (
        along * p_x + held * a + across * (b * p_z - c * p_y),
        along * p_y + held * b + across * (c * p_x - a * p_z),
        along * p_z + held * c + across * (a * p_y - b * p_x),
    )
    x, y, z, w = q[k + 3], q[k + 4], q[k + 5], q[k + 6]
    a, b, c = 2.0 * (y * t - z * s), 2.0 * (z * u - x * t), 2.0 * (x * s - y * u)
    moved[k] = q[k] + u + w * a + y * c - z * b
    moved[k + 1] = q[k + 1] + s + w * b + z * a - x * c
    moved[k + 2] = q[k + 2] + t + w * c + x * b - y * a


def find_offsets(joints: Indices, q: Vector, q_ref: Vector, offset: Vector) -> None:
    """Write how far hinges and sliders are from where drives hold them, zero for all other joints.

    Args:
        joints: Table of joints.
        q: (nq,) configuration.
        q_ref: (nq,) configuration to hold.
        offset: (nv,) way there, overwritten.
    """
    for i in range(1, len(joints)):
        kind, k, d = joints[i, KIND], joints[i, FIRST_Q], joints[i, FIRST_V]
        if kind <= SLIDER:
            offset[d] = q_ref[k] - q[k]
        elif kind == WHEEL:
            offset[d] = np.arctan2(
                q[k] * q_ref[k + 1] - q[k + 1] * q_ref[k], q[k] * q_ref[k] + q[k + 1] * q_ref[k + 1]
            )
        else:
            for n in range(joints[i, DOFS]):
                offset[d + n] = 0.0


def measure_energy(table: Body, q: Vector, v: Vector) -> float:
    """Return kinetic and potential energy, rotors included [J].

    Args:
        table: The tree, in the order of ``BodyTable``.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    return measure_motion(table, q, v, np.empty(MOTIONS))


def measure_motion(table: Body, q: Vector, v: Vector, motion: Vector) -> float:
    """Return kinetic and potential energy, rotors included [J], and write the motion of all bodies.

    Args:
        table: The tree, in the order of ``BodyTable``.
        q: (nq,) configuration.
        v: (nv,) velocity.
        motion: (9,) momentum, linear and angular about the origin of the world, and mass times centre of mass; overwritten.
    """
    body = BodyTable(*table)
    joints, bodies, rotors = body.joints, body.bodies, body.rotors
    gravity = (body.gravity[0], body.gravity[1], body.gravity[2])
    poses = np.empty((len(joints), START + 6))
    for n in range(START + 6):
        poses[0, n] = 0.0
    poses[0, 0] = poses[0, 4] = poses[0, 8] = 1.0
    place_bodies(joints, bodies, q, poses)
    carry_velocities(joints, bodies, v, poses)
    energy = 0.0
    motion[:] = 0.0
    for i in range(1, len(joints)):
        energy += measure_body(bodies, poses, (i, gravity), motion)
    for k in range(len(v)):
        energy += 0.5 * rotors[k] * v[k] * v[k]
    return energy


def carry_velocities(joints: Indices, bodies: Matrix, v: Vector, poses: Matrix) -> None:
    """Write linear and angular velocity of all joints, each at its own place, in the world.

    Args:
        joints: Table of joints.
        bodies: Table of bodies.
        v: (nv,) velocity.
        poses: (nj, 18) poses, and velocities, which are overwritten but for that of the world.
    """
    for i in range(1, len(joints)):
        kind, k, above = joints[i, KIND], joints[i, FIRST_V], joints[i, ABOVE]
        x, y, z = (
            poses[i, 9] - poses[above, 9],
            poses[i, 10] - poses[above, 10],
            poses[i, 11] - poses[above, 11],
        )
        a, b, c = poses[above, 15], poses[above, 16], poses[above, 17]
        l_x, l_y, l_z, r_x, r_y, r_z = (
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        )  # against the joint above, in the axes of this one
        if kind == SLIDER:
            l_x, l_y, l_z = (
                v[k] * bodies[i, B_AXIS],
                v[k] * bodies[i, B_AXIS + 1],
                v[k] * bodies[i, B_AXIS + 2],
            )
        elif kind == FREE:
            l_x, l_y, l_z, r_x, r_y, r_z = v[k], v[k + 1], v[k + 2], v[k + 3], v[k + 4], v[k + 5]
        elif kind == BALL:
            r_x, r_y, r_z = v[k], v[k + 1], v[k + 2]
        else:
            r_x, r_y, r_z = (
                v[k] * bodies[i, B_AXIS],
                v[k] * bodies[i, B_AXIS + 1],
                v[k] * bodies[i, B_AXIS + 2],
            )
        poses[i, 15] = a + poses[i, 0] * r_x + poses[i, 3] * r_y + poses[i, 6] * r_z
        poses[i, 16] = b + poses[i, 1] * r_x + poses[i, 4] * r_y + poses[i, 7] * r_z
        poses[i, 17] = c + poses[i, 2] * r_x + poses[i, 5] * r_y + poses[i, 8] * r_z
        poses[i, 12] = (
            poses[above, 12]
            + b * z
            - c * y
            + poses[i, 0] * l_x
            + poses[i, 3] * l_y
            + poses[i, 6] * l_z
        )
        poses[i, 13] = (
            poses[above, 13]
            + c * x
            - a * z
            + poses[i, 1] * l_x
            + poses[i, 4] * l_y
            + poses[i, 7] * l_z
        )
        poses[i, 14] = (
            poses[above, 14]
            + a * y
            - b * x
            + poses[i, 2] * l_x
            + poses[i, 5] * l_y
            + poses[i, 8] * l_z
        )


def measure_body(
    bodies: Matrix, poses: Matrix, which: tuple[int, tuple[float, float, float]], motion: Vector
) -> float:
    """Return kinetic and potential energy of a body [J], and add its motion.

    Args:
        bodies: Table of bodies.
        poses: (nj, 18) poses and velocities.
        which: Its joint, and three numbers of gravity [m/s²].
        motion: (9,) momentum, linear and angular about the origin of the world, and mass times centre of mass.
    """
    i, gravity = which
    m, c_x, c_y, c_z = bodies[i, B_MASS], bodies[i, B_C], bodies[i, B_C + 1], bodies[i, B_C + 2]
    x = poses[i, 0] * c_x + poses[i, 3] * c_y + poses[i, 6] * c_z
    y = poses[i, 1] * c_x + poses[i, 4] * c_y + poses[i, 7] * c_z
    z = poses[i, 2] * c_x + poses[i, 5] * c_y + poses[i, 8] * c_z
    a, b, c = poses[i, 15], poses[i, 16], poses[i, 17]
    v_x, v_y, v_z = (
        poses[i, 12] + b * z - c * y,
        poses[i, 13] + c * x - a * z,
        poses[i, 14] + a * y - b * x,
    )
    w_x = poses[i, 0] * a + poses[i, 1] * b + poses[i, 2] * c
    w_y = poses[i, 3] * a + poses[i, 4] * b + poses[i, 5] * c
    w_z = poses[i, 6] * a + poses[i, 7] * b + poses[i, 8] * c
    xx, xy, yy = bodies[i, B_I], bodies[i, B_I + 1], bodies[i, B_I + 2]
    xz, yz, zz = bodies[i, B_I + 3], bodies[i, B_I + 4], bodies[i, B_I + 5]
    s_x, s_y, s_z = (
        xx * w_x + xy * w_y + xz * w_z,
        xy * w_x + yy * w_y + yz * w_z,
        xz * w_x + yz * w_y + zz * w_z,
    )
    x, y, z = x + poses[i, 9], y + poses[i, 10], z + poses[i, 11]
    p_x, p_y, p_z = m * v_x, m * v_y, m * v_z
    motion[0] += p_x
    motion[1] += p_y
    motion[2] += p_z
    motion[3] += y * p_z - z * p_y + poses[i, 0] * s_x + poses[i, 3] * s_y + poses[i, 6] * s_z
    motion[4] += z * p_x - x * p_z + poses[i, 1] * s_x + poses[i, 4] * s_y + poses[i, 7] * s_z
    motion[5] += x * p_y - y * p_x + poses[i, 2] * s_x + poses[i, 5] * s_y + poses[i, 8] * s_z
    motion[6] += m * x
    motion[7] += m * y
    motion[8] += m * z
    turning = s_x * w_x + s_y * w_y + s_z * w_z
    height = gravity[0] * x + gravity[1] * y + gravity[2] * z
    return float(0.5 * (m * (v_x * v_x + v_y * v_y + v_z * v_z) + turning) - m * height)


PARTS = (
    turn_ball,
    shift_free,
    move_configuration,
    find_offsets,
    carry_velocities,
    measure_body,
    measure_motion,
    measure_energy,
)
