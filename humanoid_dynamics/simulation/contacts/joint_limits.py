# SPDX-License-Identifier: Apache-2.0
"""Joints near a limit of their position: unilateral rows of a single coordinate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.thresholds import AT_ONCE, LIMIT_SLACK, slowest_stop
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

FAR = 1e6  # what has no bound is taken to have this one [rad or m]


class NearLimits(NamedTuple):
    """Joints near a limit.

    Attributes:
        v: (k,) their velocity coordinates.
        sign: (k,) 1 at a lower limit, -1 at an upper one.
        gap: (k,) distance from it [rad or m].
        row: (k,) their rows in the table.
    """

    v: Indices
    sign: Vector
    gap: Vector
    row: Indices

    def select(self, which: NDArray[np.bool_]) -> NearLimits | None:
        """Return some of them, None for none.

        Args:
            which: (k,) which.
        """
        return (
            NearLimits(self.v[which], self.sign[which], self.gap[which], self.row[which])
            if which.any()
            else None
        )

    def find_diving(self, v: Vector, v_M: Vector, dt: float) -> NDArray[np.bool_]:
        """Return which joints come to their limit so fast that they hit it; what rests there does not, however hard it is pressed on.

        Args:
            v: (nv,) velocity at the start of the step.
            v_M: (nv,) velocity to expect in its middle, where the gaps are measured.
            dt: Its length [s].
        """
        slowest, began = slowest_stop(dt), self.sign * v[self.v]
        rests = (self.gap - 0.5 * dt * began < AT_ONCE) & (began >= -slowest)
        return np.asarray((self.sign * v_M[self.v] < -slowest) & ~rests)

    def find_hit(self, v: Vector, v_M: Vector, dt: float) -> float | None:
        """Return when the first joint hits its limit, from the start of the step [s]; None if none does.

        Args:
            v: (nv,) velocity at the start of the step.
            v_M: (nv,) velocity to expect in its middle, where the gaps are measured.
            dt: Its length [s].
        """
        start, speed = self.gap - 0.5 * dt * self.sign * v[self.v], self.sign * v_M[self.v]
        hits = self.find_diving(v, v_M, dt) & (start + dt * speed < 0.0)
        return float(max((start[hits] / -speed[hits]).min(), 0.0)) if hits.any() else None


class LimitTable:
    """Limits of all joints that have any.

    Attributes:
        table: One row for every limit: velocity and position coordinate, 1 at a lower one and -1 at an upper one, the bound, and the
            impulse of the last step.
    """

    def __init__(self, robot: RobotModel) -> None:
        """Collect them.

        Args:
            robot: The robot.
        """
        self.nv = robot.nv
        single = [
            joint
            for joint in robot.joints
            if joint.v.stop - joint.v.start == 1 == joint.q.stop - joint.q.start
        ]
        bounded = [
            j
            for j in single
            if np.isfinite(robot.limits.lower[j.q.start])
            or np.isfinite(robot.limits.upper[j.q.start])
        ]
        self._q = np.array([joint.q.start for joint in bounded], dtype=np.intp)
        v = np.array([joint.v.start for joint in bounded], dtype=np.intp)
        lower, upper = robot.limits.lower[self._q], robot.limits.upper[self._q]
        self._v = np.concatenate((v, v))
        self._sign = np.concatenate((np.ones(len(v)), -np.ones(len(v))))
        bounds = np.concatenate((lower, upper))
        whole = np.column_stack(
            (self._v, np.concatenate((self._q, self._q)), self._sign, bounds, np.zeros(2 * len(v)))
        )
        finite = np.isfinite(bounds)
        self.table: Matrix = np.ascontiguousarray(whole[finite].reshape(-1, 5))
        self._row = np.cumsum(finite) - 1
        self._both = np.concatenate((self._q, self._q))
        self._bound = -self._sign * bounds
        self._middle, self._half = np.zeros(robot.nq), np.full(robot.nq, np.inf)
        lowest, highest = np.maximum(lower, -FAR), np.minimum(upper, FAR)
        self._middle[self._q], self._half[self._q] = (
            0.5 * (lowest + highest),
            0.5 * (highest - lowest),
        )

    def find_near(self, q: Vector, v: Vector, dt: float) -> NearLimits | None:
        """Return the limits a step could reach.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            dt: Length of the step [s].

        Returns:
            The limits; None where there are none.
        """
        if not len(self._q):
            return None
        room = self._half - np.abs(q - self._middle)
        if room[room.argmin()] > LIMIT_SLACK + 3.0 * dt * abs(v[np.abs(v).argmax()]):
            return None
        rate = self._sign * v[self._v]
        gap = self._sign * q[self._both] + self._bound
        slack = LIMIT_SLACK + dt * float(
            abs(rate[np.abs(rate).argmax()])
        )  # impulses of this very step may throw any joint
        near = (gap + (2.0 * dt) * np.minimum(rate, 0.0) < slack).nonzero()[0]
        return (
            NearLimits(self._v[near], self._sign[near], gap[near], self._row[near])
            if len(near)
            else None
        )
