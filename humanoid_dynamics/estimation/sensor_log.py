# SPDX-License-Identifier: Apache-2.0
"""Recorded sensor data of a robot, from bags and numpy archives.

bag       sensor_msgs/Imu, sensor_msgs/JointState; where present wrenches of surfaces, and nav_msgs/Odometry as truth
record    what a recorder of a simulation with sensors wrote: tables ``imu_NAME`` and ``encoders``, ``q`` and ``v`` as truth
archive   t, gyro, acc, q; optionally dq, tau in the order of the robot, base (place, quaternion w x y z) and basevel
          (linear in the world, angular in the base) as truth, fl and fr (normal forces), imu_link, imu_site_pos,
          imu_site_quat_wxyz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import RecordError, UnknownNameError
from humanoid_dynamics.model.imu import BASE, Imu
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.series.bag_reader import Bag, Series, is_bag, read_bag
from humanoid_dynamics.series.bag_writer import IMU_TABLE, clean
from humanoid_dynamics.series.messages import IMU, JOINT_STATE, NANO, ODOMETRY
from humanoid_dynamics.series.npz_file import BROKEN, load_archive, read_npz_record
from humanoid_dynamics.series.record import Record
from humanoid_dynamics.spatial.arrays import Matrix, Vector

NEEDED = ("t", "gyro", "acc", "q")  # keys of an archive
TRUTHS = ("/truth/odom", "/odom")  # topics of the true odometry, the first that exists
WRENCHES = ("/contact_wrenches/{}", "/contacts/{}/wrench")  # topics of the wrench of a surface


@dataclass(frozen=True, eq=False)
class BaseTrack:
    """Pose and twist of the base over time.

    Attributes:
        times: (n,) times [s].
        pose: (n, 7) place [m] and quaternion x y z w.
        twist: (n, 6) linear and angular velocity in axes of the base [m/s, rad/s].
    """

    times: Vector
    pose: Matrix
    twist: Matrix

    @property
    def turns(self) -> Matrix:
        """(n, 3, 3) rotations of the base."""
        return np.array([pin.Quaternion(row).matrix() for row in np.array(self.pose[:, 3:])])


def find_description(path: str | Path) -> str:
    """Return the URDF that a bag or a record holds; empty where there is none.

    Args:
        path: The file.
    """
    path = Path(path)
    if is_bag(path):
        texts = read_bag(path).messages.get("/robot_description", ())
        return str(texts[0][1].data) if texts else ""
    try:
        return read_npz_record(path).about.get("urdf", "")
    except RecordError:
        return ""


@dataclass(frozen=True, eq=False)
class SensorLog:
    """Sensor data of a run; arrays by sample.

    Attributes:
        origin: The file.
        imu: The IMU.
        imu_times: (n,) times of its samples [s].
        gyro: (n, 3) angular rates, axes of the IMU [rad/s].
        acc: (n, 3) specific forces, axes of the IMU [m/s²].
        joint_times: (m,) times of the joint samples [s].
        q: (m, nq - 7) joint positions [rad, m].
        v: (m, nv - 6) joint velocities [rad/s, m/s]; None where there are none.
        tau: (m, nv - 6) joint efforts [N·m, N]; None where there are none.
        wrenches: Surface -> times (k,) and wrenches (k, 6), axes of the surface [N, N·m].
        truth: The true motion of the base; None where it is unknown.
    """

    origin: str
    imu: Imu
    imu_times: Vector
    gyro: Matrix
    acc: Matrix
    joint_times: Vector
    q: Matrix
    v: Matrix | None = None
    tau: Matrix | None = None
    wrenches: Mapping[str, tuple[Vector, Matrix]] = field(default_factory=dict)
    truth: BaseTrack | None = None

    @property
    def duration(self) -> float:
        """Time from the first to the last IMU sample [s]."""
        return float(self.imu_times[-1] - self.imu_times[0])


def load_sensor_log(path: str | Path, robot: RobotModel, imu: str = BASE) -> SensorLog:
    """Read recorded sensor data.

    Args:
        path: A bag, a record of a simulation, or a numpy archive; see the module.
        robot: The robot.
        imu: Name of the IMU, where the file has no mounting pose.

    Raises:
        RecordError: If the file has no usable sensor data.
        UnknownNameError: If the robot has no such IMU.
        MissingExtraError: If ``rosbags`` is needed and not installed.
    """
    path = Path(path)
    if not path.exists():
        raise RecordError(str(path), "does not exist; expected a bag or a numpy archive (.npz)")
    if is_bag(path):
        return _check(_read_bag(read_bag(path), robot, imu))
    try:
        arrays = load_archive(path)
    except BROKEN as cause:
        raise RecordError(
            str(path), f"cannot be read as a bag or numpy archive: {cause}"
        ) from cause
    if "layouts" in arrays:
        return _check(_read_record(read_npz_record(path), str(path), robot, imu))
    return _check(_read_archive(arrays, str(path), robot, imu))


def _check(log: SensorLog) -> SensorLog:
    """Refuse a log without samples; faults of single samples are the estimator's."""
    for name, times in (("IMU", log.imu_times), ("joint", log.joint_times)):
        if not np.isfinite(times).all():
            raise RecordError(log.origin, f"has {name} samples with NaN or infinity as time")
        if len(times) < 2:
            raise RecordError(log.origin, f"has {len(times)} {name} samples, expected at least two")
    return log


