# SPDX-License-Identifier: Apache-2.0
"""Forces for systems of any rank and for objectives without a kernel: one linear system, a null space, quadratic programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.resolution.certificate import RESIDUAL_TOLERANCE
from humanoid_dynamics.resolution.certify import Certifier
from humanoid_dynamics.resolution.contact_faults import TIGHT
from humanoid_dynamics.resolution.fading import split_shares
from humanoid_dynamics.resolution.halves import URGENT, weigh_halves
from humanoid_dynamics.resolution.limits import LimitedChoice, miss_weights
from humanoid_dynamics.resolution.objectives import Objective
from humanoid_dynamics.resolution.problem import LARGEST, DynamicsProblem
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.least_squares import solve_constrained

PATHS = ("closed", "kkt", "svd", "qp", "qp_soft", "none")  # from the best to the worst


@dataclass(frozen=True, eq=False, slots=True)
class ForceSolution:
    """Forces and torques of one rule.

    Attributes:
        f: (size,) forces of contacts, gears and loops.
        tau: (na,) torques.
        path: How they were found, see ``Certificate``.
        rank: Rank of the equations.
        lacking: With and without contacts that fade, what each answer lacks of the motion [N].
    """

    f: Vector
    tau: Vector
    path: str
    rank: int
    lacking: Vector


class AnyRankSolver:
    """Solves for forces whatever the rank of the equations and however large the numbers."""

    def __init__(
        self,
        problem: DynamicsProblem,
        certifier: Certifier,
        objective: Objective,
        limited: bool,
        fade: float,
    ) -> None:
        """Take the memory.

        Args:
            problem: The equation of motion.
            certifier: What holds forces against their rows.
            objective: What the rule makes small.
            limited: Whether the rule keeps limits.
            fade: Load fraction below which a contact fades; zero where none does.
        """
        self._problem, self._certifier, self._objective = problem, certifier, objective
        self._limited = LimitedChoice(problem) if limited else None
        self._fade = fade
        self._tolerance = (RESIDUAL_TOLERANCE * problem.unit_force) ** 2
        self._miss_weights = miss_weights(problem)

    @np.errstate(all="ignore")  # the certificate finds what is not finite
    def solve(self, shares: Vector) -> ForceSolution:
        """Solve at the last update of the problem.

        Args:
            shares: (contacts,) load fractions; where more numbers follow, these are forces.
        """
        fades = any(0.0 < share < self._fade for share in shares.tolist())
        return self._mix(shares) if fades else self._solve(shares)

    def _mix(self, shares: Vector) -> ForceSolution:
        """Return a mean of the answers with and without contacts that fade."""
        problem = self._problem
        J, full_rank, found = np.array(problem.J), problem.full_rank, []
        for some in split_shares(shares, self._fade):
            problem.leave_out([share > 0.0 for share in some.tolist()])
            found.append(self._solve(some))
            problem.put_back(J, full_rank)
        lacking = np.concatenate([one.lacking for one in found])
        parts = shares[(shares > 0.0) & (shares < self._fade)] / self._fade
        weights = np.zeros(len(found))
        weigh_halves(parts, lacking, weights, len(found), URGENT * problem.unit_force)
        counted = np.flatnonzero(weights)
        f = weights[counted] @ np.array([found[i].f for i in counted])
        tau = weights[counted] @ np.array([found[i].tau for i in counted])
        # A mean of numbers may round beyond all of them.
        tau = np.minimum(np.maximum(tau, -problem.effort), problem.effort)
        path = max((found[i].path for i in counted), key=PATHS.index)
        return ForceSolution(f, tau, path, found[0].rank, lacking)

    def _solve(self, shares: Vector) -> ForceSolution:
        problem = self._problem
        f, path, rank = self._choose(shares)
        forces = self._find_forces(f)
        if self._limited is not None and problem.size and not self._is_kept(f, forces):
            push = self._limited.choose(self._objective.H, self._objective.g)
            f, path = push.x, push.path
            forces = self._find_forces(f)
        if not forces.dot(forces) < LARGEST:
            f, path = np.zeros(problem.size), "none"
            forces = self._find_forces(f)
        tau = forces[problem.driven_v]
        if self._limited is not None:  # also where all is well: to the last digit
            tau = np.minimum(np.maximum(tau, -problem.effort), problem.effort)
        lacking = np.sqrt(self._miss_weights @ forces[problem.bearing_v] ** 2)
        return ForceSolution(f, tau, path, rank, np.array([lacking]))

    def _choose(self, shares: Vector) -> tuple[Vector, str, int]:
        """Choose forces that fulfil the equation of motion as well as can be, without limits."""
        problem, objective = self._problem, self._objective
        if not problem.size:
            return np.zeros(0), "none", 0
        J_u, free = problem.J_span[:, problem.bearing], problem.free[problem.bearing]
        f = objective.choose(shares)
        if f is not None and self._misses(free - f.dot(J_u)):
            f = None
        objective.write(shares)
        chosen = solve_constrained(objective.H, objective.g, J_u.T, free)
        if f is not None:
            return f, "closed", chosen.rank
        nothing = np.zeros(len(free))
        f = objective.settle(
            chosen.x, lambda g: solve_constrained(objective.H, g, J_u.T, nothing).x
        )
        return f, chosen.path, chosen.rank

    def _find_forces(self, f: Vector) -> Vector:
        """Return what motors must give and what is missing, (nv,)."""
        return np.asarray(self._problem.tau_0 - f.dot(self._problem.J))

    def _is_kept(self, f: Vector, forces: Vector) -> bool:
        """Whether all holds, friction by its rows, which are inside the round cone."""
        problem = self._problem
        if problem.loops is not None and problem.loops.torn:
            return False
        over = np.max(problem.A.dot(f) - problem.b, initial=-np.inf)
        inside = bool(over <= TIGHT * problem.unit_force)
        return inside and self._certifier.keeps(f, forces[problem.driven_v])

    def _misses(self, lacking: Vector) -> bool:
        return not lacking.dot(lacking) <= self._tolerance
