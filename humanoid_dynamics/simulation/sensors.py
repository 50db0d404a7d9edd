# SPDX-License-Identifier: Apache-2.0
"""Sensors of a simulated robot: IMUs, joint encoders and joint torque sensors, with noise, bias and delay.

An IMU integrates between two samples, as real ones do: its angular rate is the rotation since the last sample over the time between
them, and its specific force is the mean of

    R_WI' (dv_W / dt - g_W)

with the velocity ``v_W`` of the origin of the IMU.  Impacts within this time are part of it.  Motion of the joints between the base and
the link of the IMU is part of both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pinocchio as pin

from humanoid_dynamics.control.reference import MEASURABLE, joint_position
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.imu import Imu
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.series.bag_writer import IMU_TABLE
from humanoid_dynamics.simulation.gauge import Gauge
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Matrix, Vector

AXES = tuple(f"{sensor}_{axis}" for sensor in ("gyro", "acc") for axis in "xyz")
ENCODER_TABLE = "encoders"  # table of a record
MIN_INTERVAL = 1e-9  # s; between two samples
MAX_WAITING = 1000  # samples that wait for delivery; the oldest are lost beyond


@dataclass(frozen=True)
class SensorSettings:
    """Errors of encoders and torque sensors, and the seed of all noise; errors of IMUs belong to the robot.

    Attributes:
        encoder_noise: Standard deviation of joint positions [rad or m].
        velocity_noise: Standard deviation of joint velocities [rad/s or m/s].
        effort_noise: Standard deviation of joint efforts [N·m or N].
        seed: Seed of noise and biases.
    """

    encoder_noise: float = 0.0
    velocity_noise: float = 0.0
    effort_noise: float = 0.0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class ImuSample:
    """A sample of an IMU.

    Attributes:
        t: Time of the measurement [s].
        gyro: (3,) angular rate, axes of the IMU [rad/s].
        acc: (3,) specific force, axes of the IMU [m/s²].
    """

    t: float
    gyro: Vector
    acc: Vector


@dataclass(frozen=True, eq=False)
class JointSample:
    """A sample of the joint sensors.

    Attributes:
        position: (joints,) positions [rad or m].
        velocity: (joints,) velocities [rad/s or m/s].
        effort: (joints,) efforts of motors and drives, zero for joints without a motor [N·m or N].
    """

    position: Vector
    velocity: Vector
    effort: Vector


class SimulatedImu:
    """Samples an IMU from the motion of its link; delivers samples after their delay."""

    def __init__(self, imu: Imu, random: np.random.Generator) -> None:
        """Draw the biases of this run.

        Args:
            imu: The IMU and its errors.
            random: Source of biases and noise.
        """
        self.imu = imu
        errors = imu.errors
        self._random = random
        self.gyro_bias = errors.gyro_bias * random.standard_normal(3)
        self.acc_bias = errors.acc_bias * random.standard_normal(3)
        self._waiting: deque[ImuSample] = deque(maxlen=MAX_WAITING)
        self.restart()

    def restart(self) -> None:
        """Forget the motion before a jump of the state; biases, and samples that wait for delivery, stay."""
        self._last: tuple[float, Matrix, Vector] | None = None

    def sample(
        self,
        t: float,
        X_WI: pin.SE3,
        twist: pin.Motion,
        gravity: Vector,
        stamp: float | None = None,
    ) -> ImuSample:
        """Measure the motion since the last sample; the first sample assumes a constant velocity.

        Args:
            t: Time of the motion [s].
            X_WI: Pose of the IMU in the world.
            twist: Its velocity, at its origin, in its own axes.
            gravity: (3,) gravity [m/s²].
            stamp: Time that the sample is stamped with [s]; ``t`` if None.
        """
        R, v = X_WI.rotation, X_WI.rotation @ twist.linear
        gyro, acc = twist.angular, -R.T @ gravity
        if self._last is not None and t - self._last[0] > MIN_INTERVAL:
            before, R_before, v_before = self._last
            turn = pin.log3(R_before.T @ R)
            gyro = turn / (t - before)
            R_mid = R_before @ pin.exp3(0.5 * turn)
            acc = R_mid.T @ ((v - v_before) / (t - before) - gravity)
        self._last = (t, R.copy(), v)
        errors, noise = self.imu.errors, self._random.standard_normal((2, 3))
        sample = ImuSample(
            t if stamp is None else stamp,
            gyro + self.gyro_bias + errors.gyro_noise * noise[0],
            acc + self.acc_bias + errors.acc_noise * noise[1],
        )
        self._waiting.append(sample)
        return sample

    def deliver(self, t: float) -> list[ImuSample]:
        """Return the samples whose delay has passed, and remove them.

        Args:
            t: Time [s].
        """
        due = t - self.imu.errors.delay + MIN_INTERVAL
        arrived = []
        while self._waiting and self._waiting[0].t <= due:
            arrived.append(self._waiting.popleft())
        return arrived


@dataclass(eq=False)
class Sensors:
    """Sensors of a robot in a simulation, sampled as often as ``sample`` is called.

    Example:
        ```python
        sensors = hd.Sensors(simulation)
        simulation.step(1e-3)
        sensors.sample()
        sensors.imus["base"].acc, sensors.joints.position
        ```

    Attributes:
        world: The simulation.
        settings: Errors of the joint sensors, and the seed.
        imus: Latest sample of each IMU.
        joints: Latest sample of the joints, in the order of ``names``.
        names: Joints of one freedom, in tree order.
    """

    world: World
    settings: SensorSettings = SensorSettings()
    imus: dict[str, ImuSample] = field(init=False, repr=False)
    joints: JointSample = field(init=False, repr=False)
    names: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        streams = np.random.SeedSequence(self.settings.seed).spawn(1 + len(self.world.robot.imus))
        self._random = np.random.default_rng(streams[0])
        self._imus = {
            name: SimulatedImu(imu, np.random.default_rng(stream))
            for (name, imu), stream in zip(self.world.robot.imus.items(), streams[1:], strict=True)
        }
        self._robot: RobotModel | None = None
        self._t = -np.inf
        self.sample()

    def sample(self, stamp: float | None = None, *, still: bool = False) -> None:
        """Measure now; a second call at the same time of the simulation changes nothing.

        Args:
            stamp: Time that the samples are stamped with [s]; that of the simulation if None.
            still: Whether the simulation is paused: the robot is measured at rest, at every call.
        """
        world = self.world
        if world.t == self._t and world.robot is self._robot and not still:
            return
        if world.robot is not self._robot:
            self._bind(world.robot)
        if world.t < self._t or still:
            self.restart()
        self._t = world.t
        model, data = world.robot.model, self._data
        v = np.zeros_like(world.v) if still else world.v
        pin.forwardKinematics(model, data, world.q, v)
        gravity = np.asarray(model.gravity.linear)
        self.imus = {}
        for name, sensor in self._imus.items():
            joint, X_JI = self._mounts[name]
            self.imus[name] = sensor.sample(
                world.t, data.oMi[joint] * X_JI, X_JI.actInv(data.v[joint]), gravity, stamp
            )
        self.joints = self._sample_joints(v)

    def restart(self) -> None:
        """Forget the motion before a jump of the state, such as a reset; biases stay."""
        for sensor in self._imus.values():
            sensor.restart()

    def deliver(self, imu: str, t: float | None = None) -> list[ImuSample]:
        """Return the samples of an IMU that have arrived since the last call, each after its delay.

        Args:
            imu: Name of the IMU.
            t: Time [s]; that of the simulation if None.

        Raises:
            UnknownNameError: If the robot has no such IMU.
        """
        if imu not in self._imus:
            raise UnknownNameError("IMU", imu, self._imus)
        return self._imus[imu].deliver(self.world.t if t is None else t)

    def biases(self) -> Mapping[str, tuple[Vector, Vector]]:
        """Return the gyro and accelerometer bias of each IMU [rad/s, m/s²]."""
        return {name: (sensor.gyro_bias, sensor.acc_bias) for name, sensor in self._imus.items()}

    def record(self) -> None:
        """Let recorders of the simulation take a sample of all sensors with each of theirs."""
        gauges = self.world.gauges
        for name in self._imus:
            gauges[IMU_TABLE + name] = Gauge(AXES, partial(self._read_imu, name))
        columns = [f"{joint}.{what}" for what in ("q", "v", "tau") for joint in self.names]
        gauges[ENCODER_TABLE] = Gauge(tuple(columns), self._read_joints)

    def _read_imu(self, name: str) -> Vector:
        self.sample()
        return np.concatenate((self.imus[name].gyro, self.imus[name].acc))

    def _read_joints(self) -> Vector:
        self.sample()
        return np.concatenate((self.joints.position, self.joints.velocity, self.joints.effort))

    def _sample_joints(self, v: Vector) -> JointSample:
        world, settings = self.world, self.settings
        effort = np.zeros(len(self.names))
        effort[self._driven] = (world.tau + world.drive_torques)[self._motor]
        noise = self._random.standard_normal((3, len(self.names)))
        return JointSample(
            np.array([joint_position(joint, world.q) for joint in self._joints])
            + settings.encoder_noise * noise[0],
            v[self._v] + settings.velocity_noise * noise[1],
            effort + settings.effort_noise * noise[2],
        )

    def _bind(self, robot: RobotModel) -> None:
        """Find joints and links in a tree of bodies that is new."""
        self._robot, self._data = robot, robot.data()
        self._mounts: dict[str, tuple[int, pin.SE3]] = {}
        for name, sensor in self._imus.items():
            link = robot.model.frames[robot.link_frame(sensor.imu.link)]
            self._mounts[name] = (int(link.parentJoint), link.placement * sensor.imu.X_LI)
        self._joints = [
            joint
            for joint in robot.joints
            if joint.kind in MEASURABLE and joint.v.stop > joint.v.start
        ]
        self.names = tuple(joint.name for joint in self._joints)
        self._v = np.array([joint.v.start for joint in self._joints], dtype=np.intp)
        motors = {name: place for place, name in enumerate(self.world.actuated)}
        driven = [k for k, name in enumerate(self.names) if name in motors]
        self._driven = np.array(driven, dtype=np.intp)
        self._motor = np.array([motors[self.names[k]] for k in driven], dtype=np.intp)
        self.restart()
