"""Contacts with Coulomb friction and restitution, and joint limits: what touches, what hits, and the impulses of a step.

A touching point may not approach: its velocity at the end of the step is at least -gap/dt.  Where a point already touched in the last
step, half of what its rows turned by since then is added, so that rows hold at the end of the step and not in its middle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.contacts.cones import ConeAnswer, ConeProblem, solve_cones, spread_softness
from humanoid_dynamics.simulation.contacts.contact_memory import ContactMemory
from humanoid_dynamics.simulation.contacts.contact_rows import NOBODY, Rows, Touching, stack_rows, touch_nothing
from humanoid_dynamics.simulation.contacts.detection import Detector
from humanoid_dynamics.simulation.contacts.joint_limits import LimitTable, NearLimits
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape
from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.simulation.contacts.procedure import solve_by_procedure
from humanoid_dynamics.simulation.contacts.sweep import sweep
from humanoid_dynamics.simulation.contacts.terrain import Terrain
from humanoid_dynamics.simulation.contacts.thresholds import (
    ARRIVES,
    AT_ONCE,
    CALM,
    FASTEST_APPROACH,
    NEAR,
    PUSH_OUT,
    REACH,
    SLOP,
    SLOWEST_IMPACT,
    WILD_REACH,
    slowest_impact,
)
from humanoid_dynamics.simulation.contacts.touch_points import PointTable
from humanoid_dynamics.simulation.steps.rows import FORESEEN, LOWEST, RESIDUAL, SPAN, TOUCHING, V_MIDDLE, V
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import Kernel

NO_FORCE = (0.0, 0.0, 0.0, 0.0)


class FrictionContacts:
    """Contacts of one world, with what they remember from step to step.

    Attributes:
        table: All touch points.
        tables: Tables of the step; contacts are remembered in them.
        touching: What touched in the last part of the last step.
        law: Law of contact, ``friction`` or ``paper``.
        movers: Shapes that move.
        kernel: Sweeps of the solver.
    """

    def __init__(
        self, table: PointTable, terrain: Terrain, movers: Sequence[BoundShape], limits: LimitTable | None, tables: Tables
    ) -> None:
        self.table, self.terrain, self.limits, self.tables, self.law = table, terrain, limits, tables, "friction"
        self.kernel: Kernel = sweep
        self._near: Near | None = None
        self._speed: Vector | None = None
        self.movers = tuple(movers)
        self._joints = np.array(table.joints, dtype=np.intp)[table.owner] if len(table) else np.zeros(0, dtype=np.intp)
        self._detector = Detector(table, terrain, movers)
        self._touching = touch_nothing(None)
        surfaces = [name.rpartition(".")[0] or name for name in table.names]
        self._surface = np.array([surfaces.index(name) for name in surfaces], dtype=np.intp)
        self._memory = ContactMemory(tables)
        self._pushed: tuple[Matrix, Vector] | None = None
        self._pending: tuple[Rows, ConeAnswer, Vector] | None = None
        self._yielding: tuple[bytes, int, Matrix] = (b"", 0, np.zeros((0, 0)))

    def sum_wrenches(self, owner: Indices, sums: Matrix) -> None:
        """Sum the impulses of the last part of the last step on the points of each surface.

        Args:
            owner: (points,) surface of each point, -1 where there is none.
            sums: (surfaces, 6) impulse and its moment about the origin of the world; written.
        """
        touched = self.touching
        wrenches = np.hstack((touched.impulse, np.cross(touched.place, touched.impulse)))
        own = owner[touched.point]
        sums[:] = 0.0
        np.add.at(sums, own[own >= 0], wrenches[own >= 0])

    @property
    def touching(self) -> Touching:
        """What touched in the last part of the last step."""
        return self._touching

    @property
    def is_deep(self) -> bool:
        """Whether something is to be pushed out after the last step."""
        return True

    @property
    def near(self) -> Near | None:
        """Points near the ground or a moving shape, since the last ``look``."""
        return self._near

    def look(self, terms: Terms, dt: float) -> None:
        """Find the points near the ground where the terms were evaluated.

        Args:
            terms: Evaluated.
            dt: Length of the step [s].
        """
        self._near, self._speed = self._detector.find(terms.poses, terms.data.J, max(NEAR, dt * FASTEST_APPROACH)), None
        self.tables.numbers[LOWEST] = self._detector.lowest

    def find_impact(self, dt: float) -> float | None:
        """Return when the first point hits, from the start of the step [s]; None if none does.

        Args:
            dt: Length of the step [s].
        """
        near = self._near
        if near is None:
            return None
        speed, slowest = self._approach(near, dt), slowest_impact(dt)
        if speed[speed.argmin()] >= -slowest:
            return None
        hits = (speed < -slowest) & (near.gap + 0.5 * dt * speed < 0.0) & ~self._memory.touched(near.key)
        if not hits.any():
            return None
        when = (near.gap[hits] - 0.5 * dt * speed[hits]) / -speed[hits]
        return float(min(max(when.min(), 0.0), dt))

    def solve(self, terms: Terms, q_M: Vector, v: Vector, z: Vector, dt: float, *, all_slow: bool = False) -> Vector:
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
        B = terms.restrain(terms.whiten(rows.J.T))
        wanted, guess = self._memory.recall(rows, v, dt)
        answer = self._solve(self._pose(rows, B.T.dot(B), z.dot(B) + wanted), rows, guess)
        self._pending, self._pushed = (rows, answer, wanted), (B, rows.gap)
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

    def solve_impact(self, terms: Terms, q: Vector, v: Vector, z: Vector) -> tuple[Vector, float]:
        """Return the whitened velocity after an impact and the change of kinetic energy [J].

        Restitution is Newton's; where that would create energy, as it can with friction, the impact is plastic.

        Args:
            terms: Evaluated at q, without implicit forces.
            q: (nq,) configuration.
            v: (nv,) velocity before.
            z: (nv,) the same, whitened.
        """
        rows, e = self._select_impact(q, v)
        if rows is None:
            self._touching = touch_nothing(self._near)
            return z, 0.0
        B = terms.restrain(terms.whiten(rows.J.T))
        before = rows.J.dot(v)
        m = len(rows.point)
        bounce = np.zeros(len(before))
        bounce[:m] = e * np.minimum(before[:m], 0.0) * (before[:m] < -SLOWEST_IMPACT)
        G = B.T.dot(B)
        answer = self._solve_twice(self._pose(rows, G, before + bounce), rows)
        change = 0.5 * float(answer.p.dot(before + answer.u - bounce))
        if change > 0.0:
            bounce[:] = 0.0
            answer = self._solve_twice(self._pose(rows, G, before), rows)
            change = 0.5 * float(answer.p.dot(before + answer.u))
        after = answer.u - bounce
        self._keep(rows, answer, after)
        self._memory.rebound(rows, after)
        self._note()
        return z + B.dot(answer.p), change

    def push_out(self) -> Vector | None:
        """Return the whitened displacement (nv,) that takes some of the depth of the last step away; None where there is nothing to do."""
        if self._pushed is None:
            return None
        B, gap = self._pushed
        if gap[gap.argmin()] >= -SLOP:
            return None
        depth = np.minimum(gap + SLOP, 0.0)
        B_n = B[:, : len(gap)]
        answer = solve_cones(ConeProblem(B_n.T.dot(B_n), PUSH_OUT * depth, np.zeros(0), len(gap)), None, self.kernel)
        return np.asarray(B_n.dot(answer.p))

    def forget(self) -> None:
        """Forget what touched, after a change of structure."""
        self._memory.forget()

    def _pose(self, rows: Rows, G: Matrix, b: Vector) -> ConeProblem:
        """Return the problem of some rows; how their bodies share what they yield stays the same while the same rows take part."""
        points, count, owner = rows.point.tobytes(), len(rows.gap), self._joints[rows.point]
        if (points, count) != self._yielding[:2]:
            self._yielding = (points, count, spread_softness(owner, count))
        return ConeProblem(G, b, rows.mu, count, owner, self._yielding[2])

    def _solve(self, problem: ConeProblem, rows: Rows, guess: Vector | None) -> ConeAnswer:
        """Solve by the law of this world."""
        if self.law == "friction":
            return solve_cones(problem, guess, self.kernel)
        owner = self._surface[rows.point]
        groups = [np.flatnonzero(owner == surface) for surface in sorted(set(owner.tolist()))]
        plane = np.einsum("akj,kj->ka", rows.axes[1:], rows.place)
        return solve_by_procedure(problem, groups, plane, guess, self.kernel)

    def _solve_twice(self, problem: ConeProblem, rows: Rows) -> ConeAnswer:
        """Solve, and once more around the answer, so that nothing yields."""
        if self.law != "friction":
            return self._solve(problem, rows, None)
        first = solve_cones(problem, None, self.kernel)
        second = solve_cones(problem, first.p, self.kernel)
        return second if second.exact or not first.exact else first

    def _select_step(self, q_M: Vector, v: Vector, dt: float, *, all_slow: bool) -> Rows | None:
        limits = None if self.limits is None else self.limits.find_near(q_M, v, dt)
        near = self._near
        if near is None:
            return stack_rows(None, NOBODY, limits, len(v))
        speed = self._approach(near, dt)
        reach = REACH if abs(v[np.abs(v).argmax()]) < CALM else WILD_REACH
        arrives = near.gap + dt * speed
        which = np.arange(len(arrives))
        if arrives[arrives.argmax()] >= reach:
            which = ((arrives < reach) | (self._memory.touched(near.key) & (near.gap < NEAR))).nonzero()[0]
        rows = stack_rows(near, which, limits, len(v))
        slowest = slowest_impact(dt)
        if rows is None or all_slow or speed[speed.argmin()] >= -slowest:
            return rows
        diving = np.zeros(len(rows.gap), dtype=np.bool_)
        diving[: len(rows.point)] = (speed[rows.which] < -slowest) & ~self._memory.touched(rows.key)
        return rows._replace(diving=diving) if diving.any() else rows

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
        if near is None:
            return None, np.zeros(0)
        which = np.flatnonzero(_find_hitting(near, near.J[0].dot(v), self._memory.touched(near.key)))
        if limits is not None:
            at = limits.gap <= 0.0
            limits = NearLimits(limits.v[at], limits.sign[at], limits.gap[at], limits.row[at]) if at.any() else None
        return stack_rows(near, which, limits, len(v)), near.e[which]

    def _keep(self, rows: Rows, answer: ConeAnswer, u: Vector) -> None:
        """Keep impulses and velocities of what took part."""
        impulse, gap = self._memory.remember(rows, answer.p, u), rows.gap[: len(rows.point)]
        depth = max(0.0, -float(gap[gap.argmin()])) if len(gap) else 0.0
        self._touching = Touching(rows.point, rows.place, impulse, depth, answer)

    def _note(self) -> None:
        """Enter into the numbers what the report of a step needs."""
        answer = self._touching.answer
        quality = NO_FORCE if answer is None else (answer.residual, answer.complementarity, answer.cone, answer.rounds)
        self.tables.numbers[RESIDUAL : TOUCHING + 1] = (*quality, self._touching.depth, self._memory.carrying)


def _find_hitting(near: Near, speed: Vector, touches: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which points take part in an impact: all at the ground, and where none of them comes down, the first one to arrive.

    The time of an impact is found as if points went straight on; what turns fast is not quite there yet, or a little beyond.

    Args:
        near: Points near a shape.
        speed: Their velocities along the normals.
        touches: Which of them carried force in the last step.
    """
    hitting: NDArray[np.bool_] = (near.gap < AT_ONCE) | (touches & (near.gap < NEAR))
    comes = speed < -SLOWEST_IMPACT
    if not comes.any() or (hitting & comes).any():
        return hitting
    when = np.where(comes, np.maximum(near.gap, 0.0) / np.maximum(-speed, SLOWEST_IMPACT), np.inf)
    return hitting | (when <= min(float(when.min()) * 1.01, ARRIVES))
