# SPDX-License-Identifier: Apache-2.0
"""Biovision hierarchy files: a tree of joints with offsets and channels, then one line of channels per frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import count_frames
from humanoid_dynamics.motion.retargeting.skeleton import Skeleton, SkeletonMotion
from humanoid_dynamics.series.bounded_reading import ReadLimitError, check_lines
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

AXES = "XYZ"
POSITIONS = tuple(f"{axis}position" for axis in AXES)
ROTATIONS = tuple(f"{axis}rotation" for axis in AXES)
END = "_end"


@dataclass(frozen=True)
class BvhJoint:
    """One joint of the hierarchy.

    Attributes:
        name: Its name; the end of the bone of ``X`` is ``X_end``.
        parent: Index of its parent, -1 for the root.
        offset: Place in the frame of its parent, in units of the file.
        channels: Names of its channels, in order; none for an end.
    """

    name: str
    parent: int
    offset: tuple[float, float, float]
    channels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Bvh:
    """A hierarchy file, as written.

    Attributes:
        origin: The file, for messages.
        joints: Joints in the order of the file.
        frame_time: Time from frame to frame [s].
        values: (n, channels) all channels, rotations in degrees.
    """

    origin: str
    joints: tuple[BvhJoint, ...]
    frame_time: float
    values: Matrix = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of all channels, such as ``Hips.Xrotation``."""
        return tuple(
            f"{joint.name}.{channel}" for joint in self.joints for channel in joint.channels
        )

    def skeleton_motion(self) -> SkeletonMotion:
        """Return the motion of its skeleton, in units and axes of the file.

        Rotations apply in the order of the channels; a joint with position channels sits where they place it, not at its offset.
        """
        n, m = len(self.values), len(self.joints)
        skeleton = Skeleton(
            tuple(joint.name for joint in self.joints),
            tuple(joint.parent for joint in self.joints),
            np.array([joint.offset for joint in self.joints]),
        )
        places = np.tile(skeleton.offsets, (n, 1, 1))
        turns = np.tile(np.eye(3), (n, m, 1, 1))
        column = 0
        for index, joint in enumerate(self.joints):
            for channel in joint.channels:
                values, axis = self.values[:, column], AXES.index(channel[0])
                if channel in POSITIONS:
                    places[:, index, axis] = values
                else:
                    turns[:, index] = turns[:, index] @ axis_rotations(axis, np.deg2rad(values))
                column += 1
        return SkeletonMotion(
            self.origin, skeleton, self.frame_time * np.arange(n, dtype=np.float64), places, turns
        )


def axis_rotations(axis: int, angles: Vector) -> Matrix:
    """Return the rotations about a coordinate axis.

    Args:
        axis: 0, 1 or 2.
        angles: (n,) angles [rad].

    Returns:
        (n, 3, 3) rotation matrices.
    """
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((len(angles), 3, 3))
    c, s = np.cos(angles), np.sin(angles)
    R[:, axis, axis] = 1.0
    R[:, i, i], R[:, j, j], R[:, i, j], R[:, j, i] = c, c, -s, s
    return R


class _Words:
    """The words of the hierarchy, each with its line."""

    def __init__(self, lines: list[str], origin: str, first: int = 1) -> None:
        self._words = [
            (word, number)
            for number, line in enumerate(lines, start=first)
            for word in line.split()
        ]
        self._next, self._first, self.origin = 0, first, origin

    @property
    def line(self) -> int:
        return self._words[min(self._next, len(self._words) - 1)][1] if self._words else self._first

    def take(self, *expected: str) -> str:
        word = self._words[self._next][0] if self._next < len(self._words) else ""
        if not word or (expected and word not in expected):
            raise self.error(
                f"received {word or 'the end of the file'!r}, expected {' or '.join(expected) or 'a word'}"
            )
        self._next += 1
        return word

    def number(self) -> float:
        line, word = self.line, self.take()
        try:
            value = float(word)
        except ValueError as cause:
            raise ClipError(
                self.origin, f"received {word!r}, expected a number", line=line
            ) from cause
        if not np.isfinite(value):
            raise ClipError(self.origin, f"received {word!r}, expected a finite number", line=line)
        return value

    def peek(self) -> str:
        return self._words[self._next][0] if self._next < len(self._words) else ""

    def error(self, problem: str) -> ClipError:
        return ClipError(self.origin, problem, line=self.line)


