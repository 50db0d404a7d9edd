# SPDX-License-Identifier: Apache-2.0
"""Trajectories as the bytes that go over the wire, read as whole tables: a long one costs a control loop no more than a short one.

Points of a trajectory have the same layout from the second on, so that all their numbers are views of one block.
"""

from __future__ import annotations

from struct import error, unpack_from
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from humanoid_dynamics.control.reference import MOST_POINTS
from humanoid_dynamics.nodes.messages import FIELDS, SECOND
from humanoid_dynamics.nodes.wire import PLAIN, START, WORDS, skip_word
from humanoid_dynamics.spatial.arrays import Matrix

MOST_NAMES = 1_000
MOST_BYTES = 32_000_000
NUMBERS = (1, 1, 1, 1)  # doubles of an entry of positions, velocities, accelerations and effort
POSES = (7, 6, 6)  # of transforms, velocities and accelerations
Trajectory = tuple[list[str], list[int], list[Matrix]]


class TrajectoryRefusedError(Exception):
    """Why a message is no trajectory, in words."""


def read_joint_message(data: bytes, start: int) -> tuple[list[str], list[int], dict[str, Matrix]]:
    """Return the joints of a ``JointTrajectory``, the times of its points [ns] and its tables, each (points, joints).

    Args:
        data: The message.
        start: Time of its beginning, where its stamp is zero [ns].

    Raises:
        TrajectoryRefusedError: If it cannot be read, has too many points, or points that differ in length.
    """
    names, times, tables = _read(data, JointTrajectory, NUMBERS, start)
    return (
        names,
        times,
        {
            name: table
            for name, table in zip(FIELDS, tables, strict=False)
            if table.shape[1] or name == FIELDS[0]
        },
    )


def read_base_message(data: bytes, start: int) -> tuple[list[int], Matrix]:
    """Return the times of a ``MultiDOFJointTrajectory`` [ns] and its rows (points, 13).

    The columns are position, quaternion x y z w, and velocities in axes of the world, zero where there are none.

    Args:
        data: The message.
        start: Time of its beginning, where its stamp is zero [ns].

    Raises:
        TrajectoryRefusedError: If it cannot be read, has too many points, or points that differ in length.
    """
    _, times, (poses, rates, _) = _read(data, MultiDOFJointTrajectory, POSES, start)
    if not poses.shape[1] and times:
        raise TrajectoryRefusedError("base trajectory: has a point without a transform")
    return times, np.column_stack(
        (poses[:, :7], rates[:, :6] if rates.shape[1] else np.zeros((len(times), 6)))
    )


def _read(data: bytes, kind: Any, widths: tuple[int, ...], start: int) -> Trajectory:
    """Return names, times and a table for each field of the points."""
    if len(data) > MOST_BYTES:
        raise TrajectoryRefusedError(
            f"trajectory: has {len(data)} bytes, expected at most {MOST_BYTES}"
        )
    try:
        if data[:START] != PLAIN:
            data = serialize_message(deserialize_message(data, kind))
        sec, nanosec = unpack_from("<iI", data, START)
        names, at = _read_names(data, skip_word(data, WORDS))
        (count,) = unpack_from("<I", data, at)
        if count > MOST_POINTS:
            raise TrajectoryRefusedError(
                f"trajectory: has {count} points, expected at most {MOST_POINTS}"
            )
        stamps, tables = _read_points(data, at + 4, count, widths)
    except (error, ValueError, RuntimeError, UnicodeDecodeError) as refusal:
        raise TrajectoryRefusedError(
            "trajectory: the message cannot be read, or its points differ in length"
        ) from refusal
    begin = sec * SECOND + nanosec or start
    return names, [begin + stamp for stamp in stamps], tables


def _read_names(data: bytes, at: int) -> tuple[list[str], int]:
    (count,) = unpack_from("<I", data, at)
    if count > MOST_NAMES:
        raise TrajectoryRefusedError(
            f"trajectory: names {count} joints, expected at most {MOST_NAMES}"
        )
    names, at = [], at + 4
    for _ in range(count):
        (length,) = unpack_from("<I", data, at)
        names.append(data[at + 4 : at + 3 + length].decode())
        at = skip_word(data, at)
    return names, at


def _read_points(
    data: bytes, at: int, count: int, widths: tuple[int, ...]
) -> tuple[list[int], list[Matrix]]:
    """Return the times from the start [ns] and the tables: the first point by itself, all others by the layout of the second."""
    stamps: list[int] = []
    parts: list[list[Matrix]] = [[] for _ in widths]
    begin = at
    for points in (min(count, 1), count - 1):
        if points <= 0:
            continue
        fields, end = _find_layout(data, begin, widths)
        block = np.frombuffer(data, np.uint8, points * (end - begin), begin).reshape(
            points, end - begin
        )
        for part, (offset, numbers, entries) in zip(parts, fields, strict=True):
            if points > 1 and (_column(block, offset[0] - begin, 4, "<u4") != entries).any():
                raise ValueError
            part.append(_column(block, offset[1] - begin, 8 * numbers, "<f8"))
        sec, nanosec = (
            _column(block, end - begin - far, 4, kind)[:, 0].astype(np.int64)
            for far, kind in ((8, "<i4"), (4, "<u4"))
        )
        stamps += (sec * SECOND + nanosec).tolist()
        begin += points * (end - begin)
    if not count:
        return [], [np.zeros((0, 0)) for _ in widths]
    return stamps, [np.concatenate(part) for part in parts]


def _find_layout(
    data: bytes, at: int, widths: tuple[int, ...]
) -> tuple[list[tuple[tuple[int, int], int, int]], int]:
    """Return, for each field of a point, where its length and its numbers are, how many these are, and its length; and the end."""
    fields = []
    for width in widths:
        at += -at % 4
        (entries,) = unpack_from("<I", data, at)
        first = at + 4
        if entries:
            first += -(first - START) % 8
        if entries > MOST_NAMES:
            raise ValueError
        fields.append(((at, first), width * entries, entries))
        at = first + 8 * width * entries
    return fields, at + 8


def _column(block: Any, first: int, width: int, kind: str) -> Matrix:
    """Return some bytes of each row as numbers."""
    if not width:
        return np.zeros((len(block), 0))
    return np.ascontiguousarray(block[:, first : first + width]).view(kind)