def _find_imu(robot: RobotModel, name: str) -> Imu:
    if name not in robot.imus:
        raise UnknownNameError("IMU", name, robot.imus)
    return robot.imus[name]


def _read_archive(arrays: Mapping[str, Any], origin: str, robot: RobotModel, imu: str) -> SensorLog:
    missing = [name for name in NEEDED if name not in arrays]
    if missing:
        listed = ", ".join(arrays) or "none"
        raise RecordError(origin, f"has no {', '.join(missing)}; its keys are {listed}")
    n, joints = np.size(arrays["t"]), (robot.nq - 7, robot.nv - 6)
    shapes = {"t": (n,), "gyro": (n, 3), "acc": (n, 3), "q": (n, joints[0]), "fl": (n,), "fr": (n,)}
    shapes |= {"dq": (n, joints[1]), "tau": (n, joints[1]), "base": (n, 7), "basevel": (n, 6)}
    shapes |= {"imu_site_pos": (3,), "imu_site_quat_wxyz": (4,)}
    numbers = {
        name: _read_numbers(arrays, name, shape, origin)
        for name, shape in shapes.items()
        if name in arrays
    }
    t = numbers["t"]
    truth = None
    if "base" in numbers:
        pose = numbers["base"][:, [0, 1, 2, 4, 5, 6, 3]]
        truth = BaseTrack(
            t, pose, _turn_twist(pose, numbers.get("basevel", np.full((n, 6), np.nan)))
        )
    loads = {}
    for name, key in zip(robot.stance, ("fl", "fr"), strict=False):
        if key in numbers:
            loads[name] = (t, np.zeros((n, 6)))
            loads[name][1][:, 2] = numbers[key]
    return SensorLog(
        origin,
        _mount(arrays, numbers, origin, robot, imu),
        t,
        numbers["gyro"],
        numbers["acc"],
        t,
        numbers["q"],
        numbers.get("dq"),
        numbers.get("tau"),
        loads,
        truth,
    )


def _turn_twist(pose: Matrix, rates: Matrix) -> Matrix:
    """Return twists in base axes from linear velocities in the world and angular ones in the base."""
    turns = np.array([pin.Quaternion(row).matrix() for row in np.array(pose[:, 3:])])
    return np.hstack((np.einsum("kji,kj->ki", turns, rates[:, :3]), rates[:, 3:]))


