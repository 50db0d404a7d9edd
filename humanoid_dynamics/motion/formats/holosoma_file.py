# SPDX-License-Identifier: Apache-2.0
"""Motions of the retargeting of holosoma: a numpy archive of configurations in the order of MuJoCo.

    qpos         (n, 7 + k) position and orientation (w x y z) of the root link, joint positions; then the same of an object, if there is one
    fps          samples per second

Its converted motions have the arrays of mjlab, with ``joint_names`` and ``body_names``, and the root link in ``joint_pos`` and ``joint_vel``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.body_states import find_moving_links
from humanoid_dynamics.motion.formats.gmr_file import take_array, take_joints, take_times
from humanoid_dynamics.motion.formats.joint_orders import KNOWN_ORDERS, order_joints
from humanoid_dynamics.motion.formats.mjlab_file import Arrays, list_bodies, save_archive
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


def write_holosoma(clip: Clip, path: Path, extras: Mapping[str, object]) -> None:
    """Write a clip as a converted motion of holosoma: joints and bodies by name, the root link among the joints.

    Args:
        clip: A clip at an even rate, with velocities.
        path: The file.
        extras: Arrays beside those of the format.
    """
    names = order_joints(clip.robot)
    bodies = list_bodies(clip, find_moving_links(clip))
    rates = np.zeros((len(clip), clip.robot.nv)) if clip.v is None else clip.v
    base = np.hstack((bodies["body_lin_vel_w"][:, 0], rates[:, 3:6]))
    content = {
        "joint_pos": np.hstack(
            (clip.q[:, :3], clip.q[:, [6, 3, 4, 5]], take_joints(clip, clip.q, names))
        ),
        "joint_vel": np.hstack((base, take_joints(clip, rates, names))),
        **bodies,
        "joint_names": np.array(names),
    }
    save_archive({"fps": np.array([clip.rate]), **content, **extras}, path)
