# SPDX-License-Identifier: Apache-2.0
"""Energy that a step created or lost by rounding off motion in time, and velocities that have it no more."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

LARGEST_GIFT = 1e-4  # of the kinetic energy, in a step
MOST_TAKEN = 0.05  # of the kinetic energy, in a step


def keep_energy(z: Vector, bound: Vector, lifted: float) -> Vector:
    """Return a whitened velocity that was bound to rows which take no energy, as fast as it has to be to have lost none.

    Args:
        z: (nv,) whitened velocity before it was bound.
        bound: (nv,) the same afterwards.
        lifted: Potential energy that closing positions has brought [J].
    """
    before, after = float(z.dot(z)) - 2.0 * lifted, float(bound.dot(bound))
    if after <= 0.0:
        return bound
    kept: Vector = bound * np.sqrt(min(max(before / after, 1.0 - LARGEST_GIFT), 1.0 + LARGEST_GIFT))
    return kept


def take_back(
    robot: RobotModel,
    data: pin.Data,
    state: tuple[Vector, Vector],
    created: float,
    *,
    keep_momentum: bool,
) -> tuple[Vector, float]:
    """Return a velocity that is slower by an energy, and how much of it that took [J].

    All that moves against the figure as a whole, if it were rigid, slows down alike: its momentum stays.

    Args:
        robot: The robot.
        data: Its work space.
        state: Configuration (nq,) and velocity (nv,).
        created: The energy [J].
        keep_momentum: Whether figures that nothing carries keep their momentum; else all slows down alike.
    """
    q, v = state
    M = np.triu(pin.crba(robot.model, data, q))
    M += np.triu(M, 1).T
    rigid = np.zeros_like(v)
    free = (
        [
            k
            for joint in robot.joints
            if joint.kind == "free_flyer"
            for k in range(joint.v.start, joint.v.stop)
        ]
        if keep_momentum
        else []
    )
    if free:
        rigid[free] = np.linalg.solve(M[np.ix_(free, free)], M[free].dot(v))
    loose = v - rigid
    kinetic = 0.5 * float(loose.dot(M.dot(loose)))
    taken = min(created, MOST_TAKEN * kinetic)
    return (rigid + np.sqrt(1.0 - taken / kinetic) * loose, taken) if taken > 0.0 else (v, 0.0)
