"""The equation of motion in generalized coordinates: M_u u' + h_u = Gamma^T (forces) [CK, eq. 23]."""

from __future__ import annotations

from dataclasses import dataclass

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
    bias = h + blas.dsymv(1.0, M, beta)
    if Gamma.shape[1] == 0:
        return Projection(Gamma.T @ Gamma, Gamma.T @ h, Gamma, bias)
    M_Gamma = blas.dsymm(1.0, M, Gamma)
    return Projection(blas.dgemm(1.0, Gamma, M_Gamma, trans_a=1), blas.dgemv(1.0, Gamma, bias, trans=1), M_Gamma, bias)
