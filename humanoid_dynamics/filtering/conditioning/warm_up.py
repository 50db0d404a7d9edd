# SPDX-License-Identifier: Apache-2.0
"""Conditioning of a short motion that nobody asked for, so that what has to be compiled is compiled before somebody waits for it."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.intake import InputStage
from humanoid_dynamics.filtering.conditioning.leash import Leash
from humanoid_dynamics.filtering.conditioning.planner import Planner
from humanoid_dynamics.filtering.conditioning.posture_bound import PostureBound
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.model.robot import RobotModel

RATE = 25.0  # Hz of the samples
LEANING = 0.4  # rad; a robot that leans aside lifts one foot
MOTION = (6, 8, 6)  # samples upright, leaning, and upright again
ROWS = 8


def rehearse(robot: RobotModel, proportions: Proportions, settings: Settings) -> None:
    """Let a robot lift a foot and put it down.

    Args:
        robot: The robot.
        proportions: Its measures.
        settings: Times and lengths.
    """
    intake = InputStage(
        robot, bound=PostureBound(robot, proportions), leash=Leash(robot, proportions)
    )
    track = ReferenceTrack(robot, proportions, settings)
    planner = Planner(proportions, settings, track)
    upright, leaning = np.array(robot.posture), np.array(robot.posture)
    turn = pin.Quaternion(math.cos(0.5 * LEANING), math.sin(0.5 * LEANING), 0.0, 0.0)
    leaning[3:7] = (turn * pin.Quaternion(upright[3:7])).coeffs()
    for sample in range(sum(MOTION)):
        q = leaning if MOTION[0] <= sample < MOTION[0] + MOTION[1] else upright
        intake.see(sample / RATE, q)
        intake.doubt()
        intake.accept()
        track.add(sample / RATE, q)
    track.finish()
    while track.end - planner.now > 2 * ROWS:
        planner.plan(ROWS, (np.array([*proportions.lean, proportions.height]), np.zeros(3)))
