# SPDX-License-Identifier: Apache-2.0
"""Messages of ROS 2 as bytes, without ROS.

Messages of one topic differ in their stamp and their numbers alone.  One is encoded whole, by ``rosbags``; in all others these places are
written over, and read from.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.spatial.arrays import Vector

NANO = 1_000_000_000
STAMP = struct.Struct("<iI")
STAMP_AT = 4  # behind the head of the encoding
FLOAT = 8
JOINT_STATE, ODOMETRY = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"
WRENCH_STAMPED, ARRAY, STRING = (
    "geometry_msgs/msg/WrenchStamped",
    "std_msgs/msg/Float64MultiArray",
    "std_msgs/msg/String",
)
IMU = "sensor_msgs/msg/Imu"
IMU_SIZES = (
    4,
    9,
    3,
    9,
    3,
    9,
)  # orientation, angular velocity, linear acceleration, each with covariance
TRAJECTORY, BASE_TRAJECTORY = (
    "trajectory_msgs/msg/JointTrajectory",
    "trajectory_msgs/msg/MultiDOFJointTrajectory",
)


@dataclass(frozen=True)
class Form:
    """What all messages of a topic have in common.

    Attributes:
        kind: Type of the message.
        frame: Frame of its header.
        names: Joints, the child frame, or the columns of an array; none where it tells no dimension.
        sizes: How many numbers each of its fields has.
    """

    kind: str
    frame: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]


def joint_state_form(
    names: Sequence[str], sizes: tuple[int, int, int] | None = None, frame: str = ""
) -> Form:
    """Return the form of a JointState: position, velocity and effort, each of all joints or empty.

    Args:
        names: The joints.
        sizes: Numbers of positions, velocities and efforts; all joints where left out.
        frame: Frame of the header.
    """
    return Form(JOINT_STATE, frame, tuple(names), sizes or (len(names),) * 3)


def odometry_form(frame: str, child: str) -> Form:
    """Return the form of an Odometry: pose (place, quaternion x y z w), its covariance, twist in the child frame, its covariance.

    Args:
        frame: Frame the pose is in.
        child: The body.
    """
    return Form(ODOMETRY, frame, (child,), (7, 36, 6, 36))


def wrench_form(frame: str) -> Form:
    """Return the form of a WrenchStamped: force and moment.

    Args:
        frame: Frame it is written in.
    """
    return Form(WRENCH_STAMPED, frame, (), (6,))


def imu_form(frame: str) -> Form:
    """Return the form of an Imu: orientation, angular velocity and linear acceleration, each with its covariance.

    Args:
        frame: Frame of the IMU.
    """
    return Form(IMU, frame, (), IMU_SIZES)


def array_form(columns: Sequence[str]) -> Form:
    """Return the form of a Float64MultiArray of one dimension, whose label lists the columns.

    Args:
        columns: Their names.
    """
    return Form(ARRAY, "", tuple(columns), (len(columns),))


@dataclass(frozen=True, eq=False)
class Template:
    """A message whose numbers can be exchanged.

    Attributes:
        form: What all such messages have in common.
        raw: The message.
        fields: First byte and count of the numbers of each field.
    """

    form: Form
    raw: bytes
    fields: tuple[tuple[int, int], ...]

    def encode(self, stamp: int, values: Sequence[Vector]) -> bytes:
        """Return a message.

        Args:
            stamp: Its instant [ns]; an array has none.
            values: Numbers of each field.
        """
        buffer = bytearray(self.raw)
        if self.form.kind != ARRAY:
            STAMP.pack_into(buffer, STAMP_AT, *divmod(stamp, NANO))
        for (start, count), numbers in zip(self.fields, values, strict=True):
            buffer[start : start + FLOAT * count] = numbers.tobytes()
        return bytes(buffer)

    def decode(self, raw: bytes) -> tuple[int, list[Vector]] | None:
        """Return stamp [ns] and numbers of a message; None where it is of another form.

        Args:
            raw: The message.
        """
        if len(raw) != len(self.raw):
            return None
        at = 0
        stamped = () if self.form.kind == ARRAY else ((STAMP_AT, 1),)
        for start, count in sorted((*stamped, *self.fields)):
            if count and raw[at:start] != self.raw[at:start]:
                return None
            at = max(at, start + FLOAT * count)
        if raw[at:] != self.raw[at:]:
            return None
        sec, nanosec = STAMP.unpack_from(raw, STAMP_AT) if stamped else (0, 0)
        return sec * NANO + nanosec, [
            np.frombuffer(raw, np.float64, count, start) for start, count in self.fields
        ]


@lru_cache(maxsize=1)
def load_types() -> Any:
    """Return the message types of ROS 2 Jazzy.

    Raises:
        MissingExtraError: If ``rosbags`` is not installed.
    """
    try:
        from rosbags.typesys import Stores, get_typestore
    except ImportError as cause:
        raise MissingExtraError("rosbags", "bags", "reading and writing MCAP") from cause
    return get_typestore(Stores.ROS2_JAZZY)


@lru_cache(maxsize=256)
def build_template(form: Form) -> Template:
    """Encode one message of a form and find its numbers in it.

    Args:
        form: The form.

    Returns:
        The template, with all numbers zero.
    """
    store = load_types()
    marks = np.split(
        np.random.default_rng(1).standard_normal(sum(form.sizes)), np.cumsum(form.sizes)[:-1]
    )
    marked = bytes(store.serialize_cdr(_build_message(store.types, form, marks), form.kind))
    fields = tuple((marked.index(mark.tobytes()) if len(mark) else 0, len(mark)) for mark in marks)
    raw = bytearray(marked)
    for start, count in fields:
        raw[start : start + FLOAT * count] = bytes(FLOAT * count)
    return Template(form, bytes(raw), fields)


def encode_text(text: str) -> bytes:
    """Return a String message.

    Args:
        text: What it says.
    """
    store = load_types()
    return bytes(store.serialize_cdr(store.types[STRING](text), STRING))


def find_form(message: Any, kind: str) -> Form:
    """Return the form of a decoded message.

    Args:
        message: The message.
        kind: Its type.
    """
    if kind == ARRAY:
        labels = [dimension.label for dimension in message.layout.dim]
        return Form(
            kind, "", tuple(labels[0].split(",")) if len(labels) == 1 else (), (len(message.data),)
        )
    frame = message.header.frame_id
    if kind == JOINT_STATE:
        return joint_state_form(
            message.name, (len(message.position), len(message.velocity), len(message.effort)), frame
        )
    if kind == IMU:
        return imu_form(frame)
    return odometry_form(frame, message.child_frame_id) if kind == ODOMETRY else wrench_form(frame)


def _build_message(types: Any, form: Form, values: Sequence[Vector]) -> Any:
    """Return a message that holds these numbers."""
    if form.kind == ARRAY:
        dimension = types["std_msgs/msg/MultiArrayDimension"](
            ",".join(form.names), *form.sizes, *form.sizes
        )
        return types[ARRAY](
            types["std_msgs/msg/MultiArrayLayout"]([dimension] if form.names else [], 0), values[0]
        )
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](0, 0), form.frame)
    if form.kind == JOINT_STATE:
        return types[JOINT_STATE](header, list(form.names), *values)
    if form.kind == IMU:
        turn_of, vector = types["geometry_msgs/msg/Quaternion"], types["geometry_msgs/msg/Vector3"]
        orientation, rate, force = values[0].tolist(), values[2].tolist(), values[4].tolist()
        return types[IMU](
            header,
            turn_of(*orientation),
            values[1],
            vector(*rate),
            values[3],
            vector(*force),
            values[5],
        )
    if form.kind == WRENCH_STAMPED:
        return types[WRENCH_STAMPED](header, _pair(types, "Wrench", "Vector3", values[0]))
    place, turn = values[0][:3].tolist(), values[0][3:].tolist()
    pose = types["geometry_msgs/msg/Pose"](
        types["geometry_msgs/msg/Point"](*place), types["geometry_msgs/msg/Quaternion"](*turn)
    )
    posed = types["geometry_msgs/msg/PoseWithCovariance"](pose, values[1])
    moved = types["geometry_msgs/msg/TwistWithCovariance"](
        _pair(types, "Twist", "Vector3", values[2]), values[3]
    )
    return types[ODOMETRY](header, form.names[0], posed, moved)


def _pair(types: Any, kind: str, part: str, values: Vector) -> Any:
    vector = types[f"geometry_msgs/msg/{part}"]
    return types[f"geometry_msgs/msg/{kind}"](
        vector(*values[:3].tolist()), vector(*values[3:].tolist())
    )
