# SPDX-License-Identifier: Apache-2.0
"""Pickled motions: which trainer wrote the dictionary, by its keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.gmr_file import KEYS as GMR
from humanoid_dynamics.motion.formats.gmr_file import is_gmr, read_gmr
from humanoid_dynamics.motion.formats.motion_lib_file import KEYS as MOTION_LIB
from humanoid_dynamics.motion.formats.motion_lib_file import is_motion_lib, read_motion_lib
from humanoid_dynamics.motion.formats.robot_motion import RobotMotion
from humanoid_dynamics.series.bounded_reading import ReadLimitError
from humanoid_dynamics.series.plain_pickle import PlainPickleError, load_plain_pickle

ENDINGS = (".pkl", ".pickle", ".joblib")  # pickles of old protocols look like text
SHOWN = 8  # keys in a message
WANTED = (
    f"{', '.join(GMR)} (GMR, TWIST), or motions by name with {', '.join(MOTION_LIB)} (ASAP, PHC)"
)


def read_pickled_motion(path: Path, rate: float | None = None, motion: str = "") -> RobotMotion:
    """Read a pickled motion of GMR, TWIST, ASAP, PBHC or PHC; nothing in the file is executed.

    Args:
        path: The file.
        rate: Samples per second that the caller expects [Hz].
        motion: Name of the motion in a library of several.

    Raises:
        ClipError: If the file is no such motion, or contains more than arrays and plain containers.
    """
    origin, content = str(path), _load(path)
    if is_gmr(content):
        return read_gmr(content, origin, rate)
    if is_motion_lib(content):
        return read_motion_lib(content, origin, rate, motion)
    found = (
        f"a dictionary with the keys {', '.join(map(repr, list(content)[:SHOWN])) or 'none'}"
        if isinstance(content, dict)
        else f"a {type(content).__name__}"
    )
    raise ClipError(origin, f"is a pickle of {found}, expected {WANTED}")


def list_motions(path: Path) -> tuple[str, ...]:
    """Return the names of the motions of a file; one without a name for any file that is no library.

    Args:
        path: The file.

    Raises:
        ClipError: If it is a pickle that cannot be read.
    """
    if path.suffix.lower() not in ENDINGS:
        return ("",)
    content = _load(path)
    return tuple(map(str, content)) if is_motion_lib(content) else ("",)


def _load(path: Path) -> Any:
    try:
        return load_plain_pickle(path)
    except (PlainPickleError, ReadLimitError, OSError) as cause:
        raise ClipError(str(path), f"{cause}; expected {WANTED}") from cause
