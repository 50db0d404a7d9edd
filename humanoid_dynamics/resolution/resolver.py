# SPDX-License-Identifier: Apache-2.0
"""From an objective and the limits to an answer, for one rule on one ``DynamicsProblem``."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from humanoid_dynamics.resolution.answer import Answer, Certificate
from humanoid_dynamics.resolution.compiled import CompiledTick
from humanoid_dynamics.resolution.evidence import (
    RESIDUAL_TOLERANCE,
    TORQUE_TOLERANCE,
    AnswerStatus,
    Evidence,
)
from humanoid_dynamics.resolution.fading import fade_of, split_shares
from humanoid_dynamics.resolution.halves import URGENT, weigh_halves
from humanoid_dynamics.resolution.kernels import ALL_WELL, SINGULAR
from humanoid_dynamics.resolution.limits import ContactRows, LimitedChoice, miss_weights
from humanoid_dynamics.resolution.problem import LARGEST, DynamicsProblem
from humanoid_dynamics.resolution.rules import Rule
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.least_squares import solve_constrained

UNKNOWN = SINGULAR  # something is wrong; what, is found out the long way
STATUS_OF = (
    None,
    AnswerStatus.UNSUPPORTED,
    AnswerStatus.INFEASIBLE_CONTACT,
    AnswerStatus.SATURATED,
    AnswerStatus.OK,
)  # by verdict
MOST_USED = 1.0 + TORQUE_TOLERANCE
PATHS = ("closed", "kkt", "svd", "qp", "qp_soft", "none")  # from the best to the worst
Found = tuple[
    Vector, Vector, Vector, str, int, int
]  # push, forces tau_0 - J'x, torques, path, rank of the equations, what is wrong


class Resolver:
    """One rule, ready to answer at every tick."""

    def __init__(
        self, problem: DynamicsProblem, rows: ContactRows, rule: Rule, *, has_kernel: bool = True
    ) -> None:
        """Take the memory.

        Args:
            problem: What is asked.
            rows: Limits of its contacts.
            rule: The rule.
            has_kernel: Whether full-rank systems are solved by the kernel of the rule's objective, where that has one.
        """
        self.rule = rule
        self._problem = problem
        self._objective = rule.objective(problem)
        self._rows = rows
        self._limited = LimitedChoice(problem, rows) if rule.limited else None
        n, m = problem.size, len(problem.bearing_v)
        self._n, self._m, self._nv = n, m, problem.robot.nv
        self._effort = problem.robot.limits.effort[problem.driven_v]
        with np.errstate(divide="ignore"):
            self._per_limit = np.where(self._effort > 0.0, 1.0 / self._effort, 0.0)
        self._tolerance = (RESIDUAL_TOLERANCE * problem.unit_force) ** 2
        self._fade = fade_of(len(problem.parts)) if rule.limited and rule.continuous else 0.0
        self._misses_per, self._lacking = (
            miss_weights(problem),
            np.zeros(1),
        )  # N, what the last answers with and without contacts lacked
        self._compiled = self._compile() if has_kernel else None

    def answer(self, shares: Vector, start: float) -> Answer:
        """Answer for the last update of the dynamics; never an exception for a number.

        Args:
            shares: (contacts,) part of the load that each contact is to take.
            start: When the tick began, by ``perf_counter`` [s].

        Returns:
            The answer.
        """
        shares = self._objective.adapt(shares)
        compiled = self._compiled
        if compiled is not None and self._problem.full_rank:
            found = compiled.answer(shares)
            if found is not None:
                self._lacking = compiled.lacking
                return self._certify(found, compiled.path, self._m, compiled.verdict, start, shares)
        return self._answer_carefully(shares, start)

    @np.errstate(
        all="ignore"
    )  # what is not finite is told by the status; to say so takes time that loops do not need
    def _answer_carefully(self, shares: Vector, start: float) -> Answer:
        fades = any(0.0 < share < self._fade for share in shares.tolist())
        x, forces, tau, path, rank, verdict = (
            self._mix(shares) if fades else self._find_carefully(shares)
        )
        return self._certify((x, forces, tau), path, rank, verdict, start, shares)

    def _mix(self, shares: Vector) -> Found:
        """Return a mean of the answers with and without contacts that fade."""
        problem = self._problem
        J, full_rank, found, lacking = np.array(problem.J), problem.full_rank, [], []
        for some in split_shares(shares, self._fade):
            problem.leave_out([share > 0.0 for share in some.tolist()])
            found.append(self._find_carefully(some))
            lacking.append(float(np.sqrt(self._misses_per @ found[-1][1][problem.bearing_v] ** 2)))
            problem.put_back(J, full_rank)
        parts, weights, self._lacking = (
            shares[(shares > 0.0) & (shares < self._fade)] / self._fade,
            np.zeros(len(found)),
            np.array(lacking),
        )
        weigh_halves(parts, self._lacking, weights, len(found), URGENT * problem.unit_force)
        counted = np.flatnonzero(weights)
        x, forces, tau = (
            weights[counted] @ np.array([found[i][k] for i in counted]) for k in range(3)
        )
        tau = np.minimum(
            np.maximum(tau, -self._effort), self._effort
        )  # a mean of numbers may round beyond all of them
        path = max((found[i][3] for i in counted), key=PATHS.index)
        return (
            x,
            forces,
            tau,
            path,
            found[0][4],
            ALL_WELL if self._is_fine(x, forces) else UNKNOWN,
        )

    def _find_carefully(self, shares: Vector) -> Found:
        """Find an answer in plain arrays, whatever the rank and however large the numbers."""
        problem = self._problem
        x, path, rank = self._choose(shares)
        forces = self._forces(x)
        if self._limited is not None and not self._is_fine(x, forces):
            x, path = self._limit(x, path)
            forces = self._forces(x)
        if not forces.dot(forces) < LARGEST:
            x, path = np.zeros(self._n), "none"
            forces = self._forces(x)
        tau = forces[problem.driven]
        if self._limited is not None:  # also where all is well: to the last digit
            tau = np.minimum(np.maximum(tau, -self._effort), self._effort)
        return (x, forces, tau, path, rank, ALL_WELL if self._is_fine(x, forces) else UNKNOWN)

    def _certify(
        self,
        found: tuple[Vector, Vector, Vector],
        path: str,
        rank: int,
        verdict: int,
        start: float,
        shares: Vector,
    ) -> Answer:
        x, _, tau = found
        tau.setflags(write=False)
        left = self._find_left(x, tau)
        evidence = Evidence(self._problem, self._rows, x, left, tau)
        evidence.measured = self._problem.measure_motion()
        status = STATUS_OF[verdict]
        if status is None or (status is AnswerStatus.OK and not left.dot(left) <= self._tolerance):
            status = evidence.status()
        elif status is AnswerStatus.OK and (
            evidence.measured is not None
            and next(self._problem.find_moving(x, evidence.measured), None) is not None
        ):
            status = AnswerStatus.INCONSISTENT_CONTACT
        if status is AnswerStatus.UNSUPPORTED:
            evidence.shares = (
                shares.tolist()
            )  # what they mean for an answer is worked out when it is asked for
            if self._fade > 0.0:
                evidence.fading = self._tell_fading(shares)
        path = "unpressed" if self._objective.lost else path
        certificate = Certificate(
            status, (path, rank, self._n - rank), perf_counter() - start, evidence
        )
        return Answer(tau, certificate, evidence)

    def _tell_fading(self, shares: Vector) -> tuple[str, ...]:
        """Tell of each contact that fades what the motion lacks without it, and what with all of them."""
        fading = [k for k, share in enumerate(shares.tolist()) if 0.0 < share < self._fade]
        least, lacking = RESIDUAL_TOLERANCE * self._problem.unit_force, self._lacking.tolist()
        amount = [
            f"{lack:.3g} N" if lack > least else "nothing" for lack in lacking[: 2 ** len(fading)]
        ]
        return tuple(
            f"{self._problem.surfaces[k].name}: fades with a share of {shares[k]:.2g}; without it the others lack {amount[2**place]}, "
            f"with it in full {amount[0]}"
            for place, k in enumerate(fading)
        )

    def _compile(self) -> CompiledTick | None:
        """Compile the kernel of the objective, where it has one that can be of use, by asking it once."""
        fast = self._objective.fast()
        if fast is None or not self._problem.best_rank:
            return None
        return CompiledTick(
            self._problem,
            self._rows,
            fast,
            (self._tolerance, MOST_USED, self._fade),
            self.rule.limited,
        )

    def _forces(self, x: Vector) -> Vector:
        """Return what motors must give and what is missing, (nv,)."""
        forces: Vector = self._problem.tau_0.copy()
        forces[self._problem.span] -= x.dot(self._problem.J_span)
        return forces

    def _choose(self, shares: Vector) -> tuple[Vector, str, int]:
        """Choose a push that fulfils the equation of motion as well as can be, whatever its rank."""
        problem = self._problem
        if not self._n:
            return np.zeros(0), "none", 0
        J_u, free = problem.J_span[:, problem.bearing], problem.free[problem.bearing]
        x = self._objective.choose(shares)
        if x is not None and self._misses(free - x.dot(J_u)):
            x = None
        self._objective.write(shares)
        chosen = solve_constrained(self._objective.H, self._objective.g, J_u.T, free)
        if x is not None:
            return x, "closed", chosen.rank
        nothing = np.zeros(len(free))
        x = self._objective.settle(
            chosen.x, lambda g: solve_constrained(self._objective.H, g, J_u.T, nothing).x
        )
        return x, chosen.path, chosen.rank

    def _holds(self, forces: Vector) -> bool:
        return not self._misses(forces[self._problem.undriven])

    def _find_left(self, x: Vector, tau: Vector) -> Vector:
        """Return what the equation of motion misses with what is published, whatever found it, (nv,)."""
        problem = self._problem
        left: Vector = problem.tau_0 - x.dot(problem.J)
        if isinstance(problem.driven, slice):
            driven = left[problem.driven]
            driven -= tau
        else:
            left[problem.driven] -= tau
        return left

    def _closes(self) -> bool:
        return self._problem.loops is None or not self._problem.loops.torn

    def _misses(self, lacking: Vector) -> bool:
        return not lacking.dot(lacking) <= self._tolerance

    def _limit(self, x: Vector, path: str) -> tuple[Vector, str]:
        if self._limited is None or not self._problem.size:
            return x, path
        push = self._limited.choose(self._objective.H, self._objective.g)
        return push.x, push.path

    def _is_fine(self, x: Vector, forces: Vector) -> bool:
        """Whether nothing at all is wrong."""
        if not (self._holds(forces) and self._closes() and self._rows.are_kept(x)):
            return False
        used = forces[self._problem.driven] * self._per_limit
        if not used.size:
            return True
        return bool(used[used.argmax()] <= MOST_USED and used[used.argmin()] >= -MOST_USED)
