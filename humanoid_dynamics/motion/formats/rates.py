# SPDX-License-Identifier: Apache-2.0
"""Velocities and accelerations of a file in the order of a robot; joints that rest have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import ClipError, count, listed
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.formats.columns import joint_columns, rate_columns, velocity_columns
from humanoid_dynamics.motion.formats.recording import Recording
from humanoid_dynamics.spatial.arrays import Matrix


@dataclass(frozen=True)
class Source:
    """Where a column of the robot comes from.

    Attributes:
        column: Column of the file.
        sign: 1 or -1.
        offset: Position where the file has zero [rad or m].
    """

    column: str
    sign: float = 1.0
    offset: float = 0.0


def fill_rates(
    table: Matrix | None,
    recording: Recording,
    robot: RobotModel,
    sources: Mapping[str, Source],
    ignore: frozenset[str],
) -> Matrix | None:
    """Put velocities or accelerations into the order of a robot.

    Args:
        table: (n, rates) those of the recording, or None.
        recording: What the file holds.
        robot: The robot.
        sources: Column of the robot -> where it comes from.
        ignore: Columns to leave out.

    Returns:
        (n, nv) rates, or None where there are none.

    Raises:
        ClipError: If columns are unknown, or those of joints that move are missing.
    """
    if table is None:
        return None
    if not recording.rates:
        return _take_whole_rates(table, recording.origin, robot)
    place = {name: index for index, name in enumerate(recording.rates)}
    rates = np.zeros((len(table), robot.nv))
    wanted = {name: sources.get(name, Source(name)) for name in velocity_columns(robot)}
    for index, source in enumerate(wanted.values()):
        if source.column in place:
            rates[:, index] = source.sign * table[:, place[source.column]]
    for mimic in robot.mimics:
        if mimic.joint not in sources:
            rates[:, robot.joint(mimic.joint).v] = (
                mimic.ratio * rates[:, robot.joint(mimic.leader).v]
            )
    joints = [
        joint
        for joint in robot.joints
        if not recording.columns or any(part in sources for part in joint_columns(joint))
    ]
    moved = [
        name for joint in joints for name in rate_columns(joint)
    ]  # all where configurations have no names
    missing = [wanted[name].column for name in moved if wanted[name].column not in place]
    unknown = set(recording.rates) - {source.column for source in wanted.values()} - ignore
    faults = [f"lack the {listed('column', missing)}"] if missing else []
    faults += [f"have the unknown {listed('column', sorted(unknown))}"] if unknown else []
    if faults:
        raise ClipError(recording.origin, f"rates {' and '.join(faults)}")
    return rates


def hold_rates(
    robot: RobotModel, held: tuple[str, ...], v: Matrix | None, a: Matrix | None
) -> tuple[Matrix | None, Matrix | None, tuple[str, ...]]:
    """Return rates that are zero where joints rest, and a notice of joints whose rates were not.

    Args:
        robot: The robot.
        held: Joints that rest.
        v: (n, nv) velocities, or None.
        a: (n, nv) accelerations, or None.

    Returns:
        Both, and a notice where a joint that rests had others.
    """
    still: list[Matrix | None] = []
    told: dict[str, bool] = {}
    for table in (v, a):
        rates = None if table is None else np.array(table)
        for name in held:
            if rates is not None and rates[:, robot.joint(name).v].any():
                told[name] = True
                rates[:, robot.joint(name).v] = 0.0
        still.append(rates)
    notice = f"joints that rest have zero velocities and accelerations, not those of the file: {', '.join(told)}"
    return still[0], still[1], (notice,) if told else ()


def _take_whole_rates(table: Matrix, origin: str, robot: RobotModel) -> Matrix:
    if table.shape[1] != robot.nv:
        wanted = ", ".join(velocity_columns(robot))
        raise ClipError(
            origin,
            f"has {count(table.shape[1], 'rate')} without names; a velocity of {robot.name!r} has {robot.nv}: {wanted}",
        )
    return table
