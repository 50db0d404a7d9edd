# SPDX-License-Identifier: Apache-2.0
"""Contacts with Coulomb friction and restitution, and joint limits: what touches, what hits, and the impulses of a step.

A touching point may not approach: its velocity at the end of the step is at least -gap/dt.  Where a point already touched in the last
step, what its rows turn by until its end is added, so that rows hold at the end of the step and not in its middle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.simulation.contacts.clusters import Looking
from humanoid_dynamics.simulation.contacts.cone_problem import ConeAnswer, ConeProblem, Solver
from humanoid_dynamics.simulation.contacts.cones import solve_cones
from humanoid_dynamics.simulation.contacts.contact_memory import ContactMemory
from humanoid_dynamics.simulation.contacts.contact_rows import (
    NOBODY,
    Rows,
    Touching,
    stack_rows,
    sum_touching,
    touch_nothing,
)
from humanoid_dynamics.simulation.contacts.detection import Detector
from humanoid_dynamics.simulation.contacts.held_rows import find_held, find_push, leave_free
from humanoid_dynamics.simulation.contacts.joint_limits import LimitTable
from humanoid_dynamics.simulation.contacts.law import ContactLaw
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape
from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.simulation.contacts.point_table import PointTable
from humanoid_dynamics.simulation.contacts.rebound import Rebound, find_rebound
from humanoid_dynamics.simulation.contacts.taking_part import (
    NONE,
    choose_hitting,
    choose_touching,
    find_hit,
    note_diving,
    thin_points,
)
from humanoid_dynamics.simulation.contacts.terrain import Terrain
from humanoid_dynamics.simulation.contacts.thresholds import (
    AT_ONCE,
    FASTEST_APPROACH,
    NEAR,
    SLOP,
    slowest_impact,
)
from humanoid_dynamics.simulation.steps.rows import (
    COMPLEMENTARITY,
    CONE,
    DEPTH,
    FORESEEN,
    LOWEST,
    P_SHAPE,
    POINTS,
    RESIDUAL,
    ROUNDS,
    SPAN,
    TOUCHING,
    V_MIDDLE,
    V,
)
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class FrictionContacts:
    """Contacts of one world, with what they remember from step to step.

    Attributes:
        table: All touch points.
        tables: Tables of the step; contacts are remembered in them.
        touching: What touched in the last part of the last step.
        law: Law of contact.
        movers: Shapes that move.
        impact: What the last impact did, None where nothing hit.
        normals: (N, nv) its rows along normals and of limits.
    """

    def __init__(
        self,
        table: PointTable,
        terrain: Terrain,
        movers: Sequence[BoundShape],
        limits: LimitTable | None,
        tables: Tables,
        *,
        law: str = "friction",
        solver: Solver = solve_cones,
    ) -> None:
        """Prepare.

        Args:
            table: All touch points.
            terrain: The ground.
            movers: Shapes that move.
            limits: Limits of joints, None for none.
            tables: Tables of the step.
            law: ``friction`` or ``paper``.
            solver: Solves a contact problem with friction.
        """
        self.table, self.terrain, self.limits, self.tables = table, terrain, limits, tables
        self._near: Near | None = None
        self._speed: Vector | None = None
        self.movers = tuple(movers)
        self._joints = (
            np.array(table.joints, dtype=np.intp)[table.owner]
            if len(table)
            else np.zeros(0, dtype=np.intp)
        )
        self.law = ContactLaw(table, self._joints, law, solver)
        self._detector, self._of_shapes = (
            Detector(table, terrain, movers),
            tables.points[:, P_SHAPE].astype(np.intp),
        )
        self._touching = touch_nothing(None)
        self._memory = ContactMemory(tables)
        self._pushed: tuple[Terms, Matrix, Vector] | None = None
        self.impact: Rebound | None = None
        self.normals: Matrix = np.zeros((0, 0))
        self._pending: tuple[Rows, ConeAnswer, Vector] | None = None

    def sum_wrenches(self, owner: Indices, sums: Matrix) -> None:
        """Sum the impulses of the last part of the last step on the points of each surface.

        Args:
            owner: (points,) surface of each point, -1 where there is none.
            sums: (surfaces, 6) impulse and its moment about the origin of the world; written.
        """
        sum_touching(self.touching, owner, sums)

    @property
    def touching(self) -> Touching:
        """What touched in the last part of the last step."""
        return self._touching

    @property
    def near(self) -> Near | None:
        """Points near the ground or a moving shape, since the last ``look``."""
        return self._near

    def look(self, terms: Terms, dt: float, *, everywhere: bool = False) -> None:
        """Find the points near the ground where the terms were evaluated.

        Args:
            terms: Evaluated.
            dt: Length of the step [s].
            everywhere: Whether to find also what is deeper in something than it can have come.
        """
        looking = Looking(
            max(NEAR, dt * FASTEST_APPROACH),
            self.tables.dofs,
            dt,
            None if everywhere else self._memory.deep,
        )
        self._near, self._speed = self._detector.find(terms.poses, terms.data.J, looking), None
        self.tables.numbers[LOWEST] = self._detector.lowest

    def find_impact(self, q_M: Vector, dt: float) -> float | None:
        """Return when the first point hits, or the first joint its limit, from the start of the step [s]; None if none does.

        Args:
            q_M: (nq,) configuration in the middle.
            dt: Length of the step [s].
        """
        hits = [hit for hit in (self._find_hit(dt), self.find_stop(q_M, dt)) if hit is not None]
        return min(hits) if hits else None

    def find_stop(self, q_M: Vector, dt: float) -> float | None:
        """Return when the first joint hits its limit; arguments and what is returned are those of ``find_impact``."""
        v, v_M = self.tables.dofs[V], self.tables.dofs[V_MIDDLE]
        limits = None if self.limits is None else self.limits.find_near(q_M, v, dt)
        return None if limits is None else limits.find_hit(v, v_M, dt)

    def _find_hit(self, dt: float) -> float | None:
        """Return when the first point hits, from the start of the step [s]; None if none does."""
        near = self._near
        if near is None:
            return None
        speed = self._approach(near, dt)
        if speed[speed.argmin()] >= -slowest_impact(dt):
            return None
        return find_hit(near, speed, self._memory.touched(near.key), dt)

    def solve(
        self, terms: Terms, q_M: Vector, v: Vector, z: Vector, dt: float, *, all_slow: bool = False
    ) -> Vector:
        """Return the whitened velocity at the end of the step; nothing is remembered before ``commit``.

        Args:
            terms: Evaluated at q_M.
            q_M: (nq,) configuration in the middle.
            v: (nv,) velocity at the start.
            z: (nv,) whitened velocity at the end without contacts.
            dt: Length of the step [s].
            all_slow: Whether points that approach fast take part too, and stop dead.
        """
        self._pushed = self._pending = None
        rows = self._select_step(q_M, v, dt, all_slow=all_slow)
        if rows is None:
            self._touching = touch_nothing(self._near)
            return z
        B = leave_free(terms, terms.whiten(rows.J.T))
        wanted, guess = self._memory.recall(rows, v, dt)
        held = find_held(terms, B)
        wanted[held] = guess[held] = 0.0
        answer = self.law.solve(self.law.pose(rows, B.T.dot(B), z.dot(B) + wanted), rows, guess)
        self._pending, self._pushed = (
            (rows, answer, wanted),
            (terms, B[:, : len(rows.gap)], rows.gap),
        )
        z_end: Vector = z + B.dot(answer.p)
        return z_end

    def commit(self, dt: float) -> None:
        """Remember what ``solve`` found.

        Args:
            dt: Length of the step [s].
        """
        self.tables.numbers[SPAN] = dt
        if self._pending is None:
            self._memory.forget()
        else:
            rows, answer, wanted = self._pending
            self._keep(rows, answer, answer.u - wanted)
        self._note()

    def rest(self, dt: float) -> None:
        """Say that nothing touched in a step.

        Args:
            dt: Its length [s].
        """
        self._pending = self._pushed = None
        self._touching = touch_nothing(None)
        self.commit(dt)

    def go_back(self, touching: Touching) -> None:
        """Say what touched in a step to which the tables went back.

        Args:
            touching: What touched in it.
        """
        self._pending = self._pushed = None
        self._touching = touching

    def solve_impact(self, terms: Terms, q: Vector, v: Vector, z: Vector) -> tuple[Vector, float]:
        """Return the whitened velocity after an impact and the change of kinetic energy [J].

        Restitution is Newton's, and as much of it as creates no energy where that would create some, as it can with friction.

        Args:
            terms: Evaluated at q, without implicit forces.
            q: (nq,) configuration.
            v: (nv,) velocity before.
            z: (nv,) the same, whitened.
        """
        rows, e = self._select_impact(q, v)
        self.impact = None
        if rows is None:
            self._touching = touch_nothing(self._near)
            return z, 0.0
        B = leave_free(terms, terms.whiten(rows.J.T))
        before = rows.J.dot(v)
        before[find_held(terms, B)] = 0.0
        self.impact = rebound = find_rebound(
            self.law, rows, B.T.dot(B), before, e, kinetic=0.5 * float(z.dot(z))
        )
        self.normals = rows.J[: len(rows.gap)]
        self._keep(rows, rebound.answer, rebound.after)
        self._memory.rebound(rows, rebound.after)
        self._note()
        return z + B.dot(rebound.answer.p), rebound.change

    def let_go(self) -> None:
        """Forget the impulses of limits in an impact, and slides before it, which say nothing about the next step."""
        self._memory.let_go()

    def push_out(self) -> tuple[Vector, float] | None:
        """Return the whitened displacement (nv,) that takes some of the depth of the last step away, and that depth; None for none."""
        if self._pushed is None:
            return None
        terms, B, gap = self._pushed
        if gap[gap.argmin()] >= -SLOP:
            return None
        return find_push(terms, B, gap, self.table.support, self.law.solver)

    def warm_up(self) -> None:
        """Call once what only impacts and corrections ask for, so that it is compiled before anybody waits for it."""
        self.law.solver(ConeProblem(np.eye(1), np.zeros(1), np.zeros(0), 1), None)

    def forget(self) -> None:
        """Forget what touched, after a change of structure."""
        self._memory.forget()

    def _select_step(self, q_M: Vector, v: Vector, dt: float, *, all_slow: bool) -> Rows | None:
        limits = None if self.limits is None else self.limits.find_near(q_M, v, dt)
        near = self._near
        if near is None:
            rows, down = stack_rows(None, NOBODY, limits, len(v)), NONE
        else:
            speed, touches = self._approach(near, dt), self._memory.touched(near.key)
            which = thin_points(
                near,
                choose_touching(near, speed, touches, v, dt),
                near.gap + dt * speed,
                touches,
                self._of_shapes,
            )
            rows, down = (
                stack_rows(near, which, limits, len(v)),
                ((speed < -slowest_impact(dt)) & ~touches)[which],
            )
        if rows is None or all_slow:
            return rows
        return note_diving(
            rows,
            down,
            NONE if limits is None else limits.find_diving(v, self.tables.dofs[V_MIDDLE], dt),
        )

    def _approach(self, near: Near, dt: float) -> Vector:
        """Return the velocity of near points along their normals; what rests does not hit, however hard it is pressed on."""
        if self._speed is not None:
            return self._speed
        dofs = self.tables.dofs
        speed: Vector = near.J[0].dot(dofs[V_MIDDLE])
        if self.tables.numbers[FORESEEN]:
            slowest = slowest_impact(dt)
            rests = (near.gap < AT_ONCE) & (near.J[0].dot(dofs[V]) >= -slowest)
            speed = np.where(rests, np.maximum(speed, -slowest), speed)
        self._speed = speed
        return speed

    def _select_impact(self, q: Vector, v: Vector) -> tuple[Rows | None, Vector]:
        limits = None if self.limits is None else self.limits.find_near(q, v, 0.0)
        near = self._near
        which, stopping = choose_hitting(
            near, None if near is None else self._memory.touched(near.key), limits, v
        )
        return stack_rows(near, which, stopping, len(v)), np.zeros(0) if near is None else near.e[
            which
        ]

    def _keep(self, rows: Rows, answer: ConeAnswer, u: Vector) -> None:
        """Keep impulses and velocities of what took part."""
        impulse, gap = self._memory.remember(rows, answer.p, u), rows.gap[: len(rows.point)]
        depth = max(0.0, -float(gap[gap.argmin()])) if len(gap) else 0.0
        self._touching = Touching(
            rows.point, rows.place, impulse, depth, answer, rows.key // max(len(self.table), 1)
        )

    def _note(self) -> None:
        """Enter into the numbers what the report of a step needs."""
        answer, numbers = self._touching.answer, self.tables.numbers
        if answer is None:
            numbers[RESIDUAL : ROUNDS + 1] = 0.0
        else:
            numbers[RESIDUAL], numbers[COMPLEMENTARITY] = answer.residual, answer.complementarity
            numbers[CONE], numbers[ROUNDS] = answer.cone, answer.rounds
        numbers[DEPTH], numbers[TOUCHING], numbers[POINTS] = (
            self._touching.depth,
            self._memory.carrying,
            len(self._touching.point),
        )
