# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics: torques and contact wrenches for a given acceleration of a robot on any number of contacts."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from traceback import format_exception_only

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.contact.ground import AnyGround
from humanoid_dynamics.dynamics.joint_friction import compute_joint_friction, has_joint_friction
from humanoid_dynamics.errors import ShapeError, count
from humanoid_dynamics.model.load import as_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.any_rank import AnyRankSolver, ForceSolution
from humanoid_dynamics.resolution.certificate import (
    RESIDUAL_TOLERANCE,
    AnswerStatus,
    RefusedCertificate,
)
from humanoid_dynamics.resolution.certify import Certifier
from humanoid_dynamics.resolution.compiled import CompiledTick
from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.rules import DEFAULT_RULE, Rule, find_rule
from humanoid_dynamics.resolution.violations import TORQUE_TOLERANCE
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only


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


SHARE_TOLERANCE = 1e-6
MOST_OTHERS = 32  # rules that ``also`` keeps ready


def inverse_dynamics(
    robot: RobotModel | str,
    state: State,
    a: ArrayLike,
    contacts: str | Iterable[str | ContactSurface] | None = None,
    rule: str | Rule = DEFAULT_RULE,
    *,
    load: ArrayLike | None = None,
    ground: AnyGround = None,
    joint_friction: bool = True,
) -> Answer:
    """Find joint torques and contact wrenches for an acceleration.

    Args:
        robot: The robot, or what ``load_robot`` reads.
        state: Configuration and velocity.
        a: (nv,) wanted acceleration, in the coordinates of the velocity [m/s², rad/s²].
        contacts: Name or names of the contact surfaces that touch; those the robot rests on, ``robot.stance``, where None.
        rule: Name of a rule, or a rule, that chooses among the answers.
        load: (contacts,) part of the load that each contact is to take, for rules that ask for it; alike where None.  A contact with
            load fraction zero does not touch.
        ground: Ground that the contacts are on: its height [m], a ``Ground``, or these by the name of a surface; not checked where None.
        joint_friction: Whether the torques overcome the friction of the joints that the robot model has.

    Returns:
        Torques, wrenches and their certificate.

    Raises:
        ShapeError: If a size is wrong or an entry is not finite, or load fractions are negative or of another sum.
        UnknownNameError: If a surface or a rule does not exist.
    """
    robot = as_robot(robot)
    state.check(robot)
    a = check_vector("a", a, robot.nv)
    solver = InverseDynamics(robot, contacts, rule, ground=ground, joint_friction=joint_friction)
    if load is None:
        return solver.solve(state.q, state.v, a)
    parts = check_vector("load", load, len(solver.contacts))
    if _find_load_fault(parts.tolist(), len(parts)):
        raise ShapeError(
            "load",
            f"{parts.tolist()}",
            "numbers from 0 to 1 whose sum is 1, or all zero for a robot in the air",
        )
    return solver.solve(state.q, state.v, a, parts)


