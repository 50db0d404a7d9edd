# SPDX-License-Identifier: Apache-2.0
"""What gives momentum to the bodies of a world besides gravity: contacts, pushes, loops, and what carries the trees that do not fly.

A tree flies whose root is a free joint that nothing moves or holds: all that acts on it from outside is told.  What carries the root of any
other tree, a hinge in the world or a free joint with a drive, gives whatever it takes to move the tree as it moves, but nothing along the
axes of that joint: there it is the turn of those who act.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.contacts.friction import FrictionContacts
from humanoid_dynamics.simulation.steps.bench import L_IMPULSE, L_SIGN, L_V
from humanoid_dynamics.simulation.steps.body_table import find_flying
from humanoid_dynamics.spatial.arrays import Matrix, Vector


class Root(NamedTuple):
    """The first joint of a tree.

    Attributes:
        joint: Its number.
        coordinates: Where its velocity stands.
        axes: (6, n) forces in its frame that do unit work along one of its axes each.
    """

    joint: int
    coordinates: slice
    axes: Matrix


class Outside:
    """What acts on the trees of a world from outside.

    Attributes:
        mass: Mass of all trees [kg].
        carries: Whether something carries one of them.
    """

    def __init__(
        self, model: pin.Model, data: pin.Data, contacts: FrictionContacts, own: Vector
    ) -> None:
        """Find the trees.

        Args:
            model: The model.
            data: Work space in which motion is measured.
            contacts: What touches.
            own: (nv,) other than zero where a joint moves or holds by itself.
        """
        flies, table, weightless = find_flying(model), contacts.table, model.copy()
        weightless.gravity.linear = np.zeros(3)
        roots = [_describe_root(model, k) for k in range(1, model.njoints) if model.parents[k] == 0]
        loose = [bool(flies[root.joint]) and not own[root.coordinates].any() for root in roots]
        self._loose = tuple(root for root, free in zip(roots, loose, strict=True) if free)
        self._carried = tuple(root for root, free in zip(roots, loose, strict=True) if not free)
        self.carries = bool(self._carried)
        self.mass = sum(float(inertia.mass) for inertia in list(model.inertias)[1:])
        self._model, self._weightless, self._data = model, weightless, data
        self._momentum, self._com = (
            data.h[0].vector,
            data.com[0],
        )  # these show what is in the work space at any time
        for root in self._carried:
            flies[list(model.subtrees[root.joint])] = 0.0
        carriers = (
            np.array(table.joints, dtype=np.intp)[table.owner]
            if len(table)
            else np.zeros(0, dtype=np.intp)
        )
        movers = np.array([0, *(mover.joint for mover in contacts.movers)], dtype=np.intp)
        self._own, self._others = flies[carriers], flies[movers]
        self._moves, self._moved = table.support[carriers], table.support[movers]
        self._limits = contacts.tables.limits

    def measure(self, q: Vector, v: Vector) -> Vector:
        """Return (9,) momentum, linear and angular about the origin of the world, and mass times centre of mass.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        pin.forwardKinematics(self._model, self._data, q, v)
        return np.array(self.list_motion())

    def list_motion(self) -> list[float]:
        """Return what ``measure`` returns as a list, where the work space has poses and velocities."""
        pin.computeCentroidalMomentum(self._model, self._data)
        x, y, z = self._com.tolist()
        mass = self.mass
        return [*self._momentum.tolist(), mass * x, mass * y, mass * z]

    def sum_contacts(self, touching: Touching) -> Vector:
        """Return (6,) impulse of contacts on trees that fly, and its moment about the origin of the world.

        Args:
            touching: What touched.
        """
        if not len(touching.point):
            return np.zeros(6)
        share = self._own[touching.point] - self._others[touching.met]
        impulses = share[:, None] * touching.impulse
        return np.concatenate((impulses.sum(axis=0), cross(touching.place, impulses).sum(axis=0)))

    def spread_contacts(self, touching: Touching, J: Matrix) -> Vector:
        """Return (nv,) generalized impulse of contacts and limits.

        Args:
            touching: What touched.
            J: (6, nv) joint Jacobian of the world.
        """
        wrenches = np.hstack((touching.impulse, cross(touching.place, touching.impulse)))
        moved = self._moves[touching.point] - self._moved[touching.met]
        g: Vector = (wrenches.dot(J) * moved).sum(axis=0)
        np.add.at(
            g,
            self._limits[:, L_V].astype(np.intp),
            self._limits[:, L_SIGN] * self._limits[:, L_IMPULSE],
        )
        return g

    def sum_generalized(self, g: Vector, data: pin.Data) -> Vector:
        """Return (6,) the part of a generalized impulse that acts on trees that fly as a whole, about the origin of the world.

        Args:
            g: (nv,) the impulse.
            data: Work space with the poses of the joints.
        """
        total = pin.Force.Zero()
        for root in self._loose:
            total += data.oMi[root.joint].act(pin.Force(g[root.coordinates]))
        return np.array(total.vector)

    def bear(
        self, motion: tuple[Vector, Vector, Vector], nobodys: Vector, *, jump: bool = False
    ) -> Vector:
        """Return (6,) the wrench on trees that do not fly of all but gravity, about the origin of the world.

        Args:
            motion: Configuration (nq,), velocity and acceleration (nv,).
            nobodys: (nv,) generalized force that moves them so and that nobody gave.
            jump: Whether velocities jump: acceleration and forces are their integrals then, and there is no gravity.
        """
        q, v, a = motion
        data = self._data
        pin.rnea(self._weightless if jump else self._model, data, q, 0.0 * v if jump else v, a)
        total = pin.Force.Zero()
        for root in self._carried:
            missed = pin.Force(root.axes.dot(nobodys[root.coordinates]))
            total += data.liMi[root.joint].act(data.f[root.joint] - missed)
        return np.array(total.vector)


def _describe_root(model: pin.Model, k: int) -> Root:
    joint = model.joints[k]
    coordinates = slice(int(joint.idx_v), int(joint.idx_v) + int(joint.nv))
    S = np.reshape(
        pin.computeJointJacobian(model, model.createData(), pin.neutral(model), k),
        (6, -1),
        order="F",
    )[:, coordinates]
    return Root(k, coordinates, np.linalg.solve(S.T @ S, S.T).T)


def cross(places: Matrix, forces: Matrix) -> Matrix:
    """Return (m, 3) moments of forces about the origin; numpy's own way there costs five times as much.

    Args:
        places: (m, 3) where they act.
        forces: (m, 3) the forces.
    """
    x, y, z = places.T
    a, b, c = forces.T
    return np.column_stack((y * c - z * b, z * a - x * c, x * b - y * a))
