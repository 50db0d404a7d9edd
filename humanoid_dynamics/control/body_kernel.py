# SPDX-License-Identifier: Apache-2.0
"""The robot read out of Pinocchio's memory, and the least-squares solve of the law, in the part of Python that numba compiles.

One pass of Pinocchio tells Jacobians and their rates, in axes of the world and about its origin, of all joints and of the momentum.  What
the law asks of soles and of the centre of mass is all in them.
"""

from __future__ import annotations

from humanoid_dynamics.control.law_kernel import Body
from humanoid_dynamics.resolution.small import factor_cholesky, solve_transposed, solve_upper
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Views = tuple[Matrix, Matrix, Matrix, Matrix, Matrix]
Feet = tuple[Indices, Matrix, Matrix, Matrix]


def read_body(
    views: Views, com: Vector, feet: Feet, v: Vector, mass: float, now: Body, A: Matrix, b: Vector
) -> None:
    """Write where the robot is, what it does, and the Jacobians of all that is asked.

    Args:
        views: (6, nv) Jacobian of the joints, its rate, that of the momentum, its rate; (nj, 12) poses of the joints.
        com: (3,) centre of mass [m].
        feet: Joint of each sole, (n, 3, 3) its axes and (n, 3) its origin on the joint, and (n, nv) 1 where a coordinate moves it.
        v: (nv,) velocity.
        mass: Mass of the robot [kg].
        now: The robot, as ``law_kernel`` has it; written.
        A: (8 + 6 n, nv) rows; written, but for those of the orientation of the root.
        b: (8 + 6 n,) of which the last two become the drift of the spin.
    """
    _, _, momentum, rate, poses = views
    at, _, _, _, root, rates = now
    nv = len(v)
    for i in range(3):
        at[0, i] = com[i]
        rates[0, i] = v[3 + i]
        for j in range(3):
            root[i, j] = poses[1, 3 * j + i]
    for i in range(6):
        moved, drift = 0.0, 0.0
        for c in range(nv):
            moved += momentum[i, c] * v[c]
            drift += rate[i, c] * v[c]
        if i < 3:
            at[1, i], at[2, i] = moved / mass, drift / mass
            A[i] = momentum[i] / mass
        else:
            rates[1, i - 3] = moved / mass
            if i < 5:
                A[len(A) - 5 + i] = momentum[i] / mass
                b[len(b) - 5 + i] = drift / mass
    for k in range(len(feet[0])):
        _read_foot(k, views, feet, v, now, A)


def _read_foot(k: int, views: Views, feet: Feet, v: Vector, now: Body, A: Matrix) -> None:
    """Write pose, Jacobian and drift of a sole: the acceleration of its origin where nothing accelerates."""
    J, J_rate, _, _, poses = views
    joints, axes, origins, moves = feet
    place, turn, drift = now[1][k], now[2], now[3][k]
    pose = poses[joints[k]]
    for i in range(3):
        place[i] = pose[9 + i]
        for j in range(3):
            place[i] += pose[3 * j + i] * origins[k, j]
            turn[3 * k + i, j] = 0.0
            for m in range(3):
                turn[3 * k + i, j] += pose[3 * m + i] * axes[k, m, j]
    x, y, z = place[0], place[1], place[2]
    vx = vy = vz = wx = wy = wz = 0.0
    drift[:] = 0.0
    row = 6 + 6 * k
    for c in range(len(v)):
        if moves[k, c] == 0.0:
            continue
        rx, ry, rz = J[3, c], J[4, c], J[5, c]
        lx, ly, lz = J[0, c] + ry * z - rz * y, J[1, c] + rz * x - rx * z, J[2, c] + rx * y - ry * x
        A[row, c], A[row + 1, c], A[row + 2, c] = lx, ly, lz
        A[row + 3, c], A[row + 4, c], A[row + 5, c] = rx, ry, rz
        s = v[c]
        vx, vy, vz, wx, wy, wz = (
            vx + lx * s,
            vy + ly * s,
            vz + lz * s,
            wx + rx * s,
            wy + ry * s,
            wz + rz * s,
        )
        for i in range(6):
            drift[i] += J_rate[i, c] * s
    # Spatial acceleration about the world's origin -> of the sole's own origin, to which the turning adds omega x v.
    ax, ay, az = drift[3], drift[4], drift[5]
    drift[0] += ay * z - az * y + wy * vz - wz * vy
    drift[1] += az * x - ax * z + wz * vx - wx * vz
    drift[2] += ax * y - ay * x + wx * vy - wy * vx


def solve_rows(
    error: Vector,
    v: Vector,
    wanted: tuple[Vector, Vector],
    gains: tuple[float, float, float],
    rows: tuple[Matrix, ...],
    a: Vector,
) -> None:
    """Write the accelerations nearest to those that follow the joints of the reference, that meet the rows.

    Args:
        error: (nv,) from the configuration to that of the reference.
        v: (nv,) velocity.
        wanted: (nv,) velocity and acceleration of the reference.
        gains: Stiffness and damping of the joints, and the largest acceleration.
        rows: A (k, nv), b (k,), softness (k,), mobility (nv,), and room for (k, nv), (k, k) and (k,) numbers.
        a: (nv,) accelerations; written.
    """
    A, b, softness, mobility, B, G, y = rows
    nv, count = len(v), len(b)
    _follow_joints(error, v, wanted, gains, a)
    for i in range(count):
        y[i] = b[i]
        for c in range(nv):
            B[i, c] = A[i, c] * mobility[c]
            y[i] -= A[i, c] * a[c]
    _multiply(A, B, softness, G)
    if not factor_cholesky(G, G, count):
        return
    solve_transposed(G, y, count)
    solve_upper(G, y, count)
    for i in range(count):
        for c in range(nv):
            a[c] += y[i] * B[i, c]


def _follow_joints(
    error: Vector,
    v: Vector,
    wanted: tuple[Vector, Vector],
    gains: tuple[float, float, float],
    a: Vector,
) -> None:
    """Write the accelerations that the joints of the reference ask for; none of the root."""
    stiffness, damping, limit = gains
    a[:6] = 0.0
    for c in range(6, len(v)):
        x = wanted[1][c] + stiffness * error[c] + damping * (wanted[0][c] - v[c])
        a[c] = limit if x > limit else -limit if x < -limit else x


def _multiply(A: Matrix, B: Matrix, softness: Vector, G: Matrix) -> None:
    """Write the upper triangle of B A' + R."""
    for i in range(len(A)):
        for j in range(i, len(A)):
            total = 0.0
            for c in range(A.shape[1]):
                total += B[i, c] * A[j, c]
            G[i, j] = total
        G[i, i] += softness[i]


PARTS = (_read_foot, _follow_joints, _multiply, factor_cholesky, solve_transposed, solve_upper)
