# SPDX-License-Identifier: Apache-2.0
"""A robot under constraints: prepared once, asked many times."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pinocchio as pin
from scipy.linalg import blas

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.null_space import NullSpace, NullSpaceResult, report
from humanoid_dynamics.constraints.partition import CoordinatePartition, prefer
from humanoid_dynamics.dynamics.actuation import MotorPattern, match_motors
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

PREFERENCE = 0.1


class Mechanism:
    """Work space of one owner: tree, constraints and null space, fed with (q, v) and then asked.

    Not to be shared between threads; any number of mechanisms may share a robot.

    Attributes:
        robot: The robot.
        constraints: Its constraints; add and remove freely between questions.
        kinematics: Poses, velocities, drifts.
        null_space: Back-end of the map v = Gamma u.
        actuated: (na,) indices of the motor coordinates.
        J: (k, nv) rows of the last update.
        gamma: (k,) drift of the last ``update``.
        scale: (k,) factors that make rows comparable.
    """

    def __init__(
        self,
        robot: RobotModel,
        constraints: ConstraintSet | Iterable[ConstraintBlock] | None = None,
        *,
        null_space: NullSpace | None = None,
        actuated: Iterable[str] | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            constraints: A set, or blocks; the constraints the robot comes with where left out.
            null_space: Back-end; a coordinate partition that prefers motor coordinates as generalized coordinates where left out.
            actuated: Names of the motor coordinates; those of the robot where left out.

        Raises:
            UnknownNameError: If a motor coordinate does not exist.
        """
        self.robot = robot
        self.constraints = _constraints_of(robot, constraints)
        self.kinematics = Kinematics(robot)
        self.actuated = _actuated_of(robot, actuated)
        preference = prefer(robot.nv, self.actuated, PREFERENCE)
        self.null_space: NullSpace = null_space or CoordinatePartition(
            robot.nv, preference=preference
        )
        self._pattern: MotorPattern | None = None
        self._matched = self.actuated
        self.J: Matrix = np.zeros((0, robot.nv))
        self.gamma: Vector = np.zeros(0)
        self.scale: Vector = np.zeros(0)
        self.place(robot.posture)

    @property
    def nu(self) -> int:
        """Mobility: number of generalized coordinates at the last update [CK, eq. 14]."""
        return int(self.null_space.Gamma.shape[1])

    def place(self, q: Vector) -> None:
        """Evaluate rows and null space at a configuration, without velocities.

        Args:
            q: (nq,) configuration.

        Raises:
            ShapeError: If a size is wrong.
        """
        _check_size("q", q, self.robot.nq)
        self.kinematics.place(q)
        self.build_map(drift=False)

    def update(self, q: Vector, v: Vector) -> None:
        """Evaluate rows, drift and null space.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.

        Raises:
            ShapeError: If a size is wrong.
        """
        _check_size("q", q, self.robot.nq)
        _check_size("v", v, self.robot.nv)
        self.kinematics.move(q, v)
        self.build_map()

    def inertia(self) -> Matrix:
        """Return M of the tree at the last update.

        Returns:
            (nv, nv) mass matrix of which the *upper triangle* counts.
        """
        M: Matrix = pin.crba(self.kinematics.model, self.kinematics.data, self.kinematics.q)
        return M

    def bias(self) -> Vector:
        """Return h of the tree at the last update.

        Returns:
            (nv,) Coriolis, centrifugal and gravity forces.
        """
        h: Vector = pin.nonLinearEffects(
            self.kinematics.model, self.kinematics.data, self.kinematics.q, self.kinematics.v
        )
        return h

    def tree_torque(self, a: Vector) -> Vector:
        """Return tau_O, the joint torques of the cut tree [CK, eq. 7], at the last update.

        Args:
            a: (nv,) generalized acceleration.

        Returns:
            (nv,) M a + h.
        """
        torque: Vector = pin.rnea(
            self.kinematics.model, self.kinematics.data, self.kinematics.q, self.kinematics.v, a
        )
        return torque

    def spread(self, tau: Vector, force: Vector | None = None) -> Vector:
        """Return S^T tau + force, motor torques as a generalized force of the tree.

        Args:
            tau: (na,) motor torques.
            force: (nv,) further generalized force, such as springs or pushes.

        Returns:
            (nv,) generalized force.
        """
        if force is None:
            spread: Vector = np.zeros(self.robot.nv)
            spread[self.actuated] = tau
        else:
            spread = force.copy()
            spread[self.actuated] += tau
        return spread

    def mobility(self, q: Vector) -> NullSpaceResult:
        """Return rank, generalized coordinates and singular values at a configuration [CK, eq. 13-18].

        Args:
            q: (nq,) configuration.

        Returns:
            The null space.
        """
        self.check_sizes(q=q, v=self.kinematics.rest)
        self.place(q)
        return report(self.null_space, self.J, self.scale)

    @property
    def pattern(self) -> MotorPattern | None:
        """Which motors sit on which coordinates of the present partition; None where u are no coordinates."""
        space, pattern = self.null_space, self._pattern
        if pattern is not None and pattern.dep is space.dep and self._matched is self.actuated:
            return pattern
        if len(space.dep) + len(space.indep) != self.robot.nv:
            return None
        self._pattern, self._matched = (
            match_motors(space.dep, space.indep, self.actuated),
            self.actuated,
        )
        return self._pattern

    def check_sizes(
        self,
        *,
        q: Vector,
        v: Vector,
        a: Vector | None = None,
        tau: Vector | None = None,
        force: Vector | None = None,
    ) -> None:
        """Refuse vectors of the wrong size.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration.
            tau: (na,) motor torques.
            force: (nv,) generalized force.

        Raises:
            ShapeError: If a size is wrong.
        """
        shape = self.kinematics.rest.shape
        fits = (
            v.shape == shape
            and (a is None or a.shape == shape)
            and (force is None or force.shape == shape)
        )
        if (
            fits
            and q.shape == self.robot.posture.shape
            and (tau is None or tau.shape == self.actuated.shape)
        ):
            return
        expected = {
            "q": self.robot.posture.shape,
            "v": shape,
            "a": shape,
            "tau": self.actuated.shape,
            "force": shape,
        }
        for field, values in (("q", q), ("v", v), ("a", a), ("tau", tau), ("force", force)):
            if values is not None and values.shape != expected[field]:
                raise ShapeError(field, f"shape {values.shape}", f"{expected[field]}")

    def build_map(self, *, drift: bool = True) -> None:
        """Evaluate rows and null space where the kinematics are now.

        Args:
            drift: Whether accelerations will be asked for.
        """
        constraints = self.constraints
        self.J = constraints.jacobian(self.kinematics)
        self.scale = constraints.scale
        if drift:
            self.gamma = constraints.drift(self.kinematics)
        self.null_space.update(self.kinematics, self.J, self.gamma if drift else None, self.scale)


def _constraints_of(
    robot: RobotModel, constraints: ConstraintSet | Iterable[ConstraintBlock] | None
) -> ConstraintSet:
    if constraints is None:
        return ConstraintSet.of(robot)
    return (
        constraints if isinstance(constraints, ConstraintSet) else ConstraintSet(robot, constraints)
    )


def _actuated_of(robot: RobotModel, actuated: Iterable[str] | None) -> Indices:
    if actuated is None:
        return robot.actuated_v
    coordinates = robot.coordinates
    indices = []
    for name in actuated:
        if name not in coordinates:
            raise UnknownNameError("coordinate", name, coordinates)
        indices.append(coordinates.index(name))
    return np.array(indices, dtype=np.intp)


def all_finite(*vectors: Vector) -> bool:
    """Return whether all numbers of some vectors are finite."""
    total = 0.0
    for vector in vectors:
        total += blas.dasum(vector) if vector.size else 0.0  # unlike a dot product it does not warn
    return math.isfinite(total)


def _check_size(name: str, values: Vector, size: int) -> None:
    if np.shape(values) != (size,):
        raise ShapeError(name, f"shape {np.shape(values)}", f"shape {(size,)}")
