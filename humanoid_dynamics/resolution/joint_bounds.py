# SPDX-License-Identifier: Apache-2.0
"""Bounds of joint accelerations and torques that keep positions, speeds and motors inside their limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True)
class WholeBodyLimits:
    """Which limits of joints and motors whole-body control keeps.

    Attributes:
        position: Whether joints brake before the end of their range.
        velocity: Whether joints keep their largest speed.
        torque: Whether motors keep their largest torque.
        corner_speed: Share of the largest speed from which the driving torque of a motor falls, linearly, to zero at the largest speed;
            the braking torque does not fall.  1 for motors with a rectangular limit.
        horizon: Time in which a joint may reach a limit of speed or range [s].
        deceleration: What joints brake with before the end of their range [rad/s² or m/s²].
    """

    position: bool = True
    velocity: bool = True
    torque: bool = True
    corner_speed: float = 1.0
    horizon: float = 0.02
    deceleration: float = 50.0

    def __post_init__(self) -> None:
        if not (self.horizon > 0.0 and self.deceleration > 0.0 and 0.0 <= self.corner_speed <= 1.0):
            received = f"{self.horizon}, {self.deceleration}, {self.corner_speed}"
            raise ShapeError(
                "horizon, deceleration, corner_speed", received, "positive numbers, a share"
            )


class JointBounds:
    """Bounds of one robot: make once, ask at every tick."""

    def __init__(self, robot: RobotModel, limits: WholeBodyLimits) -> None:
        """Find the joints that have limits."""
        self._limits, model = limits, robot.model
        joints = [j for j in model.joints if j.nq == j.nv == 1]
        self._q = np.array([j.idx_q for j in joints], dtype=np.intp)
        self.v = np.array([j.idx_v for j in joints], dtype=np.intp)  # of the coordinates bounded
        bounds = robot.limits
        self._lower, self._upper = bounds.lower[self._q], bounds.upper[self._q]
        self._speed = bounds.velocity[self.v]
        self._driven = robot.actuated_v
        self._effort = bounds.effort[self._driven]
        self._top = bounds.velocity[self._driven]

    def accelerations(self, q: Vector, v: Vector) -> Matrix:
        """Return the least and the largest acceleration of each coordinate of ``v``, (2, n)."""
        asked, rates = self._limits, v[self.v]
        most = self._speed if asked.velocity else np.full(len(rates), np.inf)
        speeds = np.array((-most, most))
        if asked.position:
            room = np.array((q[self._q] - self._lower, self._upper - q[self._q]))
            left = room - asked.horizon * np.maximum(np.array((-rates, rates)), 0.0)
            brake = np.sqrt(2.0 * asked.deceleration * np.maximum(left, 0.0))
            speeds[0] = np.maximum(speeds[0], -np.minimum(room[0] / asked.horizon, brake[0]))
            speeds[1] = np.minimum(speeds[1], np.minimum(room[1] / asked.horizon, brake[1]))
            speeds = np.clip(speeds, -most, most)
        found: Matrix = (speeds - rates) / asked.horizon
        return found

    def torques(self, v: Vector) -> Matrix:
        """Return the least and the largest torque of each motor at these speeds, (2, na)."""
        if not self._limits.torque:
            infinite = np.full(len(self._effort), np.inf)
            return np.array((-infinite, infinite))
        corner = self._limits.corner_speed
        if corner == 1.0:
            return np.array((-self._effort, self._effort))
        with np.errstate(invalid="ignore"):
            used = v[self._driven] / self._top
        used[~np.isfinite(used)] = 0.0
        drive = (1.0 + np.array((used, -used))) / (1.0 - corner)
        shares: Matrix = np.clip(drive, 0.0, 1.0)
        return np.array((-1.0, 1.0))[:, None] * shares * self._effort
