# SPDX-License-Identifier: Apache-2.0
"""What can be read of a world while it runs."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.model.robot import Notice, RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.books import Books
from humanoid_dynamics.simulation.contacts.contact_rows import Touching, sum_touching
from humanoid_dynamics.simulation.contacts.inside import Inside, find_inside
from humanoid_dynamics.simulation.door import find_held
from humanoid_dynamics.simulation.reading import list_forces
from humanoid_dynamics.simulation.setup import PointForce
from humanoid_dynamics.simulation.steps.rows import MOMENTUM, PULL, SAG, SPIN, V_END
from humanoid_dynamics.simulation.steps.stepper import Stepper
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class ObservedWorld:
    """Where the bodies of a world are, how they move, and what acts on them."""

    _stepper: Stepper

    @property
    def robot(self) -> RobotModel:
        """All bodies as one robot, with its own copy of the model."""
        return self._stepper.robot

    @property
    def mechanism(self) -> Mechanism:
        """Bilateral constraints; they are edited through ``apply``."""
        return self._stepper.mechanism

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was assumed of the robot and what is wrong, and connections that no joint can move, as they are now."""
        return (*self.robot.notices, *self.mechanism.constraints.notices)

    @property
    def q(self) -> Vector:
        """(nq,) configuration."""
        return self._stepper.q

    @property
    def v(self) -> Vector:
        """(nv,) velocity."""
        return self._stepper.v

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._stepper.t

    @property
    def books(self) -> Books:
        """Energy since the start."""
        return self._stepper.books

    @property
    def unexplained(self) -> Vector:
        """(2,) momentum of all bodies that nobody gave in the last step, linear [N·s] and about its centre of mass [N·m·s]."""
        return self._stepper.engine.tables.numbers[MOMENTUM : SPIN + 1].copy()

    @property
    def touching(self) -> Touching:
        """What touched in the last part of the last step."""
        return self._stepper.touching

    @property
    def lam(self) -> Vector:
        """(k,) mean force of each bilateral row in the last part of the last step [N, N·m]."""
        return self._stepper.lam

    def sum_wrenches(self, owner: Indices, sums: Matrix) -> None:
        """Sum the impulses on the points of surfaces in the last step, its impacts included.

        Args:
            owner: (points,) surface of each point, -1 where there is none.
            sums: (surfaces, 6) impulse [N·s] and its moment about the origin of the world; written.
        """
        stepper = self._stepper
        if stepper.parts_touched is None:
            stepper.engine.contacts.sum_wrenches(owner, sums)
        else:
            sum_touching(stepper.whole_touching, owner, sums)

    @property
    def span(self) -> float:
        """Length of the last part of the last step, in which ``touching`` gave its impulses [s]."""
        return self._stepper.span

    @property
    def length(self) -> float:
        """Length of the last step, over which contact forces are means [s]."""
        return self._stepper.length

    @property
    def reason(self) -> str:
        """Why the world has stopped; empty while it runs."""
        return self._stepper.reason

    @property
    def state(self) -> State:
        """Where the world is, as a value of its own."""
        return State(self.q, self.v)

    @property
    def tau(self) -> Vector:
        """(na,) torques of the last step, as they were used [N·m, N]."""
        return self._stepper.tau

    @property
    def drive_torques(self) -> Vector:
        """(na,) mean torques of the drives in the last part of the last step, besides ``tau`` [N·m, N]."""
        dofs = self.tables.dofs
        given: Vector = (dofs[PULL] - dofs[SAG] * dofs[V_END])[self.mechanism.actuated]
        return given

    @property
    def point_names(self) -> tuple[str, ...]:
        """Names of all touch points of bodies."""
        table = self._stepper.engine.contacts.table
        return table.names[: table.own]

    @property
    def point_links(self) -> tuple[str, ...]:
        """Links of all touch points of bodies, in the order of their names."""
        table = self._stepper.engine.contacts.table
        return table.links[: table.own]

    def point_forces(self) -> Matrix:
        """Return (n, 3) mean force on every touch point of bodies in the last step, in the world [N]."""
        table, touching = self._stepper.engine.contacts.table, self._stepper.whole_touching
        forces = np.zeros((len(table), 3))
        np.add.at(
            forces, touching.point, touching.impulse / self._stepper.length
        )  # a point may touch several things
        return forces[: table.own]

    def ground_force(self) -> Vector:
        """Return (3,) the mean force of all that stands still in the last step, in the world [N]."""
        own, touching = self._stepper.engine.contacts.table.own, self._stepper.whole_touching
        share = np.where(
            touching.point < own, touching.met == 0, -1.0
        )  # what touches an edge of the terrain pushes that
        return np.asarray(share @ touching.impulse / self._stepper.length)

    @property
    def tables(self) -> Tables:
        """Tables of the step, for those who measure it."""
        return self._stepper.engine.tables

    def count_freedoms(self) -> int:
        """Return how many freedoms the bilateral rows leave here."""
        self.mechanism.place(self.q)
        return self.mechanism.nu

    def contact_forces(self) -> tuple[PointForce, ...]:
        """Return the mean forces on all points that touched in the last step."""
        return list_forces(self._stepper)

    def find_inside(self) -> tuple[Inside, ...]:
        """Return what of bodies is inside a box, a ball or a capsule now, the deepest first: what went in past an edge has no contact.

        What rides on a link that connections hold is left out: a hand may be around the bar it holds.
        """
        contacts, held = self._stepper.engine.contacts, find_held(self.mechanism)
        movers = [mover for mover in contacts.movers if mover.joint not in held]
        return find_inside(self.robot, self.q, contacts.table, contacts.terrain, movers)
