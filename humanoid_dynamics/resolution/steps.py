"""Torque steps where load passes between contacts: bounded beforehand, and measured at every switch [BP, sec. 3.1.3]."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.contact.schedule import ContactSchedule
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.contact_dynamics import ContactDynamics
from humanoid_dynamics.resolution.inverse_dynamics import InverseDynamics
from humanoid_dynamics.resolution.rules import RULES, Rule, find_rule
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


def bound_torque_step(robot: RobotModel, state: State, a: ArrayLike, contacts: Iterable[str], share_steps: ArrayLike) -> Vector:
    """Bound, before any load passes, the torque step that passing it can make under the rule ``transition``.

    The motion is held; what the motion itself changes comes on top.  With shares s the push of contact k is s_k times the total force F
    and the moment mu(s) that is left, affine in s.  Hence the torques are quadratic in s and change by sum_k c_k(s) ds_k with c_k affine:
    its extremes lie where one contact bears all.  A constant may be taken from all c_k, because the ds_k add up to nothing.

    Args:
        robot: The robot, with a free base and no other coordinate without motor.
        state: Configuration and velocity.
        a: (nv,) acceleration.
        contacts: Names of the surfaces among which load passes; faces.
        share_steps: (contacts,) largest change of each share, such as ``schedule.share_rates() * dt``.

    Returns:
        (na,) bound of the step of each torque [N·m or N]; infinite where the contacts are not faces or the base is not all that has no
        motor.

    Raises:
        ShapeError: If a size is wrong or an entry is not finite.
        UnknownNameError: If a surface does not exist.
    """
    state.check(robot)
    a = check_vector("a", a, robot.nv)
    dynamics = ContactDynamics(robot, contacts)
    steps = np.abs(np.asarray(share_steps, dtype=np.float64))
    if steps.shape != (len(dynamics.parts),):
        check_vector("share_steps", steps, len(dynamics.parts))
    dynamics.update(state.q, state.v, a)
    if not dynamics.full_rank or any(surface.kind != "face" for surface in dynamics.surfaces):
        return read_only(np.full(len(dynamics.driven_v), np.inf))
    bound = np.zeros(robot.nv)
    bound[dynamics.span] = steps @ _sensitivities(dynamics)
    return read_only(bound[dynamics.driven_v])


def _sensitivities(dynamics: ContactDynamics) -> Vector:
    """Bound the change of each torque of the span per change of each share, (contacts, width of span)."""
    F, M = dynamics.free[:3], dynamics.free[3:6]
    forces = [dynamics.J[part.start : part.start + 3] for part in dynamics.parts]
    moments = [dynamics.J[part.start + 3 : part.stop] for part in dynamics.parts]
    push = [J_f[:, :3] @ F for J_f in forces]  # the total force, in the axes of each contact
    arms = [J_f[:, 3:6].T @ f for J_f, f in zip(forces, push, strict=True)]  # its moment about the base
    effects = np.array(
        [
            [J_f.T @ f + J_m.T @ (J_m[:, 3:6] @ (M - arm)) - J_l.T @ (J_l[:, 3:6] @ own) for arm, J_l in zip(arms, moments, strict=True)]
            for f, own, J_f, J_m in zip(push, arms, forces, moments, strict=True)
        ]
    )  # (contacts, contact that bears all, width)
    middle = 0.5 * (effects.max(axis=(0, 1)) + effects.min(axis=(0, 1)))
    return np.asarray(np.max(np.abs(effects - middle), axis=1))


def _shares(rule: Rule, schedule: ContactSchedule, t: float, after: bool) -> Vector:
    """Return the shares just before or after a switch; a rule that does not ask for shares is told only who touches."""
    if rule.continuous:
        return schedule.shares(t + INSTANT if after else t - INSTANT)
    closed = np.array(schedule.closed(t, after), dtype=np.float64)
    return closed / closed.sum() if closed.any() else closed
