# SPDX-License-Identifier: Apache-2.0
"""What may become of a sample of a stream, in a word and in words, and which samples are none."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.conditioning.sample_clock import LARGEST, SampleStatus
from humanoid_dynamics.filtering.measured import NORMAL
from humanoid_dynamics.filtering.upright import uprightness, upward_of
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import unit_blocks
from humanoid_dynamics.spatial.arrays import Vector

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
