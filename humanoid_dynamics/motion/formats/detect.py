# SPDX-License-Identifier: Apache-2.0
"""Which format a motion file has, by its content; names and endings do not matter."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.bag_file import read_bag_motion
from humanoid_dynamics.motion.formats.bvh_file import Bvh, read_bvh
from humanoid_dynamics.motion.formats.csv_file import SEPARATORS, read_csv
from humanoid_dynamics.motion.formats.deepmimic_file import DeepMimic, read_deepmimic
from humanoid_dynamics.motion.formats.joint_positions_file import read_joint_array
from humanoid_dynamics.motion.formats.joint_trajectory import read_trajectory
from humanoid_dynamics.motion.formats.npz_file import read_archive
from humanoid_dynamics.motion.formats.opensim_file import is_opensim
from humanoid_dynamics.motion.formats.pickle_file import ENDINGS, read_pickled_motion
from humanoid_dynamics.motion.formats.recording import Recording, check_rate, find_rate
from humanoid_dynamics.motion.formats.robot_motion import RobotMotion
from humanoid_dynamics.motion.formats.sonic_file import is_sonic, read_sonic
from humanoid_dynamics.motion.retargeting.joint_positions import JointPositions
from humanoid_dynamics.series.bag_reader import METADATA, is_bag
from humanoid_dynamics.series.plain_pickle import is_pickle

FORMATS = (
    "npz",
    "bvh",
    "deepmimic",
    "trajectory",
    "csv",
    "opensim",
    "mcap",
    "pickle",
    "npy",
    "sonic",
)
ZIP = b"PK\x03\x04"
TABLES = ("csv", "opensim")  # of text
HEAD = 4096  # bytes that tell text from other things

NPY = np.lib.format.MAGIC_PREFIX
Motion: TypeAlias = Recording | RobotMotion | JointPositions | Bvh | DeepMimic

TAKE_RATE: dict[str, Callable[[Path, float | None], Motion]] = {  # readers of files without a rate
    "csv": read_csv,
    "opensim": read_csv,
    "npz": read_archive,
    "npy": read_joint_array,
    "sonic": read_sonic,
}


def detect_format(path: Path) -> str:
    """Return the format of a motion file.

    Args:
        path: The file.

    Returns:
        ``npz``, ``bvh``, ``deepmimic``, ``trajectory``, ``csv``, ``opensim``, ``pickle``, ``npy``, ``sonic``, or ``mcap`` for every bag.

    Raises:
        ClipError: If it is none of them.
    """
    if is_bag(path):
        return "mcap"
    if is_sonic(path):
        return "sonic"
    head = _read_head(path)
    if head.startswith((ZIP, NPY)):
        return "npz" if head.startswith(ZIP) else "npy"
    if is_pickle(head) or path.suffix.lower() in ENDINGS:
        return "pickle"
    return _text_format(path, head)


def _text_format(path: Path, head: bytes) -> str:
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    if text.startswith("HIERARCHY"):
        return "bvh"
    is_text = _is_utf8(head)
    if text.startswith("{") and is_text:
        return _json_format(path)
    if is_opensim(text.splitlines()):
        return "opensim"
    if is_text and _is_table(text):
        return "csv"
    table = "a table of text is UTF-8 with commas, semicolons or tabs between its columns"
    raise ClipError(str(path), f"is in no known format ({', '.join(FORMATS)}); {table}")


def _read_head(path: Path) -> bytes:
    if path.is_dir():
        raise ClipError(
            str(path),
            f"is a folder without {METADATA}, neither a bag nor a motion of SONIC; name a motion file in it",
        )
    if not path.exists():
        raise ClipError(str(path), "no such file")
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError as cause:
        raise ClipError(str(path), f"cannot be read: {cause}") from cause


def read_motion(path: Path, rate: float | None = None, motion: str = "") -> Motion:
    """Read a motion file of any known format.

    Args:
        path: The file.
        rate: Samples per second of a file without times [Hz]; another rate than that of the file is refused.
        motion: Name of the motion in a file of several.

    Returns:
        A recording of joints, a motion of a robot of a trainer, or the motion of a skeleton.
    """
    found = detect_format(path)
    if found == "pickle":
        return read_pickled_motion(path, rate, motion)
    if found in TAKE_RATE:
        return TAKE_RATE[found](path, rate)
    readers: dict[str, Callable[[Path], Recording | Bvh | DeepMimic]] = {
        "bvh": read_bvh,
        "deepmimic": read_deepmimic,
        "trajectory": read_trajectory,
        "mcap": read_bag_motion,
    }
    read = readers[found](path)
    if isinstance(read, DeepMimic):
        mean = float(np.mean(np.asarray(read.frames)[:, 0]))
        check_rate(rate, 1.0 / mean if mean > 0.0 else None, read.origin)
    else:
        check_rate(
            rate,
            1.0 / read.frame_time if isinstance(read, Bvh) else find_rate(read.times),
            read.origin,
        )
    return read


def _is_table(text: str) -> bool:
    """Whether the first line that is no comment has separators."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return bool(lines) and any(mark in lines[0] for mark in SEPARATORS) and "\x00" not in text


def _is_utf8(head: bytes) -> bool:
    """Whether the first bytes of a file are text; the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < HEAD)
    except UnicodeDecodeError:
        return False
    return True


def _json_format(path: Path) -> str:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as cause:
        raise ClipError(str(path), f"cannot be read as JSON: {cause}") from cause
    if "Frames" in content:
        return "deepmimic"
    if {"joint_trajectory", "points"} & set(content):
        return "trajectory"
    raise ClipError(
        str(path),
        f"is JSON with the keys {', '.join(map(str, content))}, expected Frames, or joint_trajectory or points",
    )
