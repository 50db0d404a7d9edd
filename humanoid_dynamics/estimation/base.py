# SPDX-License-Identifier: Apache-2.0
"""Base estimator: contact-aided right-invariant Kalman filter on IMU and joints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.estimation import kernels
from humanoid_dynamics.estimation.correction import Correction
from humanoid_dynamics.estimation.kinematics import ImuFrameModel
from humanoid_dynamics.estimation.output import make_estimate
from humanoid_dynamics.estimation.record import (
    HISTORY,
    MEASURED,
    PLANNED,
    EstimatorState,
    new_state,
)
from humanoid_dynamics.estimation.results import BaseEstimate
from humanoid_dynamics.estimation.settings import EstimatorSettings, EstimatorStatus
from humanoid_dynamics.estimation.start import add_calm_sample, start_filter
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

Status = EstimatorStatus
PENDING = 8  # joint samples that wait for the IMU


class BaseEstimator:
    """Estimates pose and twist of the base, and the contacts, from an IMU and the joints.

    Inputs come at their own rates and stamps.  Joint samples may be late by as much as the history of the IMU, and
    ahead of it: they wait for the next IMU sample.  Nothing raises after construction but wrong shapes and names.

    Attributes:
        robot: The robot.
        settings: Settings.
        state: Everything that is remembered; see ``copy`` and ``restore`` there.
    """

    def __init__(
        self,
        robot: RobotModel,
        imu_link: str | None = None,
        imu_pose: pin.SE3 | None = None,
        settings: EstimatorSettings | None = None,
        contacts: Sequence[str] | None = None,
    ) -> None:
        """Prepare an estimator.

        Args:
            robot: The robot, with a free base.
            imu_link: Name of an IMU of the robot, or the link that carries one; the IMU of the base where None.
            imu_pose: Pose of the IMU in its link; that of the robot's IMU, or the link frame, where None.
            settings: Settings.
            contacts: Names of the contact surfaces; those the robot stands on where None.

        Raises:
            UnsupportedRobotError: If the base is not free.
            UnknownNameError: If a link or a surface does not exist.
        """
        self.robot, self.settings = robot, settings or EstimatorSettings()
        self.body = ImuFrameModel(robot, imu_link, imu_pose, contacts, self.settings)
        self.state = new_state(robot.nq, robot.nv, len(self.body.names))
        self._propagate = compile_kernel(kernels.propagate)
        self._correction = Correction(self.body, self.state, self.settings)
        s = self.settings
        self._noise = np.array(
            [s.gyro_noise**2, s.acc_noise**2, s.gyro_bias_walk**2, s.acc_bias_walk**2]
        )

    def reset(
        self,
        attitude: ArrayLike | None = None,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        gyro_bias: ArrayLike | None = None,
        acc_bias: ArrayLike | None = None,
    ) -> None:
        """Start again.

        Args:
            attitude: (4,) orientation of the base link, a quaternion x y z w, to start in motion; where None the
                estimator waits for a calm moment.
            position: (3,) place of the base link [m]; at the origin, and the floor at zero, where None.
            velocity: (3,) velocity of the base link in the world [m/s]; unknown where None.
            gyro_bias: (3,) known bias of the gyroscope in IMU axes [rad/s].
            acc_bias: (3,) known bias of the accelerometer in IMU axes [m/s²].

        Raises:
            ShapeError: If a shape is wrong or a number is not finite.
        """
        given: dict[str, Vector] = {}
        for name, value, size in (
            ("attitude", attitude, 4),
            ("position", position, 3),
            ("velocity", velocity, 3),
            ("gyro_bias", gyro_bias, 3),
            ("acc_bias", acc_bias, 3),
        ):
            if value is not None:
                given[name] = _shaped(name, value, size).copy()
                if not np.isfinite(given[name]).all():
                    raise ShapeError(name, str(value), "finite numbers")
        if "attitude" in given and not given["attitude"].any():
            raise ShapeError("attitude", "zeros", "a quaternion x y z w")
        fresh = new_state(self.robot.nq, self.robot.nv, len(self.body.names))
        fresh.given = given
        self.state.restore(fresh)

    def add_imu(self, t: float, gyro: ArrayLike, acc: ArrayLike) -> EstimatorStatus:
        """Add an IMU sample.

        Args:
            t: Its time [s].
            gyro: (3,) angular rate in IMU axes [rad/s].
            acc: (3,) specific force in IMU axes [m/s²].

        Returns:
            ACCEPTED, or the fault of the sample.
        """
        state, s = self.state, self.settings
        gyro, acc = _shaped("gyro", gyro, 3), _shaped("acc", acc, 3)
        if not (math.isfinite(t) and _within(gyro) and _within(acc)):
            return self._report(Status.IMU_INVALID)
        before = state.times.get("imu", -math.inf)
        dt = t - before
        if -s.longest_gap < dt <= 0.0:
            return self._report(Status.STAMP_IN_PAST)
        fault = self._inspect_imu(gyro, acc, dt)
        if fault not in {None, Status.IMPACT}:  # a sample after a gap may be out of range too
            gyro = np.clip(gyro, -s.gyro_limit, s.gyro_limit)
            acc = np.clip(acc, -s.acc_limit, s.acc_limit)
        if fault is Status.TIME_JUMP:
            self._jump()
        elif state.started:
            self._advance(gyro, acc, dt, fault)
        state.times["imu"] = t
        self._remember(t, gyro, acc)
        if not state.started:
            self._try_start(t, gyro, acc)
        self._settle_pending(t)
        return Status.ACCEPTED if fault is None else self._report(fault)

    def add_joints(
        self, t: float, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None
    ) -> EstimatorStatus:
        """Add a joint sample.

        Args:
            t: Its time [s].
            q: (nq - 7,) positions, in the order of the robot.
            v: (nv - 6,) velocities; differentiated where None.
            tau: (nv - 6,) torques; contacts then follow from base motion and kinematics alone where None or NaN.

        Returns:
            ACCEPTED, or the fault of the sample.
        """
        state, s = self.state, self.settings
        q = _shaped("q", q, self.robot.nq - 7)
        before = state.times.get("joints", -math.inf)
        if not (math.isfinite(t) and _within(q, s.joint_limit)):
            return self._report(Status.JOINTS_INVALID)
        if -s.longest_gap < t - before <= 0.0:
            return self._report(Status.STAMP_IN_PAST)
        v = self._differentiate(t, q) if v is None else _shaped("v", v, self.robot.nv - 6)
        if not _within(v, s.joint_limit):
            return self._report(Status.JOINTS_INVALID)
        if tau is not None:
            tau = _shaped("tau", tau, self.robot.nv - 6)
            if not _within(tau, s.torque_limit):
                tau = None
        if t > state.times.get("imu", -math.inf):
            if len(state.pending) >= PENDING:
                state.pending.pop(0)
            state.pending.append((t, q.copy(), v.copy(), None if tau is None else tau.copy()))
            return Status.ACCEPTED
        return self._report(self._correction.use_joints(t, q, v, tau))

    def add_wrench(self, t: float, contact: str, wrench: ArrayLike) -> EstimatorStatus:
        """Add the wrench that the ground exerts at a contact; it replaces the load of the momentum observer.

        Args:
            t: Its time [s].
            contact: Name of the contact surface.
            wrench: (6,) force and moment in axes of the surface frame [N, N·m].

        Returns:
            ACCEPTED, or the fault of the sample.
        """
        s, wrench, row = self.settings, _shaped("wrench", wrench, 6), self._row(contact)
        if not (math.isfinite(t) and _within(wrench, s.torque_limit)):
            return self._report(Status.WRENCH_INVALID)
        if -s.longest_gap < t - self.state.times.get(contact, -math.inf) < 0.0:
            return self._report(Status.STAMP_IN_PAST)
        self.state.contacts[row, MEASURED] = wrench[2]
        self.state.times[contact] = t
        return Status.ACCEPTED

    def set_schedule(self, planned: Mapping[str, bool]) -> None:
        """Set planned contacts; contacts that are left out have no plan.

        Args:
            planned: Whether each contact is planned to be closed, by name.
        """
        self.state.contacts[:, PLANNED] = 0.0
        for name, closed in planned.items():
            self.state.contacts[self._row(name), PLANNED] = 1.0 if closed else -1.0

    def add_pose(
        self,
        t: float,
        position: ArrayLike,
        orientation: ArrayLike | None = None,
        position_deviation: float | None = None,
        turn_deviation: float | None = None,
    ) -> EstimatorStatus:
        """Add a pose of the base link, from motion capture or SLAM.

        The first pose after the start sets place and heading; later ones are measurements.

        Args:
            t: Its time [s].
            position: (3,) place [m].
            orientation: (4,) quaternion x y z w; not measured where None.
            position_deviation: Deviation of the place [m]; that of the settings where None.
            turn_deviation: Deviation of the orientation [rad]; that of the settings where None.

        Returns:
            ACCEPTED, or the fault of the sample; before the start what the estimator waits for, and the pose is unused.
        """
        s, position = self.settings, _shaped("position", position, 3)
        quaternion = None if orientation is None else _shaped("orientation", orientation, 4)
        turned = quaternion is None or (_within(quaternion, s.place_limit) and quaternion.any())
        deviations = position_deviation, turn_deviation
        certain = all(x is None or 0.0 < x < math.inf for x in deviations)
        if not (math.isfinite(t) and _within(position, s.place_limit) and turned and certain):
            return self._report(Status.POSE_INVALID)
        if not self.state.started:
            return self.estimate().status
        R_WB = None
        if quaternion is not None:
            x, y, z, w = (quaternion / np.linalg.norm(quaternion)).tolist()
            R_WB = pin.Quaternion(w, x, y, z).matrix()
        return self._report(self._correction.use_pose(t, position, R_WB, deviations))

    def estimate(self, t: float | None = None) -> BaseEstimate:
        """Return the estimate at a time; between and shortly after samples it is extrapolated.

        Args:
            t: The time [s]; that of the newest IMU sample where None.
        """
        return make_estimate(self.state, self.body, self.settings, t)

    def restore(self, state: EstimatorState) -> None:
        """Go on from a copy of a state."""
        self.state.restore(state)
        if "joints" in self.state.times:
            mine = self.state
            rate = mine.history_gyro[mine.newest] - mine.X[5]
            self.body.update(mine.q[7:], mine.v[6:], rate)

    def _row(self, contact: str) -> int:
        if contact not in self.body.names:
            raise UnknownNameError("contact", contact, self.body.names)
        return self.body.names.index(contact)

    def _report(self, fault: EstimatorStatus) -> EstimatorStatus:
        """Note a fault at the time of the newest sample."""
        if fault is not Status.ACCEPTED:
            self.state.faults[fault] = self.state.times.get("imu", 0.0)
        return fault

    def _inspect_imu(self, gyro: Vector, acc: Vector, dt: float) -> EstimatorStatus | None:
        """Return the fault of a finite IMU sample, if any."""
        s = self.settings
        if math.isfinite(dt) and (dt <= 0.0 or dt > s.longest_gap):
            return Status.TIME_JUMP
        if math.isfinite(dt) and dt > s.imu_gap:
            return Status.IMU_GAP
        rate, force = max(map(abs, gyro.tolist())), max(map(abs, acc.tolist()))
        if rate >= s.gyro_limit or force >= s.acc_limit:
            return Status.IMU_SATURATED
        if abs(math.sqrt(float(acc @ acc)) - s.gravity) > s.impact:
            return Status.IMPACT
        return None

    def _advance(self, gyro: Vector, acc: Vector, dt: float, fault: EstimatorStatus | None) -> None:
        """Propagate over one interval with the mean of the samples at its ends; faults make it less certain."""
        state, s, noise = self.state, self.settings, self._noise
        if fault in {Status.IMU_GAP, Status.IMU_SATURATED}:
            noise = noise * s.fault_noise**2
        rate = 0.5 * (gyro + state.history_gyro[state.newest])
        force = 0.5 * (acc + state.history_acc[state.newest])
        self._propagate(state.X, state.P, rate, force, dt, s.gravity, noise)

    def _remember(self, t: float, gyro: Vector, acc: Vector) -> None:
        state = self.state
        row = state.newest = (state.newest + 1) % HISTORY
        state.history[row], state.history_times[row] = state.X, t
        state.history_gyro[row], state.history_acc[row] = gyro, acc

    def _jump(self) -> None:
        """Forget velocities and stamps after a jump of the clock; place, attitude and biases stay."""
        state, s = self.state, self.settings
        state.history_times[:] = -math.inf
        state.times, state.moved = {}, math.inf
        state.pending = []
        state.X[3] = 0.0
        state.P[3:6, :] = state.P[:, 3:6] = 0.0
        state.P[3:6, 3:6] = s.start_speed_deviation**2 * np.eye(3)
        state.P[:3, :3] += s.attitude_deviation**2 * np.eye(3)
        state.calm[:] = 0.0

    def _try_start(self, t: float, gyro: Vector, acc: Vector) -> None:
        """Start where the robot has been calm or its attitude is given, and the place of the IMU is known."""
        state = self.state
        calm = add_calm_sample(state, self.settings, t, gyro, acc)
        if self.body.located and (calm or "attitude" in state.given):
            start_filter(state, self.settings, self.body)
            state.newest -= 1
            self._remember(t, gyro, acc)

    def _settle_pending(self, t: float) -> None:
        """Use the joint samples that waited for this IMU sample."""
        pending = self.state.pending
        while pending and pending[0][0] <= t:
            self._report(self._correction.use_joints(*pending.pop(0)))

    def _differentiate(self, t: float, q: Vector) -> Vector:
        """Return low-passed joint velocities."""
        state = self.state
        dt = t - state.times.get("joints", -math.inf)
        if not 0.0 < dt < self.settings.longest_gap:
            return np.zeros(self.robot.nv - 6)
        now = pin.difference(self.robot.model, state.q, np.concatenate((state.q[:7], q)))[6:] / dt
        share = dt / (dt + self.settings.velocity_filter)
        return np.asarray(state.v[6:] + share * (now - state.v[6:]))


def _shaped(name: str, values: ArrayLike, size: int) -> Vector:
    """Return values as float64 of a size; NaN and infinity pass."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise ShapeError(name, f"shape {array.shape}", f"({size},)")
    return array


def _within(values: Vector, limit: float = math.inf) -> bool:
    """Return whether all values are finite and none is beyond a limit."""
    numbers = values.tolist()
    return math.isfinite(sum(numbers)) and max(numbers) < limit and min(numbers) > -limit
