# SPDX-License-Identifier: Apache-2.0
"""Poses of one frame over time, such as a tracked hand."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ClipError, count
from humanoid_dynamics.motion.clip import LARGEST, LONGEST, check_table, check_times, tell_number
from humanoid_dynamics.motion.formats.doubts import tell_times
from humanoid_dynamics.motion.formats.recording import normalize_rows
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

COLUMNS = ("x", "y", "z", "qx", "qy", "qz", "qw")
NORMAL = 0.1  # how far a quaternion of a tracker may be from length one; what is farther is none


@dataclass(frozen=True, eq=False)
class PoseStream:
    """Where one frame was, and how it was turned.

    Attributes:
        name: Name of the frame, such as ``hand``.
        times: (n,) instants [s].
        poses: (n, 7) x y z [m] and quaternion x y z w in the world.
        origin: Where it came from, for messages.
        lost: How many rows of the recording were no poses.
        notices: What became of those, in words.
    """

    name: str
    times: Vector
    poses: Matrix = field(repr=False)
    origin: str = "poses"
    lost: int = 0
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", check_times(self.times, self.origin, fewest=1))
        columns = _columns(self.name)
        table = np.array(
            check_table(
                self.poses, (len(self.times), 7), columns, self.origin, f"poses of {self.name}"
            )
        )
        normalize_rows(table, [3, 4, 5, 6], columns, self.origin)
        table.flags.writeable = False
        object.__setattr__(self, "poses", table)

    def __len__(self) -> int:
        return len(self.times)

    def pose(self, row: int) -> pin.SE3:
        """Return one sample.

        Args:
            row: Its index.
        """
        return pin.XYZQUATToSE3(np.array(self.poses[row]))


def read_recorded_poses(name: str, times: ArrayLike, poses: ArrayLike, origin: str) -> PoseStream:
    """Return recorded poses without the rows in which the tracker had none: a lost row is a lost sample, and is told.

    Args:
        name: Name of the frame.
        times: (n,) instants [s]; what is no number, and the fewest rows without which the others ascend, are lost.
        poses: (n, 7) x y z [m] and quaternion x y z w; what is no number, or no rotation, is lost.
        origin: Where they came from, for messages.

    Returns:
        The poses that are left.

    Raises:
        ClipError: If none is left, naming the first row, or they last more than a day.
    """
    stamps, table = np.asarray(times, dtype=np.float64), np.array(poses, dtype=np.float64)
    lost: dict[int, ClipError] = {}
    for row, (stamp, pose) in enumerate(zip(stamps, table, strict=True)):
        column, problem = _find_problem(stamp, pose, _columns(name))
        if problem:
            lost[row] = ClipError("", problem, row=row, column=column)
    lost = dict(
        sorted(
            (
                lost
                | _find_jumps(stamps, np.setdiff1d(np.arange(len(stamps)), list(lost)).astype(int))
            ).items()
        )
    )
    first = next(iter(lost.values()), None)
    kept = np.setdiff1d(np.arange(len(stamps)), list(lost)).astype(int)
    if not len(kept):
        raise ClipError(origin, f"holds no pose of {name}: {first or 'it has 0 rows'}")
    if np.ptp(stamps[kept]) > LONGEST:
        raise ClipError(
            origin,
            f"lasts {np.ptp(stamps[kept]):.4g} s, more than a day: its times or its rate (fps) are wrong",
            column="time",
        )
    table[kept, 3:] /= np.linalg.norm(table[kept, 3:], axis=1)[:, None]
    said = (
        [f"{len(lost)} of {count(len(stamps), 'pose')} are lost and ignored, the first is {first}"]
        if first
        else []
    )
    notices = tuple(f"{name}: {notice}" for notice in (*said, *tell_times(stamps[kept], kept)))
    return PoseStream(name, stamps[kept], table[kept], origin, len(lost), notices)


def _columns(name: str) -> tuple[str, ...]:
    return tuple(f"{name}.{part}" for part in COLUMNS)


def _find_jumps(stamps: Vector, rows: Indices) -> dict[int, ClipError]:
    """Return the fewest rows without which the stamps of the others ascend, and why each."""
    ends: list[
        int
    ] = []  # the row in which a course of so many ascending stamps, the earliest such, ends
    before: dict[int, int] = {}
    for row in rows.tolist():
        place = bisect_left(ends, stamps[row], key=stamps.__getitem__)
        if place < len(ends) and stamps[ends[place]] == stamps[row]:
            continue
        before[row] = ends[place - 1] if place else -1
        ends[place : place + 1] = [row]
    kept, row = [], ends[-1] if ends else -1
    while row >= 0:
        kept.append(row)
        row = before[row]
    kept.reverse()
    lost = {}
    for row in np.setdiff1d(rows, kept).tolist():
        place = bisect_left(kept, row)
        if place and stamps[row] <= stamps[kept[place - 1]]:
            problem = f"{stamps[row]:.9g} s comes after {stamps[kept[place - 1]]:.9g} s"
        else:
            problem = f"{stamps[row]:.9g} s comes before {stamps[kept[place]]:.9g} s"
        lost[row] = ClipError("", problem, row=row, column="time")
    return lost


def _find_problem(stamp: float, pose: Vector, columns: tuple[str, ...]) -> tuple[str, str]:
    """Return the column of a row that is no pose, and why; both empty where it is one."""
    if not np.isfinite(stamp):
        return "time", f"received {stamp}, expected a finite time"
    bad = np.flatnonzero(~(np.abs(pose) <= LARGEST))
    if bad.size:
        return columns[bad[0]], tell_number(float(pose[bad[0]]))
    length = float(np.linalg.norm(pose[3:]))
    if abs(length - 1.0) > NORMAL:
        return (
            f"{columns[3]}..{columns[6]}",
            f"quaternion of length {length:.9g}, expected 1 to {NORMAL:g}",
        )
    return "", ""
