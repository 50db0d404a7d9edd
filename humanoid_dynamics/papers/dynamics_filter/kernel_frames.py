# SPDX-License-Identifier: Apache-2.0
"""How points of the robot move, from the joint Jacobian of the whole tree, as loops for numba.

The Jacobian holds for each coordinate the velocity that it gives, linear at the origin of the world and angular, axes of the world.  A body
is moved by the joints on the way to it from the root: a way holds for each of them its first coordinate and how many it has.
"""

from __future__ import annotations

from typing import TypeAlias

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Motion: TypeAlias = tuple[Matrix, Vector, Vector]

APART: tuple[
    str, ...
] = ()  # of the parts of kernels here, those that are not copied to where they are called


def move_point(motion: Motion, way: Indices, p: Vector, V: Vector, A: Vector) -> None:
    """Write how a point of a body moves: linear velocity and acceleration of the point, angular ones of the body.

    Every column rides on its joint: its rate is the velocity of that joint times the column.

    Args:
        motion: Joint Jacobian, velocity and acceleration of the coordinates.
        way: The joints that move the body.
        p: (3,) the point [m].
        V: (6,) velocity, written.
        A: (6,) acceleration, written.
    """
    J, v, a = motion
    for i in range(6):
        V[i] = A[i] = 0.0
    for joint in range(len(way)):
        first, after = way[joint, 0], way[joint, 0] + way[joint, 1]
        x = y = z = r = s = t = 0.0
        for c in range(first, after):
            x, y, z = x + J[0, c] * v[c], y + J[1, c] * v[c], z + J[2, c] * v[c]
            r, s, t = r + J[3, c] * v[c], s + J[4, c] * v[c], t + J[5, c] * v[c]
            for i in range(6):
                A[i] += J[i, c] * a[c]
        A[0] += V[4] * z - V[5] * y + V[1] * t - V[2] * s
        A[1] += V[5] * x - V[3] * z + V[2] * r - V[0] * t
        A[2] += V[3] * y - V[4] * x + V[0] * s - V[1] * r
        A[3], A[4], A[5] = (
            A[3] + V[4] * t - V[5] * s,
            A[4] + V[5] * r - V[3] * t,
            A[5] + V[3] * s - V[4] * r,
        )
        V[0], V[1], V[2], V[3], V[4], V[5] = (
            V[0] + x,
            V[1] + y,
            V[2] + z,
            V[3] + r,
            V[4] + s,
            V[5] + t,
        )
    shift(V, p)
    shift(A, p)
    A[0], A[1], A[2] = (
        A[0] + V[4] * V[2] - V[5] * V[1],
        A[1] + V[5] * V[0] - V[3] * V[2],
        A[2] + V[3] * V[1] - V[4] * V[0],
    )


def shift(V: Vector, p: Vector) -> None:
    """Turn the linear part at the origin of the world into that at a point."""
    V[0] += V[4] * p[2] - V[5] * p[1]
    V[1] += V[5] * p[0] - V[3] * p[2]
    V[2] += V[3] * p[1] - V[4] * p[0]


def read_rows(J: Matrix, way: Indices, p: Vector, rows: Matrix) -> None:
    """Write the Jacobian of a point of a body where it is not zero.

    Args:
        J: (6, nv) joint Jacobian.
        way: The joints that move the body.
        p: (3,) the point [m].
        rows: (6, nv) linear velocity of the point and angular velocity of the body, written.
    """
    for joint in range(len(way)):
        for c in range(way[joint, 0], way[joint, 0] + way[joint, 1]):
            for i in range(6):
                rows[i, c] = J[i, c]
            shift(rows[:, c], p)


FRAMES = (shift, move_point, read_rows)
