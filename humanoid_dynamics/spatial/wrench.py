# SPDX-License-Identifier: Apache-2.0
"""Six-vectors at another point or in other axes; linear part first, angular part second."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector


def cross(x: Vector, y: Vector) -> Vector:
    """Return x x y of two 3-vectors, ten times quicker than the general routine of numpy.

    Args:
        x: (3,) first factor.
        y: (3,) second factor.

    Returns:
        (3,) product.
    """
    return np.array(
        [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
    )


def shift_wrench(F_A: Vector, p_AB: Vector) -> Vector:
    """Take a wrench from point A to point B, axes unchanged: the moment becomes m + f x p_AB.

    Args:
        F_A: (6,) force and moment about A [N, N·m].
        p_AB: (3,) position of B seen from A [m], same axes.

    Returns:
        (6,) the same wrench about B.
    """
    force = F_A[:3]
    return np.concatenate((force, F_A[3:] + cross(force, p_AB)))


def shift_twist(V_A: Vector, p_AB: Vector) -> Vector:
    """Take the twist of a body from its point A to its point B, axes unchanged: the velocity becomes v + omega x p_AB.

    Args:
        V_A: (6,) linear and angular velocity at A [m/s, rad/s].
        p_AB: (3,) position of B seen from A [m], same axes.

    Returns:
        (6,) the same twist at B.
    """
    omega = V_A[3:]
    return np.concatenate((V_A[:3] + cross(omega, p_AB), omega))


def rotate_six(R_BA: Matrix, x_A: Vector) -> Vector:
    """Express a twist or wrench given in axes A in axes B; the point stays.

    Args:
        R_BA: (3, 3) orientation of A in B.
        x_A: (6,) linear and angular part in A.

    Returns:
        (6,) the same in B.
    """
    return np.concatenate((R_BA @ x_A[:3], R_BA @ x_A[3:]))
