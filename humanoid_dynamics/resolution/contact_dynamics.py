# SPDX-License-Identifier: Apache-2.0
"""What one tick asks, before any rule chooses: torques of free motion, and the Jacobian of everything that can push."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import blas

from humanoid_dynamics.contact.cone import build_wrench_cone
from humanoid_dynamics.contact.ground import AnyGround, find_grounds
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.resolution.contact_motion import IDLE, ContactMotion, Measured
from humanoid_dynamics.resolution.loops import LoopRows
from humanoid_dynamics.resolution.units import coordinate_units
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LARGEST = 1e100  # a sum of squares beyond it is a question that cannot be computed with
SHORTEST, LONGEST = 1.0 - 1e-5, 1.0 + 1e-5  # squared length of a quaternion
FREE_BASE = 6
LOCAL = pin.ReferenceFrame.LOCAL


class ContactDynamics:
    """The equation of motion of a robot on some surfaces: make once, ``update`` at every tick, ask any number of rules.

    With tau_0 the torques of free motion, tau = tau_0 - J'x holds for what contacts and gears push with, x.  Rows that no motor drives
    must vanish: J_u'x = tau_0 there.  The push of a contact is counted in the basis of its kind (``wrench_basis``), forces first; after
    all contacts come the gears between joints that mimic each other, one number each, and what holds closed loops together.

    Attributes:
        robot: The robot.
        surfaces: The surfaces that may touch.
        cones: What each can carry.
        parts: Where each contact's push stands in x.
        size: Number of unknowns in x.
        loops: Closed loops of the robot, None where there are none.
        held: Where the forces that hold them together stand in x.
        span: Coordinates from the first to the last on which x acts; J stops there.
        J: (size, width of span) Jacobian of x at the last update; a view of the columns of ``whole_J``.
        whole_J: (size, nv) the same with all columns.
        tau_0: (nv,) torques of free motion at the last update [N or N·m].
        free: (width of span,) those of the span.
        q, v, a: (nq,), (nv,) and (nv,) configuration, velocity and acceleration of the last update, copies.
        force: (nv,) known generalized force of the last update; None where there was none.
        motion: How surfaces move.
        grounds: Ground of those surfaces that have one, by name.
        driven, undriven: Coordinates with a motor, in order, and those without.
        driven_v, undriven_v: The same as indices.
        bearing: Within the span, undriven coordinates on which x acts: the equations for x.
        bearing_v: The same as indices of the velocity.
        acted_v: Driven coordinates on which x acts, as indices of the velocity.
        base_linear: Within the span, the coordinates of a free base that slide.
        full_rank: Whether the equations for x have full rank whatever the posture: only the base is undriven, and a face touches.
        best_rank: Whether they have it when all surfaces touch.
        unit_force: Weight of the robot, by which forces are measured [N].
        units: Unit of the force on each coordinate.
        generation: Number of updates so far.
    """

    def __init__(
        self,
        robot: RobotModel,
        contacts: str | Iterable[str] | None = None,
        ground: AnyGround = None,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            contacts: Name or names of the surfaces that may touch, each counted once; ``robot.stance`` where None.
            ground: Ground that these surfaces are on, see ``find_grounds``; not checked where None.

        Raises:
            UnknownNameError: If a surface does not exist.
        """
        names = (
            robot.stance
            if contacts is None
            else (contacts,)
            if isinstance(contacts, str)
            else tuple(contacts)
        )
        self.robot = robot
        self.surfaces = tuple(robot.surface(name) for name in dict.fromkeys(names))
        self.cones = tuple(build_wrench_cone(surface) for surface in self.surfaces)
        ends = [0, *accumulate(cone.basis.shape[1] for cone in self.cones)]
        self.parts = tuple(slice(a, b) for a, b in pairwise(ends))
        gears = _gear_rows(robot)
        self.loops = LoopRows(robot) if robot.loops else None
        self.held = slice(
            ends[-1] + len(gears), ends[-1] + len(gears) + (self.loops.size if self.loops else 0)
        )
        self.size = self.held.stop
        self._split_coordinates(
            np.any(gears != 0.0, axis=0)
            | ((self.loops.reach() if self.loops else 0.0) > np.zeros(robot.nv))
        )
        self.whole_J: Matrix = np.zeros((self.size, robot.nv))
        self.whole_J[ends[-1] : self.held.start] = gears
        self.J: Matrix = self.whole_J[:, self.span]
        self.tau_0: Vector = np.zeros(robot.nv)
        self.free = self.tau_0[self.span]
        self.q: Vector = np.array(robot.posture)
        self.v, self.a = np.zeros(robot.nv), np.zeros(robot.nv)
        self.force: Vector | None = None
        self.unit_force = robot.mass * float(np.linalg.norm(robot.model.gravity.linear)) or 1.0
        self.units = coordinate_units(robot)
        self.generation = 0
        self._model, self._data = robot.model, robot.data()
        self._floats = robot.root == "free_flyer"
        bases = [
            None if s.kind == "face" else c.basis.T.copy()
            for s, c in zip(self.surfaces, self.cones, strict=True)
        ]
        places = (self.whole_J[part] for part in self.parts)
        self._contacts = tuple(zip((s.frame for s in self.surfaces), places, bases, strict=True))
        self.grounds = find_grounds(ground, tuple(surface.name for surface in self.surfaces))
        self.motion = ContactMotion(
            self._model,
            self._data,
            self.surfaces,
            [cone.basis for cone in self.cones],
            self.grounds,
        )
        self._outer = self.whole_J[: ends[-1]]
        self._active: Sequence[bool] | None = None
        self.best_rank = self._has_full_rank((True,) * len(self.surfaces))
        self.full_rank = self.best_rank

    def update(
        self,
        q: Vector,
        v: Vector,
        a: Vector,
        active: Sequence[bool] | None = None,
        force: Vector | None = None,
    ) -> str:
        """Compute what a motion asks.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration.
            active: Whether each surface touches; all where None.  One that does not has no part in x.
            force: (nv,) known generalized force beside motors and contacts, such as measured wrenches; none where None.

        Returns:
            What is wrong with the numbers, empty where nothing is; never an exception for a number.

        Raises:
            ShapeError: If the force is of another size.
        """
        model, data = self._model, self._data
        self.generation += 1
        if self._floats:
            i, j, k, w = q[3:7].tolist()
            if not SHORTEST < i * i + j * j + k * k + w * w < LONGEST:
                return _number_fault(
                    q, v, a, None, "q holds a quaternion that is not of unit length"
                )
        tau_0 = pin.rnea(model, data, q, v, a)
        self.tau_0 = tau_0 = tau_0 if force is None else _less(tau_0, force)
        if len(tau_0) and not (
            blas.ddot(tau_0, tau_0) < LARGEST and blas.ddot(q, q) < LARGEST
        ):  # never a warning, unlike numpy's
            return _number_fault(
                q, v, a, force, "q, v or a holds a number too large to compute with"
            )
        self.q, self.v, self.a, self.free = q.copy(), v.copy(), a.copy(), tau_0[self.span]
        self.force = None if force is None else force.copy()
        pin.computeJointJacobians(model, data, q)
        for frame, place, basis in self._contacts:
            J = pin.getFrameJacobian(model, data, frame, LOCAL)
            place[:] = J if basis is None else _bend(basis, J)
        if self.loops is not None:
            self.whole_J[self.held] = self.loops.update(q, v, a)
        self.full_rank, self._active = self.best_rank, active
        if active is not None:
            self.leave_out(active)
        return ""

    def measure_motion(self) -> Measured | None:
        """Return what surfaces that touch do in the motion of the last update, see ``ContactMotion``; None where all rest."""
        return self.motion.measure(self._outer, self.v, self._active)

    def find_moving(self, x: Vector, measured: Measured) -> Iterator[int]:
        """Return the surfaces that push and do not rest.

        Args:
            x: (size,) what all push with.
            measured: What ``measure_motion`` returned.
        """
        return (
            k
            for k in range(len(self.parts))
            if self.pushes(x, k) and measured.motion.is_moving(measured, k)
        )

    def pushes(self, x: Vector, contact: int) -> bool:
        """Whether a surface pushes with more than counts.

        Args:
            x: (size,) what all push with.
            contact: Index of the surface.
        """
        part = x[self.parts[contact]]
        return bool(part.dot(part) > (IDLE * self.unit_force) ** 2)

    def leave_out(self, active: Sequence[bool]) -> None:
        """Let some surfaces have no part in x, until the next update or ``put_back``.

        Args:
            active: Whether each surface still touches.
        """
        for part, touches in zip(self.parts, active, strict=True):
            if not touches:
                self.J[part] = 0.0
        self.full_rank = self._has_full_rank(active)

    def put_back(self, J: Matrix, full_rank: bool) -> None:
        """Undo what ``leave_out`` did.

        Args:
            J: (size, nv) copy of ``whole_J`` before.
            full_rank: What that was before.
        """
        self.whole_J[:], self.full_rank = J, full_rank

    def place(self, contact: int) -> tuple[Matrix, Vector]:
        """Return orientation (3, 3) and position (3,) [m] of a surface in the world, at the last update."""
        X_WC = pin.updateFramePlacement(self._model, self._data, self.surfaces[contact].frame)
        return np.array(X_WC.rotation), np.array(X_WC.translation)

    def total_wrench(self) -> tuple[Vector, Vector, Vector]:
        """Return where the root is [m], and force [N] and moment about it [N·m] that the motion needs, axes of the world; (3,) each."""
        X_WB, S = self._data.oMi[1], self._data.joints[1].S
        wrench = S @ self.tau_0[: S.shape[1]]
        return np.array(X_WB.translation), X_WB.rotation @ wrench[:3], X_WB.rotation @ wrench[3:]

    def rotation(self, contact: int, q: Vector, generation: int) -> Matrix:
        """Return the orientation of a surface in the world, (3, 3), at the configuration of a certain update."""
        data = self._data
        if generation != self.generation:
            data = self.robot.data()
            pin.forwardKinematics(self._model, data, q)
        return np.array(
            pin.updateFramePlacement(self._model, data, self.surfaces[contact].frame).rotation
        )

    def _has_full_rank(self, active: Sequence[bool]) -> bool:
        faces = [
            basis is None and touches
            for (_, _, basis), touches in zip(self._contacts, active, strict=True)
        ]
        return any(faces) and self._floats and len(self.undriven_v) == FREE_BASE

    def _split_coordinates(self, geared: NDArray[np.bool_]) -> None:
        robot, acts = self.robot, geared.copy()
        for surface in self.surfaces:
            for joint in robot.model.supports[robot.model.frames[surface.frame].parentJoint]:
                first = robot.model.idx_vs[joint]
                acts[first : first + robot.model.nvs[joint]] = True
        driven = np.zeros(robot.nv, dtype=bool)
        driven[robot.actuated_v] = True
        acted = np.flatnonzero(acts)
        self.span = slice(int(acted[0]), int(acted[-1]) + 1) if len(acted) else slice(0, 0)
        self.driven_v, self.undriven_v = robot.actuated_v, np.flatnonzero(~driven)
        self.bearing_v, self.acted_v = np.flatnonzero(~driven & acts), np.flatnonzero(driven & acts)
        self.driven, self.undriven = as_slice(self.driven_v), as_slice(self.undriven_v)
        self.bearing = as_slice(self.bearing_v - self.span.start)
        slides = {"free_flyer": 3, "planar": 2}.get(robot.root, 0)
        self.base_linear = slice(0, slides if len(acted) and acted[0] == 0 else 0)


