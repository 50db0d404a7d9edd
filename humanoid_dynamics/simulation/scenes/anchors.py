# SPDX-License-Identifier: Apache-2.0
"""Taking hold of something where it is: a connection whose second frame is put where the first one is now."""

from __future__ import annotations

from dataclasses import replace

import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector


def place_here(robot: RobotModel, q: Vector, loop: LoopClosure) -> LoopClosure:
    """Return a connection that is closed where the links are.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        loop: The connection; its frame B is moved to its frame A, and keeps no axis of its own.

    Returns:
        The connection with its frame B elsewhere in link B.

    Raises:
        UnknownNameError: If a link does not exist.
    """
    data = robot.data()
    pin.forwardKinematics(robot.model, data, q)
    A, B = attach(robot, loop.link_a, loop.X_LA), attach(robot, loop.link_b)
    X_WA, X_WB = data.oMi[A.joint] * A.X_JF, data.oMi[B.joint] * B.X_JF
    return replace(loop, X_LB=pin.SE3(X_WB.actInv(X_WA)))
