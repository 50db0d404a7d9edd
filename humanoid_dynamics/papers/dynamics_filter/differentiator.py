# SPDX-License-Identifier: Apache-2.0
"""Velocities and accelerations of a stream, as it comes: a critically damped follower of second order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import QUATERNION_TOLERANCE
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only
from humanoid_dynamics.status import StatusEnum

LONGEST_GAP = 0.5  # s; after a longer silence the follower starts anew


class EstimateStatus(StatusEnum):
    """What the differentiator did with a sample."""

    OK = "OK", "the estimate follows the sample"
    STARTED = "STARTED", "the first sample, or the first after a gap; rates are zero"
    NOT_FINITE = (
        "NOT_FINITE",
        "a number of the sample is not finite, or it has a wrong size; the sample is ignored",
    )
    NOT_UNIT = "NOT_UNIT", "a quaternion is not of unit length; the sample is ignored"
    STAMP_IN_PAST = (
        "STAMP_IN_PAST",
        "the stamp is not later than the last one; the sample is ignored",
    )


@dataclass(frozen=True, eq=False)
class Estimate:
    """What is known of a stream after one more sample.

    Attributes:
        q: (nq,) configuration, later than the stream by the delay.
        v: (nv,) velocity of q.
        a: (nv,) acceleration of q.
        status: ``OK``; ``STARTED`` for the first sample, and the first after a gap; ``NOT_FINITE``, ``NOT_UNIT`` or ``STAMP_IN_PAST`` for
            a sample that was left out.
    """

    q: Vector
    v: Vector
    a: Vector
    status: EstimateStatus


class Differentiator:
    """Follow a stream of configurations by x'' = w^2 (sample - x) - 2 w x', solved exactly from sample to sample.

    Samples may come at any rate.  Between two of them the stream is taken as straight, so a stream of constant velocity is followed with
    its exact velocity and the delay 2/w, whatever the rate.  Nothing in ``update`` raises.

    Attributes:
        delay: By how much the estimate is later than the stream [s].
    """

    def __init__(self, robot: RobotModel, bandwidth: float = 10.0) -> None:
        """Prepare for one robot.

        Args:
            robot: The robot.
            bandwidth: w / 2 pi [Hz]; the delay is 1 / (pi bandwidth).

        Raises:
            ShapeError: If the bandwidth is not a positive number.
        """
        if not (np.isfinite(bandwidth) and bandwidth > 0.0):
            raise ShapeError("bandwidth", str(bandwidth), "a positive frequency in Hz")
        self._model = robot.model
        self._w = 2.0 * np.pi * bandwidth
        self.delay = 2.0 / self._w
        self._time = -np.inf
        self._sample = np.array(robot.posture)
        self._last = self._report(
            EstimateStatus.STAMP_IN_PAST,
            np.array(robot.posture),
            np.zeros(robot.nv),
            np.zeros(robot.nv),
        )

    def update(self, time: float, q: Vector) -> Estimate:
        """Take one more sample.

        Args:
            time: Its instant [s].
            q: (nq,) configuration; one that is not finite, not of unit length or not later than the last is left out and said.

        Returns:
            The estimate after it.
        """
        try:
            sample = check_vector("q", q, self._model.nq)
        except ShapeError:
            return self._hold(EstimateStatus.NOT_FINITE)
        if not np.isfinite(time) or time <= self._time:
            return self._hold(EstimateStatus.STAMP_IN_PAST)
        if not pin.isNormalized(self._model, sample, QUATERNION_TOLERANCE):
            return self._hold(EstimateStatus.NOT_UNIT)
        if time - self._time > LONGEST_GAP:
            zero = np.zeros(self._model.nv)
            self._last = self._report(EstimateStatus.STARTED, sample, zero, zero)
        else:
            self._last = self._step(time - self._time, sample)
        self._time, self._sample = time, np.array(sample)
        return self._last

    def _step(self, dt: float, sample: Vector) -> Estimate:
        """Solve the linear equation over one step, in the tangent space of the estimate."""
        model, w, last = self._model, self._w, self._last
        start = pin.difference(model, last.q, self._sample)
        rate = (pin.difference(model, last.q, sample) - start) / dt
        A = 2.0 * rate / w - start
        B = last.v - rate + w * A
        decay = float(np.exp(-w * dt))
        turn = A + B * dt
        x = start + rate * (dt - 2.0 / w) + decay * turn
        v = rate + decay * (B - w * turn)
        a = decay * (w * w * turn - 2.0 * w * B)
        return self._report(EstimateStatus.OK, pin.integrate(model, last.q, x), v, a)

    def _hold(self, status: EstimateStatus) -> Estimate:
        return Estimate(self._last.q, self._last.v, self._last.a, status)

    @staticmethod
    def _report(status: EstimateStatus, q: Vector, v: Vector, a: Vector) -> Estimate:
        return Estimate(read_only(q), read_only(v), read_only(a), status)
