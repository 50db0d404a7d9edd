"""Which motors sit on generalized coordinates and which on dependent ones: the shape of S [CK, fig. 6]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


@dataclass(frozen=True, eq=False)
class MotorPattern:
    """Rows of S: those of H for motors on dependent coordinates, unit rows for motors on generalized ones.

    Attributes:
        dep: Coordinates that follow, as the null space names them.
        complete: Whether every generalized coordinate has a motor.
        rows: (nd,) rows of H that belong to motors.
        order: (na,) position of every motor in (motors on dependent coordinates, generalized coordinates).
        unit: (nd, nd) unit matrix, column-major, ready for LAPACK.
    """

    dep: Indices
    complete: bool
    rows: Indices
    order: Indices
    unit: Matrix


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
    stacked = [*(int(dep[row]) for row in rows), *indep.tolist()]
    complete = bool(len(indep)) and driven.issuperset(indep.tolist())
    order = [stacked.index(coordinate) for coordinate in actuated.tolist()] if complete else []
    return MotorPattern(dep, complete, np.array(rows, dtype=np.intp), np.array(order, dtype=np.intp), np.eye(len(rows), order="F"))


def share_on_coordinates(H_A: Matrix, tau_G: Vector, unit: Matrix) -> Vector:
    """Return the torques of the motors on dependent coordinates that make the sum of all squared torques least.

    With a motor on every generalized coordinate S = [H_A; E], so those motors take what is left, tau_G - H_A^T tau_d, and the minimum is
    (E + H_A H_A^T) tau_d = H_A tau_G: as small as the number of redundant motors, and never singular.

    Args:
        H_A: (nd, nu) rows of H that belong to motors, column-major.
        tau_G: (nu,) generalized force.
        unit: (nd, nd) unit matrix, column-major; not changed.

    Returns:
        (nd,) torques tau_d.
    """
    if not len(unit):
        return np.zeros(0)
    torque: Vector = lapack.dposv(blas.dsyrk(1.0, H_A, beta=1.0, c=unit), H_A.dot(tau_G), overwrite_a=1)[1]
    return torque


def share_by_cost(H_A: Matrix, tau_G: Vector, cost_dep: Vector, cost_indep: Vector) -> Vector:
    """Return the same for the weighted sum of squared torques: (R_d + H_A R_i H_A^T) tau_d = H_A R_i tau_G.

    Args:
        H_A: (nd, nu) rows of H that belong to motors.
        tau_G: (nu,) generalized force.
        cost_dep: (nd,) positive cost R_d of the motors on dependent coordinates.
        cost_indep: (nu,) positive cost R_i of those on generalized coordinates.

    Returns:
        (nd,) torques tau_d.
    """
    if not len(cost_dep):
        return np.zeros(0)
    torque: Vector = lapack.dposv(np.diag(cost_dep) + (H_A * cost_indep) @ H_A.T, H_A.dot(cost_indep * tau_G))[1]
    return torque
