"""After a fall in teleoperation: motion comes to rest, and goes back to the resting posture within the speed of the joints."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.fallen import FALLEN, PACE, PEAK, SHORTEST
from humanoid_dynamics.filtering.ticks.joint_room import limited_positions
from humanoid_dynamics.filtering.ticks.step import Step
from humanoid_dynamics.filtering.ticks.terms import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.quintic import quintic
from humanoid_dynamics.spatial.arrays import Vector

BRAKING = 0.05  # s in which most of the velocity goes
STILL = 0.01  # m/s, rad/s; what is slower stops


class Rising:
    """Brakes, then goes along a quintic to a posture; nothing holds the robot on the way: no torques, no wrenches.

    Attributes:
        active: Whether the robot has fallen and is not back yet.
    """

    def __init__(self, robot: RobotModel, dt: float) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            dt: Time between ticks [s].
        """
        self._model, self._dt, self._goal = robot.model, dt, np.array(robot.posture)
        self._index, self._low, self._high = limited_positions(robot)
        speed = PACE[0] * np.array(robot.limits.velocity)
        speed[:3], speed[3:BASE] = PACE[1], PACE[2]
        self._pace = np.where(np.isfinite(speed) & (speed > 0.0), speed, PACE[2])
        self.restart()

    def restart(self) -> None:
        """Forget the fall."""
        self.active, self._start = False, np.zeros(0)
        self._way, self._row, self._rows = np.zeros(0), 0, 0

    def step(self, q: Vector, v: Vector) -> tuple[Step, Vector, Vector, bool]:
        """Go on for one tick.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.

        Returns:
            The answer, configuration and velocity after it, and whether the robot is back.
        """
        self.active = True
        if not self._rows and not v.any():
            self._set_out(q)
        after = self._advance() if self._rows else self._brake(q, v)
        rate = np.asarray(pin.difference(self._model, q, after)) / self._dt
        rate = rate if self._row <= self._rows else np.zeros_like(rate)
        none = np.zeros(len(v) - BASE)
        return Step((rate - v) / self._dt, none, np.zeros((2, 6)), (False, False), FALLEN), after, rate, self._row > self._rows

    def _set_out(self, q: Vector) -> None:
        self._start, self._way = np.array(q), np.asarray(pin.difference(self._model, q, self._goal))
        longest = max(SHORTEST, PEAK * float(np.max(np.abs(self._way) / self._pace)))
        self._row, self._rows = 0, max(round(longest / self._dt), 1)

    def _advance(self) -> Vector:
        self._row += 1
        share = float(quintic(np.array([min(self._row / self._rows, 1.0)]))[0])
        return np.asarray(pin.integrate(self._model, self._start, share * self._way))

    def _brake(self, q: Vector, v: Vector) -> Vector:
        keep = max(1.0 - self._dt / BRAKING, 0.0) if float(np.abs(v).max()) > STILL else 0.0
        after = np.asarray(pin.integrate(self._model, q, keep * self._dt * v))
        here = q[self._index]
        after[self._index] = np.clip(after[self._index], np.minimum(self._low, here), np.maximum(self._high, here))
        return after
