# SPDX-License-Identifier: Apache-2.0
"""Getting rid of the multipliers: bases F of the motions a constraint allows, found in many ways [BP, eq. 10-21, remark 5].

A reduction has F with J F = 0 and F~ with J F~ = E.  Then q' = F u, q'' = F u' + F' u, the multipliers are
lam = F~'(M q'' + C q' + g + A tau_f - A tau) and the reduced equations are what F' leaves of the same.  F is not unique; accelerations and
multipliers are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.linalg import eigh, qr, schur, solve_triangular

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.papers.biped.lagrange import TORQUE_MAP, LagrangeTerms, TipConstraint
from humanoid_dynamics.papers.biped.linear import solve, solve_least_norm
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.records import Sealed

SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class Reduction(Sealed):
    """A basis of the allowed motions and of the rest.

    Attributes:
        F: (n_q, n) allowed motions, J F = 0.
        F_left: (n_q, n_c) F~ of the paper, J F~ = E.
    """

    F: Matrix
    F_left: Matrix


@dataclass(frozen=True, eq=False)
class ReducedEquations(Sealed):
    """D u' + H u + G + F'A tau_f = F'A tau, without multipliers [BP, eq. 21].

    Attributes:
        D: (n, n) F'MF, symmetric and positive definite (property 4: dD/dt - 2H is skew).
        H: (n, n) F'(M F' + C F).
        G: (n,) F'g.
        A: (n, n_tau) F'A.
    """

    D: Matrix
    H: Matrix
    G: Vector
    A: Matrix


def partition(J: Matrix, independent: tuple[int, ...] | None = None) -> Reduction:
    """Invert the constraint together with a choice of coordinates: [F~ F] = [J; J_r]^-1 [BP, eq. 13-14].

    Args:
        J: (n_c, n_q) Jacobian, its rows independent.
        independent: Numbers of the n_q - n_c coordinates to keep; where None those that pivoting leaves.

    Returns:
        The reduction; u are rates of the chosen coordinates.

    Raises:
        ShapeError: If the others do not follow from the chosen ones.
    """
    n_c, n_q = J.shape
    kept = _choose_independent(J) if independent is None else independent
    if len(kept) != n_q - n_c or len(set(kept)) != len(kept):
        raise ShapeError("independent", f"{kept}", f"{n_q - n_c} different coordinates")
    rest = [i for i in range(n_q) if i not in kept]
    sigma = np.linalg.svd(J[:, rest], compute_uv=False)
    if sigma[-1] <= SINGULAR * np.linalg.norm(J):
        raise ShapeError(
            "independent",
            f"{tuple(kept)}, on which coordinates {tuple(rest)} do not depend",
            "coordinates that determine the others",
        )
    F, F_left = np.zeros((n_q, n_q - n_c)), np.zeros((n_q, n_c))
    F[list(kept)] = np.eye(n_q - n_c)
    F[rest] = -solve(J[:, rest], J[:, list(kept)])
    F_left[rest] = solve(J[:, rest], np.eye(n_c))
    return Reduction(F, F_left)


def _choose_independent(J: Matrix) -> tuple[int, ...]:
    _, _, order = qr(J, pivoting=True, mode="economic")
    return tuple(sorted(int(i) for i in order[len(J) :]))


def reduce_by_qr(J: Matrix) -> Reduction:
    """Factor J' = QR: the last columns of Q are allowed."""
    n_c = len(J)
    Q, R = np.linalg.qr(J.T, mode="complete")
    return Reduction(Q[:, n_c:], Q[:, :n_c] @ solve_triangular(R[:n_c], np.eye(n_c), trans="T"))


def reduce_by_svd(J: Matrix) -> Reduction:
    """Factor J = U S V': the last columns of V are allowed."""
    n_c = len(J)
    U, sigma, Vt = np.linalg.svd(J)
    return Reduction(Vt[n_c:].T, Vt[:n_c].T @ (U.T / sigma[:, None]))


def reduce_by_zero_eigenvalues(J: Matrix) -> Reduction:
    """Find the eigenvectors of J'J: those of the eigenvalue zero are allowed."""
    n_c = len(J)
    values, vectors = eigh(J.T @ J)
    kept = vectors[:, -n_c:]
    return Reduction(vectors[:, :-n_c], kept @ ((J @ kept).T / values[-n_c:, None]))


def reduce_by_schur(J: Matrix) -> Reduction:
    """Find the Schur form of J'J, diagonal because it is symmetric: the vectors that belong to zero are allowed."""
    T, Z = schur(J.T @ J)
    values = np.diag(T)
    allowed = np.abs(values) <= SINGULAR * np.linalg.norm(J) ** 2
    kept = Z[:, ~allowed]
    return Reduction(Z[:, allowed], kept @ ((J @ kept).T / values[~allowed, None]))


