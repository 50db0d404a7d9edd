# SPDX-License-Identifier: Apache-2.0
"""Everything the tick needs to know about the robot in one state, computed once."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.small import dot
from humanoid_dynamics.spatial.arrays import Matrix, Vector, writable
from humanoid_dynamics.spatial.compiling import compile_kernel

BASE = 6
LOCAL, WORLD = pin.ReferenceFrame.LOCAL, pin.Convention.WORLD

Sole = tuple[Matrix, Matrix, Vector]
Given = tuple[Matrix, Vector, Sole, Sole]
Fixed = tuple[Matrix, Vector]
Written = tuple[
    Matrix, Vector, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Vector, Vector, Matrix, Vector
]  # fmt: skip


class DynamicsTerms:
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

    def __init__(self, robot: RobotModel, proportions: Proportions) -> None:
        """Take the memory.

        Args:
            robot: A robot with a free base.
            proportions: Its measures.
        """
        nv = robot.nv
        self._model, self._data = robot.model, robot.data()
        self.M: Matrix = np.zeros((nv, nv))
        self.h: Vector = np.zeros(nv)
        self.J: Matrix = np.zeros((2, BASE, nv))
        self.drift, self.twist = np.zeros((2, 6)), np.zeros((2, 6))
        self.to_base: Matrix = np.zeros((2, 6, 6))
        self.place, self.turn = np.zeros((2, 3)), np.zeros((2, 3, 3))
        self.R_WB: Matrix = np.eye(3)
        self.com, self.com_rate, self.com_drift = np.zeros(3), np.zeros(3), np.zeros(3)
        self.J_com: Matrix = np.zeros((3, nv))
        self._read = compile_kernel(read_terms)
        frames = [robot.model.frames[sole] for sole in proportions.soles]
        accelerations = [
            self._data.a_gf[int(frame.parentJoint)].vector for frame in frames
        ]  # views: pinocchio writes there
        self._seen = list(zip(proportions.soles, accelerations, strict=True))
        self._fixed = (
            np.array([frame.placement.homogeneous for frame in frames]),
            np.array([*robot.model.gravity.linear, 1.0 / proportions.mass]),
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
        return bool(self._read(writable(q), writable(v), given, self._fixed, self._written))


def read_terms(q: Vector, v: Vector, given: Given, fixed: Fixed, out: Written) -> bool:
    """Write the terms of a state; return whether the bias is finite.

    Args:
        q: (nq,) configuration.
        v: (nv,) velocity.
        given: Upper triangle of the mass matrix, bias, and of each sole Jacobian, placement and acceleration of its joint less gravity.
        fixed: Placements of the soles in their joints, and gravity and one over the mass.
        out: M, h, J, drift, twist, to_base, place, turn, R_WB, com, com_rate, J_com and com_drift of ``DynamicsTerms``; overwritten.
    """
    M, h, R, com, nv = out[0], out[1], out[8], out[9], len(v)
    for i in range(nv):
        h[i] = given[1][i]
        for j in range(i, nv):
            M[i, j] = M[j, i] = given[0][i, j]
    _turn_base(q, R)
    _read_sole(0, q, v, given[2], fixed, out)
    _read_sole(1, q, v, given[3], fixed, out)
    per_mass, gravity = fixed[1][3], fixed[1]
    rate, J_com, drift = out[10], out[11], out[12]
    for i in range(3):
        for j in range(nv):
            J_com[i, j] = per_mass * (R[i, 0] * M[0, j] + R[i, 1] * M[1, j] + R[i, 2] * M[2, j])
        rate[i] = dot(J_com[i], v, nv)
        drift[i] = per_mass * (R[i, 0] * h[0] + R[i, 1] * h[1] + R[i, 2] * h[2]) + gravity[i]
        # Linear and angular motion of the base are coupled by the mass times the way to its centre.
        com[i] = q[i] + per_mass * (R[i, 0] * M[1, 5] + R[i, 1] * M[2, 3] - R[i, 2] * M[1, 3])
    return math.isfinite(dot(h, h, nv))


def _turn_base(q: Vector, R: Matrix) -> None:
    """Write the orientation of the base from its quaternion, the real part last."""
    x, y, z, w = q[3], q[4], q[5], q[6]
    R[0, 0], R[0, 1], R[0, 2] = (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
    )
    R[1, 0], R[1, 1], R[1, 2] = (
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
    )
    R[2, 0], R[2, 1], R[2, 2] = (
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


def _read_sole(foot: int, q: Vector, v: Vector, sole: Sole, fixed: Fixed, out: Written) -> None:
    J, X, a = sole
    drift, twist, place, R = out[3][foot], out[4][foot], out[6][foot], out[7][foot]
    for i in range(BASE):
        for j in range(len(v)):
            out[2][foot, i, j] = J[i, j]
        twist[i] = dot(out[2][foot, i], v, len(v))
    for i in range(3):
        place[i] = X[i, 3]
        for j in range(3):
            R[i, j] = X[i, j]
    _move_acceleration(a, fixed[0][foot], drift)
    for i in range(3):
        drift[i] += R[0, i] * fixed[1][0] + R[1, i] * fixed[1][1] + R[2, i] * fixed[1][2]
    _turn_to_base(q, out[8], place, R, out[5][foot])


def _turn_to_base(q: Vector, R_B: Matrix, place: Vector, R: Matrix, B: Matrix) -> None:
    """Write what turns a velocity of a sole into that of the base: seen from there it is turned by E, its origin at p."""
    for i in range(3):
        for j in range(3):
            B[i, j] = B[3 + i, 3 + j] = (
                R_B[0, i] * R[0, j] + R_B[1, i] * R[1, j] + R_B[2, i] * R[2, j]
            )
            B[3 + i, j] = 0.0
    x, y, z = place[0] - q[0], place[1] - q[1], place[2] - q[2]
    px = R_B[0, 0] * x + R_B[1, 0] * y + R_B[2, 0] * z
    py = R_B[0, 1] * x + R_B[1, 1] * y + R_B[2, 1] * z
    pz = R_B[0, 2] * x + R_B[1, 2] * y + R_B[2, 2] * z
    for j in range(3):
        B[0, 3 + j] = py * B[2, j] - pz * B[1, j]
        B[1, 3 + j] = pz * B[0, j] - px * B[2, j]
        B[2, 3 + j] = px * B[1, j] - py * B[0, j]


def _move_acceleration(a: Vector, X: Matrix, out: Vector) -> None:
    """Write an acceleration of a body as one of a frame on it, whose placement is X."""
    px, py, pz = X[0, 3], X[1, 3], X[2, 3]
    x, y, z = (
        a[0] + a[4] * pz - a[5] * py,
        a[1] + a[5] * px - a[3] * pz,
        a[2] + a[3] * py - a[4] * px,
    )
    for i in range(3):
        out[i] = X[0, i] * x + X[1, i] * y + X[2, i] * z
        out[3 + i] = X[0, i] * a[3] + X[1, i] * a[4] + X[2, i] * a[5]
