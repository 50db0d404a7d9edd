# SPDX-License-Identifier: Apache-2.0
"""DeepMimic motions: JSON with one row per frame: duration, place and quaternion of the root, then each joint of the skeleton.

Quaternions are w x y z; a revolute joint is one angle about z.  The skeleton is not in the file, but in a skeleton map.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError, DescriptionError, count
from humanoid_dynamics.motion.clip import check_table
from humanoid_dynamics.motion.formats.bvh_file import axis_rotations
from humanoid_dynamics.motion.formats.recording import normalize_rows
from humanoid_dynamics.motion.retargeting.skeleton import Skeleton, SkeletonMotion
from humanoid_dynamics.motion.retargeting.skeleton_map import ROOT, SkeletonMap
from humanoid_dynamics.spatial.arrays import Matrix, read_only

SHORTENED = 0.5  # the motions of this format hold quaternions that were blended from far apart and not scaled back
LOOPS = ("none", "wrap")
WIDTHS = {"spherical": 4, "revolute": 1, "fixed": 0}
ROOT_COLUMNS = (
    "duration",
    "root.x",
    "root.y",
    "root.z",
    "root.qw",
    "root.qx",
    "root.qy",
    "root.qz",
)


@dataclass(frozen=True, eq=False)
class DeepMimic:
    """A DeepMimic motion, as written.

    Attributes:
        origin: The file, for messages.
        frames: (n, columns) durations [s], root and joints.
        loop: ``wrap`` for a cycle, or ``none``.
    """

    origin: str
    frames: Matrix = field(repr=False)
    loop: str = "none"

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", read_only(self.frames))

    def skeleton_motion(self, skeleton_map: SkeletonMap) -> SkeletonMotion:
        """Return the motion of the skeleton of a map, in axes of the file.

        Args:
            skeleton_map: The map, with the joints in the order of the file.

        Raises:
            ClipError: If the rows have not the width of the skeleton, or hold what is no rotation or no duration.
        """
        columns = frame_columns(skeleton_map)
        table = np.array(
            check_table(
                self.frames, (len(self.frames), len(columns)), columns, self.origin, "frames"
            )
        )
        bad = np.flatnonzero(table[:-1, 0] <= 0.0)
        if bad.size:
            row = int(bad[0])
            raise ClipError(
                self.origin,
                f"received {table[row, 0]} s, expected a positive duration",
                row=row,
                column="duration",
            )
        skeleton = _skeleton(skeleton_map)
        places = np.tile(skeleton.offsets, (len(table), 1, 1))
        turns = np.tile(np.eye(3), (len(table), len(skeleton.names), 1, 1))
        places[:, 0] = table[:, 1:4]
        turns[:, 0] = _rotations(table, 4, columns, self.origin)
        column = len(ROOT_COLUMNS)
        for index, joint in enumerate(skeleton_map.joints.values(), start=1):
            if joint.kind == "spherical":
                turns[:, index] = _rotations(table, column, columns, self.origin)
            elif joint.kind == "revolute":
                turns[:, index] = axis_rotations(2, table[:, column])
            column += WIDTHS[joint.kind]
        times = np.concatenate(([0.0], np.cumsum(table[:-1, 0])))
        return SkeletonMotion(self.origin, skeleton, times, places, turns)


def frame_columns(skeleton_map: SkeletonMap) -> tuple[str, ...]:
    """Name the numbers of a frame.

    Args:
        skeleton_map: The map, with the joints in the order of the file.

    Returns:
        Names of the columns.
    """
    parts = {"spherical": ("qw", "qx", "qy", "qz"), "revolute": ("angle",), "fixed": ()}
    return ROOT_COLUMNS + tuple(
        f"{name}.{part}"
        for name, joint in skeleton_map.joints.items()
        for part in parts[joint.kind]
    )


def read_deepmimic(path: Path) -> DeepMimic:
    """Read a DeepMimic motion.

    Args:
        path: The file.

    Returns:
        What it holds.

    Raises:
        ClipError: If it is not one, naming row and column where there is one.
    """
    origin = str(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as cause:
        raise ClipError(origin, f"cannot be read as JSON: {cause}") from cause
    rows = content.get("Frames") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise ClipError(origin, "has no list Frames")
    loop = content.get("Loop", "none")
    if loop not in LOOPS:
        raise ClipError(origin, f"received Loop {loop!r}, expected {' or '.join(LOOPS)}")
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ClipError(
                origin,
                f"has {count(len(row), 'number')}, the first row has {len(rows[0])}",
                row=index,
            )
        for column, number in enumerate(row):
            if (
                isinstance(number, bool)
                or not isinstance(number, int | float)
                or not np.isfinite(number)
            ):
                raise ClipError(
                    origin,
                    f"received {number!r}, expected a finite number",
                    row=index,
                    column=str(column),
                )
    return DeepMimic(origin, np.array(rows, dtype=np.float64), loop)


def write_deepmimic(motion: DeepMimic, path: Path) -> None:
    """Write a DeepMimic motion, in full precision.

    Args:
        motion: What it shall hold.
        path: The file.
    """
    rows = ",\n".join(json.dumps([float(number) for number in row]) for row in motion.frames)
    path.write_text(
        f'{{\n"Loop": {json.dumps(motion.loop)},\n"Frames":\n[\n{rows}\n]\n}}\n', encoding="utf-8"
    )


def _skeleton(skeleton_map: SkeletonMap) -> Skeleton:
    if not skeleton_map.joints:
        raise DescriptionError(
            skeleton_map.origin,
            "joints",
            "is missing; the files of this format do not hold their skeleton",
        )
    names = (ROOT, *skeleton_map.joints)
    parents = [-1]
    for number, (name, joint) in enumerate(skeleton_map.joints.items(), start=1):
        if joint.parent not in names[:number]:
            raise DescriptionError(
                skeleton_map.origin,
                f"joints.{name}.parent",
                f"received {joint.parent!r}, expected one of {names[:number]}",
            )
        parents.append(names.index(joint.parent))
    return Skeleton(
        names,
        tuple(parents),
        np.array([(0.0, 0.0, 0.0), *(joint.offset for joint in skeleton_map.joints.values())]),
    )


def _rotations(table: Matrix, column: int, columns: tuple[str, ...], origin: str) -> Matrix:
    normalize_rows(table, list(range(column, column + 4)), columns, origin, SHORTENED)
    w, x, y, z = table[:, column : column + 4].T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.asarray(np.moveaxis(np.array(rows), -1, 0))
