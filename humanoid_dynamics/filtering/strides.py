"""What share of the strides of a reference feet go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.filter import Frame
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SHORTEST = 0.1  # of the leg; a step of the reference that is shorter tells nothing


def measure_stride(robot: RobotModel, proportions: Proportions, frames: Sequence[Frame], reference: Matrix) -> float:
    """Return the way feet go from footprint to footprint, over the way they go in the reference meanwhile.

    Args:
        robot: The robot.
        proportions: Its measures.
        frames: The frames.
        reference: (n, nq) what the clip wanted at each frame.

    Returns:
        The share; one where the reference makes no steps [-].
    """
    data, gone, wanted = robot.data(), 0.0, 0.0
    for foot in (0, 1):
        stands = np.array([frame.stands[foot] for frame in frames])
        for first, after, standing in runs(stands):
            if standing or first == 0 or after == len(frames):
                continue
            pair = [_seen(robot, proportions, data, foot, (q[first - 1], q[after])) for q in ([f.q for f in frames], reference)]
            if pair[1] > SHORTEST * proportions.leg:
                gone, wanted = gone + pair[0], wanted + pair[1]
    return gone / wanted if wanted > 0.0 else 1.0


def _seen(robot: RobotModel, proportions: Proportions, data: pin.Data, foot: int, q: tuple[Vector, Vector]) -> float:
    """Return how far the middle of a sole is apart in two configurations, seen from above [m]."""
    places = []
    for one in q:
        pin.forwardKinematics(robot.model, data, one)
        places.append(np.array(pin.updateFramePlacement(robot.model, data, proportions.soles[foot]).act(proportions.centres[foot])))
    return float(np.linalg.norm((places[1] - places[0])[:2]))
