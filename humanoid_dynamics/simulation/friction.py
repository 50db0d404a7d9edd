"""Contacts with Coulomb friction and restitution, and joint limits: what touches, what hits, and the impulses of a step.

A touching point may not approach: its velocity at the end of the step is at least -gap/dt.  Where a point already touched in the last
step, half of what its rows turned by since then is added, so that rows hold at the end of the step and not in its middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.cones import ConeAnswer, ConeProblem, solve_cones
from humanoid_dynamics.simulation.detection import Detector, LimitTable, Near, NearLimits
from humanoid_dynamics.simulation.procedure import solve_by_procedure
from humanoid_dynamics.simulation.sweep import sweep
from humanoid_dynamics.simulation.terms import Terms
from humanoid_dynamics.simulation.terrain import Terrain
from humanoid_dynamics.simulation.touch_points import PointTable
from humanoid_dynamics.snake.compiled import Kernel
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

FASTEST = 30.0  # speed up to which an approach is seen in time [m/s]
NEAR = 0.002
REACH = 1e-4  # a slow point that would come nearer than this takes part in the step [m]
WILD_REACH = 5e-3  # the same where something moves fast, and may be thrown at the ground by the impulses of this very step [m]
CALM = 1.0  # [m/s, rad/s]
AT_ONCE = 1e-5  # points nearer than this take part in the impact of another [m]
SLOWEST_IMPACT = 0.01  # [m/s]
SLOP = 1e-5  # depth that is not pushed out [m]
PUSH_OUT = 0.2  # share of the depth that is pushed out in a step
GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that take part in a step or an impact.

    Attributes:
        index: (m,) points.
        which: (m,) their places among the near ones.
        axes: (3, m, 3) their axes.
        J: (N + 2m, nv) normals, limits, then tangents.
        mu: (m,) coefficients.
        limits: Joint limits that take part.
        gap: (N,) distances.
        diving: (N,) which points come down fast: they may go on to the ground, where an impact awaits them, and not into it.
    """

    index: Indices
    which: Indices
    axes: Matrix
    J: Matrix
    mu: Vector
    limits: NearLimits | None
    gap: Vector
    diving: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Touching:
    """Forces of a step on the points that took part.

    Attributes:
        index: (m,) points of the table.
        place: (m, 3) where they touch [m].
        impulse: (m, 3) impulse on the body, in the world [N·s].
        depth: Largest depth [m].
        answer: Certificate of the solver; None where nothing touched.
    """

    index: Indices
    place: Matrix
    impulse: Matrix
    depth: float
    answer: ConeAnswer | None


