# SPDX-License-Identifier: Apache-2.0
"""Torques of a motion as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.csv_file import TIME
from humanoid_dynamics.motion.measured.torque_bag import write_torque_bag
from humanoid_dynamics.motion.motion_torques import MotionTorques

TABLE, ARCHIVE, BAG = ".csv", ".npz", ".mcap"


def check_torque_file(path: Path) -> None:
    """Refuse a path that torques cannot be written to, before they are computed.

    Args:
        path: The file.

    Raises:
        ClipError: If its ending is unknown, or its folder does not exist.
    """
    if path.suffix not in {TABLE, ARCHIVE, BAG}:
        raise ClipError(str(path), f"ends in {path.suffix!r}, expected {TABLE}, {ARCHIVE} or {BAG}")
    if not path.absolute().parent.is_dir():
        raise ClipError(str(path), "cannot be written: there is no such folder")


def write_torques(torques: MotionTorques, path: Path) -> None:
    """Write torques: a table with ``time`` and a column for each joint, a numpy archive that holds the residual too, or a bag.

    Args:
        torques: The torques.
        path: The file; one that ends in ``.csv`` is a table, in ``.npz`` an archive, in ``.mcap`` a bag.

    Raises:
        ClipError: If the ending is another one, or the file cannot be written.
    """
    check_torque_file(path)
    if path.suffix == BAG:
        write_torque_bag(torques, path)
        return
    try:
        if path.suffix == ARCHIVE:
            names = np.array([name for name, _ in torques.root], dtype=str)
            with path.open("wb") as file:
                np.savez(
                    file,
                    times=torques.clip.times,
                    joint_names=np.array(torques.columns, dtype=str),
                    tau=torques.tau,
                    residual_names=names,
                    residual=torques.residual,
                )
        else:
            path.write_text(table_of_torques(torques), encoding="utf-8")
    except OSError as cause:
        raise ClipError(str(path), f"cannot be written: {cause}") from cause


def table_of_torques(torques: MotionTorques) -> str:
    """Return the table of text, numbers in full precision.

    Args:
        torques: The torques.
    """
    rows = np.column_stack((torques.clip.times, torques.tau)).tolist()
    return (
        "\n".join((",".join((TIME, *torques.columns)), *(",".join(map(repr, row)) for row in rows)))
        + "\n"
    )
