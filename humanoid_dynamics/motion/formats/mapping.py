# SPDX-License-Identifier: Apache-2.0
"""From the columns of a file to the coordinates of a robot, by name or by a small YAML file.

    joints:                        # joint of the robot -> column of the file
      left_knee: LKnee
      right_knee: {from: RKnee, sign: -1, offset: 0.1}   # position = sign * column + offset [rad or m]
    ignore: [LToe, RToe]           # columns to leave out

Every key is optional.  Joints of the robot that the file does not have rest in their resting posture, whatever rates it has of them;
followers follow their leaders.
Columns the robot does not have are an error that lists them, unless they are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError, DescriptionError, UnknownNameError, count
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.reading.description_file import load_yaml
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.columns import (
    angle_columns,
    configuration_columns,
    entry_names,
    joint_columns,
    pack_table,
    rest_table,
    unit_blocks,
    unpack_joint,
    velocity_columns,
)
from humanoid_dynamics.motion.formats.doubts import doubt_recording
from humanoid_dynamics.motion.formats.rates import Source, fill_rates, hold_rates
from humanoid_dynamics.motion.formats.recording import CLOCKS, Recording, normalize_rows
from humanoid_dynamics.spatial.arrays import Matrix

BASE_HEIGHTS = {"free_flyer": 2, "planar": 1}  # place of the height of a base in a configuration
HIGH = 20.0  # times the size of the robot: centimetres are more than that, too
RADIANS = np.pi / 180.0  # in a degree


@dataclass(frozen=True)
class JointMap:
    """A mapping file, read.

    Attributes:
        origin: The file, for messages.
        sources: Column of the robot -> where it comes from.
        ignore: Columns of the file to leave out.
    """

    origin: str = ""
    sources: Mapping[str, Source] = field(default_factory=dict)
    ignore: frozenset[str] = frozenset()


def load_joint_map(path: Path) -> JointMap:
    """Read a mapping file.

    Args:
        path: The YAML file.

    Returns:
        The mapping.

    Raises:
        DescriptionError: If it breaks the schema.
    """
    content = load_yaml(path) or {}
    if not isinstance(content, dict) or set(content) - {"joints", "ignore"}:
        raise DescriptionError(
            str(path), "file", "expected the keys joints and ignore, both optional"
        )
    joints, ignore = content.get("joints") or {}, content.get("ignore") or []
    if not isinstance(joints, dict):
        raise DescriptionError(
            str(path), "joints", f"received {type(joints).__name__}, expected joint: column"
        )
    if not isinstance(ignore, list) or not all(isinstance(name, str) for name in ignore):
        raise DescriptionError(str(path), "ignore", "expected a list of columns")
    return JointMap(
        str(path),
        {
            str(name): _read_source(value, str(path), f"joints.{name}")
            for name, value in joints.items()
        },
        frozenset(ignore),
    )


def check_joint_map(recording: Recording, robot: RobotModel, joint_map: JointMap) -> None:
    """Refuse a mapping that names what does not exist.

    Args:
        recording: What the file holds.
        robot: The robot.
        joint_map: Which column is which joint.

    Raises:
        ClipError: Naming a joint the robot does not have, or a column the file does not have, and those that exist.
    """
    wanted = configuration_columns(robot)
    for name, source in joint_map.sources.items():
        if name not in wanted:
            raise ClipError(joint_map.origin, str(UnknownNameError("joint", name, wanted)))
        if source.column not in recording.columns:
            raise ClipError(
                recording.origin, str(UnknownNameError("column", source.column, recording.columns))
            )


def build_clip(
    recording: Recording,
    robot: RobotModel,
    joint_map: JointMap | None = None,
    v: Matrix | None = None,
    a: Matrix | None = None,
) -> Clip:
    """Put a recording on a robot.

    Args:
        recording: What the file holds.
        robot: The robot.
        joint_map: Which column is which joint, and which are left out; where None the names are those of the robot.
        v: (n, nv) velocities in the order of the robot; those of the recording where None.
        a: (n, nv) accelerations, likewise.

    Returns:
        The clip; joints that rest have zero velocities and accelerations.

    Raises:
        ClipError: If columns are unknown, or a table without names has not the width of the robot.
    """
    joint_map = joint_map or JointMap()
    sources = _find_sources(recording, robot, joint_map)
    recording = _in_radians(recording, robot, sources)
    if not recording.columns:
        q = _take_whole(recording, robot)
        rested: tuple[str, ...] = ()
    else:
        q, rested = _fill(recording, robot, sources)
    notices = (f"joints not in the file rest: {', '.join(rested)}",) if rested else ()
    own = (
        recording.velocities if v is None else None,
        recording.accelerations if a is None else None,
    )
    own_v, own_a = (fill_rates(table, recording, robot, sources, joint_map.ignore) for table in own)
    led = tuple(
        mimic.joint
        for mimic in robot.mimics
        if mimic.leader in rested and mimic.joint not in sources
    )
    v, a, told = hold_rates(
        robot, rested + led, own_v if v is None else v, own_a if a is None else a
    )
    contacts = {
        name: labels for name, labels in recording.contacts.items() if name in robot.surfaces
    }
    doubts = doubt_units(robot, q) + doubt_recording(robot, recording.times, q)
    return Clip(
        robot,
        recording.times,
        q,
        v,
        a,
        contacts,
        recording.origin,
        recording.notices + notices + told + doubts,
    )


def order_velocities(
    recording: Recording, robot: RobotModel, joint_map: JointMap | None = None
) -> Matrix | None:
    """Put the velocities of a recording into the order of a robot.

    Args:
        recording: What the file holds.
        robot: The robot.
        joint_map: Which column is which joint.

    Returns:
        (n, nv) velocities, or None where there are none.

    Raises:
        ClipError: If columns are unknown, or velocities of joints that move are missing.
    """
    joint_map = joint_map or JointMap()
    sources = _find_sources(recording, robot, joint_map)
    recording = _in_radians(recording, robot, sources)
    return fill_rates(recording.velocities, recording, robot, sources, joint_map.ignore)


def build_recording(clip: Clip) -> Recording:
    """Write a clip as a table with named columns.

    Args:
        clip: The clip.

    Returns:
        The table, which ``build_clip`` turns back into the clip.
    """
    robot = clip.robot
    return Recording(
        clip.origin,
        clip.times,
        configuration_columns(robot),
        pack_table(robot, clip.q),
        velocity_columns(robot) if clip.v is not None or clip.a is not None else (),
        clip.v,
        clip.a,
        clip.contacts,
        notices=clip.notices,
    )


def _read_source(value: object, origin: str, key: str) -> Source:
    if isinstance(value, str):
        return Source(value)
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("from"), str)
        or set(value) - {"from", "sign", "offset"}
    ):
        raise DescriptionError(
            origin, key, "expected a column, or {from: column, sign: 1 or -1, offset: number}"
        )
    sign, offset = value.get("sign", 1), value.get("offset", 0.0)
    if isinstance(sign, bool) or sign not in (1, -1):
        raise DescriptionError(origin, f"{key}.sign", f"received {sign!r}, expected 1 or -1")
    if isinstance(offset, bool) or not isinstance(offset, int | float) or not np.isfinite(offset):
        raise DescriptionError(
            origin, f"{key}.offset", f"received {offset!r}, expected a finite number"
        )
    return Source(value["from"], float(sign), float(offset))


def _find_sources(
    recording: Recording, robot: RobotModel, joint_map: JointMap
) -> dict[str, Source]:
    """Return which column each column of the robot comes from; refuse unknown ones."""
    check_joint_map(recording, robot, joint_map)
    wanted = configuration_columns(robot)
    sources = dict(joint_map.sources)
    used = {source.column for source in sources.values()} | joint_map.ignore
    sources.update(
        {
            name: Source(name)
            for name in wanted
            if name in recording.columns and name not in sources and name not in used
        }
    )
    used |= {source.column for source in sources.values()}
    unknown = [name for name in recording.columns if name not in used]
    if unknown:
        known = ", ".join(name for name in wanted if name not in sources) or "none"
        problem = f"robot {robot.name!r} has no joints for the columns {', '.join(unknown)}; its joints without a column: {known}; "
        problem += f"to ignore or map columns, give a mapping file (--joint-map) with ignore: [{', '.join(unknown)}] or joints:"
        clock = (
            "; rename the column of instants to 'time'"
            if CLOCKS & {name.lower() for name in unknown}
            else ""
        )
        raise ClipError(recording.origin, problem + clock, line=recording.header)
    return sources


def _in_radians(
    recording: Recording, robot: RobotModel, sources: Mapping[str, Source]
) -> Recording:
    if not recording.degrees:
        return recording
    angles = angle_columns(robot)
    turned = {sources[name].column if name in sources else name for name in angles}
    places, rates = (
        np.array([RADIANS if name in turned else 1.0 for name in names])
        for names in (recording.columns, recording.rates)
    )
    v, a = (
        None if table is None else table * rates
        for table in (recording.velocities, recording.accelerations)
    )
    return replace(
        recording, values=recording.values * places, velocities=v, accelerations=a, degrees=False
    )


def doubt_units(robot: RobotModel, q: Matrix) -> tuple[str, ...]:
    """Return notices of a joint with an end that goes beyond a whole turn, whose file means degrees, and of a base as high as only millimetres are.

    Args:
        robot: The robot.
        q: (n, nq) configurations.
    """
    told: list[str] = []
    for joint in robot.joints:
        largest = float(np.max(np.abs(q[:, joint.q]), initial=0.0))
        if joint.kind == "revolute" and largest > 2.0 * np.pi:
            told.append(
                f"{joint.name} turns as far as {largest:.4g} rad; if the file holds degrees, convert them"
            )
            break
    up = BASE_HEIGHTS.get(robot.root)
    height = float(np.max(np.abs(q[:, up]), initial=0.0)) if up is not None else 0.0
    if height > HIGH * max(_size(robot), 1e-3):
        told.append(
            f"the base is as far as {height:.4g} m up or down; if the file holds millimetres, convert them"
        )
    return tuple(told)


def _size(robot: RobotModel) -> float:
    """Return how far its farthest joint is from the base in the resting posture [m]."""
    data = robot.data()
    pin.forwardKinematics(robot.model, data, robot.posture)
    places = np.array([place.translation for place in data.oMi[1:]]).reshape(-1, 3)
    return float(np.max(np.linalg.norm(places - places[:1], axis=1), initial=0.0))


def _take_whole(recording: Recording, robot: RobotModel) -> Matrix:
    if recording.values.shape[1] != robot.nq:
        listed = ", ".join(entry_names(robot))
        problem = f"has {count(recording.values.shape[1], 'column')} without names; a configuration of {robot.name!r} has {robot.nq}: {listed}"
        raise ClipError(recording.origin, problem)
    q = np.array(recording.values)
    for block in unit_blocks(robot):
        normalize_rows(
            q, list(range(block.start, block.stop)), entry_names(robot), recording.origin
        )
    return q


def _fill(
    recording: Recording, robot: RobotModel, sources: Mapping[str, Source]
) -> tuple[Matrix, tuple[str, ...]]:
    place = {name: index for index, name in enumerate(recording.columns)}
    tables = {
        joint.name: np.tile(rest_table(joint, robot.posture), (len(recording.times), 1))
        for joint in robot.joints
    }
    given: set[str] = set()
    for joint in robot.joints:
        names = joint_columns(joint)
        found = [name for name in names if name in sources]
        if found and len(found) < len(names):
            missing = ", ".join(name for name in names if name not in sources)
            raise ClipError(recording.origin, f"joint {joint.name!r} has no columns {missing}")
        for index, name in enumerate(names):
            if name in sources:
                source = sources[name]
                tables[joint.name][:, index] = (
                    source.sign * recording.values[:, place[source.column]] + source.offset
                )
                given.add(joint.name)
    for mimic in robot.mimics:
        if mimic.joint not in given:
            tables[mimic.joint] = mimic.ratio * tables[mimic.leader] + mimic.offset
            given.add(mimic.joint)
    rested = tuple(
        joint.name for joint in robot.joints if joint.name not in given and joint_columns(joint)
    )
    return _join(robot.joints, tables, robot.nq), rested


def _join(joints: tuple[Joint, ...], tables: Mapping[str, Matrix], nq: int) -> Matrix:
    n = len(next(iter(tables.values()))) if tables else 0
    q = np.zeros((n, nq))
    for joint in joints:
        q[:, joint.q] = unpack_joint(joint, tables[joint.name])
    return q
