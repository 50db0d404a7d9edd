# SPDX-License-Identifier: Apache-2.0
"""The map v = Gamma u, v' = Gamma u' + beta through which every admissible motion goes, and the forces that go with it.

Interchangeable back-ends give different Gamma and the same physics: coordinates as generalized coordinates (the way of the papers), an
orthonormal basis by QR, one by singular values, and an analytic map supplied by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only
from humanoid_dynamics.spatial.orthogonal import singular_values
from humanoid_dynamics.status import StatusEnum


class DynamicsStatus(StatusEnum):
    """How constrained dynamics were solved."""

    OK = "OK", "the solution is unique and exact"
    RANK_DEFICIENT = "RANK_DEFICIENT", "constraint rows are linearly dependent"
    INDETERMINATE = "INDETERMINATE", "the motion is unique, the constraint forces are not"
    ACTUATION_SINGULAR = "ACTUATION_SINGULAR", "the motors cannot produce every generalized force"
    INCONSISTENT_INPUT = "INCONSISTENT_INPUT", "the given motion violates the constraints"
    INVALID_INPUT = "INVALID_INPUT", "a number is not finite"


@dataclass(frozen=True, eq=False)
class NullSpaceResult:
    """Where the mechanism can still go.

    Attributes:
        Gamma: (nv, nu) velocities v = Gamma u; J Gamma = 0.
        beta: (nv,) accelerations at u' = 0; J beta = -gamma, in the least-squares sense where rows contradict each other.
        rank: Number of rows that count.
        rows: (rank,) indices of independent rows [CK, eq. 13].
        indep: (nu,) coordinates that are the generalized coordinates; empty where u are no coordinates.
        dep: (rank,) coordinates that follow; empty likewise.
        sigma_min: Smallest singular value that counts, of the scaled rows.
        sigma_max: Largest one.
        status: ``RANK_DEFICIENT`` where rows depend on each other.
    """

    Gamma: Matrix
    beta: Vector
    rank: int
    rows: Indices
    indep: Indices
    dep: Indices
    sigma_min: float
    sigma_max: float
    status: DynamicsStatus


class NullSpace(Protocol):
    """A back-end: fed with rows, it holds the map until it is fed again.

    Attributes:
        rank: Number of rows that count.
        rows: (rank,) independent rows.
        indep: Generalized coordinates, where u are coordinates.
        dep: Coordinates that follow.
        sigma: Singular values of the scaled rows when the rank was last decided.
    """

    rank: int
    rows: Indices
    indep: Indices
    dep: Indices
    sigma: Vector

    @property
    def Gamma(self) -> Matrix:
        """(nv, nu) velocities."""

    @property
    def beta(self) -> Vector:
        """(nv,) accelerations at u' = 0; zero after an update without drift."""

    def update(
        self, kinematics: Kinematics, J: Matrix, gamma: Vector | None, scale: Vector
    ) -> None:
        """Take new rows.

        Args:
            kinematics: Where they were evaluated.
            J: (k, nv) rows.
            gamma: (k,) drift, or None where accelerations are not asked for; beta is then zero.
            scale: (k,) factors that make rows comparable.
        """

    def multipliers(self, force: Vector) -> Vector:
        """Return lam (k,) that minimises |J^T lam - force|; of several, the smallest |lam / scale|.

        Args:
            force: (nv,) generalized force the constraints have to supply.

        Returns:
            (k,) forces on the robot.
        """


NO_INDICES: Indices = np.zeros(0, dtype=np.intp)


def report(space: NullSpace, J: Matrix, scale: Vector) -> NullSpaceResult:
    """Return what a back-end holds, as a record of its own.

    Args:
        space: The back-end after an update.
        J: (k, nv) rows it was given.
        scale: (k,) their factors.

    Returns:
        Copies that later updates do not touch.
    """
    sigma = singular_values(scale[:, None] * J)
    sigma_min, sigma_max = (
        (float(sigma[space.rank - 1]), float(sigma[0])) if space.rank else (0.0, 0.0)
    )
    status = DynamicsStatus.OK if space.rank == J.shape[0] else DynamicsStatus.RANK_DEFICIENT
    rows, indep, dep = (_frozen(part) for part in (space.rows, space.indep, space.dep))
    return NullSpaceResult(
        read_only(space.Gamma),
        read_only(space.beta),
        space.rank,
        rows,
        indep,
        dep,
        sigma_min,
        sigma_max,
        status,
    )


def _frozen(indices: Indices) -> Indices:
    copy = np.array(indices, dtype=np.intp)
    copy.flags.writeable = False
    return copy
