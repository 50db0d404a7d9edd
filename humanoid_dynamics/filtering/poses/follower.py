# SPDX-License-Identifier: Apache-2.0
"""Smooth motion towards goals: poses that go where they should with bounded velocity and acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.poses.pose_kernels import follow
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

BRAKING = 0.6  # share of the acceleration that is planned with when coming to rest


@dataclass(frozen=True)
class GoalPace:
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

    def __init__(self, paces: Sequence[GoalPace]) -> None:
        """Take the memory.

        Args:
            paces: How fast each frame goes.
        """
        count = len(paces)
        most = np.array([[pace.acceleration, pace.turn_acceleration] for pace in paces])
        speeds = np.array([[pace.speed, pace.turn_speed] for pace in paces])
        self._full = speeds, most
        self._pace = (
            np.array([0.5 * pace.bandwidth for pace in paces]),
            speeds.copy(),
            most.copy(),
            BRAKING,
        )
        self._follow = compile_kernel(follow)
        self.p, self.R = np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
        self.rate, self.acceleration = np.zeros((count, 6)), np.zeros((count, 6))
        self.left = np.zeros((count, 2))

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

    def slow(self, k: int, speed: float, acceleration: float) -> None:
        """Let a pose go slower than its pace allows.

        Args:
            k: Which one.
            speed: Share of its largest velocities.
            acceleration: Share of its largest accelerations.
        """
        self._pace[1][k], self._pace[2][k] = (
            speed * self._full[0][k],
            acceleration * self._full[1][k],
        )

    def step(self, p: Matrix, R: Matrix, rate: Matrix, dt: float) -> None:
        """Go on for one step.

        Args:
            p: (k, 3) goals [m].
            R: (k, 3, 3) their orientations.
            rate: (k, 6) their velocities.
            dt: Length of the step [s].
        """
        poses = self.p, self.R, self.rate
        self._follow((p, R, rate), self._pace, dt, poses, self.acceleration, self.left)
