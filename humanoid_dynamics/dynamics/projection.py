# SPDX-License-Identifier: Apache-2.0
"""The equation of motion in generalized coordinates: M_u u' + h_u = Gamma^T (forces) [CK, eq. 23]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from humanoid_dynamics.constraints.null_space import NullSpace
from humanoid_dynamics.constraints.partition import CoordinatePartition
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Projection:
    """M_u u' + h_u = Gamma^T f, with M_u = Gamma^T M Gamma and h_u = Gamma^T (M beta + h).

    Attributes:
        M_u: (nu, nu) inertia of the closed chain, the A of [CK, eq. 23].
        Gamma: (nv, nu) the map it was projected by.
        bias: (nv,) M beta + h.
    """

    M_u: Matrix
    Gamma: Matrix
    bias: Vector

    @property
    def h_u(self) -> Vector:
        """Bias force, the b of [CK, eq. 23], (nu,)."""
        h_u: Vector = self.bias.dot(self.Gamma)
        return h_u


def project(M: Matrix, h: Vector, Gamma: Matrix, beta: Vector) -> Projection:
    """Project the equation of motion of the tree onto the motions the constraints allow.

    Args:
        M: (nv, nv) mass matrix; its upper triangle counts.
        h: (nv,) bias force.
        Gamma: (nv, nu) admissible velocities.
        beta: (nv,) acceleration at u' = 0.

    Returns:
        The projected equation.
    """
    lower = M.T  # column-major, as LAPACK wants it
    bias = h + blas.dsymv(1.0, lower, beta, lower=1)
    if Gamma.shape[1] == 0:
        return Projection(np.zeros((0, 0)), Gamma, bias)
    rows = Gamma.T
    product = blas.dsymm(1.0, lower, rows, side=1, lower=1)  # Gamma^T M
    return Projection(blas.dgemm(1.0, product, rows, trans_b=1), Gamma, bias)


def project_by(space: NullSpace, M: Matrix, h: Vector) -> Projection:
    """Return the same for a back-end; on a partition of coordinates with a third of the work, as most of Gamma is a unit matrix.

    With H the dependent rows of Gamma, M_u = M_GG + H^T X + X^T H, X = M_SS H / 2 + M_SG.

    Args:
        space: The null space after an update with drift.
        M: (nv, nv) row-major mass matrix; its upper triangle counts.
        h: (nv,) bias force.

    Returns:
        The projected equation; of M_u the upper triangle, in a buffer of the null space.
    """
    if not isinstance(space, CoordinatePartition) or not 0 < space.rank < len(h):
        return project(M, h, space.Gamma, space.beta)
    H, parts = space.H, space.blocks
    parts.take(M)
    X = blas.dgemm(0.5, parts.first, H, beta=1.0, c=parts.mixed, overwrite_c=1)
    M_u = blas.dsyr2k(1.0, H, X, beta=1.0, c=parts.second, trans=1, overwrite_c=1)
    bias = blas.dsymv(1.0, M.T, space.beta, beta=1.0, y=h, lower=1)
    return Projection(M_u, space.Gamma, bias)
