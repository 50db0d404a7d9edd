# SPDX-License-Identifier: Apache-2.0
"""A null space the caller knows in closed form, such as the recursion of a snake."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.null_space import NO_INDICES
from humanoid_dynamics.constraints.rank import RankPolicy
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.orthogonal import decompose, pivot_columns, singular_values


class AnalyticMap:
    """Null space supplied by a function.

    Attributes:
        Gamma: (nv, nu) as supplied.
        beta: (nv,) as supplied.
        rank: nv - nu.
        rows: (rank,) independent rows.
        indep: Empty.
        dep: Empty.
        sigma: Singular values of the scaled rows.
        residual: Largest entry of scaled J Gamma: zero where the map belongs to the rows.
    """

    def __init__(
        self,
        supply: Callable[[Vector, Vector], tuple[Matrix, Vector]],
        *,
        policy: RankPolicy | None = None,
    ) -> None:
        """Prepare.

        Args:
            supply: (q, v) -> Gamma (nv, nu), beta (nv,).
            policy: Rule of the rank, for the multipliers.
        """
        self.policy = policy or RankPolicy()
        self._supply = supply
        self.Gamma: Matrix = np.zeros((0, 0))
        self.beta: Vector = np.zeros(0)
        self.rank = 0
        self.rows: Indices = NO_INDICES
        self.indep: Indices = NO_INDICES
        self.dep: Indices = NO_INDICES
        self.sigma: Vector = np.zeros(0)
        self.residual = 0.0

    def update(
        self, kinematics: Kinematics, J: Matrix, gamma: Vector | None, scale: Vector
    ) -> None:
        """Ask the function, and look whether its answer fits the rows.

        Args:
            kinematics: Where the rows were evaluated.
            J: (k, nv) rows.
            gamma: (k,) drift, or None where beta is not asked for.
            scale: (k,) factors that make rows comparable.
        """
        Gamma, beta = self._supply(kinematics.q, kinematics.v)
        self.Gamma, self.beta = Gamma, np.zeros(J.shape[1]) if gamma is None else beta
        self.rank = J.shape[1] - Gamma.shape[1]
        self._scaled, self._scale = scale[:, None] * J, scale
        self.sigma = singular_values(self._scaled)
        self.rows = np.sort(pivot_columns(self._scaled.T)[0][: self.rank])
        self.residual = float(np.abs(self._scaled @ Gamma).max(initial=0.0))

    def multipliers(self, force: Vector) -> Vector:
        """Return the smallest lam that minimises |J^T lam - force|.

        Args:
            force: (nv,) generalized force the constraints have to supply.

        Returns:
            (k,) forces on the robot.
        """
        rank = self.policy.rank(self.sigma)
        return self._scale * decompose(self._scaled, self.policy.tolerance, rank).solve_transposed(
            force
        )
