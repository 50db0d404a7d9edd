# SPDX-License-Identifier: Apache-2.0
"""Records as bags: MCAP with the messages of ROS 2, written as they come.

    /joint_states             sensor_msgs/JointState       joints of one freedom; effort is that of motors and drives
    /odom, /BODY/odom         nav_msgs/Odometry            bodies that move freely, twist in their own axes
    /contacts/NAME/wrench     geometry_msgs/WrenchStamped  in the frame of the contact, at its origin
    /imu/NAME                 sensor_msgs/Imu              tables ``imu_NAME``: angular rate and specific force
    /energy, /audit, /balance std_msgs/Float64MultiArray   the label lists the columns; ``audit`` begins with the exact time
    /state/q, v, tau          std_msgs/Float64MultiArray   only where other joints than these move
    /tf                       tf2_msgs/TFMessage           free bodies and the links of a URDF, fifty times a second
    /robot_description        std_msgs/String              once, where there is a URDF
    /record                   std_msgs/String              what it is a record of and what samples are made of, at each change of the tree

Stamps are simulated time, in headers and in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.series.bag_file import BagFile
from humanoid_dynamics.series.frames import Frames, find_frames
from humanoid_dynamics.series.layout import STATE, Layout
from humanoid_dynamics.series.messages import (
    NANO,
    STRING,
    Form,
    array_form,
    build_template,
    encode_text,
    imu_form,
    joint_state_form,
    odometry_form,
    wrench_form,
)
from humanoid_dynamics.series.sink import TIME
from humanoid_dynamics.series.transforms import TF, TransformTemplate, build_transforms
from humanoid_dynamics.spatial.arrays import Vector

WORLD = "odom"
IMU_TABLE, IMU_TOPIC = "imu_", "/imu/"
TRANSFORMS, DRAWN = "/tf", NANO // 50  # topic, and the least time between two messages [ns]
ABOUT, DESCRIPTION, JOINTS, EXACT = "/record", "/robot_description", "/joint_states", "audit"

Fill = Callable[[float, Mapping[str, Vector]], tuple[Vector, ...]]


class BagSink:
    """Writes samples into a bag: a file that ends in ``.mcap``, or else a folder as ``ros2 bag record`` makes it."""

    def __init__(self, path: Path, about: Mapping[str, str]) -> None:
        """Open the bag.

        Args:
            path: The file, which is replaced, or a folder that does not exist yet.
            about: What it is a record of.

        Raises:
            MissingExtraError: If ``rosbags`` is not installed.
            RecordError: If nothing can be written there.
        """
        self._bag = BagFile(path)
        self._about = dict(about)
        self._channels: list[tuple[Any, Any, Fill]] = []
        self._announced: Layout | None = None
        self._told = False
        self._frames: tuple[Frames, TransformTemplate] | None = None
        self._drawn = 0

    def begin(self, layout: Layout) -> None:
        """Take note of what the samples to come are made of."""
        self._announced = layout
        self._channels = []
        for topic, form, fill in list_topics(layout):
            self._channels.append((self._bag.connect(topic, form.kind), build_template(form), fill))
        frames = find_frames(layout, self._about.get("urdf", ""), WORLD)
        self._frames = (frames, build_transforms(frames.edges)) if frames.edges else None
        self._drawn = 0

    def write(self, t: float, rows: Mapping[str, Vector]) -> None:
        """Take a sample."""
        stamp = round(t * NANO)
        if self._announced is not None:
            self._announce(stamp, self._announced)
        for connection, template, fill in self._channels:
            self._bag.write(connection, stamp, template.encode(stamp, fill(t, rows)))
        if self._frames is not None and stamp >= self._drawn:
            frames, template_tf = self._frames
            self._bag.write(
                self._bag.connect(TRANSFORMS, TF),
                stamp,
                template_tf.encode(stamp, frames.place(rows["q"])),
            )
            self._drawn = stamp + DRAWN

    def close(self) -> None:
        """Write the index; a bag that was never closed can still be read message by message."""
        self._bag.close()

    def _announce(self, stamp: int, layout: Layout) -> None:
        urdf = self._about.get("urdf", "")
        told = {name: text for name, text in self._about.items() if name != "urdf"}
        text = json.dumps({"about": told, "layout": json.loads(layout.dump())})
        self._bag.write(self._bag.connect(ABOUT, STRING, latched=True), stamp, encode_text(text))
        if urdf and not self._told:
            self._bag.write(
                self._bag.connect(DESCRIPTION, STRING, latched=True), stamp, encode_text(urdf)
            )
        self._announced, self._told = None, True


def list_topics(layout: Layout) -> list[tuple[str, Form, Fill]]:
    """List the topics of a layout.

    Args:
        layout: The layout.

    Returns:
        Topic, form of its messages, and how a sample fills them.
    """
    topics: list[tuple[str, Form, Fill]] = []
    if layout.joints:
        topics.append(
            (
                JOINTS,
                joint_state_form([joint.name for joint in layout.joints]),
                _fill_joints(layout),
            )
        )
    for topic, body in zip(name_bodies(layout), layout.bodies, strict=True):
        topics.append((topic, odometry_form(WORLD, body.link), _fill_body(body.q, body.v)))
    for k, (topic, patch) in enumerate(zip(name_patches(layout), layout.patches, strict=True)):
        topics.append(
            (topic, wrench_form(patch.frame), _fill_slice("wrench", slice(6 * k, 6 * k + 6)))
        )
    for name in layout.numbers:
        topics.append(_number_topic(name, layout))
    topics.append((f"/{EXACT}", array_form((TIME, *layout.columns.get(EXACT, ()))), _fill_audit))
    if not layout.is_plain:
        topics += [
            (f"/state/{name}", array_form(layout.columns[name]), _fill_slice(name, slice(None)))
            for name in STATE
        ]
    return topics


def _number_topic(name: str, layout: Layout) -> tuple[str, Form, Fill]:
    topic = name_numbers(name)
    if topic.startswith(IMU_TOPIC):
        return topic, imu_form(name), _fill_imu(name)
    return topic, array_form(layout.columns[name]), _fill_slice(name, slice(None))


def name_numbers(table: str) -> str:
    """Return the topic of a table that stands for itself.

    Args:
        table: Its name.
    """
    return (
        IMU_TOPIC + clean(table[len(IMU_TABLE) :]) if table.startswith(IMU_TABLE) else f"/{table}"
    )


def name_bodies(layout: Layout) -> list[str]:
    """Return the topic of each free body.

    Args:
        layout: The layout.
    """
    if len(layout.bodies) == 1:
        return [f"/{WORLD}"]
    return _tell_apart([f"/{clean(body.link)}/{WORLD}" for body in layout.bodies])


def name_patches(layout: Layout) -> list[str]:
    """Return the topic of each contact.

    Args:
        layout: The layout.
    """
    return _tell_apart([f"/contacts/{clean(patch.name)}/wrench" for patch in layout.patches])


def clean(name: str) -> str:
    """Return a name that a topic may have: letters, digits and underscores, no part of it beginning with a digit.

    Args:
        name: Any name.
    """
    parts = (re.sub(r"\W", "_", part, flags=re.ASCII) for part in name.split("/") if part)
    return "/".join(f"_{part}" if part[0].isdigit() else part for part in parts)


def _tell_apart(topics: list[str]) -> list[str]:
    """Number topics that names with other signs in them made equal."""
    return [f"{topic}_{k}" if topic in topics[:k] else topic for k, topic in enumerate(topics)]


def _fill_joints(layout: Layout) -> Fill:
    q, v = (
        np.array([getattr(joint, field) for joint in layout.joints], dtype=np.intp)
        for field in ("q", "v")
    )
    driven = np.array([k for k, joint in enumerate(layout.joints) if joint.tau >= 0], dtype=np.intp)
    tau = np.array([joint.tau for joint in layout.joints if joint.tau >= 0], dtype=np.intp)

    def fill(_t: float, rows: Mapping[str, Vector]) -> tuple[Vector, ...]:
        effort = np.zeros(len(q))
        effort[driven] = rows["tau"][tau]
        return rows["q"][q], rows["v"][v], effort

    return fill


def _fill_body(q: int, v: int) -> Fill:
    unknown = np.zeros(36)
    return lambda _t, rows: (rows["q"][q : q + 7], unknown, rows["v"][v : v + 6], unknown)


def _fill_imu(name: str) -> Fill:
    unknown, none, level = np.zeros(9), np.zeros(9), np.array((0.0, 0.0, 0.0, 1.0))
    none[0] = -1.0  # there is no orientation [REP-145]
    return lambda _t, rows: (level, none, rows[name][:3], unknown, rows[name][3:], unknown)


def _fill_slice(name: str, part: slice) -> Fill:
    return lambda _t, rows: (rows[name][part],)


def _fill_audit(t: float, rows: Mapping[str, Vector]) -> tuple[Vector, ...]:
    return (np.concatenate(([t], rows.get(EXACT, np.zeros(0)))),)
