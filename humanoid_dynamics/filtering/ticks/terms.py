# SPDX-License-Identifier: Apache-2.0
"""Everything the tick needs to know about the robot in one state, computed once."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.ticks import term_kernels
from humanoid_dynamics.filtering.ticks.term_kernels import read_terms
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.small import dot
from humanoid_dynamics.spatial.arrays import Matrix, Vector, writable
from humanoid_dynamics.spatial.compiling import compile_kernel, functions_of

BASE = 6
LOCAL, WORLD = pin.ReferenceFrame.LOCAL, pin.Convention.WORLD
PARTS = (dot, *(part for part in functions_of(term_kernels) if part is not read_terms))


class BodyTerms:
    """Mass matrix, bias, and the motion of soles and centre of mass in the last state.

    Sole quantities are in axes of the sole, linear before angular, as pinocchio's LOCAL has them.

    Attributes:
        M: (nv, nv) mass matrix.
        h: (nv,) bias: gravity, Coriolis and centrifugal forces.
        J: (2, 6, nv) Jacobians of the soles.
        drift: (2, 6) accelerations of the soles where no coordinate accelerates.
        twist: (2, 6) velocities of the soles.
        to_base: (2, 6, 6) what turns a velocity of a sole into that of the base, if they were one body: the inverse of J's first columns.
        place: (2, 3) origins of the soles in the world [m].
        turn: (2, 3, 3) orientations of the soles.
        R_WB: (3, 3) orientation of the base.
        com: (3,) centre of mass [m].
        com_rate: (3,) its velocity [m/s].
        J_com: (3, nv) its Jacobian.
        com_drift: (3,) its acceleration where no coordinate accelerates [m/s^2].
    """

    def __init__(
        self, robot: RobotModel, proportions: Proportions, *, compiled: bool = False
    ) -> None:
        """Take the memory.

        Args:
            robot: A robot with a free base.
            proportions: Its measures.
            compiled: Whether a kernel of numba does part of the work.
        """
        nv = robot.nv
        self._model, self._data = robot.model, robot.data()
        self._zero = np.zeros(nv)
        self._mask = np.triu(np.ones((nv, nv)))
        self._mask[:BASE, :BASE] = 1.0  # crba fills this block whole
        self._mask -= 0.5 * np.eye(nv)
        self._mask[:BASE, :BASE] -= 0.5 - 0.5 * np.eye(BASE)
        self._soles = proportions.soles
        self._per_mass = 1.0 / proportions.mass
        self._gravity = np.array(robot.model.gravity.linear)
        self.M: Matrix = np.zeros((nv, nv))
        self.h: Vector = np.zeros(nv)
        self.J: Matrix = np.zeros((2, BASE, nv))
        self.drift, self.twist = np.zeros((2, 6)), np.zeros((2, 6))
        self.to_base: Matrix = np.zeros((2, 6, 6))
        self.place, self.turn = np.zeros((2, 3)), np.zeros((2, 3, 3))
        self.R_WB: Matrix = np.eye(3)
        self.com, self.com_rate, self.com_drift = np.zeros(3), np.zeros(3), np.zeros(3)
        self.J_com: Matrix = np.zeros((3, nv))
        self._kernel = compile_kernel(read_terms, PARTS) if compiled else None
        frames = [robot.model.frames[sole] for sole in self._soles]
        accelerations = [
            self._data.a_gf[int(frame.parentJoint)].vector for frame in frames
        ]  # views: pinocchio writes there
        self._seen = list(zip(self._soles, accelerations, strict=True))
        self._fixed = (
            np.array([frame.placement.homogeneous for frame in frames]),
            np.array([*self._gravity, self._per_mass]),
        )
        self.seen = (
            self.M,
            self.h,
            self.J,
            self.drift,
            self.to_base,
            self.J_com,
            self.com_drift,
        )  # as programs read them
        motion = (self.drift, self.twist, self.to_base, self.place, self.turn, self.R_WB)
        self._written = (
            self.M,
            self.h,
            self.J,
            *motion,
            self.com,
            self.com_rate,
            self.J_com,
            self.com_drift,
        )

    @property
    def data(self) -> pin.Data:
        """Work space with the last state: joints placed, Jacobians."""
        return self._data

    def update(self, q: Vector, v: Vector) -> bool:
        """Compute the terms in a state.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.

        Returns:
            Whether all numbers are finite.
        """
        if self._kernel is not None:
            return self._read(q, v)
        model, data = self._model, self._data
        upper = pin.crba(model, data, q) * self._mask
        np.add(upper, upper.T, self.M)
        self.h[:] = pin.nonLinearEffects(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, self._zero)
        pin.computeJointJacobians(model, data)
        X_WB = data.oMi[1]
        self.R_WB[:] = X_WB.rotation
        for foot, frame in enumerate(self._soles):
            X_WS = pin.updateFramePlacement(model, data, frame)
            self.place[foot], self.turn[foot] = X_WS.translation, X_WS.rotation
            self.to_base[foot] = X_WB.actInv(X_WS).toActionMatrix()
            self.J[foot] = pin.getFrameJacobian(model, data, frame, LOCAL)
            self.drift[foot] = pin.getFrameAcceleration(model, data, frame, LOCAL).vector
            np.dot(self.J[foot], v, self.twist[foot])
        self.com[:] = pin.centerOfMass(model, data, pin.KinematicLevel.POSITION)
        np.dot(self.R_WB, self.M[:3], self.J_com)
        self.J_com *= self._per_mass
        np.dot(self.J_com, v, self.com_rate)
        self.com_drift[:] = self.R_WB.dot(self.h[:3]) * self._per_mass + self._gravity
        return bool(np.isfinite(self.h).all())

    def _read(self, q: Vector, v: Vector) -> bool:
        """Do the same with a kernel, from fewer calls of pinocchio."""
        model, data = self._model, self._data
        upper, bias = (
            pin.crba(model, data, q, WORLD),
            pin.nonLinearEffects(model, data, q, v),
        )  # the first places joints and Jacobians
        soles = [
            (
                pin.getFrameJacobian(model, data, frame, LOCAL),
                pin.updateFramePlacement(model, data, frame).homogeneous,
                acceleration,
            )
            for frame, acceleration in self._seen
        ]
        given = (upper, bias, *soles)
        return self._kernel is not None and bool(
            self._kernel(writable(q), writable(v), given, self._fixed, self._written)
        )
