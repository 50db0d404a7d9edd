# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics inside limits while one sole has all but given its load to the other, so that it fades: two programs in one tick."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from benchmarks.stand import Motion
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.answer import Answer
from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.spatial.arrays import Vector

RULE = "transition_limited"


@dataclass(frozen=True, eq=False)
class Passing:
    """A motion while load passes.

    Attributes:
        motion: How the robot moves: its centre of pressure is in the sole that bears, but for its sway.
        shares: (soles,) part of the load of each, one of them so small that it fades.
    """

    motion: Motion
    shares: Vector


def build_passing(robot: RobotModel, motions: tuple[Motion, ...]) -> tuple[Passing, ...]:
    """Return motions with the centre of pressure moved into one of the soles, and shares from all but none to those that just fade.

    Args:
        robot: The robot, on two soles.
        motions: How it sways about where it stands.
    """
    found, data, fade = [], robot.data(), fade_of(len(robot.stance))
    frames = [robot.surface(name).frame for name in robot.stance]
    gravity = float(np.linalg.norm(robot.model.gravity.linear))
    for number, motion in enumerate(motions):
        bears = number % len(frames)
        pin.framesForwardKinematics(robot.model, data, motion.q)
        arm = pin.centerOfMass(robot.model, data, motion.q) - data.oMf[frames[bears]].translation
        a = np.array(motion.a)
        a[:2] += gravity * arm[:2] / arm[2]
        small = fade * (number + 0.5) / len(motions)
        shares = np.full(len(frames), small / max(len(frames) - 1, 1))
        shares[bears] += 1.0 - float(shares.sum())
        found.append(Passing(replace(motion, a=a), shares))
    return tuple(found)


def check_passing(solver: InverseDynamics, passing: tuple[Passing, ...]) -> tuple[float, str]:
    """Return how far torques are from those of the path for any rank [N·m], and how many motions are on a limit or beyond all, in words.

    Args:
        solver: What answers.
        passing: What it is asked.
    """
    general, error, paths = replace(solver.rule, name="any rank"), 0.0, Counter[str]()
    for one in passing:
        answer = _ask(solver, one)
        other = solver.resolve_with(general)
        paths[answer.certificate.path] += 1
        if answer.certificate.path != "qp_soft":
            error = max(error, float(np.abs(answer.tau - other.tau).max()))
    return (
        error,
        f"of {len(passing)} motions {paths['qp']} are on a limit, {paths['qp_soft']} beyond all with the one sole and get the nearest",
    )


def _ask(solver: InverseDynamics, passing: Passing) -> Answer:
    motion = passing.motion
    return solver.solve(motion.q, motion.v, motion.a, passing.shares)
