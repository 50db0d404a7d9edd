# SPDX-License-Identifier: Apache-2.0
"""Velocities that change all at once: by more than motors make in one step, and unlike what is before and after.

Lively motion that is sampled a few times only between standing and turning changes its velocity by much from step to step, but evenly: each
change is near to the mean of its two neighbours.  A jump is not.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.spatial.arrays import Matrix, Vector

JUMP = 3.0  # rad/s or m/s from one step to the next
HARDEST = 250.0  # rad/s^2 that bodies do by themselves
RESOLVED = 1.0 / 30.0  # s; steps that are shorter show a body that speeds up as even changes
PLACE = 3  # coordinates of the base that are a place


def measure_jumps(clip: Clip) -> Matrix:
    """Return by how much the velocity of each coordinate changes at once.

    Args:
        clip: A clip of a robot with a free base.

    Returns:
        (n, nv) the change from one step to the next, or twice what is uneven in it where that is less [rad/s or m/s].
    """
    model, steps = clip.robot.model, np.diff(clip.times)
    slopes = np.array(
        [
            pin.difference(model, a, b) / h
            for a, b, h in zip(clip.q[:-1], clip.q[1:], steps, strict=True)
        ]
    )
    changes = np.diff(slopes, axis=0)
    beside = (
        np.pad(changes, ((1, 1), (0, 0)), mode="edge")
        if len(changes)
        else np.zeros((2, clip.robot.nv))
    )
    jumps = np.zeros((len(clip), clip.robot.nv))
    jumps[1:-1] = np.minimum(np.abs(changes), np.abs(2.0 * changes - beside[:-2] - beside[2:]))
    return jumps


def usual_jumps(clip: Clip) -> Vector:
    """Return what ``measure_jumps`` finds at most in motion that does not jump.

    Args:
        clip: The clip.

    Returns:
        (nv,) changes [rad/s or m/s].
    """
    step = 1.0 / clip.rate
    usual = np.full(clip.robot.nv, max(JUMP, HARDEST * step * min(1.0, step / RESOLVED) ** 2))
    usual[:PLACE] = JUMP
    return usual
