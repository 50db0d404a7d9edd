# SPDX-License-Identifier: Apache-2.0
"""Motion libraries of ASAP, PBHC and PHC: a pickled dictionary, by joblib, of motions by name.

root_trans_offset   (n, 3) and root_rot (n, 4), x y z w: pose of the root link in the world
dof                 (n, k) joint positions in the order of MuJoCo, without names
pose_aa             (n, 1 + k + extra, 3) the same as rotation vectors: of the root, then about the axis of each joint
fps                 samples per second
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.errors import ClipError, UnknownNameError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.gmr_file import take_array, take_joints, take_times
from humanoid_dynamics.motion.formats.joint_orders import order_joints
from humanoid_dynamics.motion.formats.robot_motion import RobotMotion, joint_axes
from humanoid_dynamics.series.plain_pickle import dump_plain_pickle
from humanoid_dynamics.spatial.arrays import Matrix

KEYS = ("root_trans_offset", "dof")
EXTENDED = 3  # points beyond the bodies of the robot, such as hands and head, without rotation
SHOWN = 5  # names of motions in a message
TURNED = 0.02  # rad; less does not show an axis


def is_motion_lib(content: object) -> bool:
    """Return whether a pickled object is a motion library.

    Args:
        content: The object.
    """
    return (
        isinstance(content, dict)
        and bool(content)
        and all(isinstance(part, dict) and set(KEYS) <= set(part) for part in content.values())
    )


def read_motion_lib(
    content: Mapping[str, Any], origin: str, rate: float | None = None, motion: str = ""
) -> RobotMotion:
    """Return a motion of a library.

    Args:
        content: The dictionary of the file.
        origin: The file, for messages.
        rate: Samples per second that the caller expects [Hz].
        motion: Name of the motion; not needed where there is one only.

    Raises:
        ClipError: If there is no such motion or its arrays are wrong, or several and none is named.
    """
    if motion and motion not in content:
        raise ClipError(origin, str(UnknownNameError("motion", motion, content)))
    if not motion and len(content) > 1:
        listed = ", ".join(map(repr, list(content)[:SHOWN]))
        more = f" and {len(content) - SHOWN} more" if len(content) > SHOWN else ""
        raise ClipError(
            origin,
            f"holds {len(content)} motions, choose one with motion= (--motion): {listed}{more}",
        )
    name = motion or next(iter(content))
    part = content[name]
    base, joints = (take_array(part, key, origin) for key in KEYS)
    turns = (
        take_array(part, "root_rot", origin)
        if "root_rot" in part
        else _quaternions(take_array(part, "pose_aa", origin)[:, 0])
    )
    joints = joints.reshape(len(base), -1) if joints.ndim == 3 else joints
    extras = {"contact_mask": np.asarray(part["contact_mask"])} if "contact_mask" in part else {}
    times = take_times(part, len(base), origin, rate)
    axes = _find_axes(part, joints, origin)
    return RobotMotion(origin, times, base, turns, joints, axes=axes, extras=extras)


def write_motion_lib(clip: Clip, path: Path, extras: Mapping[str, Any]) -> None:
    """Write a clip as a library of one motion, which has the name of the file.

    Args:
        clip: A clip at an even rate.
        path: The file.
        extras: Entries beside those of the format.
    """
    names = order_joints(clip.robot)
    axes, joints = joint_axes(clip.robot), take_joints(clip, clip.q, names)
    vectors = np.zeros((len(clip), 1 + len(names) + EXTENDED, 3))
    vectors[:, 0] = _rotation_vectors(clip.q[:, 3:7])
    for index, name in enumerate(names):
        vectors[:, index + 1] = joints[:, index, None] * axes.get(name, np.zeros(3))
    content = {
        "root_trans_offset": clip.q[:, :3],
        "pose_aa": vectors,
        "dof": joints,
        "root_rot": clip.q[:, 3:7],
        "fps": clip.rate,
    }
    dump_plain_pickle({path.stem: {**content, **extras}}, path)


def _find_axes(part: Mapping[str, Any], joints: Matrix, origin: str) -> Matrix | None:
    """Return the axes that joints turn about, (k, 3), of either sign, zero where a joint hardly turns."""
    if part.get("pose_aa") is None:
        return None
    vectors = take_array(part, "pose_aa", origin)
    if vectors.ndim != 3 or vectors.shape[1] <= joints.shape[1] or len(vectors) != len(joints):
        return None
    axes = np.zeros((joints.shape[1], 3))
    for index in range(joints.shape[1]):
        angles = np.linalg.norm(vectors[:, index + 1], axis=1)
        row = int(np.argmax(angles))
        if angles[row] > TURNED:
            axes[index] = vectors[row, index + 1] / angles[row]
    return axes


def _quaternions(vectors: Matrix) -> Matrix:
    """Return rotation vectors as quaternions x, y, z, w."""
    angles = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.hstack((0.5 * np.sinc(angles / (2.0 * np.pi)) * vectors, np.cos(0.5 * angles)))


def _rotation_vectors(turns: Matrix) -> Matrix:
    """Return quaternions x, y, z, w as rotation vectors of at most half a turn."""
    turns = np.where(turns[:, 3:] < 0.0, -turns, turns)
    sines = np.linalg.norm(turns[:, :3], axis=1, keepdims=True)
    angles = 2.0 * np.arctan2(sines, turns[:, 3:])
    return turns[:, :3] * np.where(sines > 0.0, angles / np.maximum(sines, 1e-300), 2.0)
