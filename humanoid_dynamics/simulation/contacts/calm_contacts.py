# SPDX-License-Identifier: Apache-2.0
"""Contacts of a world that mostly stands: as long as it does, its points need neither be chosen nor prepared anew in every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from humanoid_dynamics.simulation.contacts.clusters import Looking
from humanoid_dynamics.simulation.contacts.contact_rows import Touching
from humanoid_dynamics.simulation.contacts.friction import FrictionContacts
from humanoid_dynamics.simulation.contacts.joint_limits import LimitTable
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape
from humanoid_dynamics.simulation.contacts.point_table import PointTable
from humanoid_dynamics.simulation.contacts.standing import Footing, StandingPoints
from humanoid_dynamics.simulation.contacts.terrain import Terrain
from humanoid_dynamics.simulation.contacts.thresholds import SLOP
from humanoid_dynamics.simulation.steps.rows import DT, POINTS, ROUNDS, SPAN, WITHIN
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Vector


class CalmContacts(FrictionContacts):
    """Contacts of one world, and what goes on standing on a plane as it stood in the last step."""

    def __init__(
        self,
        table: PointTable,
        terrain: Terrain,
        movers: Sequence[BoundShape],
        limits: LimitTable | None,
        tables: Tables,
        *,
        law: str = "friction",
    ) -> None:
        """Prepare.

        Args:
            table: All touch points.
            terrain: The ground.
            movers: Shapes that move.
            limits: Limits of joints, None for none.
            tables: Tables of the step.
            law: ``friction`` or ``paper``.
        """
        super().__init__(table, terrain, movers, limits, tables, law=law)
        level = self._detector.level
        self._numbers = cast(
            "memoryview[float]", tables.numbers.data
        )  # for those who read and write them one by one
        self._standing: StandingPoints | None = None
        self._footing = (
            None if level is None or movers or law != "friction" else Footing(level, self._joints)
        )

    @property
    def touching(self) -> Touching:
        """What touched in the last part of the last step."""
        return self._touching if self._standing is None else self._standing.read()

    def look(self, terms: Terms, dt: float, *, everywhere: bool = False) -> None:
        """Find the points near the ground where the terms were evaluated.

        Args:
            terms: Evaluated.
            dt: Length of the step [s].
            everywhere: Whether to find also what is deeper in something than it can have come.
        """
        self._touching, self._standing = self.touching, None
        super().look(terms, dt, everywhere=everywhere)

    def rest(self, dt: float) -> None:
        """Say that nothing touched in a step.

        Args:
            dt: Its length [s].
        """
        self._standing = None
        super().rest(dt)

    def go_back(self, touching: Touching) -> None:
        """Say what touched in a step to which the tables went back.

        Args:
            touching: What touched in it.
        """
        self._standing = None
        super().go_back(touching)

    def may_stand(self, q_M: Vector, v: Vector, dt: float) -> StandingPoints | None:
        """Return all that took part in the last step, as long as this one, where it stood on a plane, and no limit is near.

        Args:
            q_M: (nq,) configuration in the middle of the step.
            v: (nv,) velocity at its start.
            dt: Its length [s].
        """
        numbers, memory, points = self._numbers, self.tables.memory, self._standing
        if self._footing is None or numbers[ROUNDS] != 1.0 or numbers[SPAN] != dt:
            return None
        if points is None or not points.knows(memory):
            if not 0 < self._memory.carrying == numbers[POINTS]:
                return None
            points = self._footing.find(self._memory.touches)
            points.recall(memory)
        return points if self.limits is None or self.limits.find_near(q_M, v, dt) is None else None

    def stand(
        self, points: StandingPoints, terms: Terms, v: Vector, force: Vector, dt: Vector
    ) -> bool:
        """Find the impulses of points that stood; return whether all of them go on to stand.  Nothing is remembered before ``remain``.

        Args:
            points: From ``may_stand``.
            terms: Evaluated in the middle of the step.
            v: (nv,) velocity at the start.
            force: (nv,) generalized force of all but contacts, and that which gave the momentum at the start in as long a step.
            dt: Length of the step, as an array [s].
        """
        middles = self._detector.place(
            terms.poses,
            terms.J,
            Looking(self._numbers[WITHIN], self.tables.dofs, self._numbers[DT]),
        )
        near = points.measure(middles, terms.J, self.tables.dofs, self._numbers)
        return near and points.stick(terms, v, force, dt)

    def remain(self, points: StandingPoints, terms: Terms) -> bool:
        """Remember points that stand; return whether something is to be pushed out.

        Args:
            points: From ``stand``.
            terms: The same as there.
        """
        points.remember(self.tables.memory, self._numbers)
        if self.limits is not None:
            self._memory.let_go()
        self._standing, self._pushed = points, (terms, points.normals, points.gap)
        return points.lowest < -SLOP
