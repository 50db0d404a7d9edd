# SPDX-License-Identifier: Apache-2.0
"""After a fall in teleoperation: motion comes to rest, and goes back to where the robot stood."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.fallen import WayBack, unheld
from humanoid_dynamics.filtering.ticks.step import TickAnswer
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector


class Rising:
    """Brakes, then goes back to a posture; nothing holds the robot on the way.

    Attributes:
        active: Whether the robot has fallen and is not back yet.
    """

    def __init__(self, robot: RobotModel, dt: float) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            dt: Time between ticks [s].
        """
        self._robot, self._dt, self._way = robot, dt, WayBack(robot, dt)
        self.restart()

    def restart(self) -> None:
        """Forget the fall."""
        self.active = False
        self._way.restart()

    def brake(self, q: Vector, v: Vector) -> tuple[TickAnswer, Vector, Vector]:
        """Answer for a robot that lies: its motors brake.

        Args:
            q: (nq,) measured configuration.
            v: (nv,) measured velocity.

        Returns:
            The answer, configuration and velocity after it.
        """
        step = self._way.brake(q, v)
        after = v + self._dt * step.vdot
        return step, np.asarray(pin.integrate(self._robot.model, q, self._dt * after)), after

    def step(self, q: Vector, v: Vector, goal: Vector) -> tuple[TickAnswer, Vector, Vector, bool]:
        """Go on for one tick.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            goal: (nq,) where the robot stands again.

        Returns:
            The answer, configuration and velocity after it, and whether the robot is back.
        """
        self.active = True
        if not self._way.begun and not v.any():
            self._way.set_out(q, goal)
        if not self._way.begun:
            after, rate = self._way.slow_down(q, v)
            return unheld(self._robot, (rate - v) / self._dt), after, rate, False
        _, vdot, after, back = self._way.advance()
        return (
            unheld(self._robot, vdot),
            after,
            np.zeros_like(v) if back else v + self._dt * vdot,
            back,
        )
