# SPDX-License-Identifier: Apache-2.0
"""Messages as the bytes that go over the wire: what comes a thousand times a second is read and written in place.

The bytes are those of plain CDR, little-endian, as all middlewares of ROS 2 send them.  Whatever else comes is left to ROS, and what ROS
cannot read either is no message: readers never raise.
"""

from __future__ import annotations

from struct import error, pack, pack_into, unpack_from
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from humanoid_dynamics.nodes.messages import SECOND, nanoseconds
from humanoid_dynamics.spatial.arrays import Vector

PLAIN = b"\x00\x01\x00\x00"  # little-endian CDR
START = 4  # bytes before the body, to whose beginning things are aligned
WORDS = START + 8  # the first thing after the stamp
MARKS = tuple((k + 0.5) * 1e300 for k in range(1, 5))  # numbers that nothing else in a message is
TOLD = np.dtype("<f8")


def mark(place: int, count: int) -> Vector:
    """Return numbers by which a ``Form`` finds a field.

    Args:
        place: Which of the fields it is.
        count: How many numbers it has.
    """
    return np.full(count, MARKS[place])


class Form:
    """A message of one shape, whose stamp and numbers are written in place; not for several threads at once."""

    def __init__(self, message: Any, *counts: int) -> None:
        """Take the message.

        Args:
            message: It begins with a stamp; its fields hold ``mark``.
            counts: How many numbers each field has.
        """
        self._bytes = bytearray(serialize_message(message))
        self._fields = []
        for place, count in enumerate(counts):
            at = self._bytes.find(pack("<d", MARKS[place]) * count)
            self._fields.append(np.frombuffer(self._bytes, TOLD, count, at))

    def write(self, stamp: Any, *values: Vector) -> bytes:
        """Return the message with these numbers.

        Args:
            stamp: Its time.
            values: Numbers of each field.
        """
        pack_into("<iI", self._bytes, START, stamp.sec, stamp.nanosec)
        for field, numbers in zip(self._fields, values, strict=True):
            field[:] = numbers
        return bytes(self._bytes)


class JointStateReader:
    """Reads joint states whose names seldom change; not for several threads at once."""

    def __init__(self) -> None:
        self._words = b"?"
        self._names: list[str] = []

    def read(self, data: bytes) -> tuple[list[str], Vector, Vector, Vector, int] | None:
        """Return names, positions, velocities, efforts and the stamp [ns]; None where it is no message.

        Args:
            data: The message.
        """
        known = data[WORDS : WORDS + len(self._words)] == self._words and data[:START] == PLAIN
        if not known and not self._learn(data):
            return None
        try:
            sec, nanosec = unpack_from("<iI", data, START)
            at, found = WORDS + len(self._words), []
            for _ in range(3):
                at += -at % 4
                (count,) = unpack_from("<I", data, at)
                at += 4
                at += -(at - START) % 8 if count else 0
                found.append(np.frombuffer(data, TOLD, count, at))
                at += 8 * count
        except (ValueError, error):
            return _read_slowly(data)
        return self._names, found[0], found[1], found[2], sec * SECOND + nanosec

    def _learn(self, data: bytes) -> bool:
        """Find where the words of a message end, and return whether it is one."""
        message = _deserialize(data, JointState)
        if message is None:
            return False
        self._names = list(message.name)
        try:
            at = skip_word(data, WORDS)
            (count,) = unpack_from("<I", data, at)
            at += 4
            for _ in range(count):
                at = skip_word(data, at)
        except error:
            at = len(data)
        self._words = data[WORDS:at]
        return True


class NumbersReader:
    """Reads messages of a header, perhaps other words, and then numbers; not for several threads at once."""

    def __init__(self, kind: type, words: int, count: int) -> None:
        """Prepare.

        Args:
            kind: Type of the message, which begins with a header.
            words: How many strings come before the numbers.
            count: How many numbers there are.
        """
        self._kind, self._count_words, self._count = kind, words, count
        self._words = b"?"
        self._at = 0

    def read(self, data: bytes) -> tuple[Vector, int] | None:
        """Return the numbers and the stamp [ns]; None where it is no message.

        Args:
            data: The message.
        """
        if data[:START] != PLAIN:
            message = _deserialize(data, self._kind)
            if message is None:
                return None
            data = serialize_message(message)
        try:
            if data[WORDS : WORDS + len(self._words)] != self._words:
                end = WORDS
                for _ in range(self._count_words):
                    end = skip_word(data, end)
                self._words, self._at = data[WORDS:end], end + -(end - START) % 8
            sec, nanosec = unpack_from("<iI", data, START)
            return np.frombuffer(data, TOLD, self._count, self._at), sec * SECOND + nanosec
        except (ValueError, error):
            return None


class OdometryReader:
    """Reads odometry; not for several threads at once."""

    def __init__(self) -> None:
        self._reader = NumbersReader(Odometry, 2, 7 + 36 + 6 + 36)

    def read(self, data: bytes) -> tuple[Vector, Vector, int] | None:
        """Return pose (7,), twist (6,) in axes of the child frame, and the stamp [ns]; None where it is no message.

        Args:
            data: The message.
        """
        found = self._reader.read(data)
        if found is None:
            return None
        numbers, stamp = found
        return np.array(numbers[:7]), np.array(numbers[43:49]), stamp


def skip_word(data: bytes, at: int) -> int:
    """Return where what follows a string begins.

    Args:
        data: The message.
        at: Where the string begins.
    """
    (length,) = unpack_from("<I", data, at)
    end = at + 4 + int(length)
    return int(end + -end % 4)


def _read_slowly(data: bytes) -> tuple[list[str], Vector, Vector, Vector, int] | None:
    message = _deserialize(data, JointState)
    if message is None:
        return None
    fields = (
        np.asarray(numbers) for numbers in (message.position, message.velocity, message.effort)
    )
    position, velocity, effort = fields
    return list(message.name), position, velocity, effort, nanoseconds(message.header.stamp)


def _deserialize(data: bytes, kind: type) -> Any:
    """Return the message; None where ROS says that it is none."""
    try:
        return deserialize_message(data, kind)
    except RuntimeError:
        return None
