# SPDX-License-Identifier: Apache-2.0
"""Poses, Jacobian, inertia and bias of a tree in one sweep out and one in, all seen from the origin of the world.

What numba compiles in place of Pinocchio's calls, which sweep over the tree once for each of these; tables and their columns are those of
``body_table.py``.  Out go poses, twists and the forces that bodies need to move as they do while no joint accelerates; in come these forces
and the inertia of all that a joint carries [Featherstone, Rigid Body Dynamics Algorithms, sec. 5.3 and 6.2].
"""

from __future__ import annotations

from typing import Final

import numpy as np

from humanoid_dynamics.simulation.steps.body_table import Body, BodyTable
from humanoid_dynamics.simulation.steps.joint_kernel import place_bodies
from humanoid_dynamics.simulation.steps.joint_kinds import (
    ABOVE,
    B_AXIS,
    B_C,
    B_I,
    B_MASS,
    DOFS,
    FIRST_V,
    FREE,
    KIND,
    SLIDER,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

# columns of the table of sweeps
TWIST: Final = 0  # at the origin of the world, linear and angular
BIAS: Final = 6  # acceleration while no joint accelerates
FORCE: Final = 12  # that moves the body so, then all that it carries
MASS: Final = 18  # of the body, then of all that it carries
MOMENT: Final = 19  # mass times centre of mass
INERTIA: Final = 22  # about the origin of the world: xx, xy, yy, xz, yz, zz
COLUMNS: Final = 28


def write_axes_of_joint(joints: Indices, bodies: Matrix, poses: Matrix, i: int, JT: Matrix) -> None:
    """Write the columns of the Jacobian that belong to a joint.

    Args:
        joints: Table of joints.
        bodies: Table of bodies.
        poses: (nj, 12) poses.
        i: The joint.
        JT: (nv, 6) joint Jacobian of the world, whose rows are overwritten there.
    """
    kind, k = joints[i, KIND], joints[i, FIRST_V]
    p_x, p_y, p_z = poses[i, 9], poses[i, 10], poses[i, 11]
    for d in range(joints[i, DOFS]):
        if joints[i, DOFS] == 1:
            a, b, c = bodies[i, B_AXIS], bodies[i, B_AXIS + 1], bodies[i, B_AXIS + 2]
            x = poses[i, 0] * a + poses[i, 3] * b + poses[i, 6] * c
            y = poses[i, 1] * a + poses[i, 4] * b + poses[i, 7] * c
            z = poses[i, 2] * a + poses[i, 5] * b + poses[i, 8] * c
        else:
            column = 3 * (d % 3)
            x, y, z = poses[i, column], poses[i, column + 1], poses[i, column + 2]
        if kind == SLIDER or (kind == FREE and d < 3):
            JT[k + d, 0], JT[k + d, 1], JT[k + d, 2] = x, y, z
            JT[k + d, 3], JT[k + d, 4], JT[k + d, 5] = 0.0, 0.0, 0.0
        else:
            JT[k + d, 0], JT[k + d, 1], JT[k + d, 2] = (
                p_y * z - p_z * y,
                p_z * x - p_x * z,
                p_x * y - p_y * x,
            )
            JT[k + d, 3], JT[k + d, 4], JT[k + d, 5] = x, y, z


def move_body(joints: Indices, JT: Matrix, v: Vector, i: int, sweep: Matrix) -> None:
    """Write twist and bias acceleration of a body.

    Args:
        joints: Table of joints.
        JT: (nv, 6) joint Jacobian of the world.
        v: (nv,) velocity.
        i: Its joint.
        sweep: Table of sweeps.
    """
    above, k = joints[i, ABOVE], joints[i, FIRST_V]
    a, b, c, x, y, z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for d in range(k, k + joints[i, DOFS]):
        a += JT[d, 0] * v[d]
        b += JT[d, 1] * v[d]
        c += JT[d, 2] * v[d]
        x += JT[d, 3] * v[d]
        y += JT[d, 4] * v[d]
        z += JT[d, 5] * v[d]
    A, B, C = sweep[above, 0] + a, sweep[above, 1] + b, sweep[above, 2] + c
    X, Y, Z = sweep[above, 3] + x, sweep[above, 4] + y, sweep[above, 5] + z
    sweep[i, 0], sweep[i, 1], sweep[i, 2], sweep[i, 3], sweep[i, 4], sweep[i, 5] = A, B, C, X, Y, Z
    # the axes of a joint move with its body: V x (S v)
    sweep[i, 6] = sweep[above, 6] + Y * c - Z * b + B * z - C * y
    sweep[i, 7] = sweep[above, 7] + Z * a - X * c + C * x - A * z
    sweep[i, 8] = sweep[above, 8] + X * b - Y * a + A * y - B * x
    sweep[i, 9] = sweep[above, 9] + Y * z - Z * y
    sweep[i, 10] = sweep[above, 10] + Z * x - X * z
    sweep[i, 11] = sweep[above, 11] + X * y - Y * x


def weigh_body(bodies: Matrix, poses: Matrix, i: int, sweep: Matrix) -> None:
    """Write the inertia of a body about the origin of the world.

    Args:
        bodies: Table of bodies.
        poses: (nj, 12) poses.
        i: Its joint.
        sweep: Table of sweeps.
    """
    m, c_x, c_y, c_z = bodies[i, B_MASS], bodies[i, B_C], bodies[i, B_C + 1], bodies[i, B_C + 2]
    r_0, r_1, r_2, r_3, r_4, r_5 = (
        poses[i, 0],
        poses[i, 1],
        poses[i, 2],
        poses[i, 3],
        poses[i, 4],
        poses[i, 5],
    )
    r_6, r_7, r_8 = poses[i, 6], poses[i, 7], poses[i, 8]
    x = r_0 * c_x + r_3 * c_y + r_6 * c_z + poses[i, 9]
    y = r_1 * c_x + r_4 * c_y + r_7 * c_z + poses[i, 10]
    z = r_2 * c_x + r_5 * c_y + r_8 * c_z + poses[i, 11]
    xx, xy, yy = bodies[i, B_I], bodies[i, B_I + 1], bodies[i, B_I + 2]
    xz, yz, zz = bodies[i, B_I + 3], bodies[i, B_I + 4], bodies[i, B_I + 5]
    # rows of R I
    a_0, a_1, a_2 = (
        r_0 * xx + r_3 * xy + r_6 * xz,
        r_0 * xy + r_3 * yy + r_6 * yz,
        r_0 * xz + r_3 * yz + r_6 * zz,
    )
    b_0, b_1, b_2 = (
        r_1 * xx + r_4 * xy + r_7 * xz,
        r_1 * xy + r_4 * yy + r_7 * yz,
        r_1 * xz + r_4 * yz + r_7 * zz,
    )
    c_0, c_1, c_2 = (
        r_2 * xx + r_5 * xy + r_8 * xz,
        r_2 * xy + r_5 * yy + r_8 * yz,
        r_2 * xz + r_5 * yz + r_8 * zz,
    )
    sweep[i, 18], sweep[i, 19], sweep[i, 20], sweep[i, 21] = m, m * x, m * y, m * z
    sweep[i, 22] = a_0 * r_0 + a_1 * r_3 + a_2 * r_6 + m * (y * y + z * z)
    sweep[i, 23] = a_0 * r_1 + a_1 * r_4 + a_2 * r_7 - m * x * y
    sweep[i, 24] = b_0 * r_1 + b_1 * r_4 + b_2 * r_7 + m * (x * x + z * z)
    sweep[i, 25] = a_0 * r_2 + a_1 * r_5 + a_2 * r_8 - m * x * z
    sweep[i, 26] = b_0 * r_2 + b_1 * r_5 + b_2 * r_8 - m * y * z
    sweep[i, 27] = c_0 * r_2 + c_1 * r_5 + c_2 * r_8 + m * (x * x + y * y)


def apply_inertia(sweep: Matrix, i: int, twist: tuple[float, ...]) -> tuple[float, ...]:
    """Return the inertia of a body times a twist (6,).

    Args:
        sweep: Table of sweeps.
        i: Its joint.
        twist: Six numbers.
    """
    a, b, c, x, y, z = twist
    m, h_x, h_y, h_z = sweep[i, 18], sweep[i, 19], sweep[i, 20], sweep[i, 21]
    xx, xy, yy, xz, yz, zz = (
        sweep[i, 22],
        sweep[i, 23],
        sweep[i, 24],
        sweep[i, 25],
        sweep[i, 26],
        sweep[i, 27],
    )
    return (
        m * a + y * h_z - z * h_y,
        m * b + z * h_x - x * h_z,
        m * c + x * h_y - y * h_x,
        xx * x + xy * y + xz * z + h_y * c - h_z * b,
        xy * x + yy * y + yz * z + h_z * a - h_x * c,
        xz * x + yz * y + zz * z + h_x * b - h_y * a,
    )


def force_body(sweep: Matrix, i: int) -> None:
    """Write the force that moves a body while no joint accelerates.

    Args:
        sweep: Table of sweeps.
        i: Its joint.
    """
    A, B, C, X, Y, Z = sweep[i, 0], sweep[i, 1], sweep[i, 2], sweep[i, 3], sweep[i, 4], sweep[i, 5]
    a, b, c, x, y, z = apply_inertia(sweep, i, (A, B, C, X, Y, Z))
    moved = (sweep[i, 6], sweep[i, 7], sweep[i, 8], sweep[i, 9], sweep[i, 10], sweep[i, 11])
    f_0, f_1, f_2, f_3, f_4, f_5 = apply_inertia(sweep, i, moved)
    sweep[i, 12] = f_0 + Y * c - Z * b
    sweep[i, 13] = f_1 + Z * a - X * c
    sweep[i, 14] = f_2 + X * b - Y * a
    sweep[i, 15] = f_3 + Y * z - Z * y + B * c - C * b
    sweep[i, 16] = f_4 + Z * x - X * z + C * a - A * c
    sweep[i, 17] = f_5 + X * y - Y * x + A * b - B * a


def gather_bodies(
    joints: Indices, chains: Indices, JT: Matrix, sweep: Matrix, out: tuple[Matrix, Vector]
) -> None:
    """Write inertia and bias, from the bodies that carry nothing to the first.

    Args:
        joints: Table of joints.
        chains: (nv, 1 + 2r) runs of the coordinates that carry each, itself included.
        JT: (nv, 6) joint Jacobian of the world.
        sweep: Table of sweeps; overwritten with what each joint carries.
        out: Inertia (nv, nv), lower triangle, and bias (nv,), overwritten.
    """
    M, h = out
    for i in range(len(joints) - 1, 0, -1):
        above = joints[i, ABOVE]
        for k in range(joints[i, FIRST_V], joints[i, FIRST_V] + joints[i, DOFS]):
            a, b, c, x, y, z = JT[k, 0], JT[k, 1], JT[k, 2], JT[k, 3], JT[k, 4], JT[k, 5]
            linear = a * sweep[i, 12] + b * sweep[i, 13] + c * sweep[i, 14]
            h[k] = linear + x * sweep[i, 15] + y * sweep[i, 16] + z * sweep[i, 17]
            a, b, c, x, y, z = apply_inertia(sweep, i, (a, b, c, x, y, z))
            for r in range(1, chains[k, 0], 2):
                for j in range(chains[k, r], chains[k, r + 1]):
                    M[k, j] = (
                        a * JT[j, 0]
                        + b * JT[j, 1]
                        + c * JT[j, 2]
                        + x * JT[j, 3]
                        + y * JT[j, 4]
                        + z * JT[j, 5]
                    )
        if above > 0:
            for n in range(FORCE, COLUMNS):
                sweep[above, n] += sweep[i, n]


def sweep_bodies(
    table: Body,
    state: tuple[Vector, Vector],
    places: tuple[Matrix, Matrix],
    out: tuple[Matrix, Vector],
) -> None:
    """Compute poses, Jacobian, inertia and bias of a tree.

    Args:
        table: The tree, in the order of ``BodyTable``.
        state: Configuration (nq,) and velocity (nv,).
        places: Poses (nj, 12) and joint Jacobian of the world (nv, 6), overwritten.
        out: Inertia (nv, nv), of which the lower triangle is overwritten where one coordinate carries another, and bias forces (nv,).
    """
    body = BodyTable(*table)
    joints, bodies = body.joints, body.bodies
    q, v = state
    poses, JT = places
    place_bodies(joints, bodies, q, poses)
    sweep = np.empty((len(joints), COLUMNS))
    for n in range(COLUMNS):
        sweep[0, n] = 0.0
    for n in range(3):
        sweep[0, BIAS + n] = -body.gravity[n]
    for i in range(1, len(joints)):
        write_axes_of_joint(joints, bodies, poses, i, JT)
        move_body(joints, JT, v, i, sweep)
        weigh_body(bodies, poses, i, sweep)
        force_body(sweep, i)
    gather_bodies(joints, body.chains, JT, sweep, out)
    for k in range(len(v)):
        out[0][k, k] += body.rotors[k]


PARTS = (
    write_axes_of_joint,
    move_body,
    weigh_body,
    apply_inertia,
    force_body,
    gather_bodies,
    sweep_bodies,
)
