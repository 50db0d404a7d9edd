# SPDX-License-Identifier: Apache-2.0
"""Torque steps where load passes between contacts: bounded beforehand, and measured at every switch [BP, sec. 3.1.3]."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.contact.schedule import ContactSchedule
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.cop_feasible_load import PressedShareObjective
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.load_objective import ShareObjective
from humanoid_dynamics.resolution.load_step_bounds import bound_share_step, follow_any
from humanoid_dynamics.resolution.load_step_maps import bound_limited, find_farthest, push_rates
from humanoid_dynamics.resolution.problem import FREE_BASE, DynamicsProblem
from humanoid_dynamics.resolution.rules import DEFAULT_RULE, RULES, Rule, find_rule
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only

INSTANT = 1e-9  # s; what lies between just before and just after
Motion = Callable[[float], tuple[Vector, Vector, Vector]]


@dataclass(frozen=True, eq=False)
class SwitchStep:
    """What a rule's torques do where a contact closes or opens.

    Attributes:
        rule: Name of the rule.
        t: Time of the switch [s].
        step: (na,) torques just after less torques just before, at the same motion [N·m or N].
    """

    rule: str
    t: float
    step: Vector

    @property
    def largest(self) -> float:
        """Largest step of any motor [N·m or N]."""
        return float(np.max(np.abs(self.step), initial=0.0))


@dataclass(frozen=True, eq=False)
class StepBound:
    """What a rule's torques can do at most while load passes on.

    Attributes:
        bound: (na,) bound of the step of each torque [N·m or N]; infinite where there is none.
        reason: Why there is none, with the contacts that are why; empty where there is one.
    """

    bound: Vector
    reason: str


@dataclass(frozen=True, eq=False)
class SwitchBound(StepBound):
    """What a rule's torques can do at most while load passes on after a switch.

    Attributes:
        bound: (na,) bound of the step of each torque [N·m or N]; infinite where there is none.
        reason: Why there is none, with the contacts that are why; empty where there is one.
        t: Time of the switch [s].
        contacts: Names of the surfaces that close or open.
    """

    t: float
    contacts: tuple[str, ...]


def bound_switch_steps(
    robot: RobotModel,
    schedule: ContactSchedule,
    motion: Motion,
    dt: float,
    rule: str | Rule = DEFAULT_RULE,
) -> tuple[SwitchBound, ...]:
    """Bound, beforehand, the step that torques can make from just before each switch of a schedule to a time later.

    Args:
        robot: The robot.
        schedule: When contacts close and open.
        motion: Configuration, velocity and acceleration at a time; held from the switch on.
        dt: How much later, such as the period of a controller [s].
        rule: The rule.

    Returns:
        One entry for each switch, in the order of time.

    Raises:
        UnknownNameError: If a surface or the rule does not exist.
    """
    found, rule = [], find_rule(rule)
    steps = np.minimum(schedule.share_rates() * (dt + INSTANT), 1.0)
    for t in schedule.switches():
        q, v, a = motion(t)
        step = bound_torque_step(
            robot, State(q, v), a, schedule.surfaces, steps, rule, load=schedule.shares(t - INSTANT)
        )
        touching = zip(
            schedule.surfaces, schedule.closed(t, after=False), schedule.closed(t), strict=True
        )
        names = tuple(name for name, before, after in touching if before != after)
        found.append(SwitchBound(step.bound, step.reason, t, names))
    return tuple(found)


def measure_switch_steps(
    robot: RobotModel,
    schedule: ContactSchedule,
    motion: Motion,
    rules: Iterable[str | Rule] = tuple(RULES),
) -> tuple[SwitchStep, ...]:
    """Measure how far the torques of each rule jump at every switch of a schedule.

    Args:
        robot: The robot.
        schedule: When contacts close and open.
        motion: Configuration, velocity and acceleration at a time.
        rules: The rules.

    Returns:
        One entry for each rule and switch, in the order of time.

    Raises:
        UnknownNameError: If a surface or a rule does not exist.
    """
    found = []
    solvers = [InverseDynamics(robot, schedule.surfaces, rule) for rule in map(find_rule, rules)]
    for t in schedule.switches():
        q, v, a = motion(t)
        for solver in solvers:
            before, after = (
                solver.solve(q, v, a, _shares(solver.rule, schedule, t, late)).tau
                for late in (False, True)
            )
            found.append(SwitchStep(solver.rule.name, t, read_only(after - before)))
    return tuple(found)


def bound_torque_step(
    robot: RobotModel,
    state: State,
    a: ArrayLike,
    contacts: Iterable[str],
    share_steps: ArrayLike,
    rule: str | Rule = DEFAULT_RULE,
    *,
    load: ArrayLike | None = None,
) -> StepBound:
    """Bound, before any load passes, the torque step that passing it can make under a continuous rule.

    The motion is held; what the motion itself changes comes on top.  With load fractions s the force of contact k is s_k times the total
    force F and the moment mu(s) that is left, affine in s.  Hence forces and torques are quadratic in s and change by sum_k c_k(s) ds_k
    with c_k affine: its extremes lie where one contact bears all.  A constant may be taken from all c_k, because the ds_k add up to
    nothing.

    With limits the push is the nearest one of a convex set, or the one that misses the motion least with a small weight on the distance:
    neither moves farther than what it is nearest to.  Where contacts fade it is a mean of such pushes, whose weights change by
    ds_k / fade, five times as fast where others lack something without a contact, and a motor has at most its limit on either side.

    The recommended transition moves the load fractions of two contacts, by no more than ``STEEPEST`` times what is asked, and less where
    they are known.  Where forces grow so large that it counts load fractions alone for them, the answer stays between answers by load
    fractions.

    With edges, points, and the recommended transition on three contacts or more, how far torques move depends on who bears: what leaves may
    be all that does.  Shares before the step, which a schedule tells beforehand as well, give a bound there, see ``share_bounds``.  What
    holds from any load fractions holds from these too, so that the least of both is a bound: to know more makes none larger.

    Args:
        robot: The robot, with a free base and no other coordinate without motor.
        state: Configuration and velocity.
        a: (nv,) acceleration.
        contacts: Names of the surfaces among which load passes; faces.
        share_steps: (contacts,) largest change of each share, such as ``schedule.share_rates() * dt``.
        rule: The rule.
        load: (contacts,) load fractions before the step, such as ``schedule.shares(t)``; any where None.

    Returns:
        The bound of the step of each torque, and its reason where it is infinite: where the base is not all that has no motor, the rule is
        not continuous or not one of load fractions, or, with edges and points, what leaves may be all that bears.
        Without load fractions it is infinite for edges and points as well, and for the recommended transition on other than two contacts.

    Raises:
        ShapeError: If a size is wrong or an entry is not finite.
        UnknownNameError: If a surface or the rule does not exist.
    """
    state.check(robot)
    rule = find_rule(rule)
    problem = DynamicsProblem(robot, contacts)
    steps = np.abs(np.asarray(share_steps, dtype=np.float64))
    if steps.shape != (len(problem.parts),):
        check_vector("share_steps", steps, len(problem.parts))
    problem.update(state.q, state.v, check_vector("a", a, robot.nv))
    before = None if load is None else check_vector("load", load, len(steps))
    reason = _tell_rule(problem, rule, before)
    if reason:
        return StepBound(read_only(np.full(len(problem.driven_v), np.inf)), reason)
    if not steps.any():
        return StepBound(read_only(np.zeros(len(problem.driven_v))), "")
    if before is None:
        bound, reason = _tell_infinite(_bound_any(problem, steps, rule))
        return StepBound(read_only(bound), reason)
    bound, reason = _bound_known(problem, before, steps, rule)
    if not _tell_rule(problem, rule, None):
        bound = np.minimum(bound, _bound_any(problem, steps, rule))
    return StepBound(read_only(bound), "" if np.isfinite(bound).all() else reason)


def _bound_any(problem: DynamicsProblem, steps: Vector, rule: Rule) -> Vector:
    """Bound the steps of torques, (na,), whatever the shares."""
    if rule.objective is PressedShareObjective:
        steps = follow_any(problem, steps)
    if rule.limited:
        return bound_limited(problem, steps)
    bound = np.zeros(problem.robot.nv)
    bound[problem.span] = steps @ find_farthest(push_rates(problem) @ problem.J_span)
    return np.asarray(bound[problem.driven_v])


def _tell_infinite(bound: Vector) -> tuple[Vector, str]:
    return bound, "" if np.isfinite(
        bound
    ).all() else "a motor has no limit, or a step of a share none"


def _tell_rule(problem: DynamicsProblem, rule: Rule, shares: Vector | None) -> str:
    """Tell why there is no bound whatever the shares, empty where there may be one."""
    asks_shares = rule.objective in {ShareObjective, PressedShareObjective}
    if not rule.continuous:
        return f"{rule.name}: torques of this rule jump where a contact comes or goes"
    if rule.limited and shares is not None:
        return ""
    if not asks_shares:
        return f"{rule.name}: not a rule of shares"
    if len(problem.undriven_v) != FREE_BASE or problem.robot.root != "free_flyer":
        return "the robot has other coordinates without motor than those of a free base"
    if shares is not None:
        return ""
    other = next((surface for surface in problem.surfaces if surface.kind != "face"), None)
    if other is not None:
        return f"{other.name}: depends on the shares before the step, being {'an edge' if other.kind == 'edge' else 'a point'}"
    if rule.objective is PressedShareObjective and len(problem.parts) != 2:
        return f"{rule.name}: depends on the shares before the step, but for two contacts"
    return "" if problem.full_rank else "no contact"


def _bound_known(
    problem: DynamicsProblem, shares: Vector, steps: Vector, rule: Rule
) -> tuple[Vector, str]:
    """Bound the steps of torques, (na,), from shares that are known; a motor within limits has at most its limit on either side."""
    driven = problem.driven_v
    if rule.limited:
        return _tell_infinite(2.0 * np.asarray(problem.robot.limits.effort[driven]))
    bound, reason = bound_share_step(
        problem, shares, steps, rule.objective is PressedShareObjective
    )
    return bound[driven], reason


def _shares(rule: Rule, schedule: ContactSchedule, t: float, after: bool) -> Vector:
    """Return the shares just before or after a switch; a rule that does not ask for shares is told only who touches."""
    if rule.continuous:
        return schedule.shares(t + INSTANT if after else t - INSTANT)
    closed = np.array(schedule.closed(t, after), dtype=np.float64)
    return closed / closed.sum() if closed.any() else closed
