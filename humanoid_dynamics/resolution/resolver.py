# SPDX-License-Identifier: Apache-2.0
"""From an objective and the limits to an answer, for one rule on one ``DynamicsProblem``."""

from __future__ import annotations

from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.any_rank import AnyRankSolver, ForceSolution
from humanoid_dynamics.resolution.certificate import RESIDUAL_TOLERANCE, AnswerStatus
from humanoid_dynamics.resolution.certificate_reasons import TORQUE_TOLERANCE
from humanoid_dynamics.resolution.certify import Certifier
from humanoid_dynamics.resolution.compiled import CompiledTick
from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.rules import Rule
from humanoid_dynamics.spatial.arrays import Vector


class Resolver:
    """One rule, ready to answer at every tick."""

    def __init__(
        self,
        problem: DynamicsProblem,
        certifier: Certifier,
        rule: Rule,
        *,
        has_kernel: bool = True,
    ) -> None:
        """Take the memory.

        Args:
            problem: The equation of motion.
            certifier: What certifies its answers.
            rule: The rule.
            has_kernel: Whether full-rank systems are solved by the kernel of the rule's objective, where that has one.
        """
        self.rule = rule
        self._problem, self._certifier = problem, certifier
        self._objective = rule.objective(problem)
        self._fade = fade_of(len(problem.parts)) if rule.limited and rule.continuous else 0.0
        self._any_rank = AnyRankSolver(
            problem, certifier, self._objective, rule.limited, self._fade
        )
        self._tick = self._compile() if has_kernel else None

    def answer(self, shares: Vector, start: float) -> Answer:
        """Answer for the last update of the problem; never an exception for a number.

        Args:
            shares: (contacts,) part of the load that each contact is to take.
            start: When the tick began, by ``perf_counter`` [s].

        Returns:
            The answer.
        """
        taken = self._objective.adapt(shares)
        found = None
        if self._tick is not None and self._problem.full_rank:
            found = self._tick.solve(taken)
        if found is None:
            found = self._any_rank.solve(taken)
        path = "unpressed" if self._objective.lost else found.path
        certificate = self._certifier.certify(found.f, found.tau, (path, found.rank), start)
        certificate.shares = tuple(shares.tolist())
        certificate.takes_load = self._objective.takes_load
        if self._fade > 0.0 and certificate.status is AnswerStatus.UNSUPPORTED:
            certificate.fading = self._describe_fading(taken, found)
        return Answer(found.tau, certificate)

    def _describe_fading(self, shares: Vector, found: ForceSolution) -> tuple[str, ...]:
        """Describe for each contact that fades what the motion lacks without it, and what with all of them."""
        fading = [k for k, share in enumerate(shares.tolist()) if 0.0 < share < self._fade]
        least, lacking = RESIDUAL_TOLERANCE * self._problem.unit_force, found.lacking.tolist()
        amount = [
            f"{lack:.3g} N" if lack > least else "nothing" for lack in lacking[: 2 ** len(fading)]
        ]
        return tuple(
            f"{self._problem.surfaces[k].name}: fades with a share of {shares[k]:.2g}; without it the others lack {amount[2**place]}, "
            f"with it in full {amount[0]}"
            for place, k in enumerate(fading)
        )

    def _compile(self) -> CompiledTick | None:
        """Compile the kernel of the objective, where it has one that can be of use, by one call."""
        fast = self._objective.fast()
        if fast is None or not self._problem.best_rank:
            return None
        tolerance = (RESIDUAL_TOLERANCE * self._problem.unit_force) ** 2
        tolerances = (tolerance, 1.0 + TORQUE_TOLERANCE, self._fade)
        return CompiledTick(self._problem, fast, tolerances, self.rule.limited)
