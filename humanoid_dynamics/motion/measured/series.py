# SPDX-License-Identifier: Apache-2.0
"""Motions whose velocities and accelerations stand in files of their own, as a measurement leaves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import numpy as np

from humanoid_dynamics.errors import ClipError, count, listed
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.bag_file import read_bag_motion
from humanoid_dynamics.motion.formats.columns import configuration_columns, joint_columns
from humanoid_dynamics.motion.formats.csv_file import read_csv, read_table
from humanoid_dynamics.motion.formats.detect import TABLES, Motion, detect_format, read_motion
from humanoid_dynamics.motion.formats.mapping import (
    JointMap,
    build_clip,
    check_joint_map,
    order_velocities,
)
from humanoid_dynamics.motion.formats.recording import Recording
from humanoid_dynamics.motion.formats.robot_motion import RobotMotion, name_joints
from humanoid_dynamics.motion.formats.series_file import read_series
from humanoid_dynamics.motion.load import retarget_file
from humanoid_dynamics.spatial.arrays import Matrix

BASE_HINT = "write where the base is in axes with z up, its quaternion as x, y, z, w, and every joint under its name in the model"
HOLD_HINT = "--missing neutral holds them in the resting posture of the robot"
LONGEST_STEP = 1.0  # s; step of a single frame, too
SAME_INSTANT = 0.01  # of a step; instants that were rounded differently are still the same


def load_measured_motion(
    path: str | Path,
    robot: RobotModel,
    velocity: str | Path | None = None,
    acceleration: str | Path | None = None,
    names: Mapping[str, str] | None = None,
    *,
    joint_map: JointMap | None = None,
    hold_missing: bool = False,
    fps: float | None = None,
) -> Clip:
    """Read a motion, and its velocities and accelerations where files of them are named.

    Only what is named is read: a file of velocities that lies beside a table of text is not.

    Args:
        path: The motion, in any known format.
        robot: The robot.
        velocity: Velocities, with the same instants and ``base_vx`` .. ``base_wz`` and the joints as columns.
        acceleration: Accelerations, likewise.
        names: Topic of a bag -> the name it is read by, such as ``/joint_states``.
        joint_map: Which column is which joint, and which are nobody's.
        hold_missing: Whether joints without a column are held in the resting posture, and told; otherwise they are refused.
        fps: Samples per second of a motion that does not say so itself [Hz].

    Returns:
        The clip; without velocities or accelerations where none are given.

    Raises:
        ClipError: Naming file, line and column of what is missing or wrong.
    """
    motion, clip = _read(Path(path), names, fps), None
    if isinstance(motion, RobotMotion):
        kept = () if joint_map is None else map(attrgetter("column"), joint_map.sources.values())
        motion = name_joints(motion, robot, kept=frozenset(kept))
    if isinstance(motion, Recording):
        check_joint_map(motion, robot, joint_map or JointMap())
        _check_columns(motion, robot, joint_map or JointMap(), hold_missing)
    else:
        clip = retarget_file(motion, robot).clip
        motion = Recording(clip.origin, clip.times, (), clip.q)
    v, a = (
        None if rates is None else _read_rates(Path(rates), motion, robot, joint_map)
        for rates in (velocity, acceleration)
    )
    if clip is None:
        return build_clip(motion, robot, joint_map, v, a)
    return clip.change(v=clip.v if v is None else v, a=clip.a if a is None else a)


def find_line(fault: ClipError, path: str | Path) -> ClipError:
    """Return what is wrong with a motion together with the line in its file, where that is a table of text.

    Args:
        fault: What is wrong.
        path: The motion.
    """
    if (
        fault.row is None
        or fault.line is not None
        or fault.origin != str(path)
        or detect_format(Path(path)) not in TABLES
    ):
        return fault
    return fault.in_lines(read_table(Path(path)).lines)


def _read(path: Path, names: Mapping[str, str] | None, fps: float | None) -> Motion:
    form = detect_format(path)
    if names and form != "mcap":
        raise ClipError(
            str(path), "received --remap with a file that is not a bag, expected an .mcap file"
        )
    if form == "mcap":
        return read_bag_motion(path, names)
    return read_csv(path, fps, beside=False) if form in TABLES else read_motion(path, fps)


def _check_columns(motion: Recording, robot: RobotModel, joint_map: JointMap, hold: bool) -> None:
    """Refuse a table that leaves joints out, unless they are held, or the base: nobody knows where they were."""
    followers = {name for mimic in robot.mimics for name in joint_columns(robot.joint(mimic.joint))}
    known, wanted = (
        followers | set(motion.columns) - joint_map.ignore | set(joint_map.sources),
        configuration_columns(robot),
    )
    missing = [name for name in wanted if name not in known]
    rootless = robot.root != "fixed" and not known.issuperset(joint_columns(robot.joints[0]))
    if motion.columns and missing and (rootless or not hold):
        used = joint_map.ignore | {source.column for source in joint_map.sources.values()}
        unknown = [name for name in motion.columns if name not in wanted and name not in used]
        told = f"; {robot.name!r} does not know its {listed('column', unknown)}" if unknown else ""
        hint = BASE_HINT if rootless else HOLD_HINT
        raise ClipError(
            motion.origin,
            f"lacks the {listed('column', missing)}{told}; {hint}",
            line=motion.header,
        )


def _read_rates(
    path: Path, motion: Recording, robot: RobotModel, joint_map: JointMap | None
) -> Matrix:
    """Return rates in the order of the robot, (n, nv)."""
    series = read_series(path)
    if len(series.times) != len(motion.times):
        raise ClipError(
            series.origin,
            f"has {count(len(series.times), 'row')}, {motion.origin} has {len(motion.times)}",
        )
    apart, same = (
        np.abs(series.times - motion.times),
        SAME_INSTANT * float(np.min(np.diff(motion.times), initial=LONGEST_STEP)),
    )
    if apart.max() > same:
        row = int(np.argmax(apart > same))
        raise series.fault(
            row,
            "time",
            f"{series.times[row]:.9g} s, but {motion.origin} has {motion.times[row]:.9g} s there",
        )
    told = replace(
        motion,
        origin=series.origin,
        rates=series.columns,
        velocities=series.values,
        accelerations=None,
        degrees=series.degrees,
    )
    try:
        rates = order_velocities(told, robot, joint_map)
    except ClipError as fault:
        raise ClipError(
            fault.origin, fault.problem, line=series.lines[0] - 1 if series.lines else None
        ) from None
    return np.zeros((len(motion.times), robot.nv)) if rates is None else rates
