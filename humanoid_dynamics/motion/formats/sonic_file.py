# SPDX-License-Identifier: Apache-2.0
"""Reference motions of SONIC (GR00T whole-body control): a folder of tables at 50 Hz, each with a header.

joint_pos.csv    joint_0 ..: joint positions in the order of Isaac Lab
body_pos.csv     body_0_x ..: positions of bodies in the world, the root first
body_quat.csv    body_0_w ..: their orientations, w x y z
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.csv_file import read_table
from humanoid_dynamics.motion.formats.robot_motion import BodyPositions, RobotMotion
from humanoid_dynamics.spatial.arrays import Matrix

JOINTS, PLACES, TURNS = TABLES = ("joint_pos.csv", "body_pos.csv", "body_quat.csv")
RATE = 50.0  # Hz, of every motion of the format


def is_sonic(path: Path) -> bool:
    """Return whether a path is the folder of a motion.

    Args:
        path: The path.
    """
    return path.is_dir() and all((path / name).is_file() for name in TABLES)


def read_sonic(path: Path, rate: float | None = None) -> RobotMotion:
    """Read the folder of a motion.

    Args:
        path: The folder.
        rate: Samples per second where it is not 50 Hz [Hz].

    Raises:
        ClipError: Naming the table that is wrong.
    """
    joints, places, turns = (read_table(path / name).values for name in TABLES)
    n = len(joints)
    for name, table, width in ((PLACES, places, 3), (TURNS, turns, 4)):
        if len(table) != n or not table.shape[1] or table.shape[1] % width:
            problem = f"has shape {table.shape}, expected {n} rows and {width} columns a body"
            raise ClipError(str(path / name), problem)
    positions: Matrix = places.reshape(n, -1, 3)
    return RobotMotion(
        str(path),
        np.arange(n) / (rate or RATE),
        positions[:, 0],
        turns[:, :4],
        joints,
        scalar_first=True,
        breadth_first=True,
        bodies=BodyPositions(positions),
    )
