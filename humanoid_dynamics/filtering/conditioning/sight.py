# SPDX-License-Identifier: Apache-2.0
"""What is seen of a stream before it is followed: its clock, what is no sample, and which samples are doubtful."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.doubts import OutlierDetector
from humanoid_dynamics.filtering.conditioning.sample_clock import (
    AHEAD,
    LARGEST,
    SampleClock,
    SampleStatus,
)
from humanoid_dynamics.filtering.measured import NORMAL, read_number, read_vector
from humanoid_dynamics.filtering.proportions import uprightness, upward_of
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import unit_blocks
from humanoid_dynamics.spatial.arrays import Vector

FASTEST_TURN = (
    12.0  # rad/s; a base that turns faster from sample to sample did not turn, but was turned over
)
SLOWEST = 0.2  # s between samples; with fewer of them nobody knows which of both
BASE = 7  # numbers of a base: place and quaternion
UPRIGHT = math.cos(
    math.radians(75.0)
)  # how far a base may lean; a robot on its feet cannot follow further


class FaultFinder:
    """Finds out whether what came is a sample of a robot."""

    def __init__(self, robot: RobotModel) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
        """
        self._shape, self._up = (robot.nq,), upward_of(robot.posture)
        self._units = unit_blocks(robot)

    def find(self, sample: Vector) -> SampleStatus | None:
        """Return why a sample is none, or None where it is one.

        Args:
            sample: What came.
        """
        if sample.shape != self._shape:
            return SampleStatus.WRONG_SHAPE
        if not np.isfinite(sample).all():
            return SampleStatus.NOT_FINITE
        size = np.abs(sample)
        if size[:BASE].max() > LARGEST[0] or size[BASE:].max(initial=0.0) > LARGEST[1]:
            return SampleStatus.OUT_OF_RANGE
        if any(abs(math.hypot(*sample[unit]) - 1.0) > NORMAL for unit in self._units):
            return SampleStatus.NOT_UNIT
        square = float(sample[3:BASE] @ sample[3:BASE])
        return SampleStatus.LEANING if uprightness(sample, self._up) < UPRIGHT * square else None


class InputObserver:
    """Looks at samples one by one.

    Attributes:
        clock: What reads their stamps.
        doubts: What tells whether they are to be believed.
        share: Of the time between samples, to be left out.
        q: (nq,) the last one that was one, or leaned farther than can be followed.
        due: Its instant [s].
        leans: Whether that can be known: it was followed, or leaned farther than can be step by step.
    """

    def __init__(self, robot: RobotModel, speed: Vector) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
            speed: (nv,) largest speeds.
        """
        self._faults, self.doubts = FaultFinder(robot), OutlierDetector(robot, speed)
        self.restart()

    def restart(self) -> None:
        """Forget the stream."""
        self.clock, self.share = SampleClock(), 0.0
        self.q: Vector = np.zeros(0)
        self.due, self.leans = -np.inf, False
        self.doubts.restart()

    def see(self, time: float, q: Vector, known: float | None) -> SampleStatus | None:
        """Look at one sample; return why it is left out, and None where it is to be accepted.

        Args:
            time: Its instant by its sender [s].
            q: (nq,) configuration.
            known: The instant of the last one that was accepted [s]; None before the first one.
        """
        sample, stamp = read_vector(q), read_number(time)
        # The clock is read also where the rest is no sample: time goes on.
        read = (
            self.clock.read(stamp, self.share) if math.isfinite(stamp) else SampleStatus.NOT_FINITE
        )
        if sample is None:
            return SampleStatus.WRONG_SHAPE
        fault = self._faults.find(sample)
        if fault is SampleStatus.LEANING and not isinstance(read, SampleStatus):
            self._lean(read, sample)
        if fault is not None:
            return fault
        if isinstance(read, SampleStatus):
            return read
        if known is not None and read - known > AHEAD:  # what came in between was left out
            self.clock.skip(read - known - AHEAD)
            read = self.clock.newest
        self.q, self.due, self.leans = np.array(sample), read, True
        return None

    def _lean(self, time: float, sample: Vector) -> None:
        """Look at a posture that leans too far to be followed."""
        if self.leans:
            turn = pin.Quaternion(self.q[3:7].copy()).angularDistance(
                pin.Quaternion(sample[3:7].copy())
            )
            self.leans = bool(turn <= FASTEST_TURN * min(time - self.due, SLOWEST))
        self.q, self.due = np.array(sample), time
