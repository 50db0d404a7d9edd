# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics on two soles: the rules, and the pseudo-inverse taken literally."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks.floors import FLOOR_ID, build_floor_id
from benchmarks.goals import GOALS
from benchmarks.interleave import Contender, Timing
from benchmarks.mujoco_step import build_inverse
from benchmarks.rows import Measurement, Race, build_warm_race, compare, compare_faster
from benchmarks.stand import Stand
from humanoid_dynamics.contact.wrench import wrench_basis
from humanoid_dynamics.errors import MissingExtraError, UnsupportedRobotError
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.resolution.rules import RULES
from humanoid_dynamics.spatial.arrays import Vector

PATH = "inverse_dynamics"
LITERAL, SAME_ANSWER = "np.linalg.pinv", "pseudo_inverse"


def build_inverse_dynamics(stand: Stand) -> Race:
    """Return the rules that have a goal, the floor and the literal route.

    Args:
        stand: The robot and what it is asked.

    Returns:
        The race.
    """
    rules = [name for name in RULES if f"{PATH}.{name}" in {goal.name for goal in GOALS}]
    ticks = {name: build_tick(stand, name) for name in rules}
    literal = build_literal(stand)
    contenders = [
        build_floor_id(stand),
        *(Contender(name, tick) for name, tick in ticks.items()),
        Contender(LITERAL, literal),
    ]
    with suppress(MissingExtraError, UnsupportedRobotError):
        contenders.append(build_inverse(stand.robot))

    def measure(times: Mapping[str, Timing]) -> dict[str, Measurement]:
        rows = {
            f"{PATH}.{name}": compare(
                times[name],
                times[FLOOR_ID],
                stand.worst(partial(measure_motion_error, stand, tick)),
            )
            for name, tick in ticks.items()
        }
        error = stand.worst(lambda: float(np.abs(ticks[SAME_ANSWER]().tau - literal()).max()))
        rows[f"{PATH}.pinv"] = compare_faster(times[SAME_ANSWER], times[LITERAL], error)
        return rows

    return build_warm_race(PATH, contenders, measure, stand.use)


def build_tick(stand: Stand, rule: str) -> Callable[[], Answer]:
    """Return our inverse dynamics, with validation and certificate.

    Args:
        stand: The robot and what it is asked.
        rule: Name of the rule.

    Returns:
        The tick.
    """
    prepared, q, v, a = (
        InverseDynamics(stand.robot, rule=rule, joint_friction=False),  # as what it races against
        stand.q,
        stand.v,
        stand.a,
    )
    return lambda: prepared.solve(q, v, a)


def build_literal(stand: Stand) -> Callable[[], Vector]:
    """Return the pseudo-inverse of [S', J'], taken as it is written [BP, eq. 27].

    Args:
        stand: The robot and what it is asked.

    Returns:
        From the motion in use to (na,) torques.
    """
    robot = stand.robot
    model, data, q, v, a = robot.model, robot.data(), stand.q, stand.v, stand.a
    count = len(robot.actuated_v)
    S = np.eye(robot.nv)[robot.actuated_v]
    bases = [
        (frame, wrench_basis(robot.surface(name)).T)
        for frame, name in zip(stand.frames, robot.stance, strict=True)
    ]

    def solve() -> Vector:
        force = pin.rnea(model, data, q, v, a)
        pin.computeJointJacobians(model, data, q)
        rows = [
            basis @ pin.getFrameJacobian(model, data, frame, pin.LOCAL) for frame, basis in bases
        ]
        inverse = np.linalg.pinv(np.vstack((S, *rows)).T)  # noqa: TID251 - the literal route is what is compared
        torque: Vector = (inverse @ force)[:count]
        return torque

    return solve


def measure_motion_error(stand: Stand, tick: Callable[[], Answer]) -> float:
    """Return how much of M a + h an answer leaves to nobody.

    Args:
        stand: The robot and what it is asked.
        tick: What answers with torques and wrenches.

    Returns:
        Largest entry of M a + h - S' tau - J' w [N, N·m].
    """
    robot, answer = stand.robot, tick()
    data = robot.data()
    left = np.array(pin.rnea(robot.model, data, stand.q, stand.v, stand.a))
    left[robot.actuated_v] -= answer.tau
    pin.computeJointJacobians(robot.model, data, stand.q)
    for frame, name in zip(stand.frames, robot.stance, strict=True):
        wrench = answer.wrenches[name]
        J = pin.getFrameJacobian(robot.model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        left -= J.T @ np.concatenate((wrench.f_W, wrench.m_W))
    return float(np.abs(left).max())
