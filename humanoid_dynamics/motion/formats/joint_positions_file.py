# SPDX-License-Identifier: Apache-2.0
"""Positions of the joints of a human, (n, J, 3): a numpy array, or an archive with such an array.

global_joint_positions, joint_positions, joints or positions   (n, J, 3) in the world
fps or mocap_framerate                                         samples per second; a single array has none, it is given
joint_names                                                    (J,), optional
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.gmr_file import take_array, take_times
from humanoid_dynamics.motion.retargeting.joint_positions import JointPositions
from humanoid_dynamics.series.bounded_reading import check_size, find_limit
from humanoid_dynamics.series.npz_file import BROKEN

Arrays = Mapping[str, NDArray[np.generic]]
KEYS = ("global_joint_positions", "joint_positions", "joints", "positions")
RATES = ("fps", "mocap_framerate", "mocap_frame_rate")


def is_joint_positions(arrays: Arrays) -> bool:
    """Return whether an archive has positions of joints.

    Args:
        arrays: Its arrays.
    """
    return any(key in arrays and arrays[key].ndim == 3 for key in KEYS)


def read_joint_positions(arrays: Arrays, origin: str, rate: float | None = None) -> JointPositions:
    """Return positions of joints.

    Args:
        arrays: The arrays of the file.
        origin: The file, for messages.
        rate: Samples per second of a file that has none [Hz].

    Raises:
        ClipError: If they have a wrong shape, or there is no rate.
    """
    key = next(key for key in KEYS if key in arrays and arrays[key].ndim == 3)
    positions = take_array(arrays, key, origin)
    if positions.shape[2] != 3:
        raise ClipError(origin, f"{key} has shape {positions.shape}, expected (n, joints, 3)")
    found = next((name for name in RATES if name in arrays), "")
    stated = {"fps": arrays[found]} if found else {}
    names = arrays.get("joint_names")
    known = names is not None and names.dtype.kind == "U" and names.shape == positions.shape[1:2]
    return JointPositions(
        origin,
        take_times(stated, len(positions), origin, rate),
        positions,
        tuple(map(str, names)) if known and names is not None else (),
    )


def read_joint_array(path: Path, rate: float | None = None) -> JointPositions:
    """Read positions of joints from a single numpy array.

    Args:
        path: The file.
        rate: Samples per second [Hz].

    Raises:
        ClipError: If it is no such array, or no rate is given.
    """
    try:
        check_size("the file", path.stat().st_size, find_limit())
        array = np.load(path, allow_pickle=False)
    except BROKEN as cause:
        raise ClipError(str(path), f"cannot be read as a numpy array: {cause}") from cause
    if array.ndim != 3 or array.shape[2] != 3:
        problem = f"is an array of shape {array.shape}, expected positions of joints (n, joints, 3)"
        raise ClipError(str(path), problem)
    return read_joint_positions({KEYS[0]: array}, str(path), rate)
