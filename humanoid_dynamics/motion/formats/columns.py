# SPDX-License-Identifier: Apache-2.0
"""What the numbers of a configuration are called, in files and in messages."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

BASE_PLACE = ("base_x", "base_y", "base_z")
BASE_TURN = ("base_qx", "base_qy", "base_qz", "base_qw")
BASE_POSE = BASE_PLACE + BASE_TURN
BASE_VELOCITY = ("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz")
PLANAR_BASE = ("base_x", "base_z", "base_pitch")
PLANAR_BASE_VELOCITY = ("base_vx", "base_vz", "base_wy")
QUATERNION = ("qx", "qy", "qz", "qw")


def configuration_columns(robot: RobotModel) -> tuple[str, ...]:
    """Name the columns of a table of configurations.

    A free base is ``base_x`` .. ``base_qw``, a planar one ``base_x``, ``base_z``, ``base_pitch``; a joint of one freedom has its own name
    (also a continuous one, whose column is its angle), a spherical joint four: ``left_hip.qx`` .. ``left_hip.qw``.

    Args:
        robot: The robot.

    Returns:
        The names in the order of the configuration.
    """
    return tuple(name for joint in robot.joints for name in joint_columns(joint))


def velocity_columns(robot: RobotModel) -> tuple[str, ...]:
    """Name the columns of a table of velocities or accelerations; a base is ``base_vx`` .. ``base_wz``, in its own axes.

    Args:
        robot: The robot.

    Returns:
        (nv) names in the order of the velocity.
    """
    return tuple(name for joint in robot.joints for name in rate_columns(joint))


def angle_columns(robot: RobotModel) -> frozenset[str]:
    """Name the columns that are angles [rad] or their rates, of both tables.

    Args:
        robot: The robot.

    Returns:
        The names; a quaternion is none of them.
    """
    found: set[str] = set()
    for joint in robot.joints:
        places, rates = joint_columns(joint), rate_columns(joint)
        if joint.kind in {"revolute", "continuous", "universal"}:
            found.update(places, rates)
        elif joint.kind == "planar":
            found.update(places[-1:], rates[-1:])
        elif joint.kind in {"spherical", "free_flyer"}:
            found.update(rates[-3:])
    return frozenset(found)


def entry_names(robot: RobotModel) -> tuple[str, ...]:
    """Name all nq entries of a configuration; a continuous joint has two, ``joint.cos`` and ``joint.sin``.

    Args:
        robot: The robot.

    Returns:
        (nq) names.
    """
    return tuple(name for joint in robot.joints for name in _entries(joint))


def unit_blocks(robot: RobotModel) -> tuple[slice, ...]:
    """List the parts of a configuration that have unit length: quaternions, and cosine with sine.

    Args:
        robot: The robot.

    Returns:
        Slices of the configuration.
    """
    blocks = (_unit_part(joint) for joint in robot.joints)
    return tuple(block for block in blocks if block is not None)


def quaternion_blocks(robot: RobotModel) -> tuple[slice, ...]:
    """List the quaternions of a configuration.

    Args:
        robot: The robot.

    Returns:
        Slices of four.
    """
    return tuple(block for block in unit_blocks(robot) if block.stop - block.start == 4)


def pack_table(robot: RobotModel, q: Matrix) -> Matrix:
    """Write configurations as the columns of ``configuration_columns``; angles of continuous joints do not jump.

    Args:
        robot: The robot.
        q: (n, nq) configurations.

    Returns:
        (n, columns) table.
    """
    parts = [_pack(joint, q[:, joint.q]) for joint in robot.joints]
    return np.hstack(parts) if parts else np.zeros((len(q), 0))


def unpack_joint(joint: Joint, table: Matrix) -> Matrix:
    """Turn the columns of one joint into its part of the configuration.

    Args:
        joint: The joint.
        table: (n, columns) its columns, in the order of ``joint_columns``.

    Returns:
        (n, nq of the joint).
    """
    block = _unit_part(joint)
    if block is not None and block.stop - block.start == 2:
        return np.column_stack((table[:, :-1], np.cos(table[:, -1]), np.sin(table[:, -1])))
    return table


def joint_columns(joint: Joint) -> tuple[str, ...]:
    """Name the columns of one joint in a table of configurations.

    Args:
        joint: The joint.

    Returns:
        Its columns; none for a joint without coordinates of its own.
    """
    size = joint.q.stop - joint.q.start
    if joint.kind == "free_flyer":
        return (
            BASE_POSE
            if joint.index == 1
            else tuple(f"{joint.name}.{part}" for part in ("x", "y", "z", *QUATERNION))
        )
    if joint.kind == "spherical":
        return tuple(f"{joint.name}.{part}" for part in QUATERNION)
    if joint.kind == "planar":
        return (
            PLANAR_BASE
            if size == 3
            else tuple(f"{joint.name}.{part}" for part in ("x", "y", "angle"))
        )
    return joint.coordinates if size else ()


def rate_columns(joint: Joint) -> tuple[str, ...]:
    """Name the columns of one joint in a table of velocities.

    Args:
        joint: The joint.

    Returns:
        Its columns, as many as it has freedoms.
    """
    if joint.index == 1 and joint.kind == "free_flyer":
        return BASE_VELOCITY
    if joint.index == 1 and joint.kind == "planar" and joint.q.stop - joint.q.start == 3:
        return PLANAR_BASE_VELOCITY
    return joint.coordinates


def rest_table(joint: Joint, q: Vector) -> Vector:
    """Return the columns of one joint at one configuration.

    Args:
        joint: The joint.
        q: (nq,) configuration of the robot.

    Returns:
        (columns,) numbers.
    """
    return np.asarray(_pack(joint, q[None, joint.q])[0])


def _unit_part(joint: Joint) -> slice | None:
    size = joint.q.stop - joint.q.start
    if joint.kind == "free_flyer":
        return slice(joint.q.start + 3, joint.q.stop)
    if joint.kind in {"spherical", "continuous"}:
        return joint.q
    if joint.kind == "planar" and size == 4:
        return slice(joint.q.start + 2, joint.q.stop)
    return None


def _entries(joint: Joint) -> tuple[str, ...]:
    block = _unit_part(joint)
    names = joint_columns(joint)
    if block is None or block.stop - block.start == 4:
        return names
    stem = names[-1]
    return (*names[:-1], f"{stem}.cos", f"{stem}.sin")


def _pack(joint: Joint, q: Matrix) -> Matrix:
    block = _unit_part(joint)
    if block is not None and block.stop - block.start == 2:
        return np.column_stack((q[:, :-2], np.unwrap(np.arctan2(q[:, -1], q[:, -2]))))
    return q
