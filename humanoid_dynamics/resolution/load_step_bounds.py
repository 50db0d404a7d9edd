# SPDX-License-Identifier: Apache-2.0
"""How far torques can move while shares move by so much, from shares that are known: see ``bound_torque_step``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from humanoid_dynamics.resolution.cop_feasible_forces import LEVER, STEEPEST, bound_pressed_share
from humanoid_dynamics.resolution.cop_feasible_load import PressedShareObjective
from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.load_objective import ShareObjective
from humanoid_dynamics.resolution.load_step_maps import (
    Moves,
    build_share_map,
    move_shares,
    push_rates,
)
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Matrix, Vector

LITTLE = 1e-9  # share of a contact that is about to bear
ALL_THAT_BEARS = "what leaves may be all that bears"


@np.errstate(all="ignore")  # what is not finite is no bound
def bound_share_step(
    problem: DynamicsProblem, shares: Vector, steps: Vector, pressed: bool
) -> tuple[Vector, str]:
    """Bound the change of all coordinates' forces, (nv,), from shares that are known; tell which contacts are why where there is none.

    Args:
        problem: What is asked, updated.
        shares: (contacts,) shares before.
        steps: (contacts,) how much each may change; none changes by more than all others together.
        pressed: Whether the rule is the recommended transition, which moves them to where contacts press.
    """
    steps = np.minimum(steps, steps.sum() - steps)
    found: Vector = np.zeros(problem.robot.nv)
    if pressed:
        found[problem.span] = _PressedStep.of(PressedShareObjective(problem), shares, steps).bound()
    else:
        share_map = build_share_map(problem, ShareObjective(problem), shares + steps)
        found[problem.span] = share_map.bound(
            problem.J_span, shares, move_shares(steps, problem.size)
        )
    found[np.isnan(found)] = np.inf
    leaving = ", ".join(
        surface.name
        for surface, loaded in zip(problem.surfaces, shares + steps, strict=True)
        if loaded
    )
    return found, "" if np.isfinite(found).all() else f"{leaving}: {ALL_THAT_BEARS}"


def follow_any(problem: DynamicsProblem, steps: Vector) -> Vector:
    """Bound the change of the shares that are taken for those of two faces, (2,), whoever bears how much.

    Where they may count less the answer is a mean of two, by any shares both.

    Args:
        problem: What is asked, updated, with two faces.
        steps: (2,) how much each share may change.
    """
    objective, rates = PressedShareObjective(problem), push_rates(problem)
    push = objective.bear(np.array((1.0, 0.0)))[1]
    if push is None or not objective.is_near(
        np.abs(push) + np.abs(rates[1] - rates[0]).max(axis=0)
    ):
        return np.ones(2)
    return np.minimum(STEEPEST * steps, 1.0)


@dataclass(frozen=True, eq=False)
class _PressedStep:
    """A step of shares under the recommended transition: each answer that is mixed moves, and so do the weights, see ``split_contacts``.

    An answer is y = f x + (1 - f) x_s: the push x of a set of contacts, by its fitness f, and that by shares alone.  Both stay near to what
    they were; where f may be less than one, y stays between them, and f x is never more than ``most_force``.

    Attributes:
        objective: The rule at the last update.
        shares: (contacts,) shares before.
        steps: (contacts,) how much each may change.
        alone: (width,) forces by shares alone.
        moved: (width,) how far these may move.
    """

    objective: PressedShareObjective
    shares: Vector
    steps: Vector
    alone: Vector
    moved: Vector

    @classmethod
    def of(cls, objective: PressedShareObjective, shares: Vector, steps: Vector) -> _PressedStep:
        """Find what shares alone do."""
        problem = objective.problem
        moved = build_share_map(problem, objective, shares + steps).bound(
            problem.J_span, shares, move_shares(steps, problem.size)
        )
        x = objective.bear(shares)[1]
        return cls(
            objective,
            shares,
            steps,
            moved if x is None else x @ problem.J_span,
            np.full_like(moved, np.inf) if x is None else moved,
        )

    def bound(self) -> Vector:
        """Bound the change of forces, (width,)."""
        shares, steps = self.shares, self.steps
        loaded = np.flatnonzero(shares + steps).tolist()
        if not np.isfinite(self.moved).all():
            return self.moved
        if len(loaded) <= 2:
            return self._bound_answer(shares, steps)[0]
        change, fade = float(steps.max()), fade_of(len(shares))
        order = np.sort(shares[loaded])[::-1]
        low, now, high = (np.clip((order + way) / fade, 0.0, 1.0) for way in (-change, 0.0, change))
        low[:2] = now[:2] = high[:2] = 1.0
        weights, bounds, turned, before = [], [], np.zeros(len(self.moved)), None
        for size in range(2, len(loaded) + 1):
            weight = high[size - 1] - (low[size] if size < len(loaded) else 0.0)
            if not weight > 0.0:
                continue
            sets = [list(some) for some in combinations(loaded, size)]
            found = [self._bound_set(some) for some in sets]
            highest, part, passing = _weigh_sets(shares, steps, sets)
            forces = np.array([y for _, y in found])
            middle = part @ forces
            turned += weight * passing * np.ptp(forces, axis=0)
            if before is not None:
                turned += max(
                    high[size - 1] - now[size - 1], now[size - 1] - low[size - 1]
                ) * np.abs(middle - before)
            before = middle
            weights += (weight * highest).tolist()
            bounds += [bound for bound, _ in found]
        return _weigh_worst(np.array(weights), np.array(bounds)) + turned

    def _bound_set(self, some: list[int]) -> tuple[Vector, Vector]:
        """Return the bound and the forces of a set; one that cannot hold a body is by shares alone."""
        shares, steps = np.zeros(len(self.shares)), np.zeros(len(self.shares))
        shares[some] = np.maximum(self.shares[some], LITTLE)
        whole, inside = shares.sum(), float(self.steps[some].sum())
        passing = min(
            inside, float(self.steps.sum()) - inside
        )  # from what is in the set to what is not
        part = shares[some] / whole
        others = np.minimum(
            (1.0 - part) * self.steps[some] + part * (inside - self.steps[some]),
            self.steps[some] + part * passing,
        )
        steps[some] = np.minimum(others / max(whole - passing, LITTLE), 1.0)
        return (
            self._bound_answer(shares / whole, steps)
            if self.objective.balances(shares)
            else (self.moved, self.alone)
        )

    def _bound_answer(self, shares: Vector, steps: Vector) -> tuple[Vector, Vector]:
        """Bound the change of one answer; return its forces too."""
        objective, J = self.objective, self.objective.problem.J_span
        fitness, taken, push = objective.take(shares)
        if push is None:
            moved, stays, push = np.full(len(self.moved), np.inf), False, np.zeros(len(J))
        else:
            moved, stays = self._bound_push(shares, steps, taken, push)
        forces = push @ J
        if stays and fitness >= 1.0:
            return moved, forces
        answer = fitness * forces + (1.0 - fitness) * self.alone
        aside = np.abs(self.alone - answer) + self.moved
        most = objective.most_force() * np.linalg.norm(objective.of_contacts[:, None] * J, axis=0)
        return np.minimum(
            np.maximum(np.abs(forces - answer) + moved, aside),
            most + np.maximum(np.abs(answer), aside),
        ), answer

    def _bound_push(
        self, shares: Vector, steps: Vector, taken: Vector, push: Vector
    ) -> tuple[Vector, bool]:
        """Bound the change of forces of a push; tell whether it counts in full all the time."""
        objective, contacts = self.objective, len(shares)
        problem, loaded = objective.problem, shares + steps
        share_map, size = build_share_map(problem, objective, loaded), problem.size
        near, start, kept = True, None, 1.0
        if np.count_nonzero(loaded) <= 2:
            moves = move_shares(_follow(objective, shares, steps), size)
        else:
            apart = share_map.bound(np.eye(size), shares, move_shares(steps, size))
            if not np.isfinite(apart).all():
                return np.full(len(self.moved), np.inf), False
            wanted = objective.bear(shares)[1]
            near = wanted is not None and objective.is_near(np.abs(wanted) + apart)
            moves = (
                self._press(loaded, apart) if len(taken) > contacts else move_shares(steps, size)
            )
            start = taken[contacts:] if len(taken) > contacts else None
            kept = objective.keeping(loaded, np.maximum(taken[:contacts] - moves.steps, 0.0))
        bound = share_map.bound(
            np.hstack((problem.J_span, np.eye(size))), taken[:contacts], moves, start
        )
        width = len(self.moved)
        return bound[:width], near and kept >= 1.0 and objective.is_near(
            np.abs(push) + bound[width:]
        )

    def _press(self, loaded: Vector, apart: Vector) -> Moves:
        """Return how far what presses inside may move: no farther than the push that is wanted moves what is nearest to it."""
        objective, problem = self.objective, self.objective.problem
        strength = float(np.linalg.norm(problem.free[:3]))
        far = float(np.linalg.norm(objective.scale() / strength * apart))
        ways: Matrix = np.zeros((problem.size, len(objective.tilts)))
        ways[objective.tilts, range(len(objective.tilts))] = LEVER * strength
        farthest = np.array([2.0 * objective.reach[row] / LEVER for row in objective.tilts])
        return Moves(
            np.where(loaded > 0.0, min(far, 1.0), 0.0), ways, np.minimum(far, farthest), far
        )


def _follow(objective: PressedShareObjective, shares: Vector, steps: Vector) -> Vector:
    """Bound the change of the shares that are taken for those of two contacts, (contacts,)."""
    loaded = np.flatnonzero(shares + steps)
    ground = objective.find_ground(loaded) if len(loaded) == 2 else None
    if ground is None:
        return steps
    rolls = len({objective.problem.surfaces[k].kind for k in loaded}) > 1
    upright, zmp, one, other = ground
    step = float(steps[loaded].min())
    change = step + upright * (
        bound_pressed_share(float(shares[loaded[1]]), step, zmp, one, other, rolls) - step
    )
    return np.where(shares + steps > 0.0, change, 0.0)


def _weigh_sets(
    shares: Vector, steps: Vector, sets: list[list[int]]
) -> tuple[Vector, Vector, float]:
    """Return the most that each set of one size may weigh, what it weighs, and which part of the weights may pass from some to others.

    A set weighs one over the sum of all products of shares over its own, in which contacts of both cancel.
    """
    contacts = np.array([[float(k in some) for k in range(len(shares))] for some in sets])
    apart = np.maximum(
        contacts[None] - contacts[:, None], 0.0
    )  # (of the set, other set, contact of the other alone)
    low, high = np.maximum(shares - steps, 0.0), np.maximum(shares + steps, LITTLE)
    own = np.swapaxes(apart, 0, 1)
    highest, lowest = (
        1.0 / (np.prod(one**apart, axis=2) / np.prod(other**own, axis=2)).sum(axis=1)
        for one, other in ((low, high), (high, low))
    )
    now = np.maximum(shares, LITTLE)
    weights = 1.0 / (np.prod(now**apart, axis=2) / np.prod(now**own, axis=2)).sum(axis=1)
    passing = min(
        float(np.maximum(highest - weights, 0.0).sum()),
        float(np.maximum(weights - lowest, 0.0).sum()),
        1.0,
    )
    return highest, weights / weights.sum(), passing


def _weigh_worst(weights: Vector, bounds: Matrix) -> Vector:
    """Return the largest mean of bounds, (width,), in which none weighs more than it may.

    Args:
        weights: (sets,) most that each may weigh.
        bounds: (sets, width) their bounds.
    """
    order = np.argsort(-bounds, axis=0)
    most = weights[order]
    parts = np.clip(1.0 - (np.cumsum(most, axis=0) - most), 0.0, most)
    return np.asarray((parts * np.take_along_axis(bounds, order, axis=0)).sum(axis=0))
