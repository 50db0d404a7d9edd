"""Configuration and velocity of a robot from the joint states it reports, for robots whose joints tell all of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

MEASURABLE = ("revolute", "continuous", "prismatic")
LARGEST = 1e6  # rad, m, rad/s, m/s; beyond it nothing was measured


class JointReadings:
    """What was last heard of every joint; not for several threads at once.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
    """

    def __init__(self, robot: RobotModel) -> None:
        """Begin with nothing heard.

        Args:
            robot: A robot fixed to the world.

        Raises:
            UnsupportedRobotError: If one number per joint does not tell its configuration.
        """
        odd = [joint.name for joint in robot.joints if joint.v.stop > joint.v.start and joint.kind not in MEASURABLE]
        if odd:
            raise UnsupportedRobotError("reading a configuration from joint states", odd, "one position does not tell where they are")
        self._robot = robot
        self._joints = {joint.name: joint for joint in robot.joints if joint.v.stop > joint.v.start}
        self._unheard = dict.fromkeys(self._joints)  # in order
        self.q, self.v = np.array(robot.posture), np.zeros(robot.nv)

    @property
    def missing(self) -> str:
        """What has not been heard of yet, in words; empty where all has."""
        names = list(self._unheard)
        return f"no joint state yet of {', '.join(names[:4])}{', ...' if len(names) > 4 else ''}" if names else ""

    def take(self, names: Sequence[str], positions: Vector, velocities: Vector) -> str:
        """Take a joint state; joints it does not name keep what was heard last, unknown ones are passed over.

        Args:
            names: Joint names, in any order.
            positions: (len(names),) positions [rad or m].
            velocities: (len(names),) velocities [rad/s or m/s].

        Returns:
            Why nothing of it was taken, or an empty string.
        """
        if not len(names) == len(positions) == len(velocities):
            return f"has {len(names)} names, {len(positions)} positions, {len(velocities)} velocities"
        heard = [(self._joints[name], p, v) for name, p, v in zip(names, positions, velocities, strict=True) if name in self._joints]
        broken = [joint.name for joint, p, v in heard if not (abs(p) <= LARGEST and abs(v) <= LARGEST)]
        if broken:
            return f"has a number that is not finite, or far too large: {', '.join(broken)}"
        if not heard:
            return f"names no joint of {self._robot.name}"
        for joint, p, v in heard:
            # A continuous joint is the cosine and sine of its angle in the configuration.
            self.q[joint.q] = (np.cos(p), np.sin(p)) if joint.kind == "continuous" else p
            self.v[joint.v] = v
            self._unheard.pop(joint.name, None)
        return ""
