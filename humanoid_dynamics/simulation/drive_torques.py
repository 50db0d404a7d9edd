"""What the drives of a world gave in a step, from where it ended."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.steps.joint_forces import Drive, rebind_drive
from humanoid_dynamics.spatial.arrays import Vector


class DriveTorques:
    """The torques of joint drives; they are taken at the end of a step, so state and motor torques there tell them.

    Attributes:
        drive: The drive, or None.
    """

    def __init__(self, robot: RobotModel, drive: Drive | None) -> None:
        """Begin.

        Args:
            robot: The robot.
            drive: Its drive.
        """
        self.drive, self._robot = drive, robot

    def follow(self, robot: RobotModel) -> None:
        """Go on with another tree of the same bodies.

        Args:
            robot: The robot it has become.
        """
        if self.drive is not None and robot is not self._robot:
            self.drive = rebind_drive(self.drive, self._robot, robot)
        self._robot = robot

    def add_to(self, motors: Vector, q: Vector, v: Vector) -> Vector:
        """Return what motors and drives give together, which is no more than a driven motor can.

        Args:
            motors: (nv,) commanded torques.
            q: (nq,) configuration.
            v: (nv,) velocity.

        Returns:
            (nv,) torques [N·m, N].
        """
        if self.drive is None:
            return motors
        kp, kd, limit = self.drive.kp, self.drive.kd, self._robot.limits.effort
        driven = (kp + kd) > 0.0
        total = motors + kp * pin.difference(self._robot.model, q, self.drive.q_ref) - kd * v
        return np.where(driven, np.clip(total, -limit, limit), motors)
