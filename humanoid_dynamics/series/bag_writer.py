"""Records as bags: MCAP with the messages of ROS 2, written as they come.

    /joint_states             sensor_msgs/JointState       joints of one freedom; effort is that of motors and drives
    /odom, /BODY/odom         nav_msgs/Odometry            bodies that move freely, twist in their own axes
    /contacts/NAME/wrench     geometry_msgs/WrenchStamped  in the frame of the contact, at its origin
    /energy, /audit, /balance std_msgs/Float64MultiArray   the label lists the columns; ``audit`` begins with the exact time
    /state/q, v, tau          std_msgs/Float64MultiArray   only where other joints than these move
    /robot_description        std_msgs/String              once, where there is a URDF
    /record                   std_msgs/String              what it is a record of and what samples are made of, at each change of the tree

Stamps are simulated time, in headers and in the file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.errors import MissingExtraError, RecordError
from humanoid_dynamics.series.layout import STATE, Layout
from humanoid_dynamics.series.messages import (
    NANO,
    STRING,
    Form,
    array_form,
    build_template,
    encode_text,
    joint_state_form,
    load_types,
    odometry_form,
    wrench_form,
)
from humanoid_dynamics.series.sink import TIME
from humanoid_dynamics.spatial.arrays import Vector

WORLD = "odom"
ABOUT, DESCRIPTION, JOINTS, EXACT = "/record", "/robot_description", "/joint_states", "audit"
LATCHED = frozenset({ABOUT, DESCRIPTION})

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
        self._store = load_types()
        self._about, self._is_file = dict(about), path.suffix == ".mcap"
        self._path = path
        self._channels: list[tuple[Any, Any, Fill]] = []
        self._connections: dict[str, Any] = {}
        self._stamp = 0
        self._announced: Layout | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir() and self._is_file:
                raise IsADirectoryError(f"{path} is a folder")
            self._scratch = Path(tempfile.mkdtemp(prefix=f"{path.stem}.", suffix=".part", dir=path.parent)) if self._is_file else None
            folder = path if self._scratch is None else self._scratch / path.stem
            self._writer = _open_writer(folder)
        except (OSError, _writer_error()) as cause:
            raise RecordError(str(path), f"cannot be written: {cause}") from cause

    def begin(self, layout: Layout) -> None:
        """Take note of what the samples to come are made of."""
        self._announced = layout
        self._channels = []
        for topic, form, fill in list_topics(layout):
            self._channels.append((self._connect(topic, form.kind), build_template(form), fill))

    def write(self, t: float, rows: Mapping[str, Vector]) -> None:
        """Take a sample."""
        stamp = round(t * NANO)
        if self._announced is not None:
            self._announce(stamp, self._announced)
        for connection, template, fill in self._channels:
            self._writer.write(connection, stamp, template.encode(stamp, fill(t, rows)))

    def close(self) -> None:
        """Write the index; a bag that was never closed can still be read message by message."""
        self._writer.close()
        if self._scratch is not None:
            folder = self._scratch / self._path.stem
            os.replace(next(folder.glob("*.mcap")), self._path)
            shutil.rmtree(self._scratch)

    def _announce(self, stamp: int, layout: Layout) -> None:
        first = not self._connections.get(ABOUT)
        urdf = self._about.get("urdf", "")
        told = {name: text for name, text in self._about.items() if name != "urdf"}
        text = json.dumps({"about": told, "layout": json.loads(layout.dump())})
        self._writer.write(self._connect(ABOUT, STRING), stamp, encode_text(text))
        if first and urdf:
            self._writer.write(self._connect(DESCRIPTION, STRING), stamp, encode_text(urdf))
        self._announced = None

    def _connect(self, topic: str, kind: str) -> Any:
        if topic not in self._connections:
            qos = [_describe_qos(latched=topic in LATCHED)]
            self._connections[topic] = self._writer.add_connection(topic, kind, typestore=self._store, offered_qos_profiles=qos)
        return self._connections[topic]


def list_topics(layout: Layout) -> list[tuple[str, Form, Fill]]:
    """List the topics of a layout.

    Args:
        layout: The layout.

    Returns:
        Topic, form of its messages, and how a sample fills them.
    """
    topics: list[tuple[str, Form, Fill]] = []
    if layout.joints:
        topics.append((JOINTS, joint_state_form([joint.name for joint in layout.joints]), _fill_joints(layout)))
    for topic, body in zip(name_bodies(layout), layout.bodies, strict=True):
        topics.append((topic, odometry_form(WORLD, body.link), _fill_body(body.q, body.v)))
    for k, (topic, patch) in enumerate(zip(name_patches(layout), layout.patches, strict=True)):
        topics.append((topic, wrench_form(patch.frame), _fill_slice("wrench", slice(6 * k, 6 * k + 6))))
    for name in layout.numbers:
        topics.append((f"/{name}", array_form(layout.columns[name]), _fill_slice(name, slice(None))))
    topics.append((f"/{EXACT}", array_form((TIME, *layout.columns.get(EXACT, ()))), _fill_audit))
    if not layout.is_plain:
        topics += [(f"/state/{name}", array_form(layout.columns[name]), _fill_slice(name, slice(None))) for name in STATE]
    return topics


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
    q, v = (np.array([getattr(joint, field) for joint in layout.joints], dtype=np.intp) for field in ("q", "v"))
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


def _fill_slice(name: str, part: slice) -> Fill:
    return lambda _t, rows: (rows[name][part],)


def _fill_audit(t: float, rows: Mapping[str, Vector]) -> tuple[Vector, ...]:
    return (np.concatenate(([t], rows.get(EXACT, np.zeros(0)))),)


def _open_writer(folder: Path) -> Any:
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

    writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    writer.open()
    return writer


def _writer_error() -> type[Exception]:
    try:
        from rosbags.rosbag2 import WriterError
    except ImportError as cause:
        raise MissingExtraError("rosbags", "bags", "writing MCAP") from cause
    return WriterError


def _describe_qos(*, latched: bool) -> Any:
    from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime

    never = QosTime(9223372036, 854775807)  # what rosbag2 writes for it
    durability = QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE
    last = (QosLiveliness.AUTOMATIC, never, False)
    return Qos(QosHistory.KEEP_LAST, 1 if latched else 10, QosReliability.RELIABLE, durability, never, never, *last)