class FrictionContacts:
    """Contacts of one world, with what they remember from step to step.

    Attributes:
        table: All touch points.
        near: Points near the ground, since the last ``look``.
        touching: (n,) which points carried force in the last step.
    """

    def __init__(
        self, table: PointTable, terrain: Terrain, limits: LimitTable | None, kernel: Kernel = sweep, *, law: str = "friction"
    ) -> None:
        self.table, self.terrain, self.limits = table, terrain, limits
        self.near: Near | None = None
        self.touching = np.zeros(len(table), dtype=np.bool_)
        self._u_end = np.zeros((len(table), 3))
        self._impulse = np.zeros((len(table), 3))
        self._kernel = kernel
        self._detector = Detector(table, terrain)
        self._law = law
        surfaces = [name.rpartition(".")[0] or name for name in table.names]
        self._surface = np.array([surfaces.index(name) for name in surfaces], dtype=np.intp)
        self._span = 1.0
        self._limit_impulse = np.zeros((0 if limits is None else limits.nv, 2))  # coordinate, lower or upper
        self._pushed: tuple[Matrix, Vector, int] | None = None

    def look(self, terms: Terms, dt: float) -> None:
        """Find the points near the ground where the terms were evaluated."""
        self.near = self._detector.find(terms.data, max(NEAR, dt * FASTEST))

    def find_impact(self, v: Vector, dt: float) -> float | None:
        """Return when the first point hits, from the start of the step [s]; None if none does.

        Args:
            v: (nv,) velocity at the start; the near points were found in the middle of the step.
            dt: Length of the step [s].
        """
        near = self.near
        if near is None:
            return None
        fresh = ~self.touching[near.index]
        if not fresh.any():
            return None
        speed = near.J[0].dot(v)
        hits = fresh & (speed < -_slowest(dt)) & (near.gap + 0.5 * dt * speed < 0.0)
        if not hits.any():
            return None
        when = (near.gap[hits] - 0.5 * dt * speed[hits]) / -speed[hits]
        return float(np.clip(when.min(), 0.0, dt))

    def solve(self, terms: Terms, q_M: Vector, v: Vector, z: Vector, dt: float, *, all_slow: bool = False) -> tuple[Vector, Touching]:
        """Return the whitened velocity at the end of the step, and what touched.

        Args:
            terms: Evaluated at q_M.
            q_M: (nq,) configuration in the middle.
            v: (nv,) velocity at the start.
            z: (nv,) whitened velocity at the end without contacts.
            dt: Length of the step [s].
            all_slow: Whether points that approach fast take part too, and stop dead.
        """
        self._pushed = None
        rows = self._select_step(q_M, v, dt, all_slow=all_slow)
        if rows is None:
            self.touching[:] = False
            return z, _nothing(self.near)
        B = terms.restrain(terms.whiten(rows.J.T))
        wanted = self._wanted(rows, v, dt)
        count = len(rows.gap)
        problem = ConeProblem(B.T.dot(B), z.dot(B) + wanted, rows.mu, count)
        answer = self._solve(problem, rows, self._guess(rows, dt / self._span))
        self._remember(rows, answer.p, answer.u - wanted)
        self._span = dt
        self._pushed = (B, rows.gap, count)
        return z + B.dot(answer.p), self._describe(rows, answer)

    def solve_impact(self, terms: Terms, q: Vector, v: Vector, z: Vector) -> tuple[Vector, Touching, float]:
        """Return the whitened velocity after an impact, what touched, and the change of kinetic energy [J].

        Restitution is Newton's; where that would create energy, as it can with friction, the impact is plastic.

        Args:
            terms: Evaluated at q, without implicit forces.
            q: (nq,) configuration.
            v: (nv,) velocity before.
            z: (nv,) the same, whitened.
        """
        rows, e = self._select_impact(q, v)
        if rows is None:
            return z, _nothing(self.near), 0.0
        B = terms.restrain(terms.whiten(rows.J.T))
        before = rows.J.dot(v)
        count, m = len(rows.gap), len(rows.index)
        bounce = np.zeros(len(before))
        bounce[:m] = e * np.minimum(before[:m], 0.0) * (before[:m] < -SLOWEST_IMPACT)
        G = B.T.dot(B)
        answer = self._solve_twice(ConeProblem(G, before + bounce, rows.mu, count), rows)
        change = 0.5 * float(answer.p.dot(before + answer.u - bounce))
        if change > 0.0:
            bounce[:] = 0.0
            answer = self._solve_twice(ConeProblem(G, before, rows.mu, count), rows)
            change = 0.5 * float(answer.p.dot(before + answer.u))
        after = answer.u - bounce
        self._remember(rows, answer.p, after)
        self._impulse[rows.index] = 0.0
        self.touching[rows.index] &= after[:m] < SLOWEST_IMPACT
        return z + B.dot(answer.p), self._describe(rows, answer), change

    def _solve(self, problem: ConeProblem, rows: Rows, guess: Vector | None) -> ConeAnswer:
        """Solve by the law of this world."""
        if self._law == "friction":
            return solve_cones(problem, guess, self._kernel)
        owner = self._surface[rows.index]
        groups = [np.flatnonzero(owner == surface) for surface in sorted(set(owner.tolist()))]
        place = self.near.place[rows.which] if self.near is not None else np.zeros((0, 3))
        plane = np.einsum("akj,kj->ka", rows.axes[1:], place)
        return solve_by_procedure(problem, groups, plane, guess, self._kernel)

    def _solve_twice(self, problem: ConeProblem, rows: Rows) -> ConeAnswer:
        """Solve, and once more around the answer, so that nothing yields."""
        if self._law != "friction":
            return self._solve(problem, rows, None)
        first = solve_cones(problem, None, self._kernel)
        second = solve_cones(problem, first.p, self._kernel)
        return second if second.exact or not first.exact else first

    def push_out(self) -> Vector | None:
        """Return the whitened displacement (nv,) that takes some of the depth of the last step away; None where there is nothing to do."""
        if self._pushed is None:
            return None
        B, gap, count = self._pushed
        depth = np.minimum(gap + SLOP, 0.0)
        if not depth.any():
            return None
        B_n = B[:, :count]
        answer = solve_cones(ConeProblem(B_n.T.dot(B_n), PUSH_OUT * depth, np.zeros(0), count), None, self._kernel)
        return np.asarray(B_n.dot(answer.p))

    def forget(self) -> None:
        """Forget what touched, after a change of structure."""
        self.touching[:] = False

    def _select_step(self, q_M: Vector, v: Vector, dt: float, *, all_slow: bool) -> Rows | None:
        limits = None if self.limits is None else self.limits.find_near(q_M, v, dt)
        near = self.near
        if near is None:
            return None if limits is None else _stack(None, np.zeros(0, dtype=np.intp), limits, len(v))
        speed = near.J[0].dot(v)
        was = self.touching[near.index]
        reach = REACH if max(v.max(), -v.min()) < CALM else WILD_REACH
        takes_part = (near.gap + dt * speed < reach) | (was & (near.gap < NEAR))
        rows = _stack(near, np.flatnonzero(takes_part), limits, len(v))
        if rows is not None and not all_slow:
            rows.diving[: len(rows.index)] = (~was & (speed < -_slowest(dt)))[rows.which]
        return rows

    def _select_impact(self, q: Vector, v: Vector) -> tuple[Rows | None, Vector]:
        limits = None if self.limits is None else self.limits.find_near(q, v, 0.0)
        near = self.near
        if near is None:
            return None, np.zeros(0)
        which = np.flatnonzero((near.gap < AT_ONCE) | (self.touching[near.index] & (near.gap < NEAR)))
        if limits is not None:
            reached = limits.gap <= 0.0
            limits = NearLimits(limits.v[reached], limits.sign[reached], limits.gap[reached]) if reached.any() else None
        return _stack(near, which, limits, len(v)), near.e[which]

    def _wanted(self, rows: Rows, v: Vector, dt: float) -> Vector:
        """Return the shift of each row: how fast a gap may close, and half of what rows turned by."""
        m, count = len(rows.index), len(rows.gap)
        shift = np.zeros(len(rows.J))
        shift[:count] = np.maximum(rows.gap, 0.0) / dt
        if rows.diving.any():
            shift[:count] = np.where(rows.diving, 2.0 * (rows.gap + REACH) / dt, shift[:count])
        if m:
            was = self.touching[rows.index]
            if was.any():
                before = rows.J.dot(v)
                ended = np.einsum("akj,kj->ak", rows.axes, self._u_end[rows.index])
                tangents = before[count:].reshape(2, m)
                shift[:m] += np.where(was, 0.5 * (before[:m] - ended[0]), 0.0)
                shift[count:] = np.where(was, 0.5 * (tangents - ended[1:]), 0.0).ravel()
        return shift

    def _guess(self, rows: Rows, share: float) -> Vector:
        m, count = len(rows.index), len(rows.gap)
        guess = np.zeros(len(rows.J))
        if m:
            kept = np.where(self.touching[rows.index, None], self._impulse[rows.index] * share, 0.0)
            along = np.einsum("akj,kj->ak", rows.axes, kept)
            guess[:m], guess[count:] = along[0], along[1:].ravel()
        if rows.limits is not None:
            guess[m:count] = share * self._limit_impulse[rows.limits.v, rows.limits.side]
        return guess

    def _remember(self, rows: Rows, p: Vector, u: Vector) -> None:
        """Keep impulses and velocities of the points, in the world."""
        m, count = len(rows.index), len(rows.gap)
        self.touching[:] = False
        self._limit_impulse[:] = 0.0
        if rows.limits is not None:
            self._limit_impulse[rows.limits.v, rows.limits.side] = p[m:count]
        if not m:
            return
        self.touching[rows.index] = p[:m] > 0.0
        for kept, values in ((self._impulse, p), (self._u_end, u)):
            along = np.concatenate((values[:m], values[count:])).reshape(3, m)
            kept[rows.index] = np.einsum("ak,akj->kj", along, rows.axes)

    def _describe(self, rows: Rows, answer: ConeAnswer) -> Touching:
        near = self.near
        place = near.place[rows.which] if near is not None else np.zeros((0, 3))
        m = len(rows.index)
        depth = max(0.0, -float(rows.gap[:m].min())) if m else 0.0
        return Touching(rows.index, place, self._impulse[rows.index], depth, answer)


