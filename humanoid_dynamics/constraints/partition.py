# SPDX-License-Identifier: Apache-2.0
"""Coordinate partition: dependent coordinates follow independent ones, theta_S' = H theta_G' [CK, eq. 13-22].

Rows and columns are chosen by QR with pivoting of the scaled Jacobian, which is rare; solving on the chosen partition is what happens
every tick.  A partition is kept while it is well conditioned, so that generalized coordinates do not change without need.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.null_space import NO_INDICES
from humanoid_dynamics.constraints.rank import RankPolicy
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, check_vector
from humanoid_dynamics.spatial.orthogonal import (
    BLOCK,
    apply_q,
    one_norm,
    pivot_columns,
    reciprocal_condition,
    singular_values,
    solve_triangular,
)
from humanoid_dynamics.spatial.symmetric import SymmetricBlocks

KEEP = 1e-3
MARGIN, SHRUNK = 10.0, 0.5


class CoordinatePartition:
    """Null space by choosing generalized coordinates among the coordinates.

    Attributes:
        rank: m, the number of rows that count.
        rows: (m,) independent rows, J_Cm.
        dep: (m,) coordinates of theta_S.
        indep: (nu,) coordinates of theta_G.
        sigma: Singular values of the scaled rows at the last choice.
        choices: How many times a partition has been chosen.
        blocks: Takes symmetric matrices apart into dependent and generalized coordinates.
    """

    def __init__(
        self, nv: int, *, policy: RankPolicy | None = None, preference: Vector | None = None
    ) -> None:
        """Prepare for a robot.

        Args:
            nv: Number of velocity coordinates.
            policy: Rule of the rank.
            preference: (nv,) positive weights; coordinates with a *small* one are preferred as generalized coordinates.

        Raises:
            ShapeError: If a weight is not positive.
        """
        self.policy = policy or RankPolicy()
        self._preference = (
            None if preference is None else check_vector("preference", preference, nv)
        )
        if self._preference is not None and not (self._preference > 0.0).all():
            raise ShapeError("preference", f"{self._preference.min():g}", "positive weights")
        self.nv = nv
        self.choices = 0
        self.rank = 0
        self.rows: Indices = NO_INDICES
        self.dep: Indices = NO_INDICES
        self.indep: Indices = np.arange(nv)
        self.sigma: Vector = np.zeros(0)
        self._count, self._stacked = -1, False
        self._lay_out(0)

    def update(
        self,
        kinematics: Kinematics,  # noqa: ARG002
        J: Matrix,
        gamma: Vector | None,
        scale: Vector,
    ) -> None:
        """Take new rows; choose another partition only where the present one has gone bad.

        Args:
            kinematics: Not looked at.
            J: (k, nv) rows, column-major.
            gamma: (k,) drift, or None.
            scale: (k,) factors that make rows comparable.
        """
        if J.shape[0] == self._count and self._solve(J, gamma, scale):
            return
        self._choose(J, scale)
        self._solve(J, gamma, scale)

    def multipliers(self, force: Vector) -> Vector:
        """Return the smallest lam with J^T lam = force on the dependent coordinates.

        Args:
            force: (nv,) generalized force the constraints have to supply.

        Returns:
            (k,) forces on the robot.
        """
        return self.multipliers_of(force.take(self.dep))

    def multipliers_of(self, wanted: Matrix) -> Matrix:
        """Return the smallest lam whose force on the dependent coordinates is given.

        Args:
            wanted: (m,) or (m, p) generalized force on ``dep``.

        Returns:
            (k,) or (k, p) forces on the robot.
        """
        if self.rank == 0:
            return np.zeros((self._count, *wanted.shape[1:]))
        if self._square:
            lam: Matrix = lapack.dgetrs(self._factor, self._scratch, wanted, trans=1)[0]
            return lam
        columns = wanted.reshape(self.rank, -1)
        y = np.zeros((self._count, columns.shape[1]))
        y[: self.rank] = solve_triangular(self._factor[: self.rank], columns, transposed=True)
        turned = self._scale[:, None] * apply_q(self._factor, self._scratch, y, transposed=False)
        return turned.reshape(self._count, *wanted.shape[1:])

    @property
    def H(self) -> Matrix:
        """(m, nu) rates of the dependent coordinates per rate of the generalized ones, -J_S^-1 J_G [CK, eq. 18]."""
        self._finish()
        return self._H

    @property
    def beta(self) -> Vector:
        """(nv,) H' theta_G' for dependent coordinates, zero for independent ones [CK, eq. 22]; zero after an update without drift."""
        self._finish()
        return self._beta

    @property
    def Gamma(self) -> Matrix:
        """(nv, nu) rows of H for dependent coordinates, unit rows for independent ones [CK, fig. 5]."""
        if not self._stacked:
            self._finish()
            self._stack[: self.rank] = self._H
            self._stack.take(self._order, 0, out=self._Gamma, mode="clip")
            self._stacked = True
        return self._Gamma

    def _choose(self, J: Matrix, scale: Vector) -> None:
        """Decide rank, rows and columns anew [CK, eq. 13, 15]."""
        scaled = scale[:, None] * J
        same = J.shape[0] == self._count
        self.sigma = singular_values(scaled)
        rank = self.policy.rank(self.sigma, self.rank if same else None)
        rows = np.sort(pivot_columns(scaled.T)[0][:rank])
        weighted = scaled[rows] if self._preference is None else scaled[rows] * self._preference
        dep = np.sort(pivot_columns(weighted)[0][:rank])
        if (
            same
            and rank == self.rank
            and _condition(scaled[np.ix_(rows, self.dep)])
            > KEEP * _condition(scaled[np.ix_(rows, dep)])
        ):
            dep = self.dep
        self.rank, self.rows, self.dep = rank, rows, dep
        free = np.ones(self.nv, dtype=bool)
        free[dep] = False
        self.indep = np.flatnonzero(free)
        self._best = _condition(J[np.ix_(rows, dep)])
        self.choices += 1
        self._lay_out(J.shape[0])

    def _lay_out(self, count: int) -> None:
        """Allocate everything the solving of one tick writes to."""
        free = self.nv - self.rank
        self._count, self._square = count, count == self.rank
        self._picked = np.concatenate((self.dep, self.indep))
        columns = np.zeros((count, self.nv + 1), order="F")  # J_S, J_G and the drift side by side
        self._columns, self._right_drift = columns.T[:-1], columns[:, -1]
        self._left, self._right, self._right_all = (
            columns[:, : self.rank],
            columns[:, self.rank : -1],
            columns[:, self.rank :],
        )
        self._H: Matrix = np.zeros((self.rank, free), order="F")
        self._stack = np.vstack((np.zeros((self.rank, free)), np.eye(free)))
        self._order = np.argsort(self._picked)
        self.blocks = SymmetricBlocks(self.dep, self.indep)
        self._Gamma: Matrix = np.zeros((self.nv, free))
        self._beta: Vector = np.zeros(self.nv)
        self._solved, self._stacked, self._drifting, self._volume = False, False, False, 0.0
        self._turned: Matrix = self._right
        self._factor: Matrix = self._left
        self._scratch: Vector = np.zeros(0)

    def _solve(self, J: Matrix, gamma: Vector | None, scale: Vector) -> bool:
        """Factor J_S on the present partition; return whether that is still good.  What follows from it waits until it is asked for."""
        self._solved = self._stacked = False
        if self.rank == 0:
            return not J.any()
        J.T.take(self._picked, 0, out=self._columns, mode="clip")
        self._drifting = gamma is not None
        if gamma is not None:
            self._right_drift[:] = gamma
        return self._factor_square() if self._square else self._factor_least_squares(scale)

    def _finish(self) -> None:
        """Compute H = -J_S^-1 J_G [CK, eq. 18] and H' theta_G' = -J_S^-1 gamma [CK, eq. 22]."""
        if self._solved:
            return
        self._solved = True
        self._beta[:] = 0.0
        if self.rank == 0:
            return
        if self._square:
            right = self._right_all if self._drifting else self._right
            solution = lapack.dgetrs(self._factor, self._scratch, right, overwrite_b=1)[0]
        else:
            solution = solve_triangular(self._factor[: self.rank], self._turned[: self.rank])
        np.negative(solution, out=solution)
        self._H = solution[:, : self.nv - self.rank]
        if self._drifting:
            self._beta[self.dep] = solution[:, -1]

    def _factor_square(self) -> bool:
        """All rows count: by elimination."""
        self._factor, self._scratch, info = lapack.dgetrf(self._left, overwrite_a=1)
        return info == 0 and self._is_sound()

    def _is_sound(self) -> bool:
        """Return whether J_S is well enough conditioned.

        Where it was so with a wide margin, the volume |det J_S| tells at next to no cost that little has changed since; the condition is
        estimated only where the volume has shrunk, or the margin is narrow.
        """
        volume = abs(math.prod(self._factor.diagonal().tolist()))
        if volume > SHRUNK * self._volume > 0.0:
            self._volume = max(volume, self._volume)
            return True
        lower = np.tril(self._factor, -1) + np.eye(
            self.rank
        )  # rows come permuted, which the column sums do not notice
        condition = reciprocal_condition(self._factor, one_norm(lower @ np.triu(self._factor)))
        sound = max(KEEP * self._best, self.policy.hysteresis * self.policy.tolerance)
        self._volume = volume if condition > MARGIN * sound else 0.0
        return condition > sound

    def _factor_least_squares(self, scale: Vector) -> bool:
        """Some rows repeat others: the same by QR, contradictions in gamma spread evenly over the scaled rows."""
        self._scale = scale
        right = self._right_all if self._drifting else self._right
        self._left *= scale[:, None]
        right *= scale[:, None]
        self._factor, self._scratch, _, _ = lapack.dgeqrf(self._left, lwork=self.rank * BLOCK)
        self._turned = apply_q(self._factor, self._scratch, right, transposed=True)
        diagonal = np.abs(self._factor.diagonal())
        if not diagonal.min() > 0.0:
            return False
        tolerance = self.policy.tolerance * self.sigma[0]
        hidden = np.abs(self._turned[self.rank :, : self.nv - self.rank]).max(initial=0.0)
        return bool(diagonal.min() > tolerance and hidden <= tolerance)


def _condition(A: Matrix) -> float:
    """Return an estimate of the reciprocal condition number of a square matrix, 1 for an empty one."""
    if A.shape[0] == 0:
        return 1.0
    factor, _, info = lapack.dgetrf(A)
    return reciprocal_condition(factor, one_norm(A)) if info == 0 else 0.0


def prefer(nv: int, independent: Indices, factor: float = 1e-2) -> Vector:
    """Return weights that prefer some coordinates as generalized coordinates, such as the actuated ones.

    Args:
        nv: Number of velocity coordinates.
        independent: Indices of the preferred ones.
        factor: Their weight; the others have 1.

    Returns:
        (nv,) weights for ``CoordinatePartition``.
    """
    weights = np.ones(nv)
    weights[independent] = factor
    return weights
