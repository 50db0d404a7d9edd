"""The equation of motion in generalized coordinates: M_u u' + h_u = Gamma^T (forces) [CK, eq. 23]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Projection:
    """M_u u' + h_u = Gamma^T f, with M_u = Gamma^T M Gamma and h_u = Gamma^T (M beta + h).

    Attributes:
        M_u: (nu, nu) inertia of the closed chain, the A of [CK, eq. 23].
        h_u: (nu,) bias force, its b.
        M_Gamma: (nv, nu) M Gamma.
        bias: (nv,) M beta + h.
    """

    M_u: Matrix
    h_u: Vector
    M_Gamma: Matrix
    bias: Vector


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
        return Projection(np.zeros((0, 0)), np.zeros(0), Gamma, bias)
    rows = Gamma.T
    product = blas.dsymm(1.0, lower, rows, side=1, lower=1)  # Gamma^T M
    return Projection(blas.dgemm(1.0, product, rows, trans_b=1), bias.dot(Gamma), product.T, bias)
