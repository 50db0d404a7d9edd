# SPDX-License-Identifier: Apache-2.0
"""Torques and contact wrenches for a wanted motion of a robot on any number of contacts."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from traceback import format_exception_only

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.contact.ground import AnyGround
from humanoid_dynamics.dynamics.joint_friction import compute_joint_friction, has_joint_friction
from humanoid_dynamics.errors import ShapeError, count
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.answer import Answer, Certificate
from humanoid_dynamics.resolution.evidence import AnswerStatus, Evidence
from humanoid_dynamics.resolution.limits import ContactRows
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.resolution.resolver import Resolver
from humanoid_dynamics.resolution.rules import DEFAULT_RULE, Rule, find_rule
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only

SHARE_TOLERANCE = 1e-6
MOST_OTHERS = 32  # rules that ``also`` keeps ready


def inverse_dynamics(
    robot: RobotModel,
    state: State,
    a: ArrayLike,
    contacts: str | Iterable[str] | None = None,
    rule: str | Rule = DEFAULT_RULE,
    *,
    load: ArrayLike | None = None,
    ground: AnyGround = None,
    joint_friction: bool = True,
) -> Answer:
    """Find joint torques and contact wrenches for an acceleration.

    Args:
        robot: The robot.
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
    state.check(robot)
    a = check_vector("a", a, robot.nv)
    solver = InverseDynamics(robot, contacts, rule, ground=ground, joint_friction=joint_friction)
    if load is None:
        return solver.solve(state.q, state.v, a)
    parts = check_vector("load", load, len(solver.contacts))
    if _share_fault(parts.tolist(), len(parts)):
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
        robot: RobotModel,
        contacts: str | Iterable[str] | None = None,
        rule: str | Rule = DEFAULT_RULE,
        *,
        ground: AnyGround = None,
        joint_friction: bool = True,
    ) -> None:
        """Prepare; numba compiles the kernel of the rule, which takes some seconds the first time on a machine.

        Args:
            robot: The robot.
            contacts: Name or names of the surfaces that may touch, each counted once; ``robot.stance`` where None.
            rule: The rule.
            ground: Ground that the contacts are on, as in ``inverse_dynamics``.
            joint_friction: Whether the torques overcome the friction of the joints that the robot model has.

        Raises:
            UnknownNameError: If a surface or a rule does not exist.
        """
        self._rubs = joint_friction and has_joint_friction(robot)
        self.rule = find_rule(rule)
        self.problem = DynamicsProblem(robot, contacts, ground)
        self._rows = ContactRows(self.problem)
        self._resolver = Resolver(self.problem, self._rows, self.rule)
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
        q: Vector,
        v: Vector,
        a: Vector,
        load: Vector | None = None,
        *,
        force: Vector | None = None,
    ) -> Answer:
        """Answer for one instant; trouble with numbers, sizes, types or a rule is a status of the certificate, never an exception.

        Args:
            q: (nq,) configuration.
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
            if self._rubs:
                friction = compute_joint_friction(self.problem.robot, v)
                force = -friction if force is None else force - friction
            if load is None:
                self._shares = self._alike
                self._fault = self.problem.update(q, v, a, force=force)
            else:
                parts = load.tolist()
                self._shares = load
                self._fault = _share_fault(parts, len(self._alike)) or self.problem.update(
                    q, v, a, None if all(parts) else [s > 0.0 for s in parts], force
                )
            return (
                self._refuse(self._fault, start)
                if self._fault
                else self._resolver.answer(self._shares, start)
            )
        except Exception as trouble:  # noqa: BLE001 - a rule may be anybody's, and a question is looked at only once it made trouble
            self._fault = self._find_fault(q, v, a, load, force) or _tell_raised(
                self._resolver.rule, trouble
            )
            return self._refuse(self._fault, start)

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
                self._others[rule] = Resolver(self.problem, self._rows, rule)

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
                self._others[rule] = Resolver(self.problem, self._rows, rule, has_kernel=False)
            return self._others[rule].answer(self._shares, start)
        except Exception as trouble:  # noqa: BLE001 - as in ``solve``; the next rule may know better
            return self._refuse(_tell_raised(rule, trouble), start)

    def _find_fault(self, q: object, v: object, a: object, load: object, force: object) -> str:
        """Tell which argument is no array of the right size, empty where all are."""
        nv = self.problem.robot.nv
        asked = {"q": (q, self.problem.robot.nq), "v": (v, nv), "a": (a, nv)}
        asked |= {"load": (load, len(self._alike))} if load is not None else {}
        asked |= {"force": (force, nv)} if force is not None else {}
        return next(
            filter(
                None, (_array_fault(name, value, size) for name, (value, size) in asked.items())
            ),
            "",
        )

    def _refuse(self, reason: str, start: float) -> Answer:
        """Answer a question that is none: torques of zero, margins of minus infinity."""
        nothing = Evidence.of_nothing(self.problem, self._rows, reason)
        certificate = Certificate(
            AnswerStatus.INVALID_INPUT, ("none", 0, 0), perf_counter() - start, nothing
        )
        return Answer(read_only(np.zeros(len(self.problem.driven_v))), certificate, nothing)


def _tell_raised(rule: Rule, trouble: Exception) -> str:
    return f"the rule {rule.name} raised {format_exception_only(trouble)[-1].strip()}"


def _array_fault(name: str, value: object, size: int) -> str:
    if not isinstance(value, np.ndarray):
        return f"{name}: received a {type(value).__name__}, expected an array ({size},)"
    try:
        check_vector(name, value, size)
    except ShapeError as fault:
        return str(fault)
    return (
        ""
        if value.dtype == np.float64
        else f"{name}: received an array of {value.dtype}, expected float64"
    )


def _share_fault(shares: list[float], contacts: int) -> str:
    if len(shares) != contacts:
        return f"load: received {count(len(shares), 'number')}, expected {contacts}, one for each contact"
    total = sum(shares)
    # Written so that what is no number fails as well.
    if not min(shares, default=0.0) >= 0.0 or not (
        abs(total - 1.0) <= SHARE_TOLERANCE or total == 0.0
    ):
        return f"load: received {shares}, expected numbers from 0 to 1 whose sum is 1, or all zero for a robot in the air"
    return ""
