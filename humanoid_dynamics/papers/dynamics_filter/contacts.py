# SPDX-License-Identifier: Apache-2.0
"""Soles near the ground: which corners touch, and the rows of a face, an edge or a corner that is held [DF, sec. 3.4]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.contact.cone import build_generators
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.papers.dynamics_filter.ground import Ground
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.polygon import half_planes
from humanoid_dynamics.spatial.wrench import cross

ENTER, LEAVE = 2e-3, 4e-3  # gap at which a corner begins and ceases to touch [m]
MEETS = 2e-4  # a corner above the ground begins to touch where it would be lower than this after one step [m]
SEPARATING = 5e-3  # a corner that rises faster does not touch [m/s]
DRIFT_RATE, DRIFT_SPRING = (
    20.0,
    100.0,
)  # 1/s and 1/s²: how what is held comes back to rest on the ground
MOMENT_ARM = 0.1  # half a foot: what makes moments comparable with forces [m]

Held = tuple[int, ...]
_AXES = pin.LOCAL_WORLD_ALIGNED


@dataclass(eq=False)
class Sole:
    """A contact surface at one instant; everything below ``surface`` is refreshed by ``look``.

    Attributes:
        surface: The surface.
        corners: (k, 3) its corners, in the surface frame [m].
        generators: (6, m) wrenches of unit corner forces along the friction pyramids, in the surface frame.
        A: (e, 2) outward normals of the edges of a face; no rows for an edge or a point.
        b: (e,) their distances [m].
        R: (3, 3) orientation in the world.
        J: (6, nv) velocity of its origin and its angular velocity, axes of the world.
        drift: (6,) their accelerations without generalized acceleration.
        spin: (3,) angular velocity, axes of the world [rad/s].
        arms: (k, 3) corners seen from the origin, axes of the world [m].
        gap: (k,) distance of the corners from the ground [m].
        normal: (3,) of the ground, in the world.
        rise: (k,) velocity of the corners along the normal [m/s].
        sunk: (6,) how far the sole is off the ground plane, and how tilted.
        dt: Step of the filter [s].
        touching: Corners that touch.
    """

    surface: ContactSurface
    corners: Matrix
    generators: Matrix
    A: Matrix
    b: Vector
    R: Matrix
    J: Matrix
    drift: Vector
    spin: Vector
    arms: Matrix
    gap: Vector
    normal: Vector
    rise: Vector
    sunk: Vector
    dt: float
    touching: Held = ()

    def look(self, kinematics: Kinematics, ground: Ground, *, may_touch: bool) -> None:
        """Refresh everything for the present motion.

        Args:
            kinematics: After ``weigh``.
            ground: The ground.
            may_touch: Whether corners that only rest may touch; those that come down always do.
        """
        model, data, frame = kinematics.model, kinematics.data, self.surface.frame
        X = pin.updateFramePlacement(model, data, frame)
        self.R = X.rotation
        self.arms = self.corners.dot(self.R.T)
        self.gap, normals = ground.probe(self.arms + X.translation)
        if float(self.gap.min()) >= (LEAVE if self.touching else ENTER):
            self.touching = ()
            return
        self.normal = normals[0] if len(normals) == 1 else normals[int(np.argmin(self.gap))]
        self.J = pin.getFrameJacobian(model, data, frame, _AXES)
        self.measure(kinematics)
        self._settle(may_touch=may_touch)

    def measure(self, kinematics: Kinematics) -> None:
        """Refresh what depends on velocities.

        Args:
            kinematics: After ``weigh``, at the same configuration.
        """
        V = self.J.dot(kinematics.v)
        self.spin = V[3:]
        drift = pin.getFrameClassicalAcceleration(
            kinematics.model, kinematics.data, self.surface.frame, _AXES
        )
        self.drift = drift.vector + kinematics.lift_W
        turn = cross(self.normal, self.spin)  # n . (v + w x r) = n . v + (n x w) . r
        self.rise = self.arms.dot(turn) + float(self.normal.dot(V[:3]))

    def _settle(self, *, may_touch: bool) -> None:
        touching = []
        for k, (gap, rise) in enumerate(zip(self.gap.tolist(), self.rise.tolist(), strict=True)):
            returning = (
                DRIFT_RATE / 2.0 * max(-gap, 0.0)
            )  # what went in comes out at this rate, and goes on touching
            held = k in self.touching
            near = (
                gap < (LEAVE if held else ENTER)
                and rise <= SEPARATING + returning
                and (held or gap + rise * self.dt < MEETS)
            )
            if near and (may_touch or rise < -SEPARATING):
                touching.append(k)
        self.touching = tuple(touching)
        off = float(self.gap[0]) - float(
            self.arms[0].dot(self.normal)
        )  # of the origin of the sole from the ground
        self.sunk = np.concatenate((self.normal * off, cross(self.normal, self.R[:, 2])))

    def hold(self, held: Held) -> tuple[Matrix, Vector]:
        """Return what is held as a map of velocities of the sole, and its drift.

        Args:
            held: Corners: three or more make a face, two an edge, one a point.

        Returns:
            T: (r, 6) rows on velocity of the origin and angular velocity.
            gamma: (r,) drift with what brings the sole back to the ground.
        """
        gamma = self.drift + DRIFT_SPRING * self.sunk
        if len(held) > 2:
            return _FACE, gamma
        arm = (
            self.arms[held[0]]
            if len(held) == 1
            else 0.5 * (self.arms[held[0]] + self.arms[held[1]])
        )
        T = np.zeros((3 if len(held) == 1 else 5, 6))
        T[:3, :3] = _FACE[:3, :3]
        T[0, 4], T[0, 5], T[1, 3], T[1, 5], T[2, 3], T[2, 4] = (
            arm[2],
            -arm[1],
            -arm[2],
            arm[0],
            arm[1],
            -arm[0],
        )
        if len(held) == 2:
            along = self.arms[held[1]] - self.arms[held[0]]
            up = self.R[
                :, 2
            ]  # of the sole, so that the centre of pressure stays on the edge exactly
            T[3, 3:], T[4, 3:] = up, cross(up, along / np.sqrt(along.dot(along)))
        gamma = T.dot(gamma)
        gamma[:3] += cross(self.spin, cross(self.spin, arm))
        return T, gamma

    def lift(self, a: Vector) -> Vector:
        """Return the accelerations of the corners along the normal.

        Args:
            a: (nv,) generalized acceleration.

        Returns:
            (k,) [m/s²].
        """
        A = self.J.dot(a) + self.drift
        inward = self.spin * float(self.spin.dot(self.normal)) - self.normal * float(
            self.spin.dot(self.spin)
        )
        return np.asarray(
            self.arms.dot(cross(self.normal, A[3:]) + inward) + float(self.normal.dot(A[:3]))
        )

    def seen_from_sole(self, F_W: Vector) -> Vector:
        """Return a wrench about the origin of the sole in its own axes.

        Args:
            F_W: (6,) in axes of the world.
        """
        return np.concatenate((F_W[:3].dot(self.R), F_W[3:].dot(self.R)))

    def push(self, held: Held) -> Matrix:
        """Return the wrenches of unit forces at some corners, axes of the world.

        Args:
            held: The corners.

        Returns:
            (6, m) one column per corner and edge of the friction pyramid.
        """
        facets = self.generators.shape[1] // len(self.corners)
        columns = [self.generators[:, k * facets : (k + 1) * facets] for k in held]
        wrenches = np.hstack(columns) if columns else np.zeros((6, 0))
        return np.vstack((self.R.dot(wrenches[:3]), self.R.dot(wrenches[3:])))


def build_soles(robot: RobotModel, names: tuple[str, ...], dt: float) -> tuple[Sole, ...]:
    """Prepare contact surfaces.

    Args:
        robot: The robot.
        names: Names of the surfaces.
        dt: Step of the filter [s].

    Returns:
        The soles, far from any ground.

    Raises:
        UnknownNameError: If a surface does not exist.
    """
    soles = []
    for name in names:
        surface = robot.surface(name)
        count = len(surface.vertices)
        A, b = (
            half_planes(surface.vertices[:, :2]) if count > 2 else (np.zeros((0, 2)), np.zeros(0))
        )
        still, far = np.zeros(count), np.full(count, np.inf)
        arms, up = np.array(surface.vertices), np.array([0.0, 0.0, 1.0])
        placed = (
            np.eye(3),
            np.zeros((6, robot.nv)),
            np.zeros(6),
            np.zeros(3),
            arms,
            far,
            up,
            still,
            np.zeros(6),
        )
        sole = Sole(surface, arms, build_generators(surface), A, b, *placed, dt)
        soles.append(sole)
    return tuple(soles)


_FACE = read_only(np.eye(6))
