# SPDX-License-Identifier: Apache-2.0
"""Motors on generalized and on dependent coordinates, and the torques among them that move nothing: the shape of S [CK, fig. 6]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only


@dataclass(frozen=True, eq=False)
class MotorPattern:
    """Which rows of S are rows of H, for motors on dependent coordinates, and which are unit rows.

    Attributes:
        dep: (m,) coordinates that follow, as the null space names them.
        complete: Whether every generalized coordinate has a motor.
        wanted: (m, 1 + nd) forces the constraints are asked for: a column to be filled in, then a unit force on each dependent
            coordinate that has a motor; column-major, ready for LAPACK.
        nothing: (nu,) zeros: what a complete set of motors leaves undone.
    """

    dep: Indices
    complete: bool
    wanted: Matrix
    nothing: Vector


def match_motors(dep: Indices, indep: Indices, actuated: Indices) -> MotorPattern:
    """Find out which motors sit where.

    Args:
        dep: (m,) coordinates that follow.
        indep: (nu,) generalized coordinates.
        actuated: (na,) coordinates with a motor.

    Returns:
        The pattern.
    """
    driven = set(actuated.tolist())
    rows = [row for row, coordinate in enumerate(dep.tolist()) if coordinate in driven]
    wanted = np.zeros((len(dep), 1 + len(rows)), order="F")
    wanted[rows, range(1, 1 + len(rows))] = 1.0
    return MotorPattern(
        dep,
        bool(len(indep)) and driven.issuperset(indep.tolist()),
        wanted,
        read_only(np.zeros(len(indep))),
    )


def balance_internally(torque: Vector, patterns: Matrix, cost: Vector | None = None) -> Vector:
    """Return how much of each internal pattern makes the sum of squared torques least: (P R P^T) x = -P R torque.

    Args:
        torque: (n,) torques that give the motion.
        patterns: (p, n) independent torque patterns P that give none: every one moves nothing.
        cost: (n,) weight R of each squared torque; one where left out.

    Returns:
        (p,) shares; the torques torque + P^T x give the same motion at the least cost.
    """
    weighted = patterns if cost is None else patterns * cost
    shares: Vector = lapack.dposv(
        weighted.dot(patterns.T), weighted.dot(torque), overwrite_a=1, overwrite_b=1
    )[1]
    return np.negative(shares, out=shares)
