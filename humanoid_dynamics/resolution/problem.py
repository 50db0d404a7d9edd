# SPDX-License-Identifier: Apache-2.0
"""Shared values of the constrained equation of motion: terms, constraint rows and limits at one state.

    M a + h = S' tau + J' f + g_known        J a = gamma        f in cones, tau in limits

Two solvers read them.  Inverse dynamics takes the acceleration as given and solves for f; M is never built.  A tick with tasks solves for
a and f together; it reads h, M, J and gamma.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from humanoid_dynamics.contact.cone import FACETS
from humanoid_dynamics.contact.ground import AnyGround, find_grounds
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.resolution.constraint_rows import LoopRows, gear_rows, list_contacts
from humanoid_dynamics.resolution.contact_motion import IDLE, ContactMotion, Measured
from humanoid_dynamics.resolution.units import coordinate_units
from humanoid_dynamics.spatial.arrays import Matrix, Vector, as_slice

LARGEST = 1e100  # a sum of squares beyond it is a question that cannot be computed with
SHORTEST, LONGEST = 1.0 - 1e-5, 1.0 + 1e-5  # squared length of a quaternion
FREE_BASE = 6
LOCAL = pin.ReferenceFrame.LOCAL


class DynamicsProblem:
    """The equation of motion of a robot on a list of contacts: make once, ``update`` at every tick, solve by any number of rules.

    f contains the force of each contact in its held directions, then one number for each gear between joints that mimic each other, then
    the forces that keep closed loops together.  Rows of J are in the same order.

    With an acceleration, tau_0 = M a + h - g_known are the generalized forces of free motion, and tau = tau_0 - J'f holds for the motors.
    Rows without motor must vanish: J_u'f = tau_0 there.

    Attributes:
        robot: The robot.
        contacts: The contacts, in order.
        surfaces: Their surfaces.
        parts: Where the force of each stands in f.
        size: Number of unknowns in f.
        A, b: (m, size) rows and (m,) bounds of the contacts, A f <= b.
        effort: (na,) torque limits [N·m or N].
        loops: Closed loops of the robot, None where there are none.
        held: Where the forces that keep them together stand in f.
        J: (size, nv) Jacobian of contacts, gears and loops at the last update; zero rows for contacts that do not touch.
        span: Coordinates from the first to the last on which f acts.
        J_span: (size, width of span) those columns of ``J``.
        tau_0: (nv,) generalized forces of free motion at the last update [N or N·m]; h less known forces without an acceleration.
        free: (width of span,) those of the span.
        q, v, a: (nq,), (nv,) and (nv,) configuration, velocity and acceleration of the last update, copies.
        force: (nv,) known generalized force of the last update; None where there was none.
        motion: Motion of contact surfaces.
        grounds: Ground of those surfaces that have one, by name.
        driven_v, undriven_v: Coordinates with a motor, in order, and those without, as indices.
        bearing: Within the span, undriven coordinates on which f acts: the equations for f.
        bearing_v: The same as indices of the velocity.
        acted_v: Driven coordinates on which f acts, as indices of the velocity.
        base_linear: Within the span, the linear coordinates of a free base.
        full_rank: Whether the equations for f have full rank whatever the posture: only the base is undriven, and a face touches.
        best_rank: Whether they have it when all surfaces touch.
        unit_force: Weight of the robot, by which forces are measured [N].
        units: Unit of the force on each coordinate.
        generation: Number of updates so far.
    """

    def __init__(
        self,
        robot: RobotModel,
        contacts: str | Iterable[str | ContactSurface] | None = None,
        ground: AnyGround = None,
        facets: int = FACETS,
    ) -> None:
        """Prepare.

        Args:
            robot: The robot.
            contacts: Name or names of contact surfaces, or surfaces, each counted once; ``robot.stance`` where None.
            ground: Ground that these surfaces are on, see ``find_grounds``; not checked where None.
            facets: Sides of the friction pyramids in ``A``, which are inside the round cones.

        Raises:
            UnknownNameError: If a surface does not exist.
        """
        self.robot = robot
        self.contacts = list_contacts(robot, contacts, facets)
        self.surfaces = tuple(contact.surface for contact in self.contacts)
        self.parts = tuple(contact.part for contact in self.contacts)
        end = self.parts[-1].stop if self.parts else 0
        gears = gear_rows(robot)
        self.loops = LoopRows(robot) if robot.loops else None
        self.held = slice(
            end + len(gears), end + len(gears) + (self.loops.size if self.loops else 0)
        )
        self.size = self.held.stop
        self.A, self.b = self._stack_cones()
        self._split_coordinates(
            np.any(gears != 0.0, axis=0)
            | ((self.loops.reach() if self.loops else 0.0) > np.zeros(robot.nv))
        )
        self.effort: Vector = robot.limits.effort[self.driven_v]
        self.J: Matrix = np.zeros((self.size, robot.nv))
        self.J[end : self.held.start] = gears
        self.J_span: Matrix = self.J[:, self.span]
        self.tau_0: Vector = np.zeros(robot.nv)
        self.free = self.tau_0[self.span]
        self.q: Vector = np.array(robot.posture)
        self.v, self.a = np.zeros(robot.nv), np.zeros(robot.nv)
        self.force: Vector | None = None
        self.unit_force = robot.mass * float(np.linalg.norm(robot.model.gravity.linear)) or 1.0
        self.units = coordinate_units(robot)
        self.generation = 0
        self._model, self._data, self._terms = robot.model, robot.data(), robot.data()
        self._known: dict[str, Vector] = {}  # terms computed since the last update
        self._rest = np.zeros(robot.nv)
        self._upper = np.triu(np.ones((robot.nv, robot.nv))) - 0.5 * np.eye(robot.nv)
        self._floats = robot.root == "free_flyer"
        self._rows = tuple(
            (c.surface.frame, self.J[c.part], None if c.surface.kind == "face" else c.held.T.copy())
            for c in self.contacts
        )
        self.grounds = find_grounds(ground, tuple(contact.name for contact in self.contacts))
        held = [contact.held for contact in self.contacts]
        self.motion = ContactMotion(
            self._model, self._data, self.surfaces, held, self.grounds, IDLE * self.unit_force
        )
        self._outer = self.J[:end]
        self._active: Sequence[bool] | None = None
        self.best_rank = self._has_full_rank((True,) * len(self.contacts))
        self.full_rank = self.best_rank

    def update(
        self,
        q: Vector,
        v: Vector,
        a: Vector | None = None,
        active: Sequence[bool] | None = None,
        force: Vector | None = None,
    ) -> str:
        """Compute ``tau_0`` and ``J``; h, M and gamma are computed when first asked for.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) acceleration; zero where None, so that ``tau_0`` is h less known forces.
            active: Whether each surface touches; all where None.  One that does not has no part in f.
            force: (nv,) known generalized force beside motors and contacts, such as measured wrenches; none where None.

        Returns:
            What is wrong with the numbers, empty where nothing is; never an exception for a number.

        Raises:
            ShapeError: If the force is of another size.
        """
        model, data = self._model, self._data
        self.generation += 1
        self._known.clear()
        a = self._rest if a is None else a
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
        for frame, place, basis in self._rows:
            J = pin.getFrameJacobian(model, data, frame, LOCAL)
            place[:] = J if basis is None else _bend(basis, J)
        if self.loops is not None:
            self.J[self.held] = self.loops.update(q, v, a)
        self.full_rank, self._active = self.best_rank, active
        if active is not None:
            self.leave_out(active)
        return ""

    @property
    def data(self) -> pin.Data:
        """What Pinocchio computed at the last update: placements, velocities and joint Jacobians."""
        return self._data

    def accelerate(self, a: Vector) -> None:
        """Take another acceleration at the state of the last update: ``tau_0`` and ``free`` change, ``J`` does not.

        Args:
            a: (nv,) acceleration, finite.
        """
        tau_0 = pin.rnea(self._model, self._data, self.q, self.v, a)
        self.tau_0 = tau_0 if self.force is None else tau_0 - self.force
        self.a, self.free = a.copy(), self.tau_0[self.span]
        if self.loops is not None:
            self.J[self.held] = self.loops.update(self.q, self.v, a)

    @property
    def h(self) -> Vector:
        """(nv,) Coriolis, centrifugal and gravity terms at the last update [N or N·m]."""
        return self._know(
            "h", lambda: pin.nonLinearEffects(self._model, self._terms, self.q, self.v)
        )

    @property
    def M(self) -> Matrix:
        """(nv, nv) mass matrix at the last update."""
        return self._know("M", self._build_mass_matrix)

    @property
    def M_factor(self) -> Matrix:
        """(nv, nv) upper triangular Cholesky factor U of the mass matrix at the last update, M = U'U."""
        return self._know("M_factor", lambda: np.asarray(lapack.dpotrf(self.M, clean=1)[0]))

    @property
    def gamma(self) -> Vector:
        """(size,) J a = gamma for accelerations that keep contacts, gears and loops: minus the rate of J times the velocity."""
        return self._know("gamma", self._build_gamma)

    def measure_motion(self, f: Vector) -> tuple[Measured | None, bool]:
        """Return what surfaces that touch do in the motion of the last update, None where all rest, and whether one with force moves.

        Args:
            f: (size,) forces.
        """
        return self.motion.measure(self._outer, self.v, f, self._active)

    def find_moving(self, f: Vector, measured: Measured) -> Iterator[int]:
        """Return the surfaces that carry force and do not rest.

        Args:
            f: (size,) forces.
            measured: What ``measure_motion`` returned.
        """
        idle = (IDLE * self.unit_force) ** 2
        return (
            k
            for k, part in enumerate(self.parts)
            if f[part].dot(f[part]) > idle and measured.motion.is_moving(measured, k)
        )

    def leave_out(self, active: Sequence[bool]) -> None:
        """Take some surfaces out of f, until the next update or ``put_back``.

        Args:
            active: Whether each surface still touches.
        """
        for part, touches in zip(self.parts, active, strict=True):
            if not touches:
                self.J_span[part] = 0.0
        self.full_rank = self._has_full_rank(active)

    def put_back(self, J: Matrix, full_rank: bool) -> None:
        """Undo what ``leave_out`` did.

        Args:
            J: (size, nv) copy of ``J`` before.
            full_rank: What that was before.
        """
        self.J[:], self.full_rank = J, full_rank

    def twist(self, contact: int) -> Vector:
        """Return linear and angular velocity of a surface in its own axes, (6,) [m/s, rad/s], at the last update."""
        frame = self.surfaces[contact].frame
        return np.asarray(pin.getFrameVelocity(self._model, self._data, frame, LOCAL).vector)

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

    def _know(self, name: str, compute: Callable[[], Vector]) -> Vector:
        if name not in self._known:
            self._known[name] = compute()
        return self._known[name]

    def _build_mass_matrix(self) -> Matrix:
        M = pin.crba(self._model, self._terms, self.q) * self._upper
        M += M.T
        return np.asarray(M)

    def _build_gamma(self) -> Vector:
        gamma = np.zeros(self.size)
        gamma[: len(self._outer)] = self._outer @ self.a - self.motion.accelerations()
        if self.loops is not None:
            gamma[self.held] = self.J[self.held] @ self.a - self.loops.accelerations
        if self._active is not None:
            for part, touches in zip(self.parts, self._active, strict=True):
                gamma[part] *= touches
        return gamma

    def _stack_cones(self) -> tuple[Matrix, Vector]:
        b: Vector = np.concatenate([np.zeros(0), *(contact.cone.b for contact in self.contacts)])
        A, at = np.zeros((len(b), self.size)), 0
        for contact in self.contacts:
            A[at : at + len(contact.cone.A), contact.part] = contact.cone.A
            at += len(contact.cone.A)
        return A, b

    def _has_full_rank(self, active: Sequence[bool]) -> bool:
        faces = [
            basis is None and touches
            for (_, _, basis), touches in zip(self._rows, active, strict=True)
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
        self.bearing = as_slice(self.bearing_v - self.span.start)
        slides = {"free_flyer": 3, "planar": 2}.get(robot.root, 0)
        self.base_linear = slice(0, slides if len(acted) and acted[0] == 0 else 0)


@np.errstate(all="ignore")
def _less(tau_0: Vector, force: Vector) -> Vector:
    if force.shape != tau_0.shape:  # numpy would spread a single number over all
        raise ShapeError("force", f"shape {force.shape}", f"{tau_0.shape}")
    less: Vector = tau_0 - force
    if type(less) is not np.ndarray:  # masked numbers would pass as they are
        raise ShapeError("force", f"a {type(less).__name__}", "an array")
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
