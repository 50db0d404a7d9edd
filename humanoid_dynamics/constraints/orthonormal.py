# SPDX-License-Identifier: Apache-2.0
"""Orthonormal null spaces: by complete orthogonal decomposition, or by singular values where their report is worth the time."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.null_space import NO_INDICES
from humanoid_dynamics.constraints.rank import RankPolicy
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.orthogonal import decompose, pivot_columns, singular_values


class _Orthonormal:
    """What both share: an orthonormal Gamma, and u that are no coordinates."""

    def __init__(self, nv: int, *, policy: RankPolicy | None = None) -> None:
        """Prepare for a robot.

        Args:
            nv: Number of velocity coordinates.
            policy: Rule of the rank.
        """
        self.policy = policy or RankPolicy()
        self.nv = nv
        self.Gamma: Matrix = np.eye(nv)
        self.beta: Vector = np.zeros(nv)
        self.rank = 0
        self.rows: Indices = NO_INDICES
        self.indep: Indices = NO_INDICES
        self.dep: Indices = NO_INDICES
        self.sigma: Vector = np.zeros(0)
        self._scale: Vector = np.zeros(0)
        self._count = -1

    def _take_rank(self, scaled: Matrix, scale: Vector, sigma: Vector) -> None:
        self.sigma = sigma
        self.rank = self.policy.rank(sigma, self.rank if scaled.shape[0] == self._count else None)
        self._count, self._scale = scaled.shape[0], scale
        self.rows = np.sort(pivot_columns(scaled.T)[0][: self.rank])


class OrthonormalBasis(_Orthonormal):
    """Null space from QR with column pivoting; beta is the smallest one."""

    def update(
        self,
        kinematics: Kinematics,  # noqa: ARG002
        J: Matrix,
        gamma: Vector | None,
        scale: Vector,
    ) -> None:
        """Take new rows.

        Args:
            kinematics: Not looked at.
            J: (k, nv) rows.
            gamma: (k,) drift, or None.
            scale: (k,) factors that make rows comparable.
        """
        scaled = scale[:, None] * J
        self._take_rank(scaled, scale, singular_values(scaled))
        self._factors = decompose(scaled, self.policy.tolerance, self.rank)
        self.Gamma = self._factors.null_basis
        self.beta = np.zeros(self.nv) if gamma is None else -self._factors.solve(scale * gamma)

    def multipliers(self, force: Vector) -> Vector:
        """Return the smallest lam that minimises |J^T lam - force|.

        Args:
            force: (nv,) generalized force the constraints have to supply.

        Returns:
            (k,) forces on the robot.
        """
        return self._scale * self._factors.solve_transposed(force)


class SingularBasis(_Orthonormal):
    """Null space from the singular value decomposition; beta is the smallest one."""

    def update(
        self,
        kinematics: Kinematics,  # noqa: ARG002
        J: Matrix,
        gamma: Vector | None,
        scale: Vector,
    ) -> None:
        """Take new rows.

        Args:
            kinematics: Not looked at.
            J: (k, nv) rows.
            gamma: (k,) drift, or None.
            scale: (k,) factors that make rows comparable.
        """
        scaled = scale[:, None] * J
        if min(scaled.shape) == 0:
            U, sigma, Vt = np.zeros((scaled.shape[0], 0)), np.zeros(0), np.eye(self.nv)
        else:
            U, sigma, Vt, _ = lapack.dgesdd(scaled)
        self._take_rank(scaled, scale, sigma)
        self._U, self._V = U[:, : self.rank], Vt[: self.rank].T
        self.Gamma = Vt[self.rank :].T
        self.beta = (
            np.zeros(self.nv)
            if gamma is None
            else -self._V @ (self._U.T @ (scale * gamma) / sigma[: self.rank])
        )

    def multipliers(self, force: Vector) -> Vector:
        """Return the smallest lam that minimises |J^T lam - force|.

        Args:
            force: (nv,) generalized force the constraints have to supply.

        Returns:
            (k,) forces on the robot.
        """
        smallest: Vector = self._scale * (self._U @ (self._V.T @ force / self.sigma[: self.rank]))
        return smallest
