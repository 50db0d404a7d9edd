# SPDX-License-Identifier: Apache-2.0
"""Motions of mjlab and BeyondMimic: a numpy archive of joints and bodies in the world, without names.

    fps              (1,) samples per second, usually 50
    joint_pos        (n, k) and joint_vel: in the order of MuJoCo (mjlab) or Isaac Lab (BeyondMimic)
    body_pos_w       (n, m, 3) and body_quat_w (n, m, 4), w x y z: of all links, the root first
    body_lin_vel_w   (n, m, 3) and body_ang_vel_w

Recorded bodies decide the order of the joints.  Velocities are not taken from the file: they follow from the positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.body_states import compute_body_states, find_moving_links
from humanoid_dynamics.motion.formats.gmr_file import take_array, take_joints, take_times
from humanoid_dynamics.motion.formats.joint_orders import Names, order_joints
from humanoid_dynamics.motion.formats.robot_motion import BodyPositions, RobotMotion
from humanoid_dynamics.spatial.arrays import Matrix

Arrays = Mapping[str, NDArray[np.generic]]
BODIES = ("body_pos_w", "body_quat_w")
OBJECT = ("object_pos_w", "object_quat_w")
MOVED = 1e-6  # rad^2; joints that move less show no rate
OTHER_RATE = 0.1  # share by which the rate that velocities show may differ from that of the file


def is_mjlab(arrays: Arrays) -> bool:
    """Return whether an archive is a motion of mjlab or BeyondMimic.

    Args:
        arrays: Its arrays.
    """
    return {"joint_pos", *BODIES} <= set(arrays) and "base_pos" not in arrays


def read_mjlab(arrays: Arrays, origin: str, rate: float | None = None) -> RobotMotion:
    """Return a motion of mjlab, BeyondMimic or, with names and the base among the joints, of holosoma.

    Args:
        arrays: The arrays of the file.
        origin: The file, for messages.
        rate: Samples per second that the caller expects [Hz].

    Raises:
        ClipError: If an array is missing or has a wrong shape.
    """
    joints, positions, turns = (take_array(arrays, key, origin) for key in ("joint_pos", *BODIES))
    n = len(joints)
    bodies = positions.shape[1] if positions.ndim == 3 else 0
    for key, table, shape in (
        ("body_pos_w", positions, (n, bodies, 3)),
        ("body_quat_w", turns, (n, bodies, 4)),
    ):
        if table.shape != shape or not bodies:
            problem = f"{key} has shape {table.shape}, expected bodies of {n} instants"
            raise ClipError(origin, problem)
    names, links = (_take_names(arrays, key) for key in ("joint_names", "body_names"))
    base, base_turns = positions[:, 0], turns[:, 0]
    if names and joints.shape[1] == len(names) + 7:
        base, base_turns, joints = joints[:, :3], joints[:, 3:7], joints[:, 7:]
    times = take_times(arrays, n, origin, rate)
    return RobotMotion(
        origin,
        times,
        base,
        base_turns,
        joints,
        names,
        scalar_first=True,
        breadth_first=True,
        bodies=BodyPositions(positions, links),
        extras=take_object(arrays, n, origin),
        notices=_compare_rates(arrays, joints, times, origin),
    )


def write_mjlab(
    clip: Clip, path: Path, extras: Mapping[str, object], *, breadth_first: bool = False
) -> None:
    """Write a clip as a motion of mjlab, with the names of joints and bodies.

    Args:
        clip: A clip at an even rate, with velocities.
        path: The file.
        extras: Arrays beside those of the format.
        breadth_first: Whether joints and bodies are in the order of Isaac Lab, as in BeyondMimic.
    """
    names = order_joints(clip.robot, breadth_first=breadth_first)
    links = find_moving_links(clip, breadth_first=breadth_first)
    rates = np.zeros((len(clip), clip.robot.nv)) if clip.v is None else clip.v
    content = {
        "joint_pos": take_joints(clip, clip.q, names),
        "joint_vel": take_joints(clip, rates, names),
        **list_bodies(clip, links),
        "joint_names": np.array(names),
    }
    save_archive({"fps": np.array([clip.rate]), **content, **extras}, path)


def write_beyondmimic(clip: Clip, path: Path, extras: Mapping[str, object]) -> None:
    """Write a clip as a motion of BeyondMimic, with the names of joints and bodies.

    Args:
        clip: A clip at an even rate, with velocities.
        path: The file.
        extras: Arrays beside those of the format.
    """
    write_mjlab(clip, path, extras, breadth_first=True)


def list_bodies(clip: Clip, links: Names) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of bodies of a clip.

    Args:
        clip: A clip with velocities.
        links: Names of the links.
    """
    bodies = compute_body_states(clip, links)
    return {
        "body_pos_w": bodies.positions,
        "body_quat_w": bodies.quaternions,
        "body_lin_vel_w": bodies.linear,
        "body_ang_vel_w": bodies.angular,
        "body_names": np.array(links),
    }


def save_archive(content: Mapping[str, object], path: Path) -> None:
    """Write a numpy archive to a file of any name.

    Args:
        content: Its arrays.
        path: The file.
    """
    with path.open("wb") as file:
        np.savez(file, **content)  # type: ignore[arg-type]


def take_object(arrays: Arrays, n: int, origin: str) -> dict[str, NDArray[np.generic]]:
    """Return the pose of an object beside the robot, with its quaternion as x, y, z, w; nothing where there is none.

    Args:
        arrays: The arrays of the file.
        n: Number of samples.
        origin: The file, for messages.
    """
    if not set(OBJECT) <= set(arrays):
        return {}
    place, turn = (take_array(arrays, key, origin) for key in OBJECT)
    if place.shape != (n, 3) or turn.shape != (n, 4):
        raise ClipError(origin, f"object has shapes {place.shape} and {turn.shape}")
    return {"object_pos": place, "object_quat_xyzw": np.roll(turn, -1, axis=1)}


def _take_names(arrays: Arrays, key: str) -> Names:
    found = arrays.get(key)
    named = found is not None and found.ndim == 1 and found.dtype.kind == "U"
    return tuple(map(str, found)) if named and found is not None else ()


def _compare_rates(arrays: Arrays, joints: Matrix, times: Matrix, origin: str) -> Names:
    """Return a notice where joint velocities belong to another rate than that of the file."""
    if "joint_vel" not in arrays or len(joints) < 3:
        return ()
    velocities = take_array(arrays, "joint_vel", origin)[:, -joints.shape[1] :]
    if velocities.shape != joints.shape:
        raise ClipError(origin, f"joint_vel has shape {velocities.shape}, expected {joints.shape}")
    steps = 0.5 * (joints[2:] - joints[:-2])
    moved = float(np.sum(steps**2))
    found = float(np.sum(steps * velocities[1:-1])) / moved if moved > MOVED else np.nan
    fps = 1.0 / float(times[1] - times[0])
    if not np.isfinite(found) or abs(found - fps) <= OTHER_RATE * fps:
        return ()
    return (f"joint velocities fit {found:.4g} samples per second, the file has {fps:.4g}",)
