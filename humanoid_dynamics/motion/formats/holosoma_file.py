# SPDX-License-Identifier: Apache-2.0
"""Motions of the retargeting of holosoma: a numpy archive of configurations in the order of MuJoCo.

    qpos         (n, 7 + k) position and orientation (w x y z) of the root link, joint positions; then the same of an object, if there is one
    fps          samples per second

Its converted motions have the arrays of mjlab, with ``joint_names`` and ``body_names``, and the root link in ``joint_pos`` and ``joint_vel``.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.formats.gmr_file import take_array, take_times
from humanoid_dynamics.motion.formats.joint_orders import KNOWN_ORDERS
from humanoid_dynamics.motion.formats.mjlab_file import Arrays
from humanoid_dynamics.motion.formats.robot_motion import RobotMotion

POSE = 7  # columns of a pose


def is_holosoma(arrays: Arrays) -> bool:
    """Return whether an archive is a retargeted motion of holosoma.

    Args:
        arrays: Its arrays.
    """
    return "qpos" in arrays


def read_holosoma(arrays: Arrays, origin: str, rate: float | None = None) -> RobotMotion:
    """Return a motion of the retargeting of holosoma.

    Args:
        arrays: The arrays of the file.
        origin: The file, for messages.
        rate: Samples per second that the caller expects [Hz].

    Raises:
        ClipError: If ``qpos`` has a wrong shape.
    """
    table = take_array(arrays, "qpos", origin)
    if table.ndim != 2 or table.shape[1] <= POSE:
        raise ClipError(origin, f"qpos has shape {table.shape}, expected (n, 7 + joints)")
    sizes = {len(order) for order in KNOWN_ORDERS.values()}
    k = table.shape[1] - POSE
    carried = k not in sizes and k - POSE in sizes
    extras = {}
    if carried:
        k -= POSE
        pose = table[:, POSE + k :]
        extras = {"object_pos": pose[:, :3], "object_quat_xyzw": np.roll(pose[:, 3:], -1, axis=1)}
    return RobotMotion(
        origin,
        take_times(arrays, len(table), origin, rate),
        table[:, :3],
        table[:, 3:POSE],
        table[:, POSE : POSE + k],
        scalar_first=True,
        extras=extras,
    )
