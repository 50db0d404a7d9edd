# SPDX-License-Identifier: Apache-2.0
"""How far forces can move while load passes between contacts: from load fractions to forces, and bounds whatever the fractions.

With fractions s the force is x = x_t + C J mu, with targets x_t linear in s, compliances C = diag(c) linear in s, and multipliers of
K mu = b - J'x_t, K = J'C J.  For other fractions s' exactly mu' - mu = K'^-1 w, with w = sum_k w_k ds_k known, and

    x' - x = sum_k e_k ds_k + diag(dc) J (mu' - mu) - C J K'^-1 (K' - K) K^-1 w.

The first sum is the derivative; the others are bounded by K' >= K_low = K - sum_k |ds_k| |A_k|, which has to be positive definite: what
leaves must not be all that carries load.  Fractions add up to one, so that a constant may be taken from all of one kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.resolution.any_rank import CHOICE_WEIGHT
from humanoid_dynamics.resolution.fading import HURRY, URGENT, fade_of
from humanoid_dynamics.resolution.load_objective import RIGID_LEVER, ShareObjective
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SUPPORT = 1e-7  # share of a diagonal below which nothing bears
YIELDING = 1e-7  # what forces give way by where moments bear, and more


@dataclass(frozen=True, eq=False)
class Moves:
    """How far shares, whose sum stays what it is, and targets besides, may move.

    Attributes:
        steps: (contacts,) how much each share may change.
        ways: (n, k) ways in which targets may move besides.
        parts: (k,) how much of each way is gone at most.
        radius: How long all changes of shares and all parts of the ways are at most, together, as a vector.
    """

    steps: Vector
    ways: Matrix
    parts: Vector
    radius: float = np.inf

    def farthest(self, rates: Matrix) -> Vector:
        """Bound numbers that change at some rates, (outputs,): a constant may be taken from all rates of shares.

        Args:
            rates: (outputs, contacts + k) change of each number per share and way.
        """
        of_shares, of_ways = np.split(rates, [len(self.steps)], axis=1)
        loaded = np.flatnonzero(self.steps)
        apart = np.abs(of_shares[:, loaded, None] - of_shares[:, None, loaded])
        found = np.min(
            np.tensordot(apart, self.steps[loaded], (1, 0)),
            axis=1,
            initial=np.inf if len(loaded) else 0.0,
        )
        found += np.abs(of_ways) @ self.parts
        if np.isfinite(self.radius):
            found = np.minimum(found, self.radius * np.linalg.norm(self._center(rates), axis=1))
        return np.asarray(found)

    def longest(self, rates: Matrix) -> float:
        """Bound the length of a vector that changes at some rates.

        Args:
            rates: (n, contacts + k) change of the vector per share and way.
        """
        centered = self._center(rates)
        found = float(np.linalg.norm(centered, axis=0) @ np.append(self.steps, self.parts))
        return (
            min(found, self.radius * float(np.linalg.norm(centered, 2)))
            if np.isfinite(self.radius)
            else found
        )

    def _center(self, rates: Matrix) -> Matrix:
        """Take the mean from the rates of shares that change; others have none."""
        centered, loaded = np.array(rates), np.flatnonzero(self.steps)
        centered[:, : len(self.steps)] = 0.0
        centered[:, loaded] = rates[:, loaded] - rates[:, loaded].sum(axis=1, keepdims=True) / max(
            len(loaded), 1
        )
        return centered


def move_shares(steps: Vector, size: int) -> Moves:
    """Return moves of shares alone.

    Args:
        steps: (contacts,) how much each share may change.
        size: Number of targets.
    """
    return Moves(steps, np.zeros((size, 0)), np.zeros(0))


@dataclass(frozen=True, eq=False)
class ShareMap:
    """From shares to pushes at one state.

    Attributes:
        J: (n, equations) what each part of the push does to the base, where it is not by shares already.
        b: (equations,) what the motion asks there.
        targets: (n, contacts) target per share.
        owner: (n,) contact of each part of the push.
        compliance: (n,) of each, per share.
        bears: (equations, equations) what a face bears per share, zero where no face does.
    """

    J: Matrix
    b: Vector
    targets: Matrix
    owner: Indices
    compliance: Vector
    bears: Matrix

    def bound(self, T: Matrix, shares: Vector, moves: Moves, start: Vector | None = None) -> Vector:
        """Bound how far T'x moves.

        Args:
            T: (n, outputs) what is looked at.
            shares: (contacts,) shares before.
            moves: How far they, and targets besides, may move.
            start: (n,) target before; that by shares where None.

        Returns:
            (outputs,) the bound; infinite where what leaves may be all that bears.
        """
        J, steps = self.J, moves.steps
        mine = self.owner[:, None] == np.arange(len(shares))
        yielding = [J[own].T * self.compliance[own] for own in mine.T]
        A = np.array([part @ J[own] for part, own in zip(yielding, mine.T, strict=True)])
        K, c = np.tensordot(shares, A, 1), self.compliance * shares[self.owner]
        changes = A - self.bears
        L = _factor(K - np.tensordot(steps, changes * (-1.0 if self.bears.any() else 1.0), 1), K)
        if L is None:
            return np.full(T.shape[1], np.inf)
        mu = np.linalg.solve(K, self.b - J.T @ (self.targets @ shares if start is None else start))
        E = np.hstack((self.targets + mine * (self.compliance * (J @ mu))[:, None], moves.ways))
        w = -J.T @ E
        v = np.linalg.solve(K, w)
        moved = moves.longest(np.linalg.solve(L, w))
        turned = float(
            sum(
                d * moves.longest(np.linalg.solve(L, change @ v))
                for d, change in zip(steps, changes, strict=True)
            )
        )
        found = moves.farthest(T.T @ (E + c[:, None] * (J @ v)))
        for d, part, own in zip(steps, yielding, mine.T, strict=True):
            found += d * moved * np.linalg.norm(np.linalg.solve(L, part @ T[own]), axis=0)
        found += np.linalg.norm(np.linalg.solve(L, J.T @ (c[:, None] * T)), axis=0) * turned
        return np.asarray(found + YIELDING * np.abs(J @ mu) @ np.abs(T))


def _factor(low: Matrix, K: Matrix) -> Matrix | None:
    """Return the Cholesky factor of the least that may bear; None where that is next to nothing of what does."""
    L, info = lapack.dpotrf(low, lower=1, clean=1)
    return None if info or np.any(L.diagonal() ** 2 < SUPPORT * K.diagonal()) else np.asarray(L)


def build_share_map(
    problem: DynamicsProblem, objective: ShareObjective, loaded: Vector
) -> ShareMap:
    """Return how shares make pushes at the last update.

    Args:
        problem: What is asked, with a free base and no other coordinate without motor.
        objective: Shares, prepared for it.
        loaded: (contacts,) most that each contact may bear; faces among them keep forces to their shares.
    """
    contacts = len(problem.parts)
    owner, force = np.zeros(problem.size, dtype=np.intp), np.zeros(problem.size, dtype=bool)
    for k, part in enumerate(problem.parts):
        owner[part], force[part.start : part.start + 3] = k, True
    bearing = any(
        surface.kind == "face" and bears > 0.0
        for surface, bears in zip(problem.surfaces, loaded, strict=True)
    )
    rows = slice(3, 6) if bearing else slice(0, 6)
    targets = np.column_stack([objective.target(share) for share in np.eye(contacts)])
    compliance = np.where(force, 0.0 if bearing else RIGID_LEVER**-2, 1.0)
    return ShareMap(
        problem.J_span[:, rows],
        problem.free[rows],
        targets,
        owner,
        compliance,
        np.eye(3) if bearing else np.zeros((6, 6)),
    )


def bound_limited(problem: DynamicsProblem, steps: Vector) -> Vector:
    """Bound the steps of torques, (na,), where pushes are the nearest inside limits, and fade.

    A contact that fades counts by p (1 + U g), see ``halves``: this changes by 1 + U for its own share, and by U for those of others that
    fade.  What an answer lacks of the motion is least but for a small weight w of the distance, so that it changes by at most half the
    root of w times what is wanted.

    Args:
        problem: What is asked, updated.
        steps: (contacts,) largest change of each share.
    """
    contacts, total = len(steps), float(steps.sum())
    fade = fade_of(contacts)
    rates = push_rates(problem)
    middle = 0.5 * (rates.max(axis=(0, 1)) + rates.min(axis=(0, 1)))
    farthest = float(np.max(np.linalg.norm(rates - middle, axis=2)))
    least = 1.0 - fade * (
        contacts - 1
    )  # sum of the shares that stay when contacts that fade are left out
    moved = 2.0 * total / least * farthest
    hurried = (
        (contacts - 1) * HURRY * np.sqrt(CHOICE_WEIGHT) * moved / (URGENT * problem.unit_force)
    )
    passed = (1.0 + HURRY * (contacts - 1)) * total / fade + hurried
    effort = problem.robot.limits.effort[problem.driven_v]
    levers = np.linalg.norm(problem.J[:, problem.driven_v], axis=0)
    return np.asarray(levers * moved + np.where(levers > 0.0, 2.0 * effort, 0.0) * passed)


def push_rates(problem: DynamicsProblem) -> Matrix:
    """Return how fast the push changes with the share of each contact while one bears all, (contacts, contact that bears all, size).

    Args:
        problem: What is asked, updated.
    """
    F, M = problem.free[:3], problem.free[3:6]
    rates = np.zeros((len(problem.parts), len(problem.parts), problem.size))
    turns = [problem.J_span[part.start + 3 : part.stop, 3:6] for part in problem.parts]
    forces = [problem.J_span[part.start : part.start + 3] for part in problem.parts]
    push = [J_f[:, :3] @ F for J_f in forces]  # the total force, in the axes of each contact
    arms = [
        J_f[:, 3:6].T @ f for J_f, f in zip(forces, push, strict=True)
    ]  # its moment about the base
    for k, part in enumerate(problem.parts):
        rates[k, :, part.start : part.start + 3] = push[k]
        for bearer, other in enumerate(problem.parts):
            rates[k, bearer, part.start + 3 : part.stop] += turns[k] @ (M - arms[bearer])
            rates[k, bearer, other.start + 3 : other.stop] -= turns[bearer] @ arms[k]
    return rates


def find_farthest(effects: Matrix) -> Vector:
    """Bound the change of each torque per change of each share, (contacts, width), a constant taken from all.

    Args:
        effects: (contacts, contact that bears all, width) change per change of each share.
    """
    middle = 0.5 * (effects.max(axis=(0, 1)) + effects.min(axis=(0, 1)))
    return np.asarray(np.max(np.abs(effects - middle), axis=1))
