# SPDX-License-Identifier: Apache-2.0
"""Feasibility of a motion, frame by frame: 1 where it is feasible, towards 0 the more it exceeds what robot and ground can do.

A score is ``1 / (1 + excess)``.  The excess is the sum of these shares, each zero inside its limit:

    distance of the zero-moment point outside the stance feet, over 5 cm
    force that the ground would have to pull with, or that acts in flight, over the weight
    friction beyond the coefficient, over the coefficient
    joint positions beyond their limits, over 0.1 rad or m
    joint speeds beyond their limits, over the limit; of filtered frames also torques

Positions are smoothed at 6 Hz before they are differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.filtering.certificate import FrameCertificate
from humanoid_dynamics.filtering.scoring import prepare_motion
from humanoid_dynamics.filtering.settings import FeasibilityScales
from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.motion.checking.zmp import compute_reaction, support_margins
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.spatial.arrays import Vector

SCALES = FeasibilityScales()


def score_frames(clip: Clip) -> Vector:
    """Return the feasibility of each frame of a motion, from its configurations alone.

    Args:
        clip: A clip of a robot with a free base and two soles; without contacts these are detected.

    Returns:
        (n,) scores, above 0 and at most 1.
    """
    moving, contacts = prepare_motion(clip)
    reaction = compute_reaction(moving)
    margins = support_margins(moving, contacts, reaction.zmp)
    weight = clip.robot.mass * float(np.linalg.norm(clip.robot.model.gravity.linear))
    up, along = reaction.force[:, 2], np.linalg.norm(reaction.force[:, :2], axis=1)
    stands = np.isfinite(margins)
    pushed = np.maximum(up, SCALES.least_load * weight)
    friction = min(surface.friction for surface in clip.robot.surfaces.values())
    excess = np.where(stands, np.maximum(-margins, 0.0) / SCALES.distance, 0.0)
    excess += (
        np.where(stands, np.maximum(-up, 0.0), np.linalg.norm(reaction.force, axis=1)) / weight
    )
    excess += np.where(stands, np.maximum(along / (friction * pushed) - 1.0, 0.0), 0.0)
    if not doubtful_limits(clip.robot):
        excess += _joint_excess(moving)
    scores = 1.0 / (1.0 + excess)
    return np.asarray(np.interp(clip.times, moving.times, scores))


def score_certificates(certificates: Sequence[FrameCertificate]) -> Vector:
    """Return the feasibility of filtered frames, from their certificates.

    Args:
        certificates: Certificates of the frames.

    Returns:
        (n,) scores; 1 where every limit holds.
    """
    return np.array([1.0 if c.holds else 1.0 / (1.0 + _certified_excess(c)) for c in certificates])


def _certified_excess(c: FrameCertificate) -> float:
    outside = max(-c.cop, 0.0) / SCALES.distance if np.isfinite(c.cop) else 0.0
    forces = max(c.friction - 1.0, 0.0) + c.pull + c.residual
    joints = max(-c.joint, 0.0) / SCALES.position
    limits = max(c.torque - 1.0, 0.0) + max(c.speed - 1.0, 0.0)
    return outside + forces + joints + limits + c.slip + c.undeclared


def _joint_excess(moving: Clip) -> Vector:
    """Return the largest excess of joint positions and speeds in each frame."""
    robot, limits = moving.robot, moving.robot.limits
    joints = [j for j in robot.joints if j.q.stop - j.q.start == j.v.stop - j.v.start == 1]
    places, rates = [j.q.start for j in joints], [j.v.start for j in joints]
    q = moving.q[:, places]
    beyond = np.maximum(limits.lower[places] - q, q - limits.upper[places])
    excess = np.max(np.maximum(beyond, 0.0), axis=1, initial=0.0) / SCALES.position
    if moving.v is not None:
        speeds = np.abs(moving.v[:, rates]) / limits.velocity[rates] - 1.0
        excess += np.max(np.maximum(speeds, 0.0), axis=1, initial=0.0)
    return np.asarray(excess)
