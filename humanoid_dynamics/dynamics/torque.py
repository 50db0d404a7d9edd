# SPDX-License-Identifier: Apache-2.0
"""From generalized force to motor torques: S^T tau = tau_G [CK, eq. 8], of many solutions the smallest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from humanoid_dynamics.constraints.rank import RankPolicy
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.cholesky import factor_positive, pivot_ratio, solve_factored
from humanoid_dynamics.spatial.orthogonal import decompose, singular_values

WELL_CONDITIONED = 1e6


@dataclass(frozen=True, eq=False)
class TorqueShare:
    """Motor torques and what they leave undone.

    Attributes:
        tau: (na,) motor torques.
        unsupported: (nu,) tau_G - S^T tau.
        rank: Rank of S.
    """

    tau: Vector
    unsupported: Vector
    rank: int


def share_torque(
    S: Matrix, tau_G: Vector, weight: Vector | None = None, policy: RankPolicy | None = None
) -> TorqueShare:
    """Return the motor torques that produce a generalized force at the least sum of weight * tau^2.

    tau = R^-1 S (S^T R^-1 S)^-1 tau_G, by Cholesky where S has full column rank and is well conditioned, otherwise by complete
    orthogonal decomposition, which leaves the part no motor can produce.

    Args:
        S: (na, nu) motor velocities per generalized velocity [CK, eq. 6].
        tau_G: (nu,) generalized force.
        weight: (na,) positive cost R of each motor's torque; one where left out.
        policy: Rule of the rank.

    Returns:
        Torques, remainder, rank.
    """
    na, nu = S.shape
    policy, root = policy or RankPolicy(), np.ones(na) if weight is None else 1.0 / np.sqrt(weight)
    largest = float(
        root.max(initial=0.0)
    )  # what a motor that drives its own coordinate has in S: smaller by far is rounding
    if na >= nu > 0:
        weighted = S if weight is None else S / weight[:, None]
        U, positive = factor_positive(blas.dgemm(1.0, S, weighted, trans_a=1))
        if (
            positive
            and pivot_ratio(U) < WELL_CONDITIONED
            and U.diagonal().min() > policy.tolerance * largest
        ):
            tau = weighted @ solve_factored(U, tau_G)
            return TorqueShare(tau, tau_G - S.T @ tau, nu)
    scaled = root[:, None] * S
    rank = policy.rank(singular_values(scaled), least=largest)
    tau = root * decompose(scaled, policy.tolerance, rank).solve_transposed(tau_G)
    return TorqueShare(tau, tau_G - S.T @ tau, rank)
