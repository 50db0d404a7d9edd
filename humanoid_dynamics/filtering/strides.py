"""What share of the strides of a reference feet go."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix

SHORTEST = 0.1  # of the leg; a step of the reference that is shorter tells nothing


def measure_stride(robot: RobotModel, proportions: Proportions, frames: Sequence[Frame], reference: Matrix) -> float:
    """Return the way feet go from footprint to footprint, over the way they go in the reference from stance to stance.

    Args:
        robot: The robot.
        proportions: Its measures.
        frames: The frames.
        reference: (n, nq) what the clip wanted at each frame.

    Returns:
        The share; one where the reference makes no steps [-].
    """
    data, gone, wanted = robot.data(), 0.0, 0.0
    ways = [_trace(robot, proportions, data, q) for q in (np.array([frame.q for frame in frames]), reference)]
    for foot in (0, 1):
        stands = np.array([frame.stands[foot] for frame in frames])
        stances = [slice(first, after) for first, after, standing in runs(stands) if standing]
        for before, behind in pairwise(stances):
            real, asked = (float(np.linalg.norm(way[behind, foot].mean(axis=0) - way[before, foot].mean(axis=0))) for way in ways)
            if asked > SHORTEST * proportions.leg:
                gone, wanted = gone + real, wanted + asked
    return gone / wanted if wanted > 0.0 else 1.0


def _trace(robot: RobotModel, proportions: Proportions, data: pin.Data, rows: Matrix) -> Matrix:
    """Return (n, 2, 2) middles of both soles in all rows, seen from above [m]."""
    out = np.empty((len(rows), 2, 2))
    for row, q in enumerate(rows):
        pin.forwardKinematics(robot.model, data, q)
        for foot in (0, 1):
            out[row, foot] = pin.updateFramePlacement(robot.model, data, proportions.soles[foot]).act(proportions.centres[foot])[:2]
    return out