def as_slice(indices: Indices) -> slice | Indices:
    """Return indices as a slice where they follow each other: a slice takes a view where an array takes a copy.

    Args:
        indices: (n,) indices, rising.
    """
    if len(indices) and len(indices) == indices[-1] - indices[0] + 1:
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices if len(indices) else slice(0, 0)


@np.errstate(all="ignore")
def _less(tau_0: Vector, force: Vector) -> Vector:
    if force.shape != tau_0.shape:  # numpy would spread a single number over all
        raise ShapeError("force", f"shape {force.shape}", f"{tau_0.shape}")
    less: Vector = tau_0 - force
    return less


@np.errstate(all="ignore")
def _bend(basis: Matrix, J: Matrix) -> Matrix:
    bent: Matrix = basis.dot(J)
    return bent


def _number_fault(q: Vector, v: Vector, a: Vector, force: Vector | None, otherwise: str) -> str:
    if not (np.isfinite(q).all() and np.isfinite(v).all() and np.isfinite(a).all()):
        return "q, v or a holds a number that is not finite"
    if force is None:
        return otherwise
    if not np.isfinite(force).all():
        return "force holds a number that is not finite"
    return (
        otherwise
        if blas.ddot(force, force) < LARGEST
        else "force holds a number too large to compute with"
    )


def _gear_rows(robot: RobotModel) -> Matrix:
    """Return the directions in which the gears between followers and leaders push, (mimics, nv)."""
    index = {joint.name: joint.v.start for joint in robot.joints}
    rows = np.zeros((len(robot.mimics), robot.nv))
    for row, mimic in zip(rows, robot.mimics, strict=True):
        row[index[mimic.joint]], row[index[mimic.leader]] = 1.0, -mimic.ratio
    return rows
