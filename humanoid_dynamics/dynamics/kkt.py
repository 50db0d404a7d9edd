# SPDX-License-Identifier: Apache-2.0
"""The dense saddle point [[M, -J^T], [J, 0]]: oracle of every other route, and the way out where the projected inertia is singular."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq

from humanoid_dynamics.spatial.arrays import Matrix, Vector


def solve_kkt(
    M: Matrix, h: Vector, J: Matrix, gamma: Vector, force: Vector
) -> tuple[Vector, Vector]:
    """Solve M a - J^T lam = force - h, J a = -gamma; the smallest solution where there are several, the best where there is none.

    Args:
        M: (nv, nv) mass matrix, symmetric and full.
        h: (nv,) bias force.
        J: (k, nv) rows.
        gamma: (k,) drift.
        force: (nv,) applied generalized force.

    Returns:
        (nv,) acceleration and (k,) constraint forces.
    """
    nv, k = J.shape[1], J.shape[0]
    system = np.block([[M, -J.T], [J, np.zeros((k, k))]])
    solution = lstsq(
        system, np.concatenate((force - h, -gamma)), lapack_driver="gelsd", check_finite=False
    )[0]
    return solution[:nv], solution[nv:]


def symmetric(M: Matrix) -> Matrix:
    """Return the full matrix of one whose upper triangle counts.

    Args:
        M: (n, n) matrix.

    Returns:
        (n, n) symmetric matrix.
    """
    full: Matrix = np.triu(M) + np.triu(M, 1).T
    return full
