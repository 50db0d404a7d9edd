# SPDX-License-Identifier: Apache-2.0
"""Whole-body law: accelerations that keep a robot in balance on its feet and near a reference motion.

Task rows are about accelerations: soles in contact stay in place, the centre of mass follows the capture point, soles in the air and the
trunk follow the reference.  Joints follow the reference in the freedom that is left.  All rows are solved in one weighted least-squares
problem: a = a_0 + D A' y with (A D A' + R) y = b - A a_0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.control.support import Support, place_corners
from humanoid_dynamics.control.whole_body_kernels import (
    EXACT,
    Body,
    Feet,
    has_moved,
    read_body,
    solve_rows,
    write_rows,
)
from humanoid_dynamics.dynamics.placements import Placements
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
MOVED = 4e-3  # m; soles that stand and move by more against each other have a new polygon
ARM = 0.1  # m; a turn of a sole moves a point so far from its origin
BASE_LINEAR, BASE_ANGULAR, JOINTS = (
    10.0,
    1.0,
    1.0,
)  # mobility of coordinates: what the least-squares solve may change them


@dataclass(frozen=True)
class Gains:
    """How strongly errors are answered, as accelerations.

    Attributes:
        joint: Stiffness and damping of the joints [1/s², 1/s].
        trunk: Of the orientation of the root link [1/s², 1/s].
        height: Of the height of the centre of mass [1/s², 1/s].
        swing: Of soles in the air [1/s², 1/s].
        hold: Damping of soles that stand [1/s].
        capture: How fast the capture point goes back to where it should be [1/s].
        unwind: Damping of the spin of the body where soles are at their rim [1/s].
        lean: How far beyond the soles turning the body may push, as a centre of pressure [m].
        margin: How far inside the soles the centre of pressure stays [m].
        fastest: Largest acceleration asked of any joint [rad/s², m/s²].
    """

    joint: tuple[float, float] = (150.0, 24.0)
    trunk: tuple[float, float] = (80.0, 18.0)
    height: tuple[float, float] = (60.0, 15.0)
    swing: tuple[float, float] = (250.0, 32.0)
    hold: float = 10.0
    capture: float = 2.5
    unwind: float = 4.0
    lean: float = 0.1
    margin: float = 0.01
    fastest: float = 400.0


@dataclass(frozen=True, eq=False)
class Wanted:
    """A motion at one instant.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
    """

    q: Vector
    v: Vector
    a: Vector


class WholeBodyLaw:
    """From state and reference to accelerations: make once, ``accelerate`` at every tick.

    The reference is moved in the plane, and turned about the vertical, so that the feet it stands on are where the robot's are.

    Attributes:
        robot: The robot.
        names: The soles, in the order of ``closed``.
        shift: (3,) how far the reference is moved at the moment [m].
        sink: (soles,) how far each sole that does not stand is asked below its reference [m].
        sinking: (soles,) how fast that grows [m/s].
    """

    def __init__(
        self,
        problem: DynamicsProblem,
        gains: Gains | None = None,
    ) -> None:
        """Prepare.

        Args:
            problem: The equation of motion of a robot with a free root on the contacts it stands on.
            gains: How strongly errors are answered.

        Raises:
            UnsupportedRobotError: If the root is not free.
        """
        robot = problem.robot
        check_floating_base(robot)
        self.robot, self.gains = robot, gains or Gains()
        self.names = tuple(contact.name for contact in problem.contacts)
        self._problem, self._surfaces = problem, problem.surfaces
        self._data, self._wanted_data = robot.data(), robot.data()
        nv, n = robot.nv, len(self.names)
        self._starts = np.array([0, *(part.stop for part in problem.parts)], dtype=np.intp)
        self._held = np.hstack([np.zeros((6, 0)), *(contact.held for contact in problem.contacts)])
        rows = 8 + self._held.shape[1]
        self._A: Matrix = np.zeros((rows, nv))
        self._A[3:6, 3:6] = np.eye(3)
        self._b, self._softness = np.zeros(rows), np.full(rows, EXACT)
        self._now, self._then = _room(n, 6), _room(n, 12)
        g = self.gains
        self._gains = np.array(
            (*g.joint, *g.trunk, *g.height, *g.swing, g.hold, g.capture, g.unwind, g.lean)
        )
        self._joint_gains = (*g.joint, g.fastest)
        self._out: Vector = np.zeros(16)
        self._seen: Wanted | None = None
        self._closed: tuple[bool, ...] = ()
        self._known: Matrix = np.full((n, 4), np.inf)
        self._ground = (np.zeros((0, 2)), np.zeros(0), np.zeros(2))
        self._read_body, self._write_rows, self._solve_rows, self._has_moved = map(
            compile_kernel, (read_body, write_rows, solve_rows, has_moved)
        )
        data, mobility = self._data, np.full(nv, JOINTS)
        mobility[:3], mobility[3:6] = BASE_LINEAR, BASE_ANGULAR
        self._feet = _find_feet(robot, self._surfaces)
        self._placements = Placements(robot.model, data)
        self._views = (data.Ag, data.dAg, self._placements.poses)
        self._system = (
            *(self._A, self._b, self._softness, mobility),
            *(np.zeros((rows, nv)), np.zeros((rows, rows)), np.zeros(rows)),
        )
        self.shift: Vector = self._out[9:12]
        self.pressure: Vector = self._out[12:14]
        self._soles: Matrix = np.zeros((2, n))
        self.sink: Vector = self._soles[1]
        self.sinking: Vector = np.zeros(n)
        self.com: Vector = self._now[0][0]
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile, or load what is compiled, before a robot waits for it."""
        zero = np.zeros(self.robot.nv)
        here = Wanted(self.robot.posture, zero, zero)
        for closed in (False, True):
            self.accelerate(here.q, here.v, here, (closed,) * len(self.names))

    def accelerate(self, q: Vector, v: Vector, wanted: Wanted, closed: tuple[bool, ...]) -> Vector:
        """Return the accelerations to ask for, (nv,) [m/s², rad/s²].

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            wanted: The reference.
            closed: Whether each sole stands.
        """
        model, data = self.robot.model, self._data
        pin.computeCentroidalMapTimeVariation(model, data, q, v)
        if not self._placements.shared:
            self._placements.refresh()
        self._read_body(
            self._views, data.com[0], self._feet, v, self.robot.mass, self._now, self._A, self._b
        )
        gamma = self._read_contacts(q, v)
        self._read(wanted, closed)
        self._soles[0] = closed
        ground = self._find_support(closed, self._soles[0])
        rows = (self._A, self._b, self._softness)
        soles = (self._soles, (self._starts, self._held, gamma))
        self._write_rows(self._now, self._then, v, soles, self._gains, ground, rows, self._out)
        a: Vector = np.empty(self.robot.nv)
        error = pin.difference(model, q, wanted.q)
        self._solve_rows(error, v, (wanted.v, wanted.a), self._joint_gains, self._system, a)
        return a

    def _read_contacts(self, q: Vector, v: Vector) -> Vector:
        """Copy the rows of the contacts, write the twists of their surfaces, and return gamma, J a = gamma, (r,)."""
        problem, count = self._problem, self._held.shape[1]
        problem.update(q, v)
        self._A[6 : 6 + count] = problem.J[:count]
        for k in range(len(self.names)):
            self._now[3][k] = problem.twist(k)
        return problem.gamma[:count]

    def heights(self) -> dict[str, float]:
        """Return the height of each sole above the ground z = 0, at the last tick [m]."""
        return dict(zip(self.names, self._now[1][:, 2].tolist(), strict=True))

    def _read(self, wanted: Wanted, closed: tuple[bool, ...]) -> None:
        """Find where the reference has its centre of mass and its soles."""
        if wanted is self._seen and closed == self._closed and not self.sinking.any():
            return
        model, data = self.robot.model, self._wanted_data
        pin.centerOfMass(model, data, wanted.q, wanted.v, wanted.a)
        com, place, turn, onward, root, rates = self._then
        com[0], com[1], com[2] = data.com[0], data.vcom[0], data.acom[0]
        root[:], rates[0], rates[1] = data.oMi[1].rotation, wanted.v[3:6], wanted.a[3:6]
        for k, surface in enumerate(self._surfaces):
            X = pin.updateFramePlacement(model, data, surface.frame)
            place[k], turn[3 * k : 3 * k + 3] = X.translation, X.rotation
            onward[k, :6] = pin.getFrameVelocity(model, data, surface.frame, ALIGNED).vector
            onward[k, 6:] = pin.getFrameClassicalAcceleration(
                model, data, surface.frame, ALIGNED
            ).vector
        standing = [k for k in range(len(closed)) if closed[k]]
        if standing:  # soles that stand stay where they are: the reference is moved with the slowest, others may have touched early
            k = min(standing, key=lambda k: float(onward[k, :3] @ onward[k, :3]))
            com[1] -= onward[k, :3]
            com[2] -= onward[k, 6:9]
        onward[:, 2] -= self.sinking
        self._seen = wanted

    def _find_support(
        self, closed: tuple[bool, ...], stands: Vector
    ) -> tuple[Matrix, Vector, Vector]:
        """Return half planes and middle of the polygon of the soles that stand, seen from their mean place.

        It is found anew where they are others than before or have moved against each other.
        """
        place, turn = self._now[1:3]
        if self._has_moved(place, turn, stands, self._known, ARM, MOVED) or closed != self._closed:
            self._closed = closed
            standing = [s for s, closes in zip(self._surfaces, closed, strict=True) if closes]
            for surface in standing:
                pin.updateFramePlacement(self.robot.model, self._data, surface.frame)
            middle: Vector = stands @ place / max(len(standing), 1)
            support = Support(place_corners(self._data, standing) - middle[:2], self.gains.margin)
            self._ground = (*support.half_planes, support.middle)
        return self._ground


def check_floating_base(robot: RobotModel) -> None:
    """Refuse a robot whose root is not free.

    Args:
        robot: The robot.

    Raises:
        UnsupportedRobotError: If its root is not free.
    """
    if robot.root != "free_flyer":
        raise UnsupportedRobotError(
            "balance", [robot.root], "requires a floating base, received root"
        )


def _room(soles: int, motion: int) -> Body:
    """Return room for a robot or a reference, see ``write_rows``."""
    shapes = ((3, 3), (soles, 3), (3 * soles, 3), (soles, motion), (3, 3), (2, 3))
    com, place, turn, moving, root, rates = (np.zeros(shape) for shape in shapes)
    return com, place, turn, moving, root, rates


def _find_feet(robot: RobotModel, surfaces: tuple[ContactSurface, ...]) -> Feet:
    """Return joint, axes and origin of each sole, see ``read_body``."""
    model = robot.model
    frames = [model.frames[surface.frame] for surface in surfaces]
    return (
        np.array([frame.parentJoint for frame in frames], dtype=np.intp),
        np.array([frame.placement.rotation for frame in frames]).reshape(-1, 3, 3),
        np.array([frame.placement.translation for frame in frames]).reshape(-1, 3),
    )
