"""Smooth motion towards goals: poses that go where they should with bounded velocity and acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Matrix, Vector

BRAKING = 0.6  # share of the acceleration that is planned with when coming to rest


@dataclass(frozen=True)
class Pace:
    """How fast poses go to their goals.

    Attributes:
        bandwidth: Rate of the critically damped response [1/s].
        speed: Largest velocity [m/s].
        turn_speed: Largest angular velocity [rad/s].
        acceleration: Largest acceleration [m/s^2].
        turn_acceleration: Largest angular acceleration [rad/s^2].
    """

    bandwidth: float = 30.0
    speed: float = 2.0
    turn_speed: float = 6.0
    acceleration: float = 20.0
    turn_acceleration: float = 80.0


class PoseFollowers:
    """Poses of several frames that follow their goals.

    Near its goal a pose behaves as a critically damped system of second order that knows the velocity of the goal; far from it, it goes at
    the largest speed and brakes in time.

    Attributes:
        p: (k, 3) places [m].
        R: (k, 3, 3) orientations.
        rate: (k, 6) velocities, linear then angular, axes of the world.
        acceleration: (k, 6) accelerations.
        left: (k, 2) distances to the goals [m, rad].
    """

    def __init__(self, paces: Sequence[Pace]) -> None:
        """Take the memory.

        Args:
            paces: How fast each frame goes.
        """
        count = len(paces)
        self._k = np.array([[0.5 * pace.bandwidth] for pace in paces])
        self._speed = np.array([[pace.speed, pace.turn_speed] for pace in paces])
        self._most = np.array([[pace.acceleration, pace.turn_acceleration] for pace in paces])
        self.p, self.R = np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
        self.rate, self.acceleration = np.zeros((count, 6)), np.zeros((count, 6))
        self.left = np.zeros((count, 2))
        self._error = np.zeros((count, 6))

    def place(self, k: int, p: Vector, R: Matrix, rate: Vector) -> None:
        """Put a pose where a frame is.

        Args:
            k: Which one.
            p: (3,) place [m].
            R: (3, 3) orientation.
            rate: (6,) velocity.
        """
        self.p[k], self.R[k], self.rate[k] = p, R, rate
        self.acceleration[k] = 0.0

    def step(self, p: Matrix, R: Matrix, rate: Matrix, dt: float) -> None:
        """Go on for one step.

        Args:
            p: (k, 3) goals [m].
            R: (k, 3, 3) their orientations.
            rate: (k, 6) their velocities.
            dt: Length of the step [s].
        """
        error = self._error
        np.subtract(p, self.p, error[:, :3])
        for k in range(len(p)):
            error[k, 3:] = pin.log3(R[k] @ self.R[k].T)
        halves = error.reshape(-1, 2, 3)
        left = np.sqrt(np.einsum("kij,kij->ki", halves, halves))
        np.copyto(self.left, left)
        towards = np.minimum(np.minimum(self._k * left, np.sqrt((2.0 * BRAKING) * self._most * left)), self._speed)
        wanted = rate.reshape(-1, 2, 3) + halves * (towards / np.maximum(left, 1e-12))[:, :, None]
        _shorten(wanted, self._speed)
        change = (4.0 * self._k)[:, :, None] * (wanted - self.rate.reshape(-1, 2, 3))
        _shorten(change, self._most)
        np.copyto(self.acceleration, change.reshape(-1, 6))
        self.rate += dt * self.acceleration
        self.p += dt * self.rate[:, :3]
        for k in range(len(p)):
            self.R[k] = pin.exp3(dt * self.rate[k, 3:]) @ self.R[k]


def _shorten(x: Matrix, most: Matrix) -> None:
    """Shorten vectors (k, 2, 3) that are too long, in place."""
    size = np.sqrt(np.einsum("kij,kij->ki", x, x))
    x *= np.minimum(1.0, most / np.maximum(size, most))[:, :, None]
