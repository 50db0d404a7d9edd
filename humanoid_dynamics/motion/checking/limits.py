# SPDX-License-Identifier: Apache-2.0
"""How far a motion leaves the limits of its robot."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix


def limit_excess(robot: RobotModel, q: Matrix) -> dict[str, float]:
    """Return how far joints leave their position limits.

    Args:
        robot: The robot.
        q: (n, nq) configurations.

    Returns:
        Joint -> largest excess [rad or m], only of joints that leave their limits.
    """
    excess = {}
    for joint in robot.joints:
        if joint.q.stop - joint.q.start == joint.v.stop - joint.v.start == 1:
            values = q[:, joint.q.start]
            beyond = float(
                np.max(
                    np.maximum(
                        robot.limits.lower[joint.q] - values, values - robot.limits.upper[joint.q]
                    ),
                    initial=0.0,
                )
            )
            if beyond > 0.0:
                excess[joint.name] = beyond
    return excess


def limit_shares(robot: RobotModel, at_limit: np.ndarray) -> dict[str, float]:
    """Return in which share of the samples joints rest on a limit.

    Args:
        robot: The robot.
        at_limit: (n, nv) whether a coordinate rests on a limit.

    Returns:
        Coordinate -> share [-], only of those that ever do.
    """
    shares = np.mean(at_limit, axis=0)
    return {
        name: float(share)
        for name, share in zip(robot.coordinates, shares, strict=True)
        if share > 0.0
    }
