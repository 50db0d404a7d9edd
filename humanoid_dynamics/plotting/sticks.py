# SPDX-License-Identifier: Apache-2.0
"""A robot as sticks from joint to joint, seen from the side or from the front."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def draw_sticks(
    axes: Any,
    robot: RobotModel,
    q: Vector,
    *,
    view: tuple[int, int] = (0, 2),
    shift: float = 0.0,
    **looks: Any,
) -> None:
    """Draw a configuration.

    Args:
        axes: The panel.
        robot: The robot.
        q: (nq,) configuration.
        view: Which axes of the world go to the right and up.
        shift: How far to the right [m].
        looks: Of the lines, as matplotlib names them.
    """
    for stick in list_sticks(robot, q):
        axes.plot(stick[:, view[0]] + shift, stick[:, view[1]], solid_capstyle="round", **looks)


def list_sticks(robot: RobotModel, q: Vector) -> list[Matrix]:
    """Return the sticks of a configuration: joint to joint, outlines of the soles, control points at the ends.

    Args:
        robot: The robot.
        q: (nq,) configuration.

    Returns:
        (k, 3) corners of each in the world [m].
    """
    model, data = robot.model, robot.data()
    pin.framesForwardKinematics(model, data, q)
    sticks = []
    for joint in range(2, model.njoints):
        above = int(model.parents[joint])
        if above:
            sticks.append(np.array([data.oMi[above].translation, data.oMi[joint].translation]))
    for surface in robot.surfaces.values():
        corners = [data.oMf[surface.frame].act(corner) for corner in surface.vertices]
        ankle = data.oMi[model.frames[surface.frame].parentJoint].translation
        sticks += [np.array([*corners, corners[0]]), np.array([ankle, np.mean(corners, axis=0)])]
    carriers = set(model.parents)
    for point in robot.control_points.values():
        joint = int(model.frames[point.frame].parentJoint)
        if joint not in carriers:  # the end of a chain
            sticks.append(
                np.array([data.oMi[joint].translation, data.oMf[point.frame].translation])
            )
    return sticks


def join_sticks(sticks: list[Matrix]) -> Matrix:
    """Return sticks as one line with gaps, which is drawn much faster than many.

    Args:
        sticks: (k, 3) corners of each [m].

    Returns:
        (n, 3) corners; no numbers between the sticks.
    """
    gap = np.full((1, 3), np.nan)
    return np.vstack([part for stick in sticks for part in (stick, gap)])
