# SPDX-License-Identifier: Apache-2.0
"""A snake that drives itself through a world: torques at every step, side forces of its wheels on record."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from humanoid_dynamics.control.snake_driver import GAIT, Drive, SnakeDriver, SnakeDriverStatus
from humanoid_dynamics.papers.snake.chain import STANDARD_GRAVITY
from humanoid_dynamics.papers.snake.robot import find_snake
from humanoid_dynamics.papers.snake.steering import SerpentineGait
from humanoid_dynamics.simulation.gauge import Gauge
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True)
class Driving:
    """How the snake of a scene is driven.

    Attributes:
        heading: Where it goes at first, angle from the world x axis [rad].
        gait: How it moves.
        friction: Coulomb coefficient of its wheels [-].
        turn_rate: How fast it changes its aim [rad/s].
    """

    heading: float = 0.0
    gait: SerpentineGait = field(default_factory=lambda: GAIT)
    friction: float = 0.6
    turn_rate: float = 0.5


class SnakePilot:
    """Gives a world the torques that drive its snake, and watches the wheels.

    Attributes:
        heading: Where to go [rad].
        statuses: Number of steps by status of the driver.
        worst_margin: The least that any wheel had left before slipping [N], measured.
        worst_force: The largest side force of a wheel [N], measured.
    """

    def __init__(self, world: World, driving: Driving) -> None:
        """Take the wheel: from now on the world asks for torques here where a step gets none.

        Args:
            world: A world with one snake.
            driving: How to drive.

        Raises:
            UnsupportedRobotError: If its wheels do not make a snake that can be driven.
        """
        self.heading = driving.heading
        self.statuses: dict[SnakeDriverStatus, int] = {}
        self.worst_margin, self.worst_force = float("inf"), 0.0
        self._world, self._robot = world, world.robot
        self._period = driving.gait.period
        self._heads: deque[tuple[float, float]] = deque()  # of the last period
        self._driver = SnakeDriver(
            world.robot, driving.gait, friction=driving.friction, turn_rate=driving.turn_rate
        )
        self._bounds = driving.friction * STANDARD_GRAVITY * find_snake(world.robot).model.masses
        labels = list(world.mechanism.constraints.labels)
        self._rows = [labels.index(f"{wheel.name}.lateral") for wheel in world.robot.wheels]
        self._drive = Drive(np.zeros(len(world.robot.actuated)), SnakeDriverStatus.WAITING)
        names = [wheel.name for wheel in world.robot.wheels]
        world.gauges["side_force"] = Gauge(tuple(names), self.side_forces)
        world.gauges["slip_margin"] = Gauge(tuple(names), self.slip_margins)
        world.gauges["heading"] = Gauge(("wanted", "aim"), self.aims)
        world.add_hook("after_step", self._watch)
        world.pilot = self

    def __call__(self, world: World) -> Vector:
        """Return the torques of the next step, in the order of the motors of the world."""
        if world.robot is not self._robot:
            return np.zeros(len(world.actuated))  # cut apart: nobody drives
        self._drive = drive = self._driver.tick(world.t, world.q, world.v, self.heading)
        self.statuses[drive.status] = self.statuses.get(drive.status, 0) + 1
        places = [self._robot.actuated.index(name) for name in world.actuated]
        return drive.tau[places]

    def facts(self) -> dict[str, Any]:
        """Tell what the drive showed in plain data: SI units."""
        return {
            "heading": self.heading,
            "aim": self._drive.aim,
            "head": float(
                np.angle(np.mean(np.exp(1j * np.array([angle for _, angle in self._heads]))))
            )
            if self._heads
            else None,
            "side_force": self.worst_force,
            "slip_margin": self.worst_margin,
            "statuses": dict(self.statuses),
        }

    def side_forces(self) -> Vector:
        """Return (n,) mean force on each wheel along its axle in the last step [N]."""
        return (
            self._world.lam[self._rows]
            if self._world.robot is self._robot
            else np.zeros(len(self._rows))
        )

    def slip_margins(self) -> Vector:
        """Return (n,) what each wheel had left before slipping in the last step [N]."""
        return self._bounds - np.abs(self.side_forces())

    def aims(self) -> Vector:
        """Return (2,) where to go, and the aim on the way there [rad]."""
        return np.array([self.heading, self._drive.aim])

    def _watch(self, world: World) -> None:
        self.worst_margin = min(self.worst_margin, float(self.slip_margins().min()))
        self.worst_force = max(self.worst_force, float(np.abs(self.side_forces()).max(initial=0.0)))
        self._heads.append((world.t, self._drive.head))
        while self._heads[0][0] <= world.t - self._period:
            self._heads.popleft()
