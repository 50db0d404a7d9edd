# SPDX-License-Identifier: Apache-2.0
"""Bags of ROS 2 as arrays: what joints, odometry, contacts and named numbers said, topic by topic."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import MissingExtraError, RecordError
from humanoid_dynamics.series.bounded_reading import (
    bound_rosbags,
    check_size,
    find_limit,
    measure_folder,
)
from humanoid_dynamics.series.messages import (
    ARRAY,
    BASE_TRAJECTORY,
    IMU,
    JOINT_STATE,
    ODOMETRY,
    STRING,
    TRAJECTORY,
    WRENCH_STAMPED,
    Form,
    Template,
    build_template,
    find_form,
)
from humanoid_dynamics.spatial.arrays import Matrix

MAGIC = b"\x89MCAP0\r\n"
METADATA = "metadata.yaml"
NUMBERS = frozenset({JOINT_STATE, ODOMETRY, WRENCH_STAMPED, IMU, ARRAY})
WHOLE = frozenset({STRING, TRAJECTORY, BASE_TRAJECTORY})
BROKEN: tuple[type[Exception], ...] = (  # what a flipped bit of a bag can lead to
    *(
        OSError,
        ValueError,
        AssertionError,
        AttributeError,
        LookupError,
        TypeError,
        ArithmeticError,
        MemoryError,
        RuntimeError,
        EOFError,
    ),
    struct.error,
)
SPARE = (0, 4, 8)
Stamps = NDArray[np.int64]
Held = TypeVar("Held")


@dataclass(frozen=True, eq=False)
class Series:
    """All messages of one topic that have the same form.

    Attributes:
        form: What they have in common.
        stamps: (n,) instants of their headers, or of the bag where all of these are zero [ns].
        fields: Numbers of each field, one row per message.
    """

    form: Form
    stamps: Stamps
    fields: tuple[Matrix, ...] = field(repr=False)

    def rows(self, part: Any) -> Series:
        """Return some of the messages.

        Args:
            part: Which rows.
        """
        return Series(self.form, self.stamps[part], tuple(values[part] for values in self.fields))


@dataclass(frozen=True, eq=False)
class Bag:
    """What a bag holds of the types this package reads.

    Attributes:
        origin: The file or folder.
        topics: All its topics, with their types.
        series: Topic -> messages that are numbers, those of one form together.
        messages: Topic -> stamp [ns] and message, of trajectories and texts.
    """

    origin: str
    topics: dict[str, str]
    series: dict[str, list[Series]] = field(repr=False)
    messages: dict[str, list[tuple[int, Any]]] = field(repr=False)

    def rename(self, names: Mapping[str, str]) -> Bag:
        """Return the same bag with other names of topics.

        Args:
            names: Topic of the bag -> the name it is to have.

        Raises:
            RecordError: If it has no such topic.
        """
        new = {f"/{old.lstrip('/')}": f"/{name.lstrip('/')}" for old, name in names.items()}
        for old in new:
            if old not in self.topics:
                raise RecordError(
                    self.origin,
                    f"has no topic {old}; its topics are {', '.join(self.topics) or 'none'}",
                )
        return Bag(
            self.origin,
            _rename(self.topics, new),
            _rename(self.series, new),
            _rename(self.messages, new),
        )

    def of_kind(self, kind: str) -> list[str]:
        """Return the topics of a type that hold messages.

        Args:
            kind: The type.
        """
        return [
            topic
            for topic, found in self.topics.items()
            if found == kind and (topic in self.series or topic in self.messages)
        ]


class _Rows:
    """Messages of one form, growing."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.stamps: list[int] = []
        self.taken: list[int] = []
        self.bytes = [bytearray() for _ in form.sizes]

    def close(self) -> Series:
        sizes = self.form.sizes
        fields = (
            np.frombuffer(bytes(data)).reshape(len(self.stamps), size)
            for data, size in zip(self.bytes, sizes, strict=True)
        )
        stamps = self.stamps if any(self.stamps) else self.taken
        return Series(self.form, np.array(stamps, dtype=np.int64), tuple(fields))


