# SPDX-License-Identifier: Apache-2.0
"""What may become of a sample of a stream, in a word and in words, and which samples are none."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.conditioning.intake_kernels import measure_sample
from humanoid_dynamics.filtering.conditioning.sample_clock import LARGEST, SampleStatus
from humanoid_dynamics.filtering.measured import NORMAL
from humanoid_dynamics.filtering.upright import uprightness, upward_of
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import unit_blocks
from humanoid_dynamics.spatial.arrays import Indices, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

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
        self._units: Indices = np.array(
            [(block.start, block.stop) for block in unit_blocks(robot)], dtype=np.intp
        ).reshape(-1, 2)
        self._measure = compile_kernel(measure_sample)

    def find(self, sample: Vector) -> SampleStatus | None:
        """Return why a sample is none, or None where it is one.

        Args:
            sample: What came.
        """
        if sample.shape != self._shape:
            return SampleStatus.WRONG_SHAPE
        base, joint, off, square = self._measure(sample, self._units)
        if not (math.isfinite(base) and math.isfinite(joint)):
            return SampleStatus.NOT_FINITE
        if base > LARGEST[0] or joint > LARGEST[1]:
            return SampleStatus.OUT_OF_RANGE
        if off > NORMAL:
            return SampleStatus.NOT_UNIT
        return SampleStatus.LEANING if uprightness(sample, self._up) < UPRIGHT * square else None
