# SPDX-License-Identifier: Apache-2.0
"""States no controller should ask about: each must get finite torques with a reason, inside their limits where a rule keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.certificate import AnswerStatus
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.rules import RULES, Rule
from humanoid_dynamics.spatial.arrays import Vector

FARTHEST, FASTEST = 4.0, 20.0  # rad or m from the neutral posture, rad/s or m/s
POISON = (np.nan, np.inf, -np.inf, 1e200)
POISONED, STRAIGHT, AT_REST = 0.02, 0.2, 0.1  # shares of all states
MOST_TOLD = 10
TOLD = 16  # of so many answers one is asked for reasons and margins as well, which take longer than the answer
MARGINS = ("normal_margin", "friction_margin", "cop_margin", "yaw_margin", "torque_margin")
Question = tuple[Vector, Vector, Vector, Vector]
KEPT = (
    AnswerStatus.OK,
    AnswerStatus.INCONSISTENT_CONTACT,
)  # inside all limits; wild states move what touches


@dataclass(frozen=True, eq=False)
class WildReport:
    """What came of it.

    Attributes:
        answers: How many answers were looked at.
        statuses: How many of each status.
        paths: How many of each path.
        faults: What was wrong, the first few in words; none where all is well.
        residual: Largest residual among those answers that keep all limits and were asked for it, in weights of the robot [-].
    """

    answers: int
    statuses: Mapping[str, int]
    paths: Mapping[str, int]
    faults: tuple[str, ...]
    residual: float


def run_wild(
    robot: RobotModel, states: int, seed: int, progress: Callable[[float], object] | None = None
) -> WildReport:
    """Ask every rule in turn, and one that keeps limits always, about wild states.

    Positions are beyond all limits, speeds up to 20 rad/s, contacts contradict each other, legs are straight, and some numbers are none.

    Args:
        robot: The robot; all its surfaces may touch.
        states: How many states.
        seed: Seed of the states.
        progress: Told the share that is done.

    Returns:
        What came of it.
    """
    rng = np.random.default_rng(seed)
    solver = InverseDynamics(robot, tuple(robot.surfaces), "minimum_torque_limited")
    rules, effort = tuple(RULES.values()), robot.limits.effort[robot.actuated_v]
    statuses: Counter[str] = Counter()
    paths: Counter[str] = Counter()
    faults: list[str] = []
    residual = 0.0
    for number in range(states):
        question, poisoned = _draw(robot, len(solver.contacts), rng)
        for rule, answer in (
            (solver.rule, solver.solve(*question)),
            _also(solver, rules[number % len(rules)]),
        ):
            certificate = answer.certificate
            statuses[certificate.status] += 1
            paths[certificate.path] += 1
            fault = _fault(answer, effort, rule.limited) or (
                _tell(answer, rule.limited, poisoned) if number % TOLD == 0 else ""
            )
            if fault and len(faults) < MOST_TOLD:
                faults.append(f"state {number}, {rule.name}: {fault}")
            if certificate.status in KEPT and number % TOLD == 0:
                residual = max(residual, certificate.residual / solver.problem.unit_force)
        if progress is not None and number % 1000 == 0:
            progress(number / states)
    return WildReport(sum(statuses.values()), statuses, paths, tuple(faults), residual)


def _also(solver: InverseDynamics, rule: Rule) -> tuple[Rule, Answer]:
    return rule, solver.resolve_with(rule)


def _draw(robot: RobotModel, contacts: int, rng: np.random.Generator) -> tuple[Question, bool]:
    """Return a state, acceleration and shares, and whether one of their numbers is none."""
    kind = rng.random()
    spread = 0.0 if kind < AT_REST else 1e-3 if kind < STRAIGHT else FARTHEST
    neutral = pin.neutral(robot.model)
    q = np.array(pin.integrate(robot.model, neutral, rng.uniform(-spread, spread, robot.nv)))
    v = rng.uniform(-FASTEST, FASTEST, robot.nv) * (kind > AT_REST)
    a = rng.uniform(-1.0, 1.0, robot.nv) * 10.0 ** rng.uniform(-1.0, 3.0)
    shares = (
        rng.dirichlet(np.ones(contacts)) * (rng.random(contacts) < 0.7) if contacts else np.zeros(0)
    )
    shares = shares / shares.sum() if shares.any() else shares
    poisoned = rng.random() < POISONED
    if poisoned:
        field = (q, v, a)[rng.integers(3)]
        field[rng.integers(len(field))] = rng.choice(POISON)
        poisoned = field is not q or not np.isfinite(q).all()  # an angle of any size has a sine
    return (q, v, a, shares), poisoned


def _fault(answer: Answer, effort: Vector, limited: bool) -> str:
    """Say what is wrong with torques or status; empty where nothing is."""
    if not np.isfinite(answer.tau).all():
        return "a torque that is not finite"
    if limited and np.any(np.abs(answer.tau) > effort):
        return f"a torque of {np.max(np.abs(answer.tau) - effort):.3g} beyond its limit"
    if limited and answer.certificate.status is AnswerStatus.INFEASIBLE_CONTACT:
        return f"status {answer.certificate.status}"
    return ""


def _tell(answer: Answer, limited: bool, poisoned: bool) -> str:
    """Say what is wrong with reasons, margins or the residual; empty where nothing is."""
    facts = answer.certificate.as_dict()
    if (facts["status"] == AnswerStatus.OK) != (not facts["reasons"]) or (
        facts["status"] in KEPT and poisoned
    ):
        return f"status {facts['status']} with {len(facts['reasons'])} reasons"
    if facts["status"] != AnswerStatus.INVALID_INPUT and not np.isfinite(facts["residual"]):
        return "a residual that is not finite"
    if (
        limited
        and facts["status"] == AnswerStatus.UNSUPPORTED
        and "lacks" not in facts["reasons"][0]
    ):
        return f"not told what is lacking, but: {facts['reasons'][0]}"
    return "a margin that is not a number" if any(np.isnan(facts[name]) for name in MARGINS) else ""
