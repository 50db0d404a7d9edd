# SPDX-License-Identifier: Apache-2.0
"""Friction of joints: what motors need besides the torques that reach the links."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

SMOOTH_RATE = 1e-3  # rad/s or m/s; width of the step of Coulomb friction at rest


def compute_joint_friction(robot: RobotModel, v: Vector, smooth: float = SMOOTH_RATE) -> Vector:
    """Compute the torques that overcome viscous and Coulomb friction of the joints, (nv,) [N·m or N].

    Args:
        robot: The robot; ``robot.damping`` and ``robot.friction`` come from the URDF or the description.
        v: (nv,) velocity.
        smooth: Width of the sign at rest, tanh(v / smooth) [rad/s or m/s].
    """
    friction: Vector = robot.damping * v + robot.friction * np.tanh(v / smooth)
    return friction


def has_joint_friction(robot: RobotModel) -> bool:
    """Return whether a joint of a robot has viscous or Coulomb friction."""
    return bool(robot.damping.any() or robot.friction.any())