def read_bvh(path: Path) -> Bvh:
    """Read a hierarchy file.

    Args:
        path: The file.

    Returns:
        What it holds.

    Raises:
        ClipError: Naming the line, or the frame and the channel, that is wrong.
    """
    origin = str(path)
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="strict").splitlines()
        check_lines(lines)
    except (OSError, UnicodeDecodeError, ReadLimitError) as cause:
        raise ClipError(origin, f"cannot be read: {cause}") from cause
    start = next((index for index, line in enumerate(lines) if line.strip() == "MOTION"), None)
    if start is None:
        raise ClipError(origin, "has no line MOTION")
    words = _Words(lines[:start], origin)
    words.take("HIERARCHY")
    words.take("ROOT")
    joints: list[BvhJoint] = []
    _read_joints(words, joints)
    if words.peek():
        raise words.error(
            f"received {words.peek()!r} after the root joint, expected MOTION; more than one root is not read"
        )
    channels = [f"{joint.name}.{channel}" for joint in joints for channel in joint.channels]
    frame_time, values = _read_frames(lines, start, channels, origin)
    return Bvh(origin, tuple(joints), frame_time, values)


def _read_joints(words: _Words, joints: list[BvhJoint]) -> None:
    """Read the joint whose name comes next and all below it; a stack, so that depth has no limit."""
    open_joints = [_read_head(words, -1, joints)]
    while open_joints:
        word = words.take("JOINT", "End", "}")
        if word == "JOINT":
            open_joints.append(_read_head(words, open_joints[-1], joints))
        elif word == "End":
            _read_end(words, open_joints[-1], joints)
        else:
            open_joints.pop()


def _read_head(words: _Words, parent: int, joints: list[BvhJoint]) -> int:
    name = words.take()
    while words.peek() not in {"{", ""}:
        name += " " + words.take()
    if any(joint.name == name for joint in joints):
        raise words.error(f"joint {name!r} comes twice")
    words.take("{")
    words.take("OFFSET")
    offset = (words.number(), words.number(), words.number())
    channels: tuple[str, ...] = ()
    if words.peek() == "CHANNELS":
        words.take()
        count = words.number()
        channels = tuple(words.take(*POSITIONS, *ROTATIONS) for _ in range(int(count)))
    joints.append(BvhJoint(name, parent, offset, channels))
    return len(joints) - 1


def _read_end(words: _Words, parent: int, joints: list[BvhJoint]) -> None:
    words.take("Site")
    words.take("{")
    words.take("OFFSET")
    offset = (words.number(), words.number(), words.number())
    words.take("}")
    joints.append(BvhJoint(joints[parent].name + END, parent, offset, ()))


def _read_frames(
    lines: list[str], start: int, channels: list[str], origin: str
) -> tuple[float, Matrix]:
    head = _Words(lines[start + 1 : start + 3], origin, start + 2)
    head.take("Frames:")
    count = head.number()
    head.take("Frame")
    head.take("Time:")
    frame_time = head.number()
    if frame_time <= 0.0:
        raise ClipError(
            origin,
            f"received a frame time of {frame_time} s, expected a positive one",
            line=start + 3,
        )
    rows = [
        (number, line.split())
        for number, line in enumerate(lines[start + 3 :], start=start + 4)
        if line.strip()
    ]
    if len(rows) != count:
        raise ClipError(origin, f"has {count_frames(len(rows))}, the header declares {count:g}")
    values = np.empty((len(rows), len(channels)))
    for index, (line, cells) in enumerate(rows):
        if len(cells) != len(channels):
            raise ClipError(
                origin, f"has {len(cells)} channels, expected {len(channels)}", row=index, line=line
            )
        for column, cell in enumerate(cells):
            values[index, column] = _cell(cell, channels[column], (origin, index, line))
    return frame_time, values


def _cell(cell: str, channel: str, place: tuple[str, int, int]) -> float:
    origin, row, line = place
    try:
        value = float(cell)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ClipError(
            origin,
            f"received {cell!r}, expected a finite number",
            row=row,
            column=channel,
            line=line,
        )
    return value


def write_bvh(bvh: Bvh, path: Path) -> None:
    """Write a hierarchy file, in full precision.

    Args:
        bvh: What it shall hold.
        path: The file.
    """
    lines = [
        "HIERARCHY",
        *_write_joint(bvh, 0, ""),
        "MOTION",
        f"Frames: {len(bvh.values)}",
        f"Frame Time: {float(bvh.frame_time)!r}",
    ]
    lines += [" ".join(repr(float(value)) for value in row) for row in bvh.values]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_joint(bvh: Bvh, index: int, indent: str) -> list[str]:
    joint = bvh.joints[index]
    is_end = not joint.channels and joint.name.endswith(END)
    kind = "End Site" if is_end else f"{'ROOT' if joint.parent < 0 else 'JOINT'} {joint.name}"
    inner = indent + "\t"
    lines = [
        indent + kind,
        indent + "{",
        inner + "OFFSET " + " ".join(repr(float(part)) for part in joint.offset),
    ]
    if not is_end:
        lines.append(" ".join((f"{inner}CHANNELS {len(joint.channels)}", *joint.channels)))
    for child, other in enumerate(bvh.joints):
        if other.parent == index:
            lines += _write_joint(bvh, child, inner)
    return [*lines, indent + "}"]
