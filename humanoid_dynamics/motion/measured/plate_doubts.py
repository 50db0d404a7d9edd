# SPDX-License-Identifier: Apache-2.0
"""Whether measured wrenches belong to a motion: a foot cannot be pushed from far away, and the ground does not pull."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.measured.force_plates import MeasuredWrenches
from humanoid_dynamics.spatial.arrays import Matrix

BEARS = 0.2  # of the weight; less says little about where it acts
PULLS = 0.5  # of the weight, on average
FAR = 0.5  # m; no foot is as long


def find_plate_doubts(clip: Clip, measured: MeasuredWrenches) -> tuple[str, ...]:
    """Tell which plates push from too far away or pull: units, axes, signs, the order of a quaternion or the link are not as meant.

    Args:
        clip: The motion.
        measured: What was measured.

    Returns:
        A sentence for each such plate, with the worst moment, and one where all of them together pull.
    """
    wrenches = measured.at(clip.times)
    gravity = clip.robot.model.gravity.linear
    weight = clip.robot.mass * float(np.linalg.norm(gravity))
    loaded = (np.linalg.norm(wrenches[:, :, :3], axis=2) > BEARS * weight) & measured.covers(
        clip.times
    )[:, None]
    arms = _measure_arms(clip, measured.links, wrenches) * loaded
    doubts = []
    pull = (
        clip.robot.mass * float(np.mean(wrenches[:, :, :3].sum(axis=1) @ gravity)) / (weight or 1.0)
    )
    if pull > PULLS * weight:
        doubts.append(
            f"what was measured pulls the robot down, by {pull:.4g} N on average; expected the force on the robot"
        )
    for link, column in zip(measured.links, arms.T, strict=True):
        worst = int(np.argmax(column)) if len(column) else 0
        if column[worst] > FAR:
            problem = f"the wrench on {link} passes it {column[worst]:.3g} m away at {clip.times[worst]:.3f} s"
            doubts.append(
                f"{problem}; look at the link, units, axes, and the quaternion, which is x, y, z, w"
            )
    return tuple(doubts)


def _measure_arms(clip: Clip, links: tuple[str, ...], wrenches: Matrix) -> Matrix:
    """Return how far from its link the line of each wrench passes, (n, links) [m]."""
    model, data = clip.robot.model, clip.robot.data()
    frames = [clip.robot.link_frame(link) for link in links]
    arms = np.zeros((len(clip), len(links)))
    for k, q in enumerate(clip.q):
        pin.framesForwardKinematics(model, data, q)
        for column, frame in enumerate(frames):
            F, M = np.split(wrenches[k, column], 2)
            size = float(F @ F)
            arm = np.cross(F, M) / size - data.oMf[frame].translation if size else np.zeros(3)
            arms[k, column] = np.linalg.norm(arm - F * (F @ arm) / (size or 1.0))
    return arms
