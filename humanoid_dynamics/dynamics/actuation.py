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
    """

    dep: Indices
    complete: bool
    rows: Indices
    order: Indices


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
    return MotorPattern(dep, complete, np.array(rows, dtype=np.intp), np.array(order, dtype=np.intp))


def share_on_coordinates(H_A: Matrix, tau_G: Vector, weight_dep: Vector | None = None, weight_indep: Vector | None = None) -> Vector:
    """Return the torques of the motors on dependent coordinates that make the weighted sum of all squared torques least.

    With a motor on every generalized coordinate S = [H_A; E], so those motors take what is left, tau_G - H_A^T tau_d, and the minimum is
    (R_d + H_A R_i H_A^T) tau_d = H_A R_i tau_G: as small as the number of redundant motors, and never singular.

    Args:
        H_A: (nd, nu) rows of H that belong to motors.
        tau_G: (nu,) generalized force.
        weight_dep: (nd,) positive cost R_d; one where left out.
        weight_indep: (nu,) positive cost R_i; one where left out.

    Returns:
        (nd,) torques tau_d.
    """
    count = H_A.shape[0]
    if count == 0:
        return np.zeros(0)
    ridge = np.asfortranarray(np.eye(count) if weight_dep is None else np.diag(weight_dep))
    if weight_indep is None:
        A, rhs = blas.dsyrk(1.0, H_A, beta=1.0, c=ridge, overwrite_c=1), H_A.dot(tau_G)
    else:
        A, rhs = ridge + (H_A * weight_indep) @ H_A.T, H_A.dot(weight_indep * tau_G)
    torque: Vector = lapack.dposv(A, rhs)[1]
    return torque
