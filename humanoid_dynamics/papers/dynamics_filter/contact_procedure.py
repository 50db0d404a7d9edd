# SPDX-License-Identifier: Apache-2.0
"""Hold all that touches, look at the forces, let go of what would pull or tip, and solve again: at most four times [DF, sec. 3.4].

Completed in three points.  Before a sole is let go another distribution of the same forces is looked for, in which nothing pulls
(``demotion="strict"``): with several contacts the least forces are only one choice among many.  A corner that is wanted to rise may go.
What was let go and would sink in is held again, once.  Where that contradicts itself the motion nearest to the wanted one is taken that
forces inside their friction pyramids carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from humanoid_dynamics.contact.demotion import stay_held
from humanoid_dynamics.papers.dynamics_filter.cone_solution import (
    ConeSolution,
    redistribute,
    solve_in_cones,
)
from humanoid_dynamics.papers.dynamics_filter.contacts import Held, Sole
from humanoid_dynamics.papers.dynamics_filter.rows import Instant, Rows, stack_rows
from humanoid_dynamics.papers.dynamics_filter.solution import (
    Balance,
    Solution,
    StructuredSolution,
    solve_literally,
)
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

MOST_SOLVES = 4
PULL = 1e-6  # share of the weight
RISES = 0.02  # m/s²; a corner that is wanted to rise faster is not held back by another distribution of the forces
SINKS = 0.5  # m/s²; what comes down slower is caught by the collision of a later step


@dataclass(frozen=True, eq=False)
class Settled:
    """What the procedure arrived at.

    Attributes:
        solution: Acceleration, forces of all rows (of loops alone where found by least squares), torques.
        loops: (c,) forces of the loops.
        wrenches: (s, 6) what the ground does to the soles, in their own axes [N, N·m].
        held: Corners each sole holds.
        solves: Systems solved, at most four.
        way: ``held``, ``redistributed``, ``cones`` or ``unchecked``.
        left: What no force could carry, as a share of the weight.
    """

    solution: Solution
    loops: Vector
    wrenches: Matrix
    held: tuple[Held, ...]
    solves: int
    way: str
    left: float = 0.0


class ContactProcedure:
    """The procedure, prepared once for a robot."""

    def __init__(self, nv: int, driven: Indices, limit: Vector, style: PaperStyle) -> None:
        """Prepare.

        Args:
            nv: Number of velocity coordinates.
            driven: (na,) coordinates with a motor.
            limit: (na,) their torque limits [N·m]; infinite where there is none.
            style: How to solve.
        """
        self._style, self._driven, self._limit, self._nv = style, driven, limit, nv
        self._structured = StructuredSolution(nv, driven, style.units)

    def settle(self, instant: Instant, held: tuple[Held, ...], wanted: Vector) -> Settled:
        """Find motion, forces and torques of one instant.

        Args:
            instant: The instant.
            held: Corners each sole holds at first.
            wanted: (nv,) desired acceleration.

        Returns:
            The answer; always one.
        """
        if self._style.contacts == "cones":
            return _as_settled(solve_in_cones(instant, held, wanted, self._driven), held, 1)
        settled = self._let_go(instant, held, wanted)
        if self._style.friction == "cones" and any(
            _slips(sole, w) for sole, w in zip(instant.soles, settled.wrenches, strict=True)
        ):
            settled = _as_settled(
                solve_in_cones(instant, held, wanted, self._driven), held, settled.solves
            )
        if self._style.torques == "kept" and (np.abs(settled.solution.tau) > self._limit).any():
            settled = self._saturate(instant, settled, wanted)
        return settled

    def _let_go(self, instant: Instant, held: tuple[Held, ...], wanted: Vector) -> Settled:
        """Solve and demote until nothing pulls or tips."""
        style, first, sunk, promoted = self._style, held, held, False
        solves = 0
        while solves < MOST_SOLVES:
            rows = stack_rows(instant, held)
            solution = self._solve(rows.balance, wanted)
            solves += 1
            settled = _take(instant, rows, solution, held, solves)
            if not style.unilateral:
                return replace(settled, way="unchecked")
            keep = _demote(instant, settled.wrenches, held)
            if keep != held:
                stays = style.demotion == "strict" and not _rises(instant.soles, held, keep, wanted)
                other = redistribute(instant, held, solution.a, self._driven) if stays else None
                if other is None:
                    held = keep
                    continue
                settled = replace(_as_settled(other, held, solves), way="redistributed")
            sunk = _find_sunk(instant.soles, held, solution.a)
            if sunk == held:
                return settled
            if promoted:
                break
            promoted, held = True, sunk
        settled = _as_settled(solve_in_cones(instant, sunk, wanted, self._driven), sunk, solves)
        if _find_sunk(instant.soles, sunk, settled.solution.a) == sunk:
            return settled
        return _as_settled(solve_in_cones(instant, first, wanted, self._driven), first, solves)

    def _solve(self, balance: Balance, wanted: Vector) -> Solution:
        if self._style.solver == "literal":
            return solve_literally(balance, self._driven, wanted, self._style.units)
        return self._structured.solve(balance, wanted)

    def _saturate(self, instant: Instant, settled: Settled, wanted: Vector) -> Settled:
        """Solve again with the torques that are over their limits fixed there, and the motion recomputed for them."""
        driven, limit, held = self._driven, self._limit, settled.held
        tau = np.array(settled.solution.tau)
        fixed = np.zeros(len(driven), dtype=np.bool_)
        best = settled
        for _ in range(self._style.torque_passes):
            fixed |= np.abs(tau) > limit
            tau = np.where(fixed, np.clip(tau, -limit, limit), tau)
            given = np.zeros(self._nv)
            given[driven[fixed]] = tau[fixed]
            free = driven[~fixed]
            others = np.setdiff1d(np.arange(self._nv), free)
            cone = solve_in_cones(instant, held, wanted, free, given[others])
            tau[~fixed] = cone.solution.tau
            best = replace(
                _as_settled(cone, held, settled.solves),
                solution=replace(cone.solution, tau=np.array(tau)),
            )
            if not (np.abs(tau) > limit * (1.0 + 1e-9)).any():
                break
        return best


def _take(
    instant: Instant, rows: Rows, solution: Solution, held: tuple[Held, ...], solves: int
) -> Settled:
    loops = solution.lam[: len(instant.gamma_loops)]
    return Settled(
        solution, loops, rows.wrenches(solution.lam, instant.soles), held, solves, "held"
    )


def _as_settled(cone: ConeSolution, held: tuple[Held, ...], solves: int) -> Settled:
    return Settled(
        cone.solution, cone.solution.lam, cone.wrenches, held, solves, "cones", cone.left
    )


def _demote(instant: Instant, wrenches: Matrix, held: tuple[Held, ...]) -> tuple[Held, ...]:
    """Return what each sole keeps; all are demoted at once."""
    least = -PULL * instant.weight
    keep = []
    for sole, corners, w in zip(instant.soles, held, wrenches.tolist(), strict=True):
        if not corners or (
            len(corners) > 2 and w[2] > -least and _is_inside(sole, -w[4] / w[2], w[3] / w[2])
        ):
            keep.append(corners)
            continue
        cop = np.array([-w[4], w[3]]) / w[2] if w[2] > 0.0 else np.zeros(2)
        keep.append(
            tuple(corners[k] for k in stay_held(sole.corners[list(corners), :2], w[2], cop, least))
        )
    return tuple(keep)


def _is_inside(sole: Sole, x: float, y: float) -> bool:
    """Return whether the centre of pressure lies inside a face, all of whose corners count."""
    return (
        bool((sole.A[:, 0] * x + sole.A[:, 1] * y <= sole.b + 1e-9).all()) if len(sole.A) else False
    )


def _slips(sole: Sole, w: Vector) -> bool:
    return bool(np.hypot(w[0], w[1]) > sole.surface.friction * max(w[2], 0.0) + 1e-9)


def _rises(
    soles: Sequence[Sole], held: tuple[Held, ...], keep: tuple[Held, ...], wanted: Vector
) -> bool:
    """Return whether a corner that is let go is wanted to leave the ground."""
    for sole, before, after in zip(soles, held, keep, strict=True):
        gone = [k for k in before if k not in after]
        if gone and float(sole.lift(wanted)[gone].max()) > RISES:
            return True
    return False


def _find_sunk(soles: Sequence[Sole], held: tuple[Held, ...], a: Vector) -> tuple[Held, ...]:
    """Return what is held together with the touching corners that would accelerate into the ground."""
    found = []
    for sole, corners in zip(soles, held, strict=True):
        if len(corners) > 2 or len(corners) == len(sole.touching):
            found.append(corners)
            continue
        lift = sole.lift(a)
        sunk = [k for k in sole.touching if k in corners or lift[k] < -SINKS]
        found.append(tuple(sunk))
    return tuple(found)
