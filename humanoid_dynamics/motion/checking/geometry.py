# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a motion that no forces are needed to see: limits of joints, jumps, feet in the ground, feet that slide."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.checking.findings import Finding, tell_columns
from humanoid_dynamics.motion.checking.jumps import measure_jumps, usual_jumps
from humanoid_dynamics.motion.clip import Clip, Labels
from humanoid_dynamics.motion.derivatives import central_differences
from humanoid_dynamics.spatial.arrays import Matrix

DEEP = 0.01  # m
SLIDES = 0.15  # m/s
BEYOND = 1e-3  # rad or m outside a limit that count
FASTER = (
    0.02  # share of a speed limit: differences between samples overshoot where it goes at its limit
)


def measure_corners(clip: Clip) -> tuple[Matrix, Matrix]:
    """Measure where soles are.

    Args:
        clip: A clip of a robot with two soles.

    Returns:
        heights: (n, 2) of the lowest corner of each sole [m].
        speeds: (n, 2) how fast its middle moves over the ground [m/s].
    """
    model, data, soles = clip.robot.model, clip.robot.data(), find_soles(clip.robot)
    heights, places = np.empty((len(clip), len(soles))), np.empty((len(clip), len(soles), 2))
    for row, q in enumerate(clip.q):
        pin.framesForwardKinematics(model, data, q)
        for k, sole in enumerate(soles):
            corners = np.array([data.oMf[sole.frame].act(corner) for corner in sole.vertices])
            heights[row, k], places[row, k] = corners[:, 2].min(), corners[:, :2].mean(axis=0)
    return heights, np.linalg.norm(np.gradient(places, clip.times, axis=0), axis=2)


def judge_geometry(
    clip: Clip, heights: Matrix, slides: Matrix
) -> dict[str, tuple[Labels, list[Finding]]]:
    """Say of each sample what no forces are needed to see.

    Args:
        clip: A clip of a robot with a free base and two soles.
        heights: (n, 2) of the lowest corners above the ground [m].
        slides: (n, 2) how fast soles move that must stand [m/s].

    Returns:
        Kind -> (n,) whether it is wrong, and the findings.
    """
    robot, soles = clip.robot, [sole.name for sole in find_soles(clip.robot)]
    joints = [
        joint
        for joint in robot.joints
        if joint.q.stop - joint.q.start == joint.v.stop - joint.v.start == 1
    ]
    names, limits = [joint.name for joint in joints], robot.limits
    q, v = (np.array([getattr(joint, part).start for joint in joints], dtype=int) for part in "qv")
    outside = np.maximum(limits.lower[q] - clip.q[:, q], clip.q[:, q] - limits.upper[q])
    fastest = np.where(limits.velocity[v] > 0.0, limits.velocity[v], np.inf)
    spare = np.where(np.isfinite(fastest), FASTER * fastest, 0.0)
    rates = np.abs(central_differences(robot.model, clip.times, clip.q)[0][:, v]) - fastest - spare
    usual, jumps = usual_jumps(clip), "changes its velocity by {:.2f} rad/s or m/s at once"
    return {
        "position": tell_columns(
            clip,
            "position",
            names,
            outside - BEYOND,
            ("rad", "is {:.3f} rad or m outside its limits", BEYOND),
        ),
        "velocity": tell_columns(
            clip,
            "velocity",
            names,
            rates,
            ("rad/s", "is {:.2f} rad/s or m/s faster than its limit", spare),
        ),
        "jump": tell_columns(
            clip, "jump", robot.coordinates, measure_jumps(clip) - usual, ("rad/s", jumps, usual)
        ),
        "penetration": tell_columns(
            clip, "penetration", soles, -heights - DEEP, ("m", "is {:.3f} m in the ground", DEEP)
        ),
        "slide": tell_columns(
            clip,
            "slide",
            soles,
            slides - SLIDES,
            ("m/s", "slides at {:.2f} m/s while it stands", SLIDES),
        ),
    }
