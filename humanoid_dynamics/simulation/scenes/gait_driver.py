# SPDX-License-Identifier: Apache-2.0
"""The planar biped driven through a step of gait R1: torques of a redundancy rule, and a law that keeps it on the way."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.errors import UnknownNameError, UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.motion.walking.gait_r1 import GaitR1
from humanoid_dynamics.papers.biped.chain import BipedMotion
from humanoid_dynamics.papers.biped.schedule import STEP_RULES, build_step, compute_step_torques
from humanoid_dynamics.spatial.arrays import Vector

JOINTS = ("left_ankle", "left_knee", "left_hip", "right_hip", "right_knee", "right_ankle")
SIGNS = (1.0, 1.0, 1.0, -1.0, -1.0, -1.0)  # from the serial sign of the gait to that of the joints
DIFFERENCE = 1e-5  # [s]


class GaitDriver:
    """Torques for the planar biped of the gait; its left foot is the rear one.

    Attributes:
        rule: Which of the answers is chosen in double support.
        seconds: Length of the step [s].
    """

    def __init__(
        self,
        robot: RobotModel,
        rule: str = "recommended_transition",
        kp: float = 600.0,
        kd: float = 12.0,
    ) -> None:
        """Prepare.

        Args:
            robot: The planar biped.
            rule: One of the rules of a step.
            kp: Stiffness about the gait [N·m/rad].
            kd: Damping about it [N·m·s/rad].

        Raises:
            UnknownNameError: If there is no such rule.
            UnsupportedRobotError: If the robot is another one.
        """
        if rule not in STEP_RULES:
            raise UnknownNameError("rule", rule, STEP_RULES)
        missing = [name for name in JOINTS if name not in robot.actuated]
        if missing or robot.root != "planar":
            raise UnsupportedRobotError(
                "gait", missing or [robot.name], "a planar biped with the joints of the gait"
            )
        self.rule, self._kp, self._kd = rule, kp, kd
        self._gait = GaitR1()
        self._step = build_step(self._gait.parameters.body, self._gait.at, self._gait.switches)
        self.seconds = float(self._gait.parameters.times[3])
        self._q = [robot.joint(name).q.start for name in JOINTS]
        self._v = [robot.joint(name).v.start for name in JOINTS]
        self._order = [robot.actuated.index(name) for name in JOINTS]
        self._size = (robot.nq, robot.nv, len(robot.actuated))

    def start(self) -> State:
        """Return configuration and velocity at the beginning of the step."""
        here, later = self._place(0.0), self._place(DIFFERENCE)
        v = (later - here) / DIFFERENCE
        return State(here, v)

    def torque(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the motor torques at a time.

        Args:
            t: Time since the beginning of the step [s].
            q: (nq,) configuration.
            v: (nv,) velocity.

        Returns:
            (na,) torques [N·m].
        """
        at = min(t, self.seconds)
        wanted, rate = self._joints(self._gait.at(at))
        tau = np.array(SIGNS) * compute_step_torques(self._step, at, self.rule).tau
        tau += self._kp * (wanted - q[self._q]) + self._kd * (rate - v[self._v])
        command = np.zeros(self._size[2])
        command[self._order] = tau
        return command

    def error(self, t: float, q: Vector) -> float:
        """Return the largest deviation of a joint from the gait [rad].

        Args:
            t: Time since the beginning of the step [s].
            q: (nq,) configuration.
        """
        wanted, _ = self._joints(self._gait.at(min(t, self.seconds)))
        return float(np.abs(wanted - q[self._q]).max())

    def _joints(self, motion: BipedMotion) -> tuple[Vector, Vector]:
        """Return angles and rates of the joints."""
        return _to_joints(motion.theta) - np.array([0.5, 0, 0, 0, 0, 0.5]) * np.pi, _to_joints(
            motion.rate
        )

    def _place(self, t: float) -> Vector:
        """Return the configuration at a time, both feet where the gait has them."""
        q = np.zeros(self._size[0])
        q[self._q], _ = self._joints(self._gait.at(t))
        hip = self._gait.points(t)[4].value
        q[:3] = hip[0], hip[1], 0.5 * np.pi - self._gait.at(t).theta[3]
        return q


def _to_joints(theta: Vector) -> Vector:
    """Return differences of absolute angles, in the order of ``JOINTS``, before the right angle at the ankles."""
    rear_foot, rear_shank, rear_thigh, trunk, front_thigh, front_shank, front_foot = theta
    rear = (rear_shank - rear_foot, rear_thigh - rear_shank, trunk - rear_thigh)
    return np.array(
        [*rear, trunk - front_thigh, front_thigh - front_shank, front_shank - front_foot]
    )
