"""Torque steps where load passes between contacts: bounded beforehand, and measured at every switch [BP, sec. 3.1.3]."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.contact.schedule import ContactSchedule
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.contact_dynamics import FREE_BASE, ContactDynamics
from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.halves import HURRY, URGENT
from humanoid_dynamics.resolution.inverse_dynamics import InverseDynamics
from humanoid_dynamics.resolution.limits import CHOICE_WEIGHT
from humanoid_dynamics.resolution.objectives import ShareObjective
from humanoid_dynamics.resolution.pressed_shares import STEEPEST, PressedShareObjective
from humanoid_dynamics.resolution.rules import RULES, Rule, find_rule
from humanoid_dynamics.resolution.share_bounds import bound_share_step
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only

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


def measure_switch_steps(
    robot: RobotModel, schedule: ContactSchedule, motion: Motion, rules: Iterable[str | Rule] = tuple(RULES)
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
            before, after = (solver.tick(q, v, a, _shares(solver.rule, schedule, t, late)).tau for late in (False, True))
            found.append(SwitchStep(solver.rule.name, t, read_only(after - before)))
    return tuple(found)


def bound_torque_step(  # noqa: PLR0917
    robot: RobotModel,
    state: State,
    a: ArrayLike,
    contacts: Iterable[str],
    share_steps: ArrayLike,
    rule: str | Rule = "transition",
    *,
    shares: ArrayLike | None = None,
) -> Vector:
    """Bound, before any load passes, the torque step that passing it can make under a continuous rule.

    The motion is held; what the motion itself changes comes on top.  With shares s the push of contact k is s_k times the total force F
    and the moment mu(s) that is left, affine in s.  Hence pushes and torques are quadratic in s and change by sum_k c_k(s) ds_k with c_k
    affine: its extremes lie where one contact bears all.  A constant may be taken from all c_k, because the ds_k add up to nothing.

    With limits the push is the nearest one of a convex set, or the one that misses the motion least with a small weight on the distance:
    neither moves farther than what it is nearest to.  Where contacts fade it is a mean of such pushes, whose weights change by
    ds_k / fade, five times as fast where others lack something without a contact, and a motor has at most its limit on either side.

    The recommended transition moves the shares of two contacts, by no more than ``STEEPEST`` times what is asked.

    With edges, points, and the recommended transition on three contacts or more, how far torques move depends on who bears: what leaves may
    be all that does.  Shares before the step, which a schedule tells beforehand as well, give a bound there, see ``share_bounds``.

    Args:
        robot: The robot, with a free base and no other coordinate without motor.
        state: Configuration and velocity.
        a: (nv,) acceleration.
        contacts: Names of the surfaces among which load passes; faces.
        share_steps: (contacts,) largest change of each share, such as ``schedule.share_rates() * dt``.
        rule: The rule.
        shares: (contacts,) shares before the step, such as ``schedule.shares(t)``; any shares where None.

    Returns:
        (na,) bound of the step of each torque [N·m or N]; infinite where the base is not all that has no motor, the rule is not continuous
        or not one of shares, or what leaves may be all that bears.  Without shares it is infinite for edges and points as well, and for
        the recommended transition where there are not two contacts.

    Raises:
        ShapeError: If a size is wrong or an entry is not finite.
        UnknownNameError: If a surface or the rule does not exist.
    """
    state.check(robot)
    a, rule = check_vector("a", a, robot.nv), find_rule(rule)
    dynamics = ContactDynamics(robot, contacts)
    steps = np.abs(np.asarray(share_steps, dtype=np.float64))
    if steps.shape != (len(dynamics.parts),):
        check_vector("share_steps", steps, len(dynamics.parts))
    dynamics.update(state.q, state.v, a)
    if shares is not None:
        return read_only(_bound_known(dynamics, check_vector("shares", shares, len(steps)), steps, rule))
    faces = all(surface.kind == "face" for surface in dynamics.surfaces)
    steepest = _find_steepest(rule, len(steps))
    if not (dynamics.full_rank and faces and rule.continuous and np.isfinite(steepest)):
        return read_only(np.full(len(dynamics.driven_v), np.inf))
    steps = steepest * steps
    if rule.limited:
        return read_only(_bound_limited(dynamics, steps))
    bound = np.zeros(robot.nv)
    bound[dynamics.span] = steps @ _farthest(_push_rates(dynamics) @ dynamics.J)
    return read_only(bound[dynamics.driven_v])


def _bound_known(dynamics: ContactDynamics, shares: Vector, steps: Vector, rule: Rule) -> Vector:
    """Bound the steps of torques, (na,), from shares that are known; a motor within limits has at most its limit on either side."""
    driven = dynamics.driven_v
    if rule.limited:
        return 2.0 * np.asarray(dynamics.robot.limits.effort[driven]) if rule.continuous else np.full(len(driven), np.inf)
    asks_shares = rule.objective in {ShareObjective, PressedShareObjective}
    if not asks_shares or len(dynamics.undriven_v) != FREE_BASE or dynamics.robot.root != "free_flyer":
        return np.full(len(driven), np.inf)
    return bound_share_step(dynamics, shares, steps, rule.objective is PressedShareObjective)[driven]


def _find_steepest(rule: Rule, contacts: int) -> float:
    """Return the most that a share which is taken changes by, per change of the share asked for; infinite where nothing bounds it."""
    if rule.objective is ShareObjective:
        return 1.0
    return STEEPEST if rule.objective is PressedShareObjective and contacts == 2 else np.inf


def _bound_limited(dynamics: ContactDynamics, steps: Vector) -> Vector:
    """Bound the steps of torques, (na,), where pushes are the nearest inside limits, and fade.

    A contact that fades counts by p (1 + U g), see ``halves``: this changes by 1 + U for its own share, and by U for those of others that
    fade.  What an answer lacks of the motion is least but for a small weight w of the distance, so that it changes by at most half the
    root of w times what is wanted.
    """
    contacts, total = len(steps), float(steps.sum())
    fade = fade_of(contacts)
    rates = _push_rates(dynamics)
    middle = 0.5 * (rates.max(axis=(0, 1)) + rates.min(axis=(0, 1)))
    farthest = float(np.max(np.linalg.norm(rates - middle, axis=2)))
    least = 1.0 - fade * (contacts - 1)  # sum of the shares that stay when contacts that fade are left out
    moved = 2.0 * total / least * farthest
    hurried = (contacts - 1) * HURRY * np.sqrt(CHOICE_WEIGHT) * moved / (URGENT * dynamics.unit_force)
    passed = (1.0 + HURRY * (contacts - 1)) * total / fade + hurried
    effort = dynamics.robot.limits.effort[dynamics.driven_v]
    levers = np.linalg.norm(dynamics.whole_J[:, dynamics.driven_v], axis=0)
    return np.asarray(levers * moved + np.where(levers > 0.0, 2.0 * effort, 0.0) * passed)


def _push_rates(dynamics: ContactDynamics) -> Matrix:
    """Return how fast the push changes with the share of each contact while one bears all, (contacts, contact that bears all, size)."""
    F, M = dynamics.free[:3], dynamics.free[3:6]
    rates = np.zeros((len(dynamics.parts), len(dynamics.parts), dynamics.size))
    turns = [dynamics.J[part.start + 3 : part.stop, 3:6] for part in dynamics.parts]
    forces = [dynamics.J[part.start : part.start + 3] for part in dynamics.parts]
    push = [J_f[:, :3] @ F for J_f in forces]  # the total force, in the axes of each contact
    arms = [J_f[:, 3:6].T @ f for J_f, f in zip(forces, push, strict=True)]  # its moment about the base
    for k, part in enumerate(dynamics.parts):
        rates[k, :, part.start : part.start + 3] = push[k]
        for bearer, other in enumerate(dynamics.parts):
            rates[k, bearer, part.start + 3 : part.stop] += turns[k] @ (M - arms[bearer])
            rates[k, bearer, other.start + 3 : other.stop] -= turns[bearer] @ arms[k]
    return rates


def _farthest(effects: Matrix) -> Vector:
    """Bound the change of each torque per change of each share, (contacts, width), a constant taken from all."""
    middle = 0.5 * (effects.max(axis=(0, 1)) + effects.min(axis=(0, 1)))
    return np.asarray(np.max(np.abs(effects - middle), axis=1))


def _shares(rule: Rule, schedule: ContactSchedule, t: float, after: bool) -> Vector:
    """Return the shares just before or after a switch; a rule that does not ask for shares is told only who touches."""
    if rule.continuous:
        return schedule.shares(t + INSTANT if after else t - INSTANT)
    closed = np.array(schedule.closed(t, after), dtype=np.float64)
    return closed / closed.sum() if closed.any() else closed
