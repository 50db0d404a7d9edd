# SPDX-License-Identifier: Apache-2.0
"""How the biped in double support moves under given torques, by each method of the paper, and how they compare [BP, remark 5]."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.linalg import sqrtm

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.biped.lagrange import TORQUE_MAP, LagrangeTerms, TipConstraint
from humanoid_dynamics.papers.biped.linear import solve, solve_least_norm
from humanoid_dynamics.papers.biped.reduction import REDUCTIONS, Reduction, reduce_constraint
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.records import Sealed

UDWADIA_KALABA = "udwadia_kalaba"
METHODS = (*REDUCTIONS, UDWADIA_KALABA)


@dataclass(frozen=True, eq=False)
class ConstrainedMotion(Sealed):
    """What torques do to a constrained biped.

    Attributes:
        ddq: (6,) accelerations [rad/s²].
        lam: (2,) force of the ground on the tip [N].
    """

    ddq: Vector
    lam: Vector


@dataclass(frozen=True)
class MethodReport:
    """How one method did.

    Attributes:
        method: Its name.
        time: Of one solution, the least of some [s].
        acceleration_error: Largest difference from the system with multipliers [rad/s²].
        force_error: The same of the multipliers [N].
        constraint_error: |J q'' + drift| [m/s²].
        condition: Condition number of the reduced mass matrix; that of the whole one where nothing is reduced [-].
    """

    method: str
    time: float
    acceleration_error: float
    force_error: float
    constraint_error: float
    condition: float


def solve_forward(
    terms: LagrangeTerms,
    constraint: TipConstraint,
    dq: Vector,
    tau: Vector,
    method: str = "coordinate_partition",
) -> ConstrainedMotion:
    """Find acceleration and ground force under torques.

    Args:
        terms: The equations; their ``left`` side is not read.
        constraint: Of the tip on the ground.
        dq: (6,) rates [rad/s].
        tau: (6,) torques less friction, chain order and sign [N·m].
        method: One of ``METHODS``.

    Returns:
        The motion; the same for every method.

    Raises:
        UnknownNameError: If there is no such method.
    """
    if method not in METHODS:
        raise UnknownNameError("method", method, METHODS)
    force = TORQUE_MAP @ tau - terms.C @ dq - terms.g
    if method == UDWADIA_KALABA:
        return _solve_without_basis(terms.M, constraint, force)
    return _solve_with_basis(terms.M, constraint, force, reduce_constraint(constraint.J, method))


def _solve_with_basis(
    M: Matrix, constraint: TipConstraint, force: Vector, reduction: Reduction
) -> ConstrainedMotion:
    """Reduced equations F'M(F y - F~ drift) = F' force; what the basis itself turns is part of y."""
    F, particular = reduction.F, -reduction.F_left @ constraint.drift
    ddq = particular + F @ solve(F.T @ M @ F, F.T @ (force - M @ particular))
    return ConstrainedMotion(ddq, reduction.F_left.T @ (M @ ddq - force))


def _solve_without_basis(M: Matrix, constraint: TipConstraint, force: Vector) -> ConstrainedMotion:
    """Gauss: correct the free acceleration a by M^-1/2 (J M^-1/2)^+ (-drift - J a), the least change in the metric of M."""
    root = np.real(sqrtm(M))
    free = solve(M, force)
    scaled = solve(root, constraint.J.T).T
    correction = solve_least_norm(scaled, -constraint.drift - constraint.J @ free)
    return ConstrainedMotion(free + solve(root, correction), solve_least_norm(scaled.T, correction))


def solve_with_multipliers(
    terms: LagrangeTerms, constraint: TipConstraint, dq: Vector, tau: Vector
) -> ConstrainedMotion:
    """Solve for accelerations and multipliers at once: the redundant form all methods are compared with.

    Args:
        terms: The equations.
        constraint: Of the tip on the ground.
        dq: (6,) rates [rad/s].
        tau: (6,) torques less friction [N·m].

    Returns:
        The motion.
    """
    n, n_c = len(terms.M), len(constraint.J)
    K = np.block([[terms.M, -constraint.J.T], [constraint.J, np.zeros((n_c, n_c))]])
    x = solve(K, np.concatenate((TORQUE_MAP @ tau - terms.C @ dq - terms.g, -constraint.drift)))
    return ConstrainedMotion(x[:n], x[n:])


def compare_methods(
    terms: LagrangeTerms, constraint: TipConstraint, dq: Vector, tau: Vector, repeats: int = 20
) -> tuple[MethodReport, ...]:
    """Solve one instant with every method.

    Args:
        terms: The equations.
        constraint: Of the tip on the ground.
        dq: (6,) rates [rad/s].
        tau: (6,) torques less friction [N·m].
        repeats: How often each is timed.

    Returns:
        One report for each of ``METHODS``, in their order.
    """
    reference = solve_with_multipliers(terms, constraint, dq, tau)
    return tuple(
        _report(method, terms, constraint, dq, tau=tau, reference=reference, repeats=repeats)
        for method in METHODS
    )


def _report(
    method: str,
    terms: LagrangeTerms,
    constraint: TipConstraint,
    dq: Vector,
    *,
    tau: Vector,
    reference: ConstrainedMotion,
    repeats: int,
) -> MethodReport:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        found = solve_forward(terms, constraint, dq, tau, method)
        times.append(perf_counter() - start)
    F = (
        np.eye(len(terms.M))
        if method == UDWADIA_KALABA
        else reduce_constraint(constraint.J, method).F
    )
    return MethodReport(
        method=method,
        time=min(times),
        acceleration_error=float(np.abs(found.ddq - reference.ddq).max()),
        force_error=float(np.abs(found.lam - reference.lam).max()),
        constraint_error=float(np.abs(constraint.J @ found.ddq + constraint.drift).max()),
        condition=float(np.linalg.cond(F.T @ terms.M @ F)),
    )