def _slowest(dt: float) -> float:
    return max(SLOWEST_IMPACT, 2.0 * GRAVITY * dt)


def _stack(near: Near | None, which: Indices, limits: NearLimits | None, nv: int) -> Rows | None:
    """Return the rows of some points and limits; None where there are none."""
    m = len(which)
    if near is None or m == 0:
        near, m = None, 0
    if m == 0 and limits is None:
        return None
    gaps, blocks = [], []
    if near is not None:
        all_of_them = m == len(near.index)
        J = near.J if all_of_them else near.J[:, which]
        gaps, blocks = [near.gap[which]], [J[0]]
    if limits is not None:
        unit = np.zeros((len(limits.v), nv))
        unit[np.arange(len(limits.v)), limits.v] = limits.sign
        gaps.append(limits.gap)
        blocks.append(unit)
    if near is None:
        return Rows(
            which[:0], which[:0], np.zeros((3, 0, 3)), blocks[0], np.zeros(0), limits, gaps[0], np.zeros(len(gaps[0]), dtype=np.bool_)
        )
    if limits is None:
        return Rows(
            near.index[which], which, near.axes[:, which], J.reshape(3 * m, nv), near.mu[which], None, gaps[0], np.zeros(m, dtype=np.bool_)
        )
    gap = np.concatenate(gaps)
    stacked = np.concatenate((*blocks, J[1:].reshape(2 * m, nv)))
    return Rows(near.index[which], which, near.axes[:, which], stacked, near.mu[which], limits, gap, np.zeros(len(gap), dtype=np.bool_))


def _nothing(near: Near | None) -> Touching:
    depth = max(0.0, -float(near.gap.min())) if near is not None else 0.0
    return Touching(np.zeros(0, dtype=np.intp), np.zeros((0, 3)), np.zeros((0, 3)), depth, None)
