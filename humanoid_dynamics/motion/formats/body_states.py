# SPDX-License-Identifier: Apache-2.0
"""Poses and velocities of links over time, as trainers read them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.joint_orders import Names, order_links
from humanoid_dynamics.spatial.arrays import Matrix


@dataclass(frozen=True, eq=False)
class BodyStates:
    """Links over time, in axes of the world.

    Attributes:
        names: Names of the links.
        positions: (n, m, 3) positions of their origins [m].
        quaternions: (n, m, 4) orientations w x y z, without jumps of sign.
        linear: (n, m, 3) velocities of their origins [m/s].
        angular: (n, m, 3) angular velocities [rad/s].
    """

    names: Names
    positions: Matrix = field(repr=False)
    quaternions: Matrix = field(repr=False)
    linear: Matrix = field(repr=False)
    angular: Matrix = field(repr=False)


def compute_body_states(clip: Clip, links: Names) -> BodyStates:
    """Return links of a clip over time, by forward kinematics.

    Args:
        clip: A clip with velocities.
        links: Names of the links.

    Raises:
        ClipError: If the clip has no velocities.
    """
    if clip.v is None:
        raise ClipError(clip.origin, "has no velocities")
    model, data = clip.robot.model, clip.robot.data()
    frames = [clip.robot.link_frame(link) for link in links]
    shape = (len(clip), len(links))
    places, turns = np.empty((*shape, 3)), np.empty((*shape, 4))
    linear, angular = np.empty((*shape, 3)), np.empty((*shape, 3))
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for row in range(len(clip)):
        pin.forwardKinematics(model, data, clip.q[row], clip.v[row])
        pin.updateFramePlacements(model, data)
        for index, frame in enumerate(frames):
            pose, motion = data.oMf[frame], pin.getFrameVelocity(model, data, frame, axes)
            places[row, index], turns[row, index] = (
                pose.translation,
                pin.Quaternion(pose.rotation).coeffs(),
            )
            linear[row, index], angular[row, index] = motion.linear, motion.angular
    flips = np.einsum("nmi,nmi->nm", turns[1:], turns[:-1]) < 0.0
    turns[1:] *= np.where(np.cumsum(flips, axis=0) % 2, -1.0, 1.0)[..., None]
    return BodyStates(links, places, np.roll(turns, 1, axis=2), linear, angular)


def find_moving_links(clip: Clip, *, breadth_first: bool = False) -> Names:
    """Return the links that joints move, the root first: what remains where a simulator merges fixed links.

    Args:
        clip: A clip of the robot.
        breadth_first: Whether they are in the order of Isaac Lab; otherwise of MuJoCo.
    """
    robot = clip.robot
    moved = {joint.child for joint in robot.joints}
    return tuple(link for link in order_links(robot, breadth_first=breadth_first) if link in moved)
