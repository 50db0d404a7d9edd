"""What may become of a sample of a stream, in a word and in words, and which samples are none."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.conditioning.intake_kernels import measure_sample
from humanoid_dynamics.filtering.conditioning.sample_clock import AHEAD
from humanoid_dynamics.filtering.measured import NORMAL
from humanoid_dynamics.filtering.upright import uprightness, upward_of
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import unit_blocks
from humanoid_dynamics.spatial.arrays import Indices, Vector
from humanoid_dynamics.spatial.compiling import compile_where_possible

FARTHEST = (1e4, 30.0)  # m and rad; no base, and no joint, is beyond
TAKEN = frozenset(
    {"ok", "retimed", "moved", "jumped", "bounded", "held_back", "limited", "noisy", "waited_for"}
)  # what may become of a sample that is taken
REASONS = {
    "retimed": "stamps run on elsewhere, and time goes on from where it was",
    "moved": "the reference jumped to another place",
    "jumped": "the posture of the reference jumped, had frozen or is all noise; it is held, and led back to",
    "bounded": "the reference leans or sinks farther or faster than a robot can, or its weight is far from its feet; it is held back",
    "held_back": "both soles of the reference slide or turn faster than small steps can follow; its place and heading come later",
    "limited": "the reference is faster than the robot",
    "waited_for": "the robot has fallen while the reference moves on; the reference is held standing until it is back on its feet",
    "noisy": "the reference goes to and fro; noise is taken out",
    "wrong_shape": "not as many numbers as the robot has coordinates",
    "not_finite": "a number, or the time, is not finite",
    "beyond": f"a joint is more than {FARTHEST[1]:g} rad, or the base more than {FARTHEST[0]:g} m, from zero: no radians or metres",
    "not_unit": "a quaternion is not of unit length",
    "late": "it is not later than the one before",
    "ahead": f"it is more than {AHEAD:g} s later than the one before",
    "leaning": "the base leans by more than 75 deg, or its quaternion is not in the order x y z w",
}
UPRIGHT = math.cos(math.radians(75.0))  # how far a base may lean; a robot on its feet cannot follow further


class FaultFinder:
    """Finds out whether what came is a sample of a robot."""

    def __init__(self, robot: RobotModel) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base.
        """
        self._shape, self._up = (robot.nq,), upward_of(robot.posture)
        self._units: Indices = np.array([(block.start, block.stop) for block in unit_blocks(robot)], dtype=np.intp).reshape(-1, 2)
        self._measure = compile_where_possible(measure_sample)

    def find(self, sample: Vector) -> str:
        """Return why a sample is none, one of ``REASONS``; nothing where it is one.

        Args:
            sample: What came.
        """
        if sample.shape != self._shape:
            return "wrong_shape"
        base, joint, off, square = self._measure(sample, self._units)
        if not (math.isfinite(base) and math.isfinite(joint)):
            return "not_finite"
        if base > FARTHEST[0] or joint > FARTHEST[1]:
            return "beyond"
        if off > NORMAL:
            return "not_unit"
        return "leaning" if uprightness(sample, self._up) < UPRIGHT * square else ""
