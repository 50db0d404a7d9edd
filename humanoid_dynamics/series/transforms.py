# SPDX-License-Identifier: Apache-2.0
"""Transforms of frames as messages of ROS 2, ``tf2_msgs/TFMessage``: written over in place, as all messages are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.series.messages import FLOAT, NANO, STAMP, load_types
from humanoid_dynamics.spatial.arrays import Matrix

TF = "tf2_msgs/msg/TFMessage"
POSE = 7  # place and quaternion x y z w
Edge = tuple[str, str]  # parent and child


@dataclass(frozen=True, eq=False)
class TransformTemplate:
    """A message of transforms whose numbers can be exchanged.

    Attributes:
        raw: The message.
        stamps: First byte of the stamp of each transform.
        poses: First byte of its numbers.
    """

    raw: bytes
    stamps: tuple[int, ...]
    poses: tuple[int, ...]

    def encode(self, stamp: int, poses: Matrix) -> bytes:
        """Return a message.

        Args:
            stamp: Its instant [ns].
            poses: (n, 7) place and quaternion x y z w of each frame in its parent.
        """
        buffer = bytearray(self.raw)
        instant = divmod(stamp, NANO)
        for at, start, pose in zip(self.stamps, self.poses, poses, strict=True):
            STAMP.pack_into(buffer, at, *instant)
            buffer[start : start + POSE * FLOAT] = pose.tobytes()
        return bytes(buffer)


def build_transforms(edges: Sequence[Edge]) -> TransformTemplate:
    """Encode one message and find its numbers in it.

    Args:
        edges: Parent and child of each transform.

    Returns:
        The template.
    """
    store = load_types()
    types = store.types
    marks = np.random.default_rng(1).standard_normal((len(edges), POSE))
    transforms = []
    for k, ((parent, child), mark) in enumerate(zip(edges, marks.tolist(), strict=True)):
        header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](k, 0), parent)
        place, turn = (
            types["geometry_msgs/msg/Vector3"](*mark[:3]),
            types["geometry_msgs/msg/Quaternion"](*mark[3:]),
        )
        moved = types["geometry_msgs/msg/Transform"](place, turn)
        transforms.append(types["geometry_msgs/msg/TransformStamped"](header, child, moved))
    raw = bytes(store.serialize_cdr(types[TF](transforms), TF))
    poses = [raw.index(mark.tobytes()) for mark in marks]
    stamps, at = [], 0
    for k, ((parent, _), pose) in enumerate(zip(edges, poses, strict=True)):
        head = STAMP.pack(k, 0) + (len(parent.encode()) + 1).to_bytes(4, "little") + parent.encode()
        at = raw.index(head, at, pose)
        stamps.append(at)
        at = pose
    return TransformTemplate(raw, tuple(stamps), tuple(poses))
