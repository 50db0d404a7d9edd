# SPDX-License-Identifier: Apache-2.0
"""REP-120 frames of a robot: as transforms where tf2_msgs is installed, as stamped poses where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node

from humanoid_dynamics.spatial.arrays import Vector, read_only

FOOTPRINT = "base_footprint"
FEET = ("l_sole", "r_sole")
STRAIGHT = read_only([0.0, 0.0, 0.0, 1.0])


class FramePublisher:
    """Publishes frames of a robot in the world.

    Attributes:
        names: Frames whose poses are asked for.
        as_poses: Frames that go out as stamped poses; none where transforms do.
    """

    def __init__(self, node: Node, names: tuple[str, ...], rest: Vector = STRAIGHT) -> None:
        """Prepare.

        Args:
            node: The node that publishes.
            names: REP-120 names of the frames.
            rest: Quaternion (4,) of the base in the resting posture, in which the robot looks along x.
        """
        self.names, self._rest = names, np.array(rest)
        self._out: Any = None
        if find_spec("tf2_msgs") is not None:
            from tf2_msgs.msg import TFMessage

            self._kind = TFMessage
            self._out = node.create_publisher(TFMessage, "/tf", 100)
        else:
            node.get_logger().info(
                "tf2_msgs is not installed: frames go out as poses on frames/<frame>"
            )
        self.as_poses = () if self._out is not None else (*names, FOOTPRINT)

    def publish(
        self, poses: Mapping[str, Vector], stamp: Any, world: str, prefix: str = ""
    ) -> dict[str, Vector]:
        """Publish transforms, and return the poses that go out otherwise.

        Args:
            poses: Pose (7,) of each frame in the world.
            stamp: When.
            world: Name of the world frame.
            prefix: What the names of transforms begin with.
        """
        every = dict(poses)
        if "base_link" in poses:
            every[FOOTPRINT] = footprint(
                poses["base_link"], [poses[foot] for foot in FEET if foot in poses], self._rest
            )
        if self._out is None:
            return every
        transforms = []
        for name, pose in every.items():
            message = TransformStamped(child_frame_id=prefix + name)
            message.header.stamp, message.header.frame_id = stamp, prefix + world
            p, o = message.transform.translation, message.transform.rotation
            p.x, p.y, p.z, o.x, o.y, o.z, o.w = pose.tolist()
            transforms.append(message)
        self._out.publish(self._kind(transforms=transforms))
        return {}


def footprint(base: Vector, soles: list[Vector], rest: Vector = STRAIGHT) -> Vector:
    """Return the pose of ``base_footprint``: between the feet, at the height of the lower one, headed as the robot [REP-120].

    Args:
        base: (7,) pose of the base.
        soles: Poses of the soles; where there are none, the base is projected to height zero.
        rest: (4,) quaternion of the base where the robot looks along x: no axis of the base need look ahead.
    """
    R = (pin.Quaternion(np.array(base[3:])) * pin.Quaternion(np.array(rest)).conjugate()).matrix()
    heading = 0.5 * np.arctan2(R[1, 0], R[0, 0])
    middle = np.mean([sole[:2] for sole in soles], axis=0) if soles else base[:2]
    height = min((float(sole[2]) for sole in soles), default=0.0)
    return np.array([middle[0], middle[1], height, 0.0, 0.0, np.sin(heading), np.cos(heading)])
