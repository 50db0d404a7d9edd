# SPDX-License-Identifier: Apache-2.0
"""How wrenches and velocities pass from one frame of a body to another [BP, eq. 30-33].

One matrix serves both: ``U_BA`` takes a wrench at A to the same wrench at B, its transpose takes the velocity of B to that of A.  Power is
therefore the same in every frame.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.rotation import skew


def build_wrench_transform(R_BA: Matrix, p_BA_B: Vector) -> Matrix:
    """Build the matrices that take wrenches from A to B, [[R, 0], [p x R, R]] [BP, eq. 31].

    Args:
        R_BA: (..., 3, 3) orientation of A in B.
        p_BA_B: (..., 3) position from B to A, axes of B [m].

    Returns:
        (..., 6, 6) ``U_BA``: F_B = U_BA F_A, and V_A = U_BA' V_B.
    """
    U = np.zeros((*p_BA_B.shape[:-1], 6, 6))
    U[..., :3, :3] = R_BA
    U[..., 3:, :3] = skew(p_BA_B) @ R_BA
    U[..., 3:, 3:] = R_BA
    return U


def motion_cross(V: Vector) -> Matrix:
    """Return the matrices of the cross products of velocities, [[w x, v x], [0, w x]].

    Args:
        V: (..., 6) velocities, linear then angular.

    Returns:
        (..., 6, 6) matrices V x; minus the transpose is the product of a velocity and a wrench.
    """
    X = np.zeros((*V.shape, 6))
    turn = skew(V[..., 3:])
    X[..., :3, :3] = turn
    X[..., 3:, 3:] = turn
    X[..., :3, 3:] = skew(V[..., :3])
    return X
