# SPDX-License-Identifier: Apache-2.0
"""Motions of GMR and TWIST: a pickled dictionary of arrays.

fps              samples per second
root_pos         (n, 3) and root_rot (n, 4), x y z w: pose of the root link in the world
dof_pos          (n, k) joint positions in the order of MuJoCo, without names
local_body_pos   (n, m, 3) positions of the links link_body_list in axes of the root link, or None
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.body_states import compute_body_states, find_moving_links
from humanoid_dynamics.motion.formats.joint_orders import order_joints
from humanoid_dynamics.motion.formats.recording import check_rate
from humanoid_dynamics.motion.formats.robot_motion import BodyPositions, RobotMotion
from humanoid_dynamics.series.plain_pickle import dump_plain_pickle
from humanoid_dynamics.spatial.arrays import Matrix, Vector

KEYS = ("root_pos", "root_rot", "dof_pos")
MOST_DIMENSIONS = 3


def is_gmr(content: object) -> bool:
    """Return whether a pickled object is a motion of GMR.

    Args:
        content: The object.
    """
    return isinstance(content, dict) and set(KEYS) <= set(content)


def read_gmr(content: Mapping[str, Any], origin: str, rate: float | None = None) -> RobotMotion:
    """Return a motion of GMR.

    Args:
        content: The dictionary of the file.
        origin: The file, for messages.
        rate: Samples per second that the caller expects [Hz].

    Raises:
        ClipError: If a key is missing or its array has a wrong shape.
    """
    base = take_array(content, "root_pos", origin)
    return RobotMotion(
        origin,
        take_times(content, len(base), origin, rate),
        base,
        take_array(content, "root_rot", origin),
        take_array(content, "dof_pos", origin),
        bodies=_take_bodies(content, len(base), origin),
    )


def write_gmr(clip: Clip, path: Path, extras: Mapping[str, Any]) -> None:
    """Write a clip as a motion of GMR, with the bodies that joints move.

    Args:
        clip: A clip at an even rate, with velocities.
        path: The file.
        extras: Entries beside those of the format.
    """
    q = np.array(clip.q)
    q[:, :7] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    bodies = compute_body_states(clip.change(q=q), find_moving_links(clip))
    content = {
        "fps": clip.rate,
        "root_pos": clip.q[:, :3],
        "root_rot": clip.q[:, 3:7],
        "dof_pos": take_joints(clip, clip.q, order_joints(clip.robot)),
        "local_body_pos": bodies.positions,
        "link_body_list": list(bodies.names),
    }
    dump_plain_pickle({**content, **extras}, path)


def take_joints(clip: Clip, table: Matrix, names: tuple[str, ...]) -> Matrix:
    """Return columns of joints of one coordinate, from configurations or velocities.

    Args:
        clip: A clip of the robot.
        table: (n, nq) configurations or (n, nv) velocities.
        names: Names of the joints.
    """
    part = "q" if table.shape[1] == clip.robot.nq else "v"
    return table[:, [getattr(clip.robot.joint(name), part).start for name in names]]


def take_array(content: Mapping[str, Any], key: str, origin: str) -> Matrix:
    """Return an array of numbers.

    Args:
        content: A dictionary of a file.
        key: Its key.
        origin: The file, for messages.

    Raises:
        ClipError: If it is missing or has no numbers.
    """
    try:
        values = np.array(content[key], dtype=np.float64)
    except KeyError as missing:
        keys = ", ".join(map(str, content))
        raise ClipError(origin, f"has no {key}; its keys are {keys}") from missing
    except (TypeError, ValueError) as cause:
        raise ClipError(origin, f"{key} has no numbers: {cause}") from cause
    if not 0 < values.ndim <= MOST_DIMENSIONS or not values.size:
        raise ClipError(origin, f"{key} has shape {values.shape}, expected a row per instant")
    return values


def take_times(
    content: Mapping[str, Any], n: int, origin: str, rate: float | None = None
) -> Vector:
    """Return the instants of a file with ``fps``.

    Args:
        content: A dictionary of a file.
        n: Number of samples.
        origin: The file, for messages.
        rate: Samples per second that the caller expects [Hz].

    Raises:
        ClipError: If there is no rate, or it is not positive, or another one than expected.
    """
    found = content.get("fps")
    given = np.asarray(rate if found is None else found)
    if given.size != 1 or given.dtype.kind not in "fiu":
        raise ClipError(origin, "has no fps; give it as fps= (--fps)")
    fps = float(given.reshape(()))
    if not (np.isfinite(fps) and fps > 0.0):
        raise ClipError(origin, f"has {fps} samples per second, expected a positive number")
    check_rate(rate, fps, origin)
    return np.arange(n) / fps


def _take_bodies(content: Mapping[str, Any], n: int, origin: str) -> BodyPositions | None:
    names = content.get("link_body_list")
    if content.get("local_body_pos") is None or not isinstance(names, list | tuple):
        return None
    positions = take_array(content, "local_body_pos", origin)
    if positions.shape != (n, len(names), 3):
        raise ClipError(
            origin, f"local_body_pos has shape {positions.shape}, expected {(n, len(names), 3)}"
        )
    return BodyPositions(positions, tuple(map(str, names)), local=True)
