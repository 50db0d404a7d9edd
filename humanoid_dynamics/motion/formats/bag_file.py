# SPDX-License-Identifier: Apache-2.0
"""Motions in bags of ROS 2, MCAP or SQLite: JointState with Odometry, JointTrajectory with MultiDOFJointTrajectory, or a record of a run.

Joint names come from the messages, in any order, and instants from their headers.  Of several topics the one called ``joint_states`` or
``odom`` is taken.  Odometry at other instants than the joints is interpolated, and told.  A JointTrajectory is one message with all
points, or a stream of messages with one point each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from humanoid_dynamics.errors import ClipError, RecordError
from humanoid_dynamics.motion.clip import check_table
from humanoid_dynamics.motion.formats.columns import BASE_POSE, BASE_VELOCITY
from humanoid_dynamics.motion.formats.joint_trajectory import (
    BASE,
    JOINTS,
    recording_from_trajectory,
)
from humanoid_dynamics.motion.formats.recording import Recording, normalize_rows
from humanoid_dynamics.series.bag_reader import Bag, Series, Stamps, read_bag
from humanoid_dynamics.series.bag_record import record_from_bag
from humanoid_dynamics.series.bag_writer import ABOUT
from humanoid_dynamics.series.messages import (
    BASE_TRAJECTORY,
    JOINT_STATE,
    NANO,
    ODOMETRY,
    TRAJECTORY,
    joint_state_form,
)
from humanoid_dynamics.series.record import Record
from humanoid_dynamics.spatial.arrays import Matrix, Vector

TOUCHES = 1.0  # N; a contact that carries less is none
Names: TypeAlias = tuple[str, ...]
Block: TypeAlias = tuple[
    Names, Names, Matrix, Matrix | None
]  # columns, their rates, positions, velocities
USUAL = {JOINT_STATE: "/joint_states", ODOMETRY: "/odom"}


def read_bag_motion(path: Path, names: Mapping[str, str] | None = None) -> Recording:
    """Read a motion from a bag.

    Args:
        path: An MCAP file, or the folder of a bag.
        names: Topic of the bag -> the name it is read by, such as ``/joint_states``.

    Returns:
        The recording.

    Raises:
        ClipError: If it is broken or holds no motion.
    """
    try:
        bag = read_bag(path).rename(names or {})
        if ABOUT in bag.messages:
            return recording_from_record(record_from_bag(bag), str(path))
    except RecordError as cause:
        raise ClipError(str(path), str(cause).removeprefix(f"{path}: ")) from cause
    if any(
        _has_positions(series) for topic in bag.of_kind(JOINT_STATE) for series in bag.series[topic]
    ):
        return _from_joint_states(bag)
    if bag.of_kind(TRAJECTORY):
        return _from_trajectories(bag)
    listed = ", ".join(f"{topic} ({kind})" for topic, kind in bag.topics.items()) or "none"
    raise ClipError(
        bag.origin,
        f"holds neither a JointState with positions nor a JointTrajectory; its topics are {listed}",
    )


def recording_from_record(record: Record, origin: str) -> Recording:
    """Take the motion out of a record of a run.

    Args:
        record: The record.
        origin: Where it came from, for messages.

    Returns:
        Positions, velocities, and which surfaces carried load.

    Raises:
        ClipError: If the tree of bodies changed on the way.
    """
    q, v = record.table("q"), record.table("v")
    if len(record.layouts) > 1:
        raise ClipError(
            origin,
            f"the kinematic tree changes at {record.t[sorted(record.layouts)[1]]:g} s; expected one tree for the whole motion",
        )
    names, columns = [], []
    for name in q.columns:
        stem = name.removesuffix(".cos")
        if stem != name and f"{stem}.sin" in q.columns:
            names.append(stem)
            columns.append(np.unwrap(np.arctan2(q.column(f"{stem}.sin"), q.column(name))))
        elif not (name.endswith(".sin") and f"{name.removesuffix('.sin')}.cos" in q.columns):
            names.append(name)
            columns.append(q.column(name))
    contacts = {
        patch.name: record.wrench(patch.name)[:, 2] > TOUCHES
        for patch in record.patches
        if len(patch.corners)
    }
    return Recording(
        origin,
        record.t,
        tuple(names),
        np.column_stack(columns),
        v.columns,
        v.values,
        None,
        contacts,
    )


def _has_positions(series: Series) -> bool:
    return bool(series.form.sizes[0])


def _choose(bag: Bag, kind: str, topics: Sequence[str]) -> str:
    """Return the topic that is meant."""
    usual = [topic for topic in topics if topic.endswith(USUAL[kind])]
    meant = usual or list(topics)
    if len(meant) > 1 and USUAL[kind] not in meant:
        raise ClipError(
            bag.origin,
            f"holds several topics of type {kind}: {', '.join(meant)}; expected one, or {USUAL[kind]}",
        )
    return USUAL[kind] if USUAL[kind] in meant else meant[0]


def _from_joint_states(bag: Bag) -> Recording:
    topics = [
        topic for topic in bag.of_kind(JOINT_STATE) if any(map(_has_positions, bag.series[topic]))
    ]
    states = list(filter(_has_positions, bag.series[_choose(bag, JOINT_STATE, topics)]))
    parts = sorted(_in_one_order(states), key=lambda part: -len(part.stamps))
    notices: list[str] = []
    odometry = _find_odometry(bag)
    main = parts[0] if odometry is None else _cover(parts[0], odometry, bag.origin, notices)
    names = main.form.names
    blocks: list[Block] = [(names, names, main.fields[0], _velocities(main))]
    for part in parts[1:]:  # publishers that know other joints
        new = [
            k
            for k, name in enumerate(part.form.names)
            if all(name not in block[0] for block in blocks)
        ]
        if new:
            names, rates = tuple(part.form.names[k] for k in new), _velocities(part)
            moved = None if rates is None else _interpolate(part.stamps, rates[:, new], main.stamps)
            blocks.append(
                (
                    names,
                    names,
                    _interpolate(part.stamps, part.fields[0][:, new], main.stamps),
                    moved,
                )
            )
            notices.append(f"{', '.join(names)}: come in messages of their own, interpolated")
    if odometry is not None:
        blocks.insert(0, (BASE_POSE, BASE_VELOCITY, *_base_at(odometry, main.stamps)))
    return _merge(bag.origin, main.stamps / NANO, blocks, tuple(notices))


def _in_one_order(parts: Sequence[Series]) -> list[Series]:
    """Put messages together that name the same joints, some of them in another order or without velocities."""
    found: dict[frozenset[str], list[Series]] = {}
    for part in parts:
        found.setdefault(frozenset(part.form.names), []).append(part)
    return [_join(same) if len(same) > 1 else same[0] for same in found.values()]


def _join(parts: Sequence[Series]) -> Series:
    names = parts[0].form.names
    if any(
        len(part.form.names) != len(names) or part.form.sizes[0] != len(names) for part in parts
    ):
        return max(
            parts, key=lambda part: len(part.stamps)
        )  # a joint that comes twice, or has no position: the reader refuses it
    places = [[part.form.names.index(name) for name in names] for part in parts]
    told = range(2 if all(part.form.sizes[1] == len(names) for part in parts) else 1)
    stamps = np.concatenate([part.stamps for part in parts])
    order = np.argsort(stamps, kind="stable")
    fields = [
        np.vstack([part.fields[k][:, place] for part, place in zip(parts, places, strict=True)])[
            order
        ]
        for k in told
    ]
    nothing = [np.zeros((len(stamps), 0))] * (len(parts[0].fields) - len(fields))
    form = joint_state_form(
        names, (len(names), len(names) * (len(told) - 1), 0), parts[0].form.frame
    )
    return Series(form, stamps[order], (*fields, *nothing))


def _merge(
    origin: str, times: Vector, blocks: Sequence[Block], notices: tuple[str, ...]
) -> Recording:
    """Put columns side by side; velocities are known where all blocks know them."""
    columns, rates, tables, speeds = zip(*blocks, strict=True)
    known = [speed for speed in speeds if speed is not None]
    if len(known) < len(blocks):
        return Recording(origin, times, sum(columns, ()), np.hstack(tables), notices=notices)
    return Recording(
        origin,
        times,
        sum(columns, ()),
        np.hstack(tables),
        sum(rates, ()),
        np.hstack(known),
        notices=notices,
    )


def _base_at(odometry: Series, stamps: Stamps) -> tuple[Matrix, Matrix]:
    """Return pose and twist of the base at given instants."""
    if np.array_equal(odometry.stamps, stamps):
        return odometry.fields[0], odometry.fields[2]
    pose = _interpolate(odometry.stamps, _same_sign(odometry.fields[0]), stamps)
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1)[:, None]
    return pose, _interpolate(odometry.stamps, odometry.fields[2], stamps)


def _find_odometry(bag: Bag) -> Series | None:
    topics = bag.of_kind(ODOMETRY)
    if not topics:
        return None
    found = max(bag.series[_choose(bag, ODOMETRY, topics)], key=lambda part: len(part.stamps))
    pose = np.array(
        check_table(found.fields[0], (len(found.stamps), 7), BASE_POSE, bag.origin, "odometry")
    )
    normalize_rows(pose, [3, 4, 5, 6], BASE_POSE, bag.origin)
    return replace(found, fields=(pose, *found.fields[1:]))


def _cover(joints: Series, odometry: Series, origin: str, notices: list[str]) -> Series:
    """Return the joint states between the first and the last odometry."""
    if np.array_equal(joints.stamps, odometry.stamps):
        return joints
    inside = (joints.stamps >= odometry.stamps[0]) & (joints.stamps <= odometry.stamps[-1])
    if not inside.any():
        between = (
            f"{part.stamps[0] / NANO:.9g} s to {part.stamps[-1] / NANO:.9g} s"
            for part in (odometry, joints)
        )
        raise ClipError(
            origin, "has odometry from {} and joints from {}, at no instant both".format(*between)
        )
    lost = int(np.count_nonzero(~inside))
    notices.append(
        f"odometry is interpolated to the instants of the joints; {lost} samples outside of it are left out"
    )
    return joints.rows(inside)


def _velocities(part: Series) -> Matrix | None:
    return part.fields[1] if part.form.sizes[1] else None


def _interpolate(stamps: Stamps, values: Matrix, wanted: Stamps) -> Matrix:
    t, instants = (stamps - stamps[0]) / NANO, (wanted - stamps[0]) / NANO
    return np.column_stack([np.interp(instants, t, column) for column in values.T])


def _same_sign(poses: Matrix) -> Matrix:
    """Return poses whose quaternions do not jump to their negatives."""
    flips = np.einsum("ij,ij->i", poses[1:, 3:], poses[:-1, 3:]) < 0.0
    signs: Vector = np.concatenate(([1.0], np.where(np.cumsum(flips) % 2, -1.0, 1.0)))
    return np.hstack((poses[:, :3], poses[:, 3:] * signs[:, None]))


def _from_trajectories(bag: Bag) -> Recording:
    content: dict[str, Any] = {}
    for kind, key in ((TRAJECTORY, JOINTS), (BASE_TRAJECTORY, BASE)):
        topics = bag.of_kind(kind)
        if len(topics) > 1:
            raise ClipError(
                bag.origin,
                f"holds several topics of type {kind}: {', '.join(topics)}; expected one",
            )
        if topics:
            content[key] = _chain(
                [message for _, message in bag.messages[topics[0]]], topics[0], bag.origin
            )
    return recording_from_trajectory(content, bag.origin)


def _chain(messages: list[Any], topic: str, origin: str) -> dict[str, Any]:
    """Return one trajectory: the only one, or a stream of single points put one behind the other."""
    if len(messages) > 1 and any(
        len(message.points) != 1 or message.joint_names != messages[0].joint_names
        for message in messages
    ):
        raise ClipError(
            origin,
            f"topic {topic} holds {len(messages)} trajectories; expected one, or points one by one for the same joints",
        )
    points = []
    for message in messages:
        start = message.header.stamp if len(messages) > 1 else None
        for point in message.points:
            told = _to_dict(point)
            if start is not None:
                told["time_from_start"]["sec"] += start.sec
                told["time_from_start"]["nanosec"] += start.nanosec
            points.append(told)
    return {"joint_names": list(messages[0].joint_names), "points": points}


def _to_dict(message: Any) -> Any:
    """Return a message as plain data."""
    if is_dataclass(message):
        return {
            entry.name: _to_dict(getattr(message, entry.name))
            for entry in fields(message)
            if not entry.name.startswith("__")
        }
    if isinstance(message, np.ndarray):
        return message.tolist()
    return [_to_dict(part) for part in message] if isinstance(message, list) else message
