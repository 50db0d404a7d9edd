# SPDX-License-Identifier: Apache-2.0
"""How the robot moves at one instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only

QUATERNION_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class State:
    """Configuration and velocity; whether they fit a robot is asked by ``check``.

    Attributes:
        q: (nq,) configuration; a free base is x y z and the quaternion x y z w of the base in the world.
        v: (nv,) velocity; a free base is linear, then angular, in axes of the base.
    """

    q: Vector
    v: Vector

    def __post_init__(self) -> None:
        for name, values in (("q", self.q), ("v", self.v)):
            try:
                object.__setattr__(self, name, read_only(values))
            except (TypeError, ValueError) as cause:
                raise ShapeError(
                    name, f"{type(values).__name__} {values!r:.60}", "numbers"
                ) from cause

    @classmethod
    def at_rest(cls, robot: RobotModel) -> State:
        """Return the robot standing still in its resting posture."""
        return cls(robot.posture, np.zeros(robot.nv))

    def check(self, robot: RobotModel) -> State:
        """Return this state if it fits the robot.

        Raises:
            ShapeError: If a size is wrong, an entry is not finite or a quaternion is not of unit length.
        """
        q = check_vector("q", self.q, robot.nq)
        check_vector("v", self.v, robot.nv)
        if not pin.isNormalized(robot.model, q, QUATERNION_TOLERANCE):
            raise ShapeError(
                "q",
                "a quaternion that is not of unit length",
                f"unit length to {QUATERNION_TOLERANCE:g}",
            )
        return self