def _read_numbers(
    arrays: Mapping[str, Any], name: str, shape: tuple[int, ...], origin: str
) -> Matrix:
    """Return an array of an archive as float64 of a shape."""
    try:
        numbers = np.asarray(arrays[name], dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise RecordError(origin, f"{name} holds no numbers: {cause}") from cause
    if numbers.shape != shape:
        raise RecordError(origin, f"{name} has shape {numbers.shape}, expected {shape}")
    return numbers


def _find_body(robot: RobotModel, link: str) -> int:
    """Return the joint that moves a link."""
    return int(robot.model.frames[robot.link_frame(link)].parentJoint)


def _mount(
    arrays: Mapping[str, Any],
    numbers: Mapping[str, Matrix],
    origin: str,
    robot: RobotModel,
    name: str,
) -> Imu:
    """Return the IMU with the mounting pose of an archive, or of the robot; its name is that of the link where this IMU is another one."""
    if "imu_link" not in arrays and "imu_site_pos" not in arrays:
        return _find_imu(robot, name)
    link = str(arrays.get("imu_link", robot.links[0]))
    body = _find_body(robot, link)
    if name != BASE and _find_body(robot, _find_imu(robot, name).link) != body:
        raise RecordError(origin, f"its IMU is on {link}; {name} is on {robot.imus[name].link}")
    if name not in robot.imus or _find_body(robot, robot.imus[name].link) != body:
        name = link
    quaternion = numbers.get("imu_site_quat_wxyz", np.array((1.0, 0.0, 0.0, 0.0)))
    place = numbers.get("imu_site_pos", np.zeros(3))
    size = float(np.linalg.norm(quaternion))
    if not (0.0 < size < np.inf and np.isfinite(place).all()):
        raise RecordError(origin, "imu_site_pos and imu_site_quat_wxyz are no pose")
    w, x, y, z = (quaternion / size).tolist()
    return Imu(name, link, pin.SE3(pin.Quaternion(w, x, y, z).matrix(), place))


def _read_record(record: Record, origin: str, robot: RobotModel, imu: str) -> SensorLog:
    mounted = _find_imu(robot, imu)
    for table in (IMU_TABLE + imu, "encoders"):
        if table not in record.tables:
            listed = ", ".join(record.tables)
            raise RecordError(origin, f"has no table {table}; its tables are {listed}")
    samples, encoders = record.table(IMU_TABLE + imu).values, record.table("encoders")
    names = [column[: -len(".q")] for column in encoders.columns if column.endswith(".q")]
    q, v, tau = np.hsplit(encoders.values, 3)
    base = slice(0, 7), slice(0, 6)
    truth = BaseTrack(
        record.t, record.table("q").values[:, base[0]], record.table("v").values[:, base[1]]
    )
    wrenches = {
        patch.name: (record.t, record.wrench(patch.name))
        for patch in record.patches
        if patch.name in robot.surfaces
    }
    return SensorLog(
        origin,
        mounted,
        record.t,
        samples[:, :3],
        samples[:, 3:],
        record.t,
        *order_joints(robot, names, q, v, tau),
        wrenches,
        truth,
    )


def _read_bag(bag: Bag, robot: RobotModel, imu: str) -> SensorLog:
    mounted = _find_imu(robot, imu)
    samples = _one_series(bag, (f"/imu/{clean(imu)}", "/imu"), IMU)
    joints = _one_series(bag, ("/joint_states",), JOINT_STATE)
    q, *others = (part if part.shape[1] else None for part in joints.fields)
    if q is None:
        raise RecordError(bag.origin, "its topic /joint_states has no positions")
    known = [topic for topic in TRUTHS if bag.topics.get(topic) == ODOMETRY]
    truth = None
    if known:
        odometry = _one_series(bag, known, ODOMETRY)
        truth = BaseTrack(_seconds(odometry), odometry.fields[0], odometry.fields[2])
    wrenches = {}
    for name in robot.surfaces:
        for topic in (form.format(clean(name)) for form in WRENCHES):
            for series in bag.series.get(topic, ())[:1]:
                wrenches[name] = (_seconds(series), series.fields[0])
    return SensorLog(
        bag.origin,
        mounted,
        _seconds(samples),
        samples.fields[2],
        samples.fields[4],
        _seconds(joints),
        *order_joints(robot, joints.form.names, q, *others),
        wrenches,
        truth,
    )


def _one_series(bag: Bag, topics: Sequence[str], kind: str) -> Series:
    """Return the longest series of the first of some topics that exists."""
    for topic in topics:
        if bag.topics.get(topic) == kind and bag.series.get(topic):
            return max(bag.series[topic], key=lambda series: len(series.stamps))
    listed = ", ".join(f"{topic} ({found})" for topic, found in bag.topics.items()) or "none"
    raise RecordError(
        bag.origin, f"has no topic {' or '.join(topics)} of type {kind}; its topics are {listed}"
    )


def _seconds(series: Series) -> Vector:
    return np.asarray(series.stamps / NANO)


def order_joints(
    robot: RobotModel,
    names: Sequence[str],
    position: Matrix,
    velocity: Matrix | None,
    effort: Matrix | None,
) -> tuple[Matrix, Matrix | None, Matrix | None]:
    """Return joint samples in the order of the robot; joints without a name in them rest in the posture of the robot.

    Args:
        robot: The robot.
        names: Names of the joints.
        position: (m, len(names)) positions [rad, m].
        velocity: (m, len(names)) velocities [rad/s, m/s], or None.
        effort: (m, len(names)) efforts [N·m, N], or None.

    Raises:
        RecordError: If no joint of the robot is named.
    """
    places = {name: column for column, name in enumerate(names)}
    joints = [joint for joint in robot.joints[1:] if joint.name in places]
    if not joints:
        raise RecordError("joint states", f"name no joint of {robot.name}: {', '.join(names[:4])}")
    q = np.tile(robot.posture[7:], (len(position), 1))
    rates = [np.zeros((len(position), robot.nv - 6)) for _ in range(2)]
    for joint in joints:
        column, at = places[joint.name], joint.v.start - 6
        angle = position[:, column]
        endless = joint.q.stop - joint.q.start == 2
        q[:, joint.q.start - 7 : joint.q.stop - 7] = (
            np.column_stack((np.cos(angle), np.sin(angle))) if endless else angle[:, None]
        )
        for table, given in zip(rates, (velocity, effort), strict=True):
            if given is not None:
                table[:, at] = given[:, column]
    return q, None if velocity is None else rates[0], None if effort is None else rates[1]
