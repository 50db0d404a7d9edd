# SPDX-License-Identifier: Apache-2.0
"""Contacts whose steps are solved by compiled kernels; impacts, which are rare, are put together as in ``friction.py``."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.cone_problem import CLOSE, ConeAnswer
from humanoid_dynamics.simulation.contacts.contact_rows import Touching, touch_nothing
from humanoid_dynamics.simulation.contacts.felt_kernel import sum_wrenches
from humanoid_dynamics.simulation.contacts.friction import FrictionContacts
from humanoid_dynamics.simulation.contacts.held_rows import find_push, leave_free
from humanoid_dynamics.simulation.contacts.thresholds import SLOP
from humanoid_dynamics.simulation.steps.bench import A_P, A_U, L_BOUND, L_Q, L_SIGN, L_V
from humanoid_dynamics.simulation.steps.rows import (
    COMPLEMENTARITY,
    CONE,
    DEPTH,
    LOWEST,
    N_AXES,
    N_GAP,
    N_KEY,
    N_PLACE,
    N_POINT,
    NORMALS,
    PASSED,
    POINTS,
    RESIDUAL,
    ROUNDS,
)
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel


class CompiledContacts(FrictionContacts):
    """Contacts of one world; what a step found is read from its tables only when somebody asks."""

    _terms: Terms | None = None
    _q: Vector = np.zeros(0)

    def start_step(self, terms: Terms, q_M: Vector) -> None:
        """Say that what happens from now on is in the tables.

        Args:
            terms: Evaluated in the middle of the step.
            q_M: (nq,) configuration there.
        """
        self._terms, self._q = terms, q_M

    def sum_wrenches(self, owner: Indices, sums: Matrix) -> None:
        """Sum the impulses of the last part of the last step on the points of each surface.

        Args:
            owner: (points,) surface of each point, -1 where there is none.
            sums: (surfaces, 6) impulse and its moment about the origin of the world; written.
        """
        if self._terms is None:
            super().sum_wrenches(owner, sums)
            return
        self._sum(owner, sums)

    def warm_up(self) -> None:
        """Call once what a step calls only now and then."""
        super().warm_up()
        self._sum(np.full(len(self.tables.points), -1, dtype=np.intp), np.zeros((1, 6)))

    def _sum(self, owner: Indices, sums: Matrix) -> None:
        tables = self.tables
        compile_kernel(sum_wrenches)(
            tables.near, tables.chosen, tables.answer, tables.numbers, owner, sums
        )

    def commit(self, dt: float) -> None:
        """Remember what ``solve`` found.

        Args:
            dt: Length of the step [s].
        """
        self._terms = None
        super().commit(dt)

    def go_back(self, touching: Touching) -> None:
        """Say what touched in a step to which the tables went back.

        Args:
            touching: What touched in it.
        """
        self._terms = None
        super().go_back(touching)

    def look(self, terms: Terms, dt: float, *, everywhere: bool = False) -> None:
        """Find the points near the ground where the terms were evaluated.

        Args:
            terms: Evaluated.
            dt: Length of the step [s].
            everywhere: Whether to find also what is deeper in something than it can have come.
        """
        self._terms = None
        super().look(terms, dt, everywhere=everywhere)

    @property
    def touching(self) -> Touching:
        """What touched in the last part of the last step."""
        return self._touching if self._terms is None else self._read()

    @property
    def is_deep(self) -> bool:
        """Whether something is to be pushed out after the last step."""
        numbers = self.tables.numbers
        return bool(numbers[DEPTH] > SLOP or numbers[PASSED] > SLOP)

    def push_out(self) -> tuple[Vector, float] | None:
        """Return the whitened displacement (nv,) that takes some of the depth of the last step away, and that depth; None for none."""
        terms = self._terms
        if terms is None:
            return super().push_out()
        if not self.is_deep:
            return None
        return find_push(terms, *self._normals(terms), self.table.support, self.law.solver)

    def _limit_gaps(self, m: int, count: int) -> Vector:
        limits = self.tables.limits[self.tables.chosen[m:count]]
        return np.asarray(
            limits[:, L_SIGN] * (self._q[limits[:, L_Q].astype(np.intp)] - limits[:, L_BOUND])
        )

    def _normals(self, terms: Terms) -> tuple[Matrix, Vector]:
        """Return whitened normal rows (nv, N) and gaps (N,) of what took part in the step."""
        tables = self.tables
        m, count = int(tables.numbers[POINTS]), int(tables.numbers[NORMALS])
        J = np.zeros((count, len(tables.parents)))
        rows = tables.near[tables.chosen[:m]]
        normal, place = rows[:, N_AXES : N_AXES + 3], rows[:, N_PLACE : N_PLACE + 3]
        wrench = np.hstack((normal, np.cross(place, normal)))
        slots, points = np.divmod(rows[:, N_KEY].astype(np.intp), len(self.table))
        support = self.table.support[self._joints[points]]
        movers = np.array([0, *(mover.joint for mover in self.movers)], dtype=np.intp)
        J[:m] = wrench.dot(terms.data.J) * (support - self.table.support[movers[slots]])
        limits = tables.limits[tables.chosen[m:count]]
        J[np.arange(m, count), limits[:, L_V].astype(np.intp)] = limits[:, L_SIGN]
        return leave_free(terms, terms.whiten(J.T)), np.concatenate(
            (rows[:, N_GAP], self._limit_gaps(m, count))
        )

    def _read(self) -> Touching:
        """Read what touched out of the tables."""
        tables, numbers = self.tables, self.tables.numbers
        m, count = int(numbers[POINTS]), int(numbers[NORMALS])
        if count == 0:
            return touch_nothing(None)._replace(depth=max(0.0, -float(numbers[LOWEST])))
        rows = tables.near[tables.chosen[:m]]
        size = count + 2 * m
        p, u = tables.answer[A_P, :size].copy(), tables.answer[A_U, :size].copy()
        along = np.concatenate((p[:m], p[count:])).reshape(3, m)
        impulse = np.einsum("ak,kaj->kj", along, rows[:, N_AXES : N_AXES + 9].reshape(m, 3, 3))
        residual = float(numbers[RESIDUAL])
        quality = (
            residual,
            float(numbers[COMPLEMENTARITY]),
            float(numbers[CONE]),
            int(numbers[ROUNDS]),
            residual <= CLOSE,
        )
        points, place = rows[:, N_POINT].astype(np.intp), rows[:, N_PLACE : N_PLACE + 3]
        met = rows[:, N_KEY].astype(np.intp) // len(self.table)
        return Touching(
            points, place, impulse, float(numbers[DEPTH]), ConeAnswer(p, u, *quality), met
        )