def reduce_by_putd(J: Matrix) -> Reduction:
    """Reflect J' to a pseudo upper triangle, one Householder mirror for each row: what the mirrors move below it is allowed."""
    n_c, n_q = J.shape
    P, T = np.eye(n_q), J.T.copy()
    for k in range(n_c):
        mirror = np.zeros(n_q)
        mirror[k:] = T[k:, k]
        mirror[k] += np.copysign(np.linalg.norm(T[k:, k]), T[k, k])
        mirror /= np.linalg.norm(mirror)
        T -= 2.0 * np.outer(mirror, mirror @ T)
        P -= 2.0 * np.outer(mirror, mirror @ P)
    return Reduction(P[n_c:].T, P[:n_c].T @ solve_triangular(T[:n_c], np.eye(n_c), trans="T"))


REDUCTIONS: Mapping[str, Callable[[Matrix], Reduction]] = MappingProxyType(
    {
        "coordinate_partition": partition,
        "zero_eigenvalue": reduce_by_zero_eigenvalues,
        "svd": reduce_by_svd,
        "qr": reduce_by_qr,
        "putd": reduce_by_putd,
        "schur": reduce_by_schur,
    }
)
"""Ways to a basis, by the names of the paper; Udwadia and Kalaba's needs none and is in ``forward``."""


def reduce_constraint(J: Matrix, method: str = "coordinate_partition") -> Reduction:
    """Find a basis of the allowed motions.

    Args:
        J: (n_c, n_q) Jacobian, its rows independent.
        method: One of ``REDUCTIONS``.

    Returns:
        The reduction.

    Raises:
        UnknownNameError: If there is no such method.
    """
    if method not in REDUCTIONS:
        raise UnknownNameError("reduction", method, REDUCTIONS)
    return REDUCTIONS[method](J)


def differentiate_basis(reduction: Reduction, J_rate: Matrix) -> Matrix:
    """Return dF/dt = -F~ (dJ/dt) F, exact for a partition; for the others the one of many that turns the basis least.

    Args:
        reduction: The basis.
        J_rate: (n_c, n_q) derivative of the Jacobian by time.

    Returns:
        (n_q, n) derivative.
    """
    return -reduction.F_left @ (J_rate @ reduction.F)


def find_rates(
    reduction: Reduction, J_rate: Matrix, dq: Vector, ddq: Vector
) -> tuple[Vector, Vector]:
    """Return u and u' with dq = F u and ddq = F u' + F' u [BP, eq. 14, 16].

    Args:
        reduction: The basis.
        J_rate: (n_c, n_q) derivative of the Jacobian.
        dq: (n_q,) rates the constraint allows [rad/s].
        ddq: (n_q,) their derivatives [rad/s²].
    """
    F = reduction.F
    u = solve_least_norm(F, dq)
    return u, solve_least_norm(F, ddq - differentiate_basis(reduction, J_rate) @ u)


def build_reduced_equations(
    terms: LagrangeTerms, reduction: Reduction, J_rate: Matrix
) -> ReducedEquations:
    """Build the equations of the independent rates [BP, eq. 19, 21].

    Args:
        terms: The equations of the chain.
        reduction: The basis.
        J_rate: (n_c, n_q) derivative of the Jacobian.

    Returns:
        The reduced equations.
    """
    F = reduction.F
    C_bar = terms.M @ differentiate_basis(reduction, J_rate) + terms.C @ F
    return ReducedEquations(F.T @ terms.M @ F, F.T @ C_bar, F.T @ terms.g, F.T @ TORQUE_MAP)


def compute_multipliers(terms: LagrangeTerms, reduction: Reduction, tau: Vector) -> Vector:
    """Return the force of the ground on the tip that goes with torques, F~'(left - A tau) [BP, eq. 20].

    Args:
        terms: The equations, at an acceleration the constraint allows.
        reduction: The basis.
        tau: (6,) torques, chain order and sign [N·m].

    Returns:
        (n_c,) multipliers [N].
    """
    return np.asarray(reduction.F_left.T @ (terms.left - TORQUE_MAP @ tau))


def check_drift(constraint: TipConstraint, dq: Vector, ddq: Vector) -> tuple[float, float]:
    """Return how far rates and accelerations break the constraint, |J q'| [m/s] and |J q'' + J' q'| [m/s²].

    Args:
        constraint: The constraint.
        dq: (6,) rates [rad/s].
        ddq: (6,) accelerations [rad/s²].
    """
    return float(np.linalg.norm(constraint.J @ dq)), float(
        np.linalg.norm(constraint.J @ ddq + constraint.drift)
    )
