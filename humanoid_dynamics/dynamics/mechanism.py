"""A robot under constraints: prepared once, asked many times."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.block import ConstraintBlock
from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.constraints.null_space import NullSpace, NullSpaceResult, report
from humanoid_dynamics.constraints.partition import CoordinatePartition
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


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
        gamma: (k,) drift of the last update.
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
            null_space: Back-end; a coordinate partition where left out.
            actuated: Names of the motor coordinates; those of the robot where left out.

        Raises:
            UnknownNameError: If a motor coordinate does not exist.
        """
        self.robot = robot
        self.constraints = _constraints_of(robot, constraints)
        self.kinematics = Kinematics(robot)
        self.null_space: NullSpace = null_space or CoordinatePartition(robot.nv)
        self.actuated = _actuated_of(robot, actuated)
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
        """
        self.kinematics.place(q)
        self._map(drift=False)

    def update(self, q: Vector, v: Vector) -> None:
        """Evaluate rows, drift and null space.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        self.kinematics.move(q, v)
        self._map(drift=True)

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
        h: Vector = pin.nonLinearEffects(self.kinematics.model, self.kinematics.data, self.kinematics.q, self.kinematics.v)
        return h

    def tree_torque(self, a: Vector) -> Vector:
        """Return tau_O, the joint torques of the cut tree [CK, eq. 7], at the last update.

        Args:
            a: (nv,) generalized acceleration.

        Returns:
            (nv,) M a + h.
        """
        torque: Vector = pin.rnea(self.kinematics.model, self.kinematics.data, self.kinematics.q, self.kinematics.v, a)
        return torque

    def spread(self, tau: Vector, force: Vector | None = None) -> Vector:
        """Return S^T tau + force, motor torques as a generalized force of the tree.

        Args:
            tau: (na,) motor torques.
            force: (nv,) further generalized force, such as springs or pushes.

        Returns:
            (nv,) generalized force.
        """
        spread = np.zeros(self.robot.nv) if force is None else force.copy()
        spread[self.actuated] += tau
        return spread

    def mobility(self, q: Vector) -> NullSpaceResult:
        """Return rank, generalized coordinates and singular values at a configuration [CK, eq. 13-18].

        Args:
            q: (nq,) configuration.

        Returns:
            The null space.
        """
        self.check("q", q, self.robot.nq)
        self.place(q)
        return report(self.null_space, self.J.shape[0])

    def check(self, field: str, values: Vector, size: int) -> bool:
        """Refuse a vector of the wrong size; tell whether its numbers are finite.

        Args:
            field: Name of the argument, for the message.
            values: The vector.
            size: Expected length.

        Returns:
            Whether all numbers are finite.

        Raises:
            ShapeError: If the size is wrong.
        """
        if values.shape != (size,):
            raise ShapeError(field, f"shape {values.shape}", f"({size},)")
        return math.isfinite(values.dot(values))

    def _map(self, drift: bool) -> None:
        self.J = self.constraints.jacobian(self.kinematics)
        self.scale = self.constraints.scale
        self.gamma = self.constraints.drift(self.kinematics) if drift else np.zeros(self.J.shape[0])
        self.null_space.update(self.kinematics, self.J, self.gamma if drift else None, self.scale)


def _constraints_of(robot: RobotModel, constraints: ConstraintSet | Iterable[ConstraintBlock] | None) -> ConstraintSet:
    if constraints is None:
        return ConstraintSet.of(robot)
    return constraints if isinstance(constraints, ConstraintSet) else ConstraintSet(robot, constraints)


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
