# SPDX-License-Identifier: Apache-2.0
"""What a fall is, and what leaves while nothing holds the robot: motors that brake, or a way back to a posture."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.proportions import Upward, uprightness
from humanoid_dynamics.filtering.ticks.joint_room import limited_positions
from humanoid_dynamics.filtering.ticks.step import RUNGS, TickAnswer
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.spatial.arrays import Vector

FALLEN = RUNGS.index("fallen")
LOWEST = 0.55  # of the height of the base in the resting posture
LEAST_UPRIGHT = math.cos(math.radians(70.0))  # of a robot on its feet
SHORTEST = 0.3  # s of the way back
PACE = (0.8, 3.0, 6.0)  # share of the speed limits of joints; m/s; rad/s on the way back
PEAK = 1.875  # largest speed of a quintic, in times of its mean
BRAKING = 0.05  # s in which most of the velocity goes
STILL = 0.01  # m/s, rad/s; what is slower stops


def has_fallen(q: Vector, height: float, up: Upward) -> bool:
    """Whether a robot lies or falls.

    Args:
        q: (nq,) configuration.
        height: Height of the base in the resting posture [m].
        up: Direction upward in axes of the base, likewise.
    """
    return bool(q[2] < LOWEST * height or uprightness(q, up) < LEAST_UPRIGHT)


def unheld(robot: RobotModel, vdot: Vector, tau: Vector | None = None) -> TickAnswer:
    """Return the answer for a robot that nothing holds: no wrenches.

    Args:
        robot: The robot.
        vdot: (nv,) acceleration with which motion goes on.
        tau: (na,) torques; none where None.
    """
    none = np.zeros(robot.nv - BASE)
    return TickAnswer(
        vdot, none if tau is None else tau, np.zeros((2, BASE)), (False, False), FALLEN
    )


class WayBack:
    """From where a robot lies to a posture, along a quintic within the speed of its joints.

    On the way nothing holds the robot: no torques, no wrenches, and the certificate says what is missing.
    """

    def __init__(self, robot: RobotModel, dt: float) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            dt: Time between ticks [s].
        """
        self._robot, self._dt, self._data = robot, dt, robot.data()
        self._index, self._low, self._high = limited_positions(robot)
        speed = PACE[0] * np.array(robot.limits.velocity)
        speed[:3], speed[3:BASE] = PACE[1], PACE[2]
        self._pace = np.where(np.isfinite(speed) & (speed > 0.0), speed, PACE[2])
        effort = np.array(robot.limits.effort[BASE:])
        self._effort = np.where(np.isfinite(effort), effort, 0.0)
        self.restart()

    def restart(self) -> None:
        """Forget the way."""
        self._start: Vector = np.zeros(0)
        self._way: Vector = np.zeros(0)
        self._row, self._rows = 0, 0

    @property
    def begun(self) -> bool:
        """Whether it was set out."""
        return self._rows > 0

    def set_out(self, q: Vector, goal: Vector) -> None:
        """Set out, from rest.

        Args:
            q: (nq,) configuration now.
            goal: (nq,) where to.
        """
        self._start, self._way = np.array(q), np.asarray(pin.difference(self._robot.model, q, goal))
        longest = max(SHORTEST, PEAK * float(np.max(np.abs(self._way) / self._pace)))
        self._row, self._rows = 0, max(round(longest / self._dt), 1)

    def advance(self) -> tuple[Vector, Vector, Vector, bool]:
        """Return what comes next.

        Returns:
            Velocity and acceleration now, (nv,) each; configuration after the step; whether it is back.
        """
        share = quintic((self._row + np.array([-1.0, 0.0, 1.0])) / self._rows)
        v = (share[1] - share[0]) / self._dt * self._way
        vdot = (share[2] - 2.0 * share[1] + share[0]) / self._dt**2 * self._way
        after = np.asarray(pin.integrate(self._robot.model, self._start, share[2] * self._way))
        self._row += 1
        return v, vdot, after, self._row >= self._rows + 1

    def slow_down(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """Return configuration and velocity after a step in which motion comes to rest, joints inside their limits.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        keep = max(1.0 - self._dt / BRAKING, 0.0) if float(np.abs(v).max()) > STILL else 0.0
        after, here = (
            np.asarray(pin.integrate(self._robot.model, q, keep * self._dt * v)),
            q[self._index],
        )
        after[self._index] = np.clip(
            after[self._index], np.minimum(self._low, here), np.maximum(self._high, here)
        )
        return after, np.asarray(pin.difference(self._robot.model, q, after)) / self._dt

    def brake(self, q: Vector, v: Vector) -> TickAnswer:
        """Answer for a robot that was measured: motors brake, by the share of their torque that is the share of their speed limit.

        Args:
            q: (nq,) measured configuration.
            v: (nv,) measured velocity.
        """
        tau = -self._effort * np.clip(PACE[0] * v[BASE:] / self._pace[BASE:], -1.0, 1.0)
        vdot = np.asarray(
            pin.aba(self._robot.model, self._data, q, v, np.concatenate((np.zeros(BASE), tau)))
        )
        return unheld(self._robot, np.where(np.isfinite(vdot), vdot, 0.0), tau)
