# SPDX-License-Identifier: Apache-2.0
"""The velocity boundary condition of the paper, at the level of chains and their Jacobians [SV, eq. 11-24].

Sign: -J_i^T F_i is the generalized impulse on chain i, so F_1 is the impulse chain 1 exerts on chain 2, and F_2 = -F_1.  The new joint
hangs on chain 2: twist of chain 1 = twist of chain 2 + J_n theta_n'.  Both Jacobians are those of one material point, in one set of axes.

Two chains are one case of D = [J_1, -J_2] with the block-diagonal inertia of both; the same chain is D = J_1 - J_2.  The printed
[SV, eq. 21] has J_1^T where D^T must stand, and [SV, eq. 24] has lost the dot of theta_1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.cholesky import factor_positive, solve_factored
from humanoid_dynamics.spatial.orthogonal import decompose, solve_triangular

RANK_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class VelocityJump:
    """What a new joint does to the velocities.

    Attributes:
        change: (n,) jump of the generalized velocities.
        F_1: (6,) impulse that the first link exerts on the second at the connection [N·s, N·m·s].
    """

    change: Vector
    F_1: Vector


def join_chains(A_1: Matrix, J_1: Matrix, A_2: Matrix, J_2: Matrix) -> tuple[Matrix, Matrix]:
    """Return inertia and relative Jacobian of two chains as of one [SV, eq. 11-14, 19]; the second may be the ground, with no coordinate.

    Args:
        A_1: (n1, n1) inertia of chain 1.
        J_1: (6, n1) Jacobian of the connection point on chain 1.
        A_2: (n2, n2) inertia of chain 2.
        J_2: (6, n2) Jacobian of the same point on chain 2.

    Returns:
        (n, n) inertia and (6, n) D = [J_1, -J_2].
    """
    return block_diag(A_1, A_2), np.hstack((J_1, -J_2))


def solve_velocity_jump(
    A: Matrix, D: Matrix, v: Vector, J_n: Matrix, length: float = 1.0
) -> VelocityJump:
    """Return the jump in the form that needs neither B^-1 nor C: K = N^T D with N spanning the directions the new joint blocks.

    Change = -A^-1 K^T (K A^-1 K^T)^+ K v.  Equal to the printed form [SV, eq. 15-18, 21-23] where that exists:
    B^-1 (E - C) = N (N^T B N)^-1 N^T.  Planar
    mechanisms, dependent columns of J_n and fewer than six freedoms between the links need no special care.

    Args:
        A: (n, n) positive definite inertia.
        D: (6, n) velocity of the first link relative to the second, per generalized velocity.
        v: (n,) generalized velocity before.
        J_n: (6, p) directions the new joint leaves free; p = 0 welds.
        length: Characteristic length that makes the angular rows comparable [m].

    Returns:
        Jump and impulse.
    """
    scale = np.array([1.0, 1.0, 1.0, length, length, length])
    blocked = decompose(
        (scale[:, None] * J_n).T, RANK_TOLERANCE
    ).null_basis  # N in scaled axes, orthonormal
    K = blocked.T @ (scale[:, None] * D)
    K[np.abs(K).max(axis=1, initial=0.0) < RANK_TOLERANCE * length] = (
        0.0  # what the chains keep anyway is rounding, and no row
    )
    U, _ = factor_positive(A)
    whitened = solve_triangular(U, K.T, transposed=True).T  # K U^-1
    pull = decompose(whitened, RANK_TOLERANCE)
    closing = -pull.solve(K @ v)
    impulse = -pull.solve_transposed(closing)
    return VelocityJump(solve_triangular(U, closing), scale * (blocked @ impulse))


def solve_velocity_jump_by_paper(A: Matrix, D: Matrix, v: Vector, J_n: Matrix) -> VelocityJump:
    """Return the jump as printed, with its corrections; needs six freedoms between the links and independent columns of J_n.

    B = D A^-1 D^T [SV, eq. 17, 22]; C = J_n (J_n^T B^-1 J_n)^-1 J_n^T B^-1 [SV, eq. 18, 23], zero for a weld;
    F_1 = B^-1 (E - C) D v; change = -A^-1 D^T F_1 [SV, eq. 15, 16, 21].

    Args:
        A: (n, n) positive definite inertia.
        D: (6, n) relative Jacobian.
        v: (n,) generalized velocity before.
        J_n: (6, p) directions the new joint leaves free.

    Returns:
        Jump and impulse.
    """
    U, _ = factor_positive(A)
    B = D @ solve_factored(U, D.T)
    U_B, _ = factor_positive(B)
    relative = D @ v
    theta_n_dot = np.linalg.solve(
        J_n.T @ solve_factored(U_B, J_n), J_n.T @ solve_factored(U_B, relative)
    )  # of no length for a weld
    F_1 = solve_factored(U_B, relative - J_n @ theta_n_dot)  # B^-1 (E - C) v
    return VelocityJump(-solve_factored(U, D.T @ F_1), F_1)
