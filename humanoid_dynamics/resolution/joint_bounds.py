# SPDX-License-Identifier: Apache-2.0
"""Bounds of joint accelerations and torques that keep positions, speeds and motors inside their limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel


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
        bounds, none = robot.limits, np.full(len(self.v), np.inf)
        self._ranges = (
            bounds.lower[self._q] if limits.position else -none,
            bounds.upper[self._q] if limits.position else none,
            bounds.velocity[self.v] if limits.velocity else none,
            limits.horizon,
            limits.deceleration,
        )
        self._driven = robot.actuated_v
        self._effort = bounds.effort[self._driven]
        self._top = bounds.velocity[self._driven]
        if not limits.torque:
            self._effort = np.full(len(self._effort), np.inf)
        self._rectangle: Matrix = np.array((-self._effort, self._effort))

    def accelerations(self, q: Vector, v: Vector) -> Matrix:
        """Return the least and the largest acceleration of each coordinate of ``v``, (2, n)."""
        found: Matrix = np.empty((2, len(self.v)))
        bound_accelerations(q[self._q], v[self.v], *self._ranges, found)
        return found

    def torques(self, v: Vector) -> Matrix:
        """Return the least and the largest torque of each motor at these speeds, (2, na)."""
        corner = self._limits.corner_speed
        if corner == 1.0 or not self._limits.torque:
            return self._rectangle
        with np.errstate(invalid="ignore"):
            used = v[self._driven] / self._top
        used[~np.isfinite(used)] = 0.0
        drive = (1.0 + np.array((used, -used))) / (1.0 - corner)
        shares: Matrix = np.clip(drive, 0.0, 1.0)
        return np.array((-1.0, 1.0))[:, None] * shares * self._effort


@compile_kernel
def bound_accelerations(
    q: Vector, v: Vector, lower: Vector, upper: Vector, speed: Vector, horizon: float, deceleration: float, out: Matrix
) -> None:  # fmt: skip
    """Write the least and the largest accelerations with which joints keep their speed and can brake before their ends.

    Args:
        q: (n,) positions.
        v: (n,) speeds.
        lower: (n,) ends of the ranges.
        upper: (n,) likewise.
        speed: (n,) largest speeds.
        horizon: Time in which a limit may be reached [s].
        deceleration: What joints brake with.
        out: (2, n) written.
    """
    for i in range(len(q)):
        for side in range(2):
            sign = 1.0 if side == 1 else -1.0
            room = upper[i] - q[i] if side == 1 else q[i] - lower[i]
            left = max(room - horizon * max(sign * v[i], 0.0), 0.0)
            fastest = min(speed[i], min(room / horizon, math.sqrt(2.0 * deceleration * left)))
            out[side, i] = (sign * max(fastest, -speed[i]) - v[i]) / horizon
