# SPDX-License-Identifier: Apache-2.0
"""From messages to numbers and back; every scalar is converted, because messages do not check types."""

from __future__ import annotations

import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Transform, Twist, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import (
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)

from humanoid_dynamics.spatial.arrays import Matrix, Vector

SECOND = 1_000_000_000  # ns
FIELDS = ("positions", "velocities", "accelerations")


def seconds(stamp: Time | Duration) -> float:
    """Return a stamp in seconds."""
    return float(stamp.sec + stamp.nanosec * 1e-9)


def nanoseconds(stamp: Time | Duration) -> int:
    """Return a stamp in nanoseconds."""
    return int(stamp.sec) * SECOND + int(stamp.nanosec)


def to_stamp(t: float) -> Time:
    """Return a time in seconds as a stamp, rounded to nanoseconds."""
    sec, nanosec = divmod(round(t * SECOND), SECOND)
    return Time(sec=sec, nanosec=nanosec)


def doubles(values: Vector) -> array.array[float]:
    """Return numbers the way message fields take them fastest."""
    return array.array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def write_efforts(names: Sequence[str], tau: Vector, stamp: Time) -> JointState:
    """Return efforts by name.

    Args:
        names: Joint names.
        tau: (len(names),) efforts [N·m or N].
        stamp: When they were made.
    """
    message = JointState(name=list(names), effort=doubles(tau))
    message.header.stamp = stamp
    return message


def write_joint_state(
    names: Sequence[str],
    position: Vector,
    velocity: Vector,
    stamp: Time,
    effort: Vector | None = None,
) -> JointState:
    """Return positions and velocities by name, and efforts where they are measured.

    Args:
        names: Joint names.
        position: (len(names),) positions [rad or m].
        velocity: (len(names),) velocities [rad/s or m/s].
        stamp: When.
        effort: (len(names),) efforts [N·m or N].
    """
    message = JointState(name=list(names), position=doubles(position), velocity=doubles(velocity))
    if effort is not None:
        message.effort = doubles(effort)
    message.header.stamp = stamp
    return message


def write_imu(gyro: Vector, acc: Vector, stamp: Time, frame: str) -> Imu:
    """Return a sample of an IMU without an orientation [REP-145].

    Args:
        gyro: (3,) angular rate [rad/s].
        acc: (3,) specific force [m/s²].
        stamp: When.
        frame: Frame of the IMU, in whose axes both are.
    """
    message = Imu(header=Header(stamp=stamp, frame_id=frame))
    message.orientation_covariance[0] = -1.0
    w, a = message.angular_velocity, message.linear_acceleration
    w.x, w.y, w.z = gyro.tolist()
    a.x, a.y, a.z = acc.tolist()
    return message


def read_odometry(message: Odometry) -> tuple[Vector, Vector]:
    """Return pose (7,), quaternion x y z w, and twist (6,) in axes of the child frame."""
    v, w = message.twist.twist.linear, message.twist.twist.angular
    return read_pose(message.pose.pose), np.array((v.x, v.y, v.z, w.x, w.y, w.z))


def write_odometry(pose: Vector, twist: Vector, stamp: Time, frames: tuple[str, str]) -> Odometry:
    """Return pose and velocity of the base.

    Args:
        pose: (7,) position and quaternion x y z w [m].
        twist: (6,) velocity in axes of the base [m/s, rad/s].
        stamp: When.
        frames: Names of the world and of the base.
    """
    message = Odometry(child_frame_id=frames[1])
    message.header.stamp, message.header.frame_id = stamp, frames[0]
    write_pose(message.pose.pose, pose)
    v, w = message.twist.twist.linear, message.twist.twist.angular
    v.x, v.y, v.z, w.x, w.y, w.z = twist.tolist()
    return message


def write_pose(message: Any, pose: Vector) -> None:
    """Write a pose (7,) into a ``geometry_msgs/Pose``."""
    p, o = message.position, message.orientation
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = pose.tolist()


def read_pose(message: Any) -> Vector:
    """Return a ``geometry_msgs/Pose`` as (7,) position and quaternion x y z w."""
    p, o = message.position, message.orientation
    return np.array((p.x, p.y, p.z, o.x, o.y, o.z, o.w))


def write_wrench(force: Vector, moment: Vector, stamp: Time, frame: str) -> WrenchStamped:
    """Return a wrench.

    Args:
        force: (3,) force [N].
        moment: (3,) moment [N·m].
        stamp: When.
        frame: Frame whose axes and origin it refers to.
    """
    message = WrenchStamped(header=Header(stamp=stamp, frame_id=frame))
    f, m = message.wrench.force, message.wrench.torque
    f.x, f.y, f.z = force.tolist()
    m.x, m.y, m.z = moment.tolist()
    return message


def read_wrench(message: WrenchStamped) -> tuple[Vector, Vector]:
    """Return force (3,) and moment (3,)."""
    f, m = message.wrench.force, message.wrench.torque
    return np.array((f.x, f.y, f.z)), np.array((m.x, m.y, m.z))


def write_joint_trajectory(
    names: Sequence[str], start: float, times: Vector, tables: dict[str, Matrix]
) -> JointTrajectory:
    """Return a trajectory.

    Args:
        names: Joint names.
        start: When it begins [s].
        times: (n,) times since then [s].
        tables: ``positions`` and where known ``velocities`` and ``accelerations``, each (n, len(names)).
    """
    points = []
    for k, t in enumerate(times.tolist()):
        point = JointTrajectoryPoint(time_from_start=_duration(t))
        for name, table in tables.items():
            setattr(point, name, doubles(table[k]))
        points.append(point)
    message = JointTrajectory(joint_names=list(names), points=points)
    message.header.stamp = to_stamp(start)
    return message


def write_base_trajectory(
    name: str, start: float, times: Vector, rows: Matrix
) -> MultiDOFJointTrajectory:
    """Return a base trajectory.

    Args:
        name: Name of the base link.
        start: When it begins [s].
        times: (n,) times since then [s].
        rows: (n, 13) position, quaternion x y z w, velocities in axes of the world.
    """
    points = []
    for t, row in zip(times.tolist(), rows.tolist(), strict=True):
        transform, rate = Transform(), Twist()
        p, o, v, w = transform.translation, transform.rotation, rate.linear, rate.angular
        p.x, p.y, p.z, o.x, o.y, o.z, o.w = row[:7]
        v.x, v.y, v.z, w.x, w.y, w.z = row[7:]
        points.append(
            MultiDOFJointTrajectoryPoint(
                time_from_start=_duration(t), transforms=[transform], velocities=[rate]
            )
        )
    message = MultiDOFJointTrajectory(joint_names=[name], points=points)
    message.header.stamp = to_stamp(start)
    return message


def _duration(t: float) -> Duration:
    sec, nanosec = divmod(round(t * SECOND), SECOND)
    return Duration(sec=sec, nanosec=nanosec)
