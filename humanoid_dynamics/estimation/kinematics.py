# SPDX-License-Identifier: Apache-2.0
"""Kinematics and dynamics of a robot in the frame of its IMU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ShapeError, UnsupportedRobotError
from humanoid_dynamics.estimation.settings import EstimatorSettings
from humanoid_dynamics.model.imu import BASE
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

AXES = pin.ReferenceFrame.LOCAL


class ImuFrameModel:
    """A robot whose world is its IMU: places and velocities of its contacts, and its dynamics, in IMU axes.

    Attributes:
        names: Names of the contact surfaces.
        R: (n, 3, 3) their rotations in IMU axes.
        p: (n, 3) their places [m].
        twists: (n, 6) their twists against the IMU in their own axes, rotation of the IMU included.
        J: (n, 6, nv) their Jacobians in their own axes.
        corners: (n, k, 3) their corners in their own axes [m]; ``counts`` of them are used.
        counts: (n,) number of corners.
        X_BI: Pose of the IMU in the base link.
        nu: Twist of the IMU against the base link, in IMU axes.
        located: Whether these two are known; an IMU behind joints needs a joint sample.
        mass: Mass of the robot [kg].
    """

    def __init__(
        self,
        robot: RobotModel,
        imu_link: str | None,
        imu_pose: pin.SE3 | None,
        contacts: Sequence[str] | None,
        settings: EstimatorSettings,
    ) -> None:
        """Prepare a robot.

        Args:
            robot: The robot, with a free base.
            imu_link: Name of an IMU of the robot, or its link; the IMU of the base where None.
            imu_pose: Pose of the IMU in its link; that of the robot's IMU, or the link frame, where None.
            contacts: Names of contact surfaces; those the robot stands on where None.
            settings: Settings.
        """
        if robot.root != "free_flyer":
            raise UnsupportedRobotError("base estimation", [robot.name], "its base is not free")
        names = tuple(contacts) if contacts is not None else robot.stance or tuple(robot.surfaces)
        surfaces = [robot.surface(name) for name in names]
        if not surfaces:
            raise ShapeError("contacts", "none", f"names of {tuple(robot.surfaces)}")
        self.names, self.robot, self.mass = names, robot, robot.mass
        self.model = robot.model.copy()
        self.data = self.model.createData()
        if not self.model.armature.any():
            effort = np.where(np.isfinite(robot.limits.effort), robot.limits.effort, 0.0)
            self.model.armature = settings.armature_of_effort * effort
        self._joint, self._X_JI = self._mount(imu_link, imu_pose)
        self._is_fixed = self._joint == 1
        self.X_BI, self.nu, self.located = self._X_JI, pin.Motion.Zero(), self._is_fixed
        self._frames = [surface.frame for surface in surfaces]
        n, k = len(surfaces), max(len(surface.vertices) for surface in surfaces)
        self.corners, self.counts = np.zeros((n, k, 3)), np.zeros(n)
        for i, surface in enumerate(surfaces):
            self.counts[i] = len(surface.vertices)
            self.corners[i, : len(surface.vertices)] = surface.vertices
        self.R, self.p = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
        self.twists, self.J = np.zeros((n, 6)), np.zeros((n, 6, robot.nv))
        self.q, self.v = np.zeros(robot.nq), np.zeros(robot.nv)
        self.tau = np.zeros(robot.nv)
        self._free = pin.neutral(self.model)
        self.weights, self.prior = self._weigh(settings), self._expect(settings)

    def _mount(self, imu_link: str | None, imu_pose: pin.SE3 | None) -> tuple[int, pin.SE3]:
        """Return the joint that carries the IMU, and its pose there."""
        robot = self.robot
        imu = robot.imus.get(imu_link or (BASE if imu_pose is None else ""))
        link = imu.link if imu else imu_link or robot.links[0]
        frame = self.model.frames[robot.link_frame(link)]
        X_LI = imu_pose or (imu.X_LI if imu else pin.SE3.Identity())
        return int(frame.parentJoint), frame.placement * X_LI

    def _weigh(self, settings: EstimatorSettings) -> tuple[Vector, Vector]:
        """Return the weights of the rows of the observer, with joint torques and without."""
        weight, nv = self.mass * settings.gravity, self.robot.nv
        base = np.zeros(nv)
        base[:3] = (weight * settings.force_deviation) ** -2
        base[3:6] = (weight * settings.moment_deviation) ** -2
        both = base.copy()
        both[6:] = settings.torque_deviation**-2
        actuated = np.zeros(nv, dtype=bool)
        actuated[self.robot.actuated_v] = True
        both[6:][~actuated[6:]] = 0.0
        return both, base

    def _expect(self, settings: EstimatorSettings) -> Matrix:
        """Return (n, 6) inverse variances of contact wrenches before anything is measured."""
        weight = self.mass * settings.gravity
        deviation = np.full((len(self.names), 6), weight)
        deviation[:, 2] *= 2.0
        for i, count in enumerate(self.counts):
            half = 0.5 * np.ptp(self.corners[i, : int(count)], axis=0)
            reach = settings.cop_deviation * np.maximum(half, 1e-3) * weight
            deviation[i, 3:] = reach[1], reach[0], 0.5 * (reach[0] + reach[1])
        return np.asarray(deviation**-2.0)

    def update(self, q: Vector, v: Vector, gyro: Vector) -> None:
        """Compute places, twists and Jacobians of the contacts.

        Args:
            q: (nq - 7,) joint positions.
            v: (nv - 6,) joint velocities.
            gyro: (3,) angular rate of the IMU [rad/s].
        """
        model, data = self.model, self.data
        self.v[6:] = v
        if not self._is_fixed:
            self._free[7:] = q
            self.v[:6] = 0.0
            pin.forwardKinematics(model, data, self._free, self.v)
            self.X_BI = data.oMi[self._joint] * self._X_JI
            self.nu, self.located = self._X_JI.actInv(data.v[self._joint]), True
        base = self.X_BI.act(pin.Motion(-self.nu.linear, gyro - self.nu.angular))
        self.v[:3], self.v[3:6] = base.linear, base.angular
        self.q[:7], self.q[7:] = pin.SE3ToXYZQUAT(self.X_BI.inverse()), q
        pin.computeJointJacobians(model, data, self.q)
        for i, frame in enumerate(self._frames):
            X = pin.updateFramePlacement(model, data, frame)
            self.R[i], self.p[i] = X.rotation, X.translation
            self.J[i] = pin.getFrameJacobian(model, data, frame, AXES)
            self.twists[i] = self.J[i] @ self.v

    def dynamics(self, acc: Vector) -> tuple[Matrix, Matrix, Vector]:
        """Return mass matrix (upper triangle), Coriolis matrix and generalized gravity for a specific force [m/s²]."""
        model, data = self.model, self.data
        model.gravity.linear = -acc
        M = pin.crba(model, data, self.q)
        C = pin.computeCoriolisMatrix(model, data, self.q, self.v)
        return M, C, pin.computeGeneralizedGravity(model, data, self.q)

    def generalized_force(self, tau: Vector | None) -> Vector:
        """Return (nv,) force of motors and joint friction."""
        self.tau[6:] = 0.0 if tau is None else tau
        self.tau -= self.robot.damping * self.v
        self.tau[:6] = 0.0
        return self.tau