class _Topic:
    """Messages of one topic: decoded in place where they look like the last one, as a whole where they do not."""

    def __init__(self, kind: str, store: Any) -> None:
        self._kind, self._store = kind, store
        self._template: Template | None = None
        self.groups: dict[Form, _Rows] = {}

    def take(self, stamp: int, raw: bytes) -> None:
        template, found = (
            self._template,
            None if self._template is None else self._template.decode(raw),
        )
        if template is None or found is None:
            message = self._deserialize(raw)
            template = self._template = build_template(find_form(message, self._kind))
            # One written another way is encoded anew: big-endian, or with bytes between its numbers that mean nothing.
            found = template.decode(raw) or template.decode(
                bytes(self._store.serialize_cdr(message, self._kind))
            )
        if found is None and self._kind == ARRAY:
            return  # of several dimensions, which no table of ours has
        if found is None:
            raise ValueError(f"a message of type {self._kind} cannot be decoded")
        rows = self.groups.setdefault(template.form, _Rows(template.form))
        rows.stamps.append(found[0])
        rows.taken.append(stamp)
        for data, values in zip(rows.bytes, found[1], strict=True):
            data += values.tobytes()

    def _deserialize(self, raw: bytes) -> Any:
        """Decode a message; some writers leave up to eight bytes behind an empty list at its end, which rosbags refuses."""
        from rosbags.serde import SerdeError

        for spare in SPARE:
            try:
                return self._store.deserialize_cdr(raw[: len(raw) - spare], self._kind)
            except SerdeError:
                if spare == SPARE[-1]:
                    raise
        return None


def _rename(part: Mapping[str, Held], names: Mapping[str, str]) -> dict[str, Held]:
    """Return what topics hold, under their new names; what had such a name before goes."""
    return {
        names.get(topic, topic): held
        for topic, held in part.items()
        if topic in names or topic not in names.values()
    }


def is_bag(path: Path) -> bool:
    """Return whether a path is an MCAP file, or a folder that ``ros2 bag`` wrote.

    Args:
        path: The path.
    """
    if path.is_dir():
        return (path / METADATA).is_file()
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_bag(path: Path) -> Bag:
    """Read a bag.

    Args:
        path: An MCAP file, or a folder as ``ros2 bag record`` makes it, with MCAP or SQLite inside.

    Returns:
        What it holds.

    Raises:
        MissingExtraError: If ``rosbags`` is not installed.
        RecordError: If it is broken or cut off.
    """
    try:
        from rosbags.highlevel import AnyReader
    except ImportError as cause:
        raise MissingExtraError("rosbags", "bags", "reading MCAP") from cause
    bound_rosbags()
    origin = str(path)
    try:
        with AnyReader([path]) as reader:
            topics = {connection.topic: connection.msgtype for connection in reader.connections}
            return Bag(origin, topics, *_collect(reader, find_limit(measure_folder(path))))
    except (*BROKEN, *errors_of_rosbags()) as cause:
        raise RecordError(
            origin, f"cannot be read as a bag: {explain_fault(path, cause)}"
        ) from cause


def _collect(
    reader: Any, limit: int
) -> tuple[dict[str, list[Series]], dict[str, list[tuple[int, Any]]]]:
    numbers: dict[str, _Topic] = {}
    messages: dict[str, list[tuple[int, Any]]] = {}
    total = 0
    for connection, stamp, raw in _wanted(reader):
        total += len(raw)
        check_size("all messages together", total, limit)
        if connection.msgtype in NUMBERS:
            numbers.setdefault(connection.topic, _Topic(connection.msgtype, reader.typestore)).take(
                stamp, bytes(raw)
            )
        else:
            messages.setdefault(connection.topic, []).append(
                (stamp, reader.deserialize(raw, connection.msgtype))
            )
    return {
        topic: [rows.close() for rows in taken.groups.values()] for topic, taken in numbers.items()
    }, messages


def _wanted(reader: Any) -> Iterator[tuple[Any, int, bytes]]:
    wanted = [
        connection for connection in reader.connections if connection.msgtype in NUMBERS | WHOLE
    ]
    return iter(reader.messages(connections=wanted)) if wanted else iter(())


def errors_of_rosbags() -> tuple[type[Exception], ...]:
    """Return what the library raises, and the decompressor below it."""
    from rosbags.highlevel import AnyReaderError
    from rosbags.rosbag2 import ReaderError
    from rosbags.serde import SerdeError
    from rosbags.typesys import TypesysError

    zstd: Any = import_module(
        "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    )
    return (AnyReaderError, ReaderError, SerdeError, TypesysError, zstd.ZstdError)


def explain_fault(path: Path, cause: Exception) -> str:
    """Return what is wrong with a bag in words.

    Args:
        path: The bag.
        cause: What reading it raised.
    """
    if path.is_file():
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - len(MAGIC)))
            if file.read() != MAGIC:
                return f"its end is missing ({cause}): its writer was interrupted, or the file was cut off at {size} bytes"
    return str(cause) or type(cause).__name__
