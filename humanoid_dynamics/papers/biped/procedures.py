# SPDX-License-Identifier: Apache-2.0
"""Procedures 1 to 4: choosing the hip wrench that single support would fix and double support leaves open [BP, eq. 61-74].

The split of the trunk's wrench between the legs changes neither torques nor ground forces: what it takes from one part of T1 the internal
wrench eta gives to the other.  Hence procedures 1 and 2 agree, both being the least torque, and so do 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.biped.linear import solve, solve_least_norm
from humanoid_dynamics.papers.biped.recursion import (
    FRONT_SIGN,
    Legs,
    compute_serial_torques,
    solve_hip_wrench,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector
from humanoid_dynamics.spatial.records import Sealed

FREE_MOMENT = 2  # the moment about the tip is zero: its row of the tip wrench


@dataclass(frozen=True, eq=False)
class Choice(Sealed):
    """One of the possible hip wrenches and what follows from it.

    Attributes:
        tau: (6,) torques, chain order, serial sign [N·m].
        T1: (3,) wrench of the thigh on the side of the base on the trunk, about the hip [N, N·m].
        T2: (3,) that of the other thigh.
        f7: (3,) wrench of the ground on the moving foot about its tip; its moment is zero [N, N·m].
        split: Share of the trunk's wrench given to T1 beforehand, sigma [-]; nan where it was not used.
        eta: (3,) internal wrench that goes with this split [N, N·m].
    """

    tau: Vector
    T1: Vector
    T2: Vector
    f7: Vector
    split: float
    eta: Vector


def solve_procedure_1(legs: Legs, split: float = 0.5, tau_weight: Matrix | None = None) -> Choice:
    """Release the internal wrench and choose it so that the torques are least [BP, eq. 61-69].

    Args:
        legs: Both legs.
        split: sigma of (61); torques do not depend on it [-].
        tau_weight: (6, 6) symmetric weight of the torques, serial sign; equal weights where None.

    Returns:
        The least torque with no moment on the tip.

    Raises:
        ShapeError: If the weight is not symmetric and positive definite.
    """
    b_1 = legs.b + split * legs.B @ legs.f4
    a_2 = (legs.b_tip + split * legs.B_tip @ legs.f4)[FREE_MOMENT]
    eta = _minimize(legs.B, b_1, legs.B_tip[FREE_MOMENT], a_2, _weight(tau_weight))
    return _describe(legs, split * legs.f4 + eta, split, eta)


def solve_procedure_2(legs: Legs, tau_weight: Matrix | None = None) -> Choice:
    """Choose the hip wrench itself so that the torques are least [BP, eq. 70].

    Args:
        legs: Both legs.
        tau_weight: (6, 6) symmetric weight of the torques, serial sign; equal weights where None.

    Returns:
        The least torque with no moment on the tip.

    Raises:
        ShapeError: If the weight is not symmetric and positive definite.
    """
    T1 = _minimize(
        legs.B, legs.b, legs.B_tip[FREE_MOMENT], legs.b_tip[FREE_MOMENT], _weight(tau_weight)
    )
    return _describe(legs, T1, np.nan, T1)


def solve_procedure_3(legs: Legs, lam: Vector) -> Choice:
    """Let the moving foot carry a wanted force [BP, eq. 71].

    Args:
        legs: Both legs.
        lam: (2,) force of the ground on the moving foot [N].

    Returns:
        The one answer with this force and no moment on the tip.
    """
    T1 = solve_hip_wrench(legs, np.append(check_vector("lam", lam, 2), 0.0))
    return _describe(legs, T1, np.nan, T1)


def solve_procedure_4(legs: Legs, lam: Vector) -> Choice:
    """Let the moving foot carry a wanted force, with the least internal wrench and split, the split kept within 0 and 1 [BP, eq. 72-74].

    The internal wrench is solved for again after the split is clamped; with the old one, as printed, the wanted force is missed.

    Args:
        legs: Both legs.
        lam: (2,) force of the ground on the moving foot [N].

    Returns:
        The torques of procedure 3, with a split and an internal wrench to look at.
    """
    f7 = np.append(check_vector("lam", lam, 2), 0.0)
    _, free_split = solve_internal(legs, f7)
    split = min(max(free_split, 0.0), 1.0)
    eta = solve(legs.B_tip, f7 - legs.b_tip - split * legs.B_tip @ legs.f4)
    return _describe(legs, split * legs.f4 + eta, split, eta)


def solve_internal(legs: Legs, f7: Vector) -> tuple[Vector, float]:
    """Return the least [eta; sigma] with B_2 eta + b_2 sigma + b_3 = f7, the split not yet clamped [BP, eq. 73].

    The least of forces, moments and a share together: the split depends on units, nothing else does.

    Args:
        legs: Both legs.
        f7: (3,) wrench of the ground on the moving foot about its tip [N, N·m].
    """
    x = solve_least_norm(np.column_stack((legs.B_tip, legs.B_tip @ legs.f4)), f7 - legs.b_tip)
    return x[:3], float(x[3])


def _minimize(B: Matrix, b: Vector, a_1: Vector, a_2: float, weight: Matrix) -> Vector:
    """Minimise (B x + b)'W(B x + b)/2 with a_1'x + a_2 = 0 as one block system: it survives a B of rank 2, legs straight and together."""
    K = np.zeros((4, 4))
    K[:3, :3], K[:3, 3], K[3, :3] = B.T @ weight @ B, a_1, a_1
    return solve_least_norm(K, -np.append(B.T @ weight @ b, a_2))[:3]


def _weight(tau_weight: Matrix | None) -> Matrix:
    if tau_weight is None:
        return np.eye(6)
    weight = np.asarray(tau_weight, dtype=np.float64)
    if (
        weight.shape != (6, 6)
        or not np.allclose(weight, weight.T)
        or np.linalg.eigvalsh(weight)[0] <= 0.0
    ):
        raise ShapeError(
            "tau_weight",
            f"an array of shape {weight.shape}",
            "a (6, 6) symmetric positive definite matrix",
        )
    return np.asarray(FRONT_SIGN[:, None] * weight * FRONT_SIGN)


def _describe(legs: Legs, T1: Vector, split: float, eta: Vector) -> Choice:
    return Choice(
        compute_serial_torques(legs, T1), T1, legs.f4 - T1, legs.B_tip @ T1 + legs.b_tip, split, eta
    )