class InverseDynamics:
    """Inverse dynamics prepared for one set of contacts and one rule: prepare once, ``solve`` many times.

    With tau_0 the torques of free motion and J the Jacobian of the contacts, M a + h = tau_0 holds with tau = tau_0 - J'x.  Rows
    that no motor drives must vanish: they are equations for x.  What freedom they leave, the rule spends.  Gears between joints that
    mimic each other push like contacts, with one number each in x.  Not for several threads at once.
    """

    def __init__(
        self,
        robot: RobotModel | str,
        contacts: str | Iterable[str | ContactSurface] | None = None,
        rule: str | Rule = DEFAULT_RULE,
        *,
        ground: AnyGround = None,
        joint_friction: bool = True,
    ) -> None:
        """Prepare; numba compiles the kernel of the rule, which takes some seconds the first time on a machine.

        Args:
            robot: The robot, or what ``load_robot`` reads.
            contacts: Name or names of the surfaces that may touch, or surfaces, each counted once; ``robot.stance`` where None.
            rule: The rule.
            ground: Ground that the contacts are on, as in ``inverse_dynamics``.
            joint_friction: Whether the torques overcome the friction of the joints that the robot model has.

        Raises:
            UnknownNameError: If a surface or a rule does not exist.
        """
        self.rule = find_rule(rule)
        robot = as_robot(robot)
        self.problem = DynamicsProblem(robot, contacts, ground)
        self._rubs = joint_friction and has_joint_friction(robot)
        self._certifier = Certifier(self.problem)
        self._resolver = Resolver(self.problem, self._certifier, self.rule)
        self._others: dict[Rule, Resolver] = {}
        count = len(self.problem.surfaces)
        self._alike: Vector = np.full(count, 1.0 / max(count, 1))
        self._shares: Vector = self._alike
        self._fault = "nothing was asked yet"

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the surfaces that may touch, in the order of shares."""
        return tuple(surface.name for surface in self.problem.surfaces)

    def solve(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        load: ArrayLike | None = None,
        *,
        force: ArrayLike | None = None,
    ) -> Answer:
        """Answer for one instant; trouble with numbers, sizes, types or a rule is a status of the certificate, never an exception.

        Args:
            q: (nq,) configuration; float64 arrays are the fastest here and below.
            v: (nv,) velocity.
            a: (nv,) acceleration.
            load: (contacts,) part of the load that each contact is to take, of sum 1; alike where None.  A contact with share zero does
                not touch; all zero is a robot in the air.
            force: (nv,) known generalized force beside motors and contacts, such as measured wrenches; none where None.

        Returns:
            Torques, wrenches and their certificate.
        """
        start = perf_counter()
        try:
            return self._solve(q, v, a, load, force, start)  # type: ignore[arg-type]
        except Exception as trouble:  # noqa: BLE001 - a rule may be anybody's, and a question is looked at only once it made trouble
            try:
                given = self._convert(q, v, a, load, force)
                converted = any(
                    x is not y for x, y in zip(given, (q, v, a, load, force), strict=True)
                )
            except ShapeError as fault:
                self._fault = str(fault)
                return self._refuse(self._fault, start)
            if converted:
                return self.solve(*given[:4], force=given[4])  # type: ignore[arg-type]
            self._fault = _describe_raised(self._resolver.rule, trouble)
            return self._refuse(self._fault, start)

    def _solve(
        self,
        q: Vector,
        v: Vector,
        a: Vector,
        load: Vector | None,
        force: Vector | None,
        start: float,
    ) -> Answer:
        if self._rubs:
            friction = compute_joint_friction(self.problem.robot, v)
            force = -friction if force is None else force - friction
        if load is None:
            self._shares = self._alike
            self._fault = self.problem.update(q, v, a, force=force)
        else:
            parts = load.tolist()
            self._shares = load
            self._fault = _find_load_fault(parts, len(self._alike)) or self.problem.update(
                q, v, a, None if all(parts) else [s > 0.0 for s in parts], force
            )
        if self._fault:
            return self._refuse(self._fault, start)
        return self._resolver.answer(self._shares, start)

    def prepare(self, rules: Iterable[str | Rule]) -> None:
        """Make ready what ``resolve_with`` needs for some rules, so that it compiles nothing while a robot waits.

        Args:
            rules: The rules.

        Raises:
            UnknownNameError: If a rule does not exist.
        """
        for name in rules:
            rule = find_rule(name)
            if rule not in self._others:
                self._others[rule] = Resolver(self.problem, self._certifier, rule)

    @np.errstate(all="ignore")
    def resolve_with(self, rule: str | Rule) -> Answer:
        """Answer for the instant of the last ``solve`` by another rule, without computing the dynamics again.

        Args:
            rule: The rule.

        Returns:
            Its torques, wrenches and their certificate.

        Raises:
            UnknownNameError: If the rule does not exist.
        """
        start, rule = perf_counter(), find_rule(rule)
        if self._fault:
            return self._refuse(self._fault, start)
        try:
            if rule not in self._others:
                if len(self._others) >= MOST_OTHERS:
                    self._others.popitem()  # the newest: those prepared stay, and a rule made anew at every tick takes no more memory
                # Compilation would delay this tick by seconds.
                self._others[rule] = Resolver(self.problem, self._certifier, rule, has_kernel=False)
            return self._others[rule].answer(self._shares, start)
        except Exception as trouble:  # noqa: BLE001 - as in ``solve``; the next rule may know better
            return self._refuse(_describe_raised(rule, trouble), start)

    def _convert(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        load: ArrayLike | None,
        force: ArrayLike | None,
    ) -> tuple[Vector | None, ...]:
        """Return arguments as float64 arrays, unchanged where they already are.

        Raises:
            ShapeError: If a size is wrong or an entry is no finite number.
        """
        nv, nq = self.problem.robot.nv, self.problem.robot.nq
        return (
            check_vector("q", q, nq),
            check_vector("v", v, nv),
            check_vector("a", a, nv),
            None if load is None else check_vector("load", load, len(self._alike)),
            None if force is None else check_vector("force", force, nv),
        )

    def _refuse(self, reason: str, start: float) -> Answer:
        """Answer a question that is none: torques of zero, margins of minus infinity."""
        certificate = RefusedCertificate(self.problem, reason)
        certificate.time = perf_counter() - start
        return Answer(read_only(np.zeros(len(self.problem.driven_v))), certificate)


def _describe_raised(rule: Rule, trouble: Exception) -> str:
    return f"the rule {rule.name} raised {format_exception_only(trouble)[-1].strip()}"


def _find_load_fault(shares: list[float], contacts: int) -> str:
    if len(shares) != contacts:
        return f"load: received {count(len(shares), 'number')}, expected {contacts}, one for each contact"
    total = sum(shares)
    # Written so that what is no number fails as well.
    if not min(shares, default=0.0) >= 0.0 or not (
        abs(total - 1.0) <= SHARE_TOLERANCE or total == 0.0
    ):
        return f"load: received {shares}, expected numbers from 0 to 1 whose sum is 1, or all zero for a robot in the air"
    return ""
