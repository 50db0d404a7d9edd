# SPDX-License-Identifier: Apache-2.0
"""Bags as files: messages as bytes in, under topics with a type, as ``ros2 bag``, Foxglove and PlotJuggler read them, and out again."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from humanoid_dynamics.errors import MissingExtraError, RecordError
from humanoid_dynamics.series.bag_reader import BROKEN, errors_of_rosbags, explain_fault
from humanoid_dynamics.series.bounded_reading import bound_rosbags
from humanoid_dynamics.series.messages import load_types

FILE = ".mcap"


class BagFile:
    """A bag that is written: a file that ends in ``.mcap``, or else a folder as ``ros2 bag record`` makes it."""

    def __init__(self, path: Path) -> None:
        """Open the bag.

        Args:
            path: The file, which is replaced when the new one is whole, or a folder that does not exist yet.

        Raises:
            MissingExtraError: If ``rosbags`` is not installed.
            RecordError: If nothing can be written there.
        """
        self._store = load_types()
        self._path = path
        self._connections: dict[str, Any] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir() and path.suffix == FILE:
                raise IsADirectoryError(f"{path} is a folder")
            part = path.suffix == FILE
            self._scratch = (
                Path(tempfile.mkdtemp(prefix=f"{path.stem}.", suffix=".part", dir=path.parent))
                if part
                else None
            )
            self._writer = _open_writer(
                path if self._scratch is None else self._scratch / path.stem
            )
        except (OSError, _writer_error()) as cause:
            raise RecordError(str(path), f"cannot be written: {cause}") from cause

    def knows(self, kind: str) -> bool:
        """Return whether messages of a type can be written.

        Args:
            kind: The type, such as ``sensor_msgs/msg/JointState``.
        """
        return kind in self._store.fielddefs

    def connect(self, topic: str, kind: str, *, latched: bool = False) -> Any:
        """Return what stands for a topic in the bag; the first call decides its type.

        Args:
            topic: The topic.
            kind: The type of its messages.
            latched: Whether its last message is for those who come late, too.
        """
        if topic not in self._connections:
            qos = [_describe_qos(latched=latched)]
            self._connections[topic] = self._writer.add_connection(
                topic, kind, typestore=self._store, offered_qos_profiles=qos
            )
        return self._connections[topic]

    def write(self, connection: Any, stamp: int, raw: bytes) -> None:
        """Write a message.

        Args:
            connection: Its topic, as ``connect`` returns it.
            stamp: When [ns].
            raw: The message.
        """
        self._writer.write(connection, stamp, raw)

    def close(self) -> None:
        """Write the index; a bag that was never closed can still be read message by message."""
        self._writer.close()
        if self._scratch is not None:
            folder = self._scratch / self._path.stem
            os.replace(next(folder.glob("*.mcap")), self._path)
            shutil.rmtree(self._scratch)


class BagPlay:
    """A bag that is read in order of time, message by message, without being held in memory."""

    def __init__(self, path: Path, topics: Iterable[str] = ()) -> None:
        """Open the bag.

        Args:
            path: An MCAP file, or the folder of a bag.
            topics: Those wanted; all where empty.

        Raises:
            MissingExtraError: If ``rosbags`` is not installed.
            RecordError: If it is broken, or has not got a topic.
        """
        try:
            from rosbags.highlevel import AnyReader
        except ImportError as cause:
            raise MissingExtraError("rosbags", "bags", "reading MCAP") from cause
        bound_rosbags()
        self._origin, self._path = str(path), path
        try:
            self._reader = AnyReader([path])
            self._reader.open()
        except (*BROKEN, *errors_of_rosbags()) as cause:
            raise RecordError(
                self._origin, f"cannot be read as a bag: {explain_fault(path, cause)}"
            ) from cause
        wanted = {f"/{topic.lstrip('/')}" for topic in topics}
        missing = sorted(wanted - set(self._reader.topics))
        if missing:
            known = ", ".join(self._reader.topics) or "none"
            raise RecordError(
                self._origin, f"has no topic {', '.join(missing)}; its topics are {known}"
            )
        chosen = [
            connection
            for connection in self._reader.connections
            if not wanted or connection.topic in wanted
        ]
        self.topics = {connection.topic: connection.msgtype for connection in chosen}
        self.latched = frozenset(
            connection.topic for connection in chosen if _is_latched(connection)
        )
        self.start, self.end = (
            (self._reader.start_time, self._reader.end_time) if chosen else (0, 0)
        )
        self._chosen = chosen

    def messages(self, start: int = 0) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, instant [ns] and bytes of the messages.

        Args:
            start: Instant of the first one [ns].

        Raises:
            RecordError: If it is broken on the way.
        """
        if not self._chosen:
            return
        faults = (
            *BROKEN,
            *errors_of_rosbags(),
        )  # found now: the generator may be closed when nothing can be imported any more
        try:
            for connection, stamp, raw in self._reader.messages(
                connections=self._chosen, start=start or None
            ):
                yield connection.topic, stamp, bytes(raw)
        except faults as cause:
            raise RecordError(
                self._origin, f"cannot be read on: {explain_fault(self._path, cause)}"
            ) from cause

    def close(self) -> None:
        """Give the file back."""
        self._reader.close()


def _is_latched(connection: Any) -> bool:
    from rosbags.interfaces import QosDurability

    return any(
        qos.durability == QosDurability.TRANSIENT_LOCAL
        for qos in getattr(connection.ext, "offered_qos_profiles", ())
    )


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
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )

    never = QosTime(9223372036, 854775807)  # what rosbag2 writes for it
    durability = QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE
    last = (QosLiveliness.AUTOMATIC, never, False)
    return Qos(
        QosHistory.KEEP_LAST,
        1 if latched else 10,
        QosReliability.RELIABLE,
        durability,
        never,
        never,
        *last,
    )
