# SPDX-License-Identifier: Apache-2.0
"""Where the motion of an operator is begun so that a limb reaches all of it: as near to where the frame is as that allows."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.poses.led_frame import LedFrame, place_point
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

USED = 0.95  # share of the reach that a motion is brought into: body and shoulder move a little meanwhile
NEAR = 1e-6  # m
MOST = 500  # projections


def find_reach(robot: RobotModel, led: LedFrame) -> tuple[Vector, float] | None:
    """Return where the shoulder of a limb is in the resting posture, and how far from there a motion may go [m].

    Args:
        robot: The robot.
        led: What is led; None is returned where it is no end of an arm.
    """
    if led.shoulder is None:
        return None
    data = robot.data()
    pin.framesForwardKinematics(robot.model, data, np.array(robot.posture))
    return place_point(data, robot.model, led.shoulder), USED * led.reach


def find_shift(places: Matrix, shoulder: Vector, reach: float) -> Vector:
    """Return the way by which places are brought into reach: none where they are, else hardly more than the shortest.

    Args:
        places: (n, 3) where a frame is to go [m].
        shoulder: (3,) where the limb begins [m].
        reach: How far from there it may go [m].

    Returns:
        (3,) the way [m]; where no way is enough, the one that leaves the middle of the places at the shoulder.
    """
    middle, radius = enclose(places)
    if radius > reach:
        return shoulder - middle
    shift = np.zeros(3)
    for _ in range(MOST):
        away = places + shift - shoulder
        far = np.linalg.norm(away, axis=1)
        worst = int(np.argmax(far))
        if far[worst] <= reach + NEAR:
            return shift
        shift = shift - (1.0 - reach / far[worst]) * away[worst]
    return shoulder - middle


def enclose(places: Matrix) -> tuple[Vector, float]:
    """Return centre and radius of a ball around places, larger than the smallest one by a hundredth at most.

    Args:
        places: (n, 3) the places [m].
    """
    middle = places.mean(axis=0)
    for step in range(
        2, MOST
    ):  # each time a smaller share of the way to the farthest [Badoiu, Clarkson]
        middle = (
            middle
            + (places[int(np.argmax(np.linalg.norm(places - middle, axis=1)))] - middle) / step
        )
    return middle, float(np.linalg.norm(places - middle, axis=1).max())
