"""Momentum of the bodies that fly, and what gives it to them: contacts, pushes and loops; joints cannot.

A tree flies whose root is a free joint: nothing but contacts and loops ties it to the world.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.contacts.friction import FrictionContacts
from humanoid_dynamics.simulation.steps.bench import L_IMPULSE, L_SIGN, L_V
from humanoid_dynamics.simulation.steps.body_table import find_flying
from humanoid_dynamics.simulation.steps.rows import DAMPING, DRY, KD, KP
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

FREEDOMS = 6


class Flying:
    """The trees that fly in a world.

    Attributes:
        mass: Their mass, zero where nothing flies [kg].
    """

    def __init__(self, model: pin.Model, data: pin.Data, contacts: FrictionContacts) -> None:
        """Find them.

        Args:
            model: The model.
            data: Work space in which motion is measured.
            contacts: What touches.
        """
        flies, table = find_flying(model), contacts.table
        roots = [k for k in range(1, model.njoints) if flies[k] and model.parents[k] == 0]
        self._firsts = tuple(int(model.joints[k].idx_v) for k in roots)
        masses = [float(inertia.mass) for inertia in model.inertias]
        self.mass = sum(mass for mass, own in zip(masses, flies, strict=True) if own)
        self._alone = all(own or not mass for mass, own in zip(masses, flies, strict=True))
        self._model, self._data, self._roots = model, data, tuple(roots)
        self._momentum, self._com = data.h[0].vector, data.com[0]  # these show what is in the work space at any time
        self._mass = read_only(self.mass)
        carriers = np.array(table.joints, dtype=np.intp)[table.owner] if len(table) else np.zeros(0, dtype=np.intp)
        movers = np.array([0, *(mover.joint for mover in contacts.movers)], dtype=np.intp)
        self._own, self._others = flies[carriers], flies[movers]
        self._moves, self._moved = table.support[carriers], table.support[movers]
        self._limits = contacts.tables.limits

    def is_held(self, dofs: Matrix) -> bool:
        """Return whether a drive or damping holds one of them by its free joint, and no book can tell what it gives.

        Args:
            dofs: Table of the coordinates.
        """
        return any(dofs[[DAMPING, DRY, KP, KD], first : first + FREEDOMS].any() for first in self._firsts)

    def measure(self, q: Vector, v: Vector) -> Vector:
        """Return (9,) momentum, linear and angular about the origin of the world, and mass times centre of mass.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        pin.forwardKinematics(self._model, self._data, q, v)
        motion = np.empty(9)
        self.read(motion)
        return motion

    def read(self, motion: Vector) -> None:
        """Write what ``measure`` returns, where the work space has poses and velocities.

        Args:
            motion: (9,) written.
        """
        data = self._data
        pin.computeCentroidalMomentum(self._model, data)
        if self._alone:
            motion[:6] = self._momentum
            np.multiply(self._mass, self._com, motion[6:])
            return
        motion[:] = 0.0
        pin.centerOfMass(self._model, data, True)
        for k in self._roots:
            motion[:6] += data.oMi[k].act(data.h[k]).vector
            motion[6:] += data.mass[k] * data.oMi[k].act(data.com[k])

    def list_motion(self) -> list[float]:
        """Return what ``measure`` returns as a list, where the work space has poses and velocities."""
        if not self._alone:
            motion = np.empty(9)
            self.read(motion)
            return motion.tolist()
        pin.computeCentroidalMomentum(self._model, self._data)
        x, y, z = self._com.tolist()
        mass = self.mass
        return [*self._momentum.tolist(), mass * x, mass * y, mass * z]

    def sum_contacts(self, touching: Touching) -> Vector:
        """Return (6,) impulse of contacts on what flies, and its moment about the origin of the world.

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
        np.add.at(g, self._limits[:, L_V].astype(np.intp), self._limits[:, L_SIGN] * self._limits[:, L_IMPULSE])
        return g

    def sum_generalized(self, g: Vector, data: pin.Data) -> Vector:
        """Return (6,) the part of a generalized impulse that acts on trees that fly as a whole, about the origin of the world.

        Args:
            g: (nv,) the impulse.
            data: Work space with the poses of the joints.
        """
        wrenches = (data.oMi[k].act(pin.Force(g[first : first + FREEDOMS])) for k, first in zip(self._roots, self._firsts, strict=True))
        total: Vector = sum(wrenches, pin.Force.Zero()).vector
        return total


def cross(places: Matrix, forces: Matrix) -> Matrix:
    """Return (m, 3) moments of forces about the origin; numpy's own way there costs five times as much.

    Args:
        places: (m, 3) where they act.
        forces: (m, 3) the forces.
    """
    x, y, z = places.T
    a, b, c = forces.T
    return np.column_stack((y * c - z * b, z * a - x * c, x * b - y * a))
