"""How far a push can move while shares move by so much: rules of shares on contacts of any kind, from shares that are known.

With shares s the push is x = x_t + C J mu, with targets x_t linear in s, compliances C = diag(c) linear in s, and multipliers of
K mu = b - J'x_t, K = J'C J.  For other shares s' exactly mu' - mu = K'^-1 w, with w = sum_k w_k ds_k known, and

    x' - x = sum_k e_k ds_k + diag(dc) J (mu' - mu) - C J K'^-1 (K' - K) K^-1 w.

The first sum is the derivative; the others are bounded by K' >= K_low = K - sum_k |ds_k| |A_k|, which has to be positive definite: what
leaves must not be all that bears.  Shares add up to one, so that a constant may be taken from all of one kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.resolution.contact_dynamics import ContactDynamics
from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.objectives import RIGID_LEVER, ShareObjective
from humanoid_dynamics.resolution.pressed_corners import LEVER
from humanoid_dynamics.resolution.pressed_shares import STEEPEST, PressedShareObjective
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LITTLE = 1e-9  # share of a contact that is about to bear
SUPPORT = 1e-7  # share of a diagonal below which nothing bears
YIELDING = 1e-7  # what forces give way by where moments bear, and more


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

    def bound(self, T: Matrix, shares: Vector, steps: Vector, start: Vector | None = None, moves: Matrix | None = None) -> Vector:
        """Bound how far T'x moves.

        Args:
            T: (n, outputs) what is looked at.
            shares: (contacts,) shares before.
            steps: (contacts,) how much each may change.
            start: (n,) target before; that by shares where None.
            moves: (n, k) how far targets may move besides, one number between -1 and 1 for each column; nowhere where None.

        Returns:
            (outputs,) the bound; infinite where what leaves may be all that bears.
        """
        J, contacts = self.J, len(shares)
        mine = self.owner[:, None] == np.arange(contacts)
        A = np.array([(J[mine[:, k]].T * self.compliance[mine[:, k]]) @ J[mine[:, k]] for k in range(contacts)])
        K, c = np.tensordot(shares, A, 1), self.compliance * shares[self.owner]
        changes = A - self.bears
        L = _factor(K - np.tensordot(steps, changes * (-1.0 if self.bears.any() else 1.0), 1), K)
        if L is None:
            return np.full(T.shape[1], np.inf)
        mu = np.linalg.solve(K, self.b - J.T @ (self.targets @ shares if start is None else start))
        E = self.targets + mine * (self.compliance * (J @ mu))[:, None]
        E -= E[:, steps > 0.0].mean(axis=1, keepdims=True) if (steps > 0.0).any() else 0.0
        E, sizes = (E, steps) if moves is None else (np.hstack((E, moves)), np.append(steps, np.ones(moves.shape[1])))
        w = -J.T @ E
        v = np.linalg.solve(K, w)
        moved = float(np.linalg.norm(np.linalg.solve(L, w), axis=0) @ sizes)
        turned = float(
            sum(d * np.linalg.norm(np.linalg.solve(L, change @ v), axis=0) @ sizes for d, change in zip(steps, changes, strict=True))
        )
        found = sizes @ np.abs((E + c[:, None] * (J @ v)).T @ T)
        found += (self.compliance * steps[self.owner] * np.linalg.norm(np.linalg.solve(L, J.T), axis=0)) @ np.abs(T) * moved
        found += np.linalg.norm(np.linalg.solve(L, J.T @ (c[:, None] * T)), axis=0) * turned
        return np.asarray(found + YIELDING * np.abs(J @ mu) @ np.abs(T))


def _factor(low: Matrix, K: Matrix) -> Matrix | None:
    """Return the Cholesky factor of the least that may bear; None where that is next to nothing of what does."""
    L, info = lapack.dpotrf(low, lower=1, clean=1)
    return None if info or np.any(L.diagonal() ** 2 < SUPPORT * K.diagonal()) else np.asarray(L)


def build_share_map(dynamics: ContactDynamics, objective: ShareObjective, loaded: Vector) -> ShareMap:
    """Return how shares make pushes at the last update.

    Args:
        dynamics: What is asked, with a free base and no other coordinate without motor.
        objective: Shares, prepared for it.
        loaded: (contacts,) most that each contact may bear; faces among them keep forces to their shares.
    """
    contacts = len(dynamics.parts)
    owner, force = np.zeros(dynamics.size, dtype=np.intp), np.zeros(dynamics.size, dtype=bool)
    for k, part in enumerate(dynamics.parts):
        owner[part], force[part.start : part.start + 3] = k, True
    bearing = any(surface.kind == "face" and bears > 0.0 for surface, bears in zip(dynamics.surfaces, loaded, strict=True))
    rows = slice(3, 6) if bearing else slice(0, 6)
    targets = np.column_stack([objective.target(share) for share in np.eye(contacts)])
    compliance = np.where(force, 0.0 if bearing else RIGID_LEVER**-2, 1.0)
    return ShareMap(dynamics.J[:, rows], dynamics.free[rows], targets, owner, compliance, np.eye(3) if bearing else np.zeros((6, 6)))


@np.errstate(all="ignore")  # what is not finite is no bound
def bound_share_step(dynamics: ContactDynamics, shares: Vector, steps: Vector, pressed: bool) -> Vector:
    """Bound the change of all coordinates' forces, (nv,), from shares that are known.

    Args:
        dynamics: What is asked, updated.
        shares: (contacts,) shares before.
        steps: (contacts,) how much each may change.
        pressed: Whether the rule is the recommended transition, which moves them to where contacts press.
    """
    objective = PressedShareObjective(dynamics) if pressed else ShareObjective(dynamics)
    found: Vector = np.zeros(dynamics.robot.nv)
    if isinstance(objective, PressedShareObjective):
        found[dynamics.span] = _bound_pressed(dynamics, objective, shares, steps)
    else:
        found[dynamics.span] = build_share_map(dynamics, objective, shares + steps).bound(dynamics.J, shares, steps)
    found[np.isnan(found)] = np.inf
    return found


def _bound_pressed(dynamics: ContactDynamics, objective: PressedShareObjective, shares: Vector, steps: Vector) -> Vector:
    """Bound what the recommended transition does: each answer that is mixed moves, and so do the weights, see ``split_contacts``."""
    loaded = np.flatnonzero(shares + steps).tolist()
    if len(loaded) <= 2:
        return _bound_one(dynamics, objective, shares, steps)[0]
    change, fade = float(steps.max()), fade_of(len(shares))
    order = np.sort(shares[loaded])[::-1]
    low, high = np.clip((order - change) / fade, 0.0, 1.0), np.clip((order + change) / fade, 0.0, 1.0)
    low[:2] = high[:2] = 1.0
    farthest, turned, every = np.zeros(dynamics.J.shape[1]), np.zeros(dynamics.J.shape[1]), []
    for size in range(2, len(loaded) + 1):
        most = high[size - 1] - (low[size] if size < len(loaded) else 0.0)
        if most > 0.0:
            bounds, forces, passing = _bound_sets(dynamics, objective, shares, steps, [list(some) for some in combinations(loaded, size)])
            farthest = np.maximum(farthest, bounds.max(axis=0))
            turned += most * passing * np.ptp(forces, axis=0)
            every += list(forces)
    return np.asarray(farthest + turned + float(np.sum(high - low)) * np.ptp(np.array(every), axis=0))


def _bound_sets(
    dynamics: ContactDynamics, objective: PressedShareObjective, shares: Vector, steps: Vector, sets: list[list[int]]
) -> tuple[Matrix, Matrix, float]:
    """Return bounds and forces of all sets of one size, and which part of their weights may pass from some to others."""
    bounds, forces, whole_x = [], [], objective.bear(shares)[1]
    for some in sets:
        its_shares, its_steps = np.zeros(len(shares)), np.zeros(len(shares))
        its_shares[some], its_steps[some] = np.maximum(shares[some], LITTLE), steps[some]
        whole, change = its_shares.sum(), its_steps.sum()
        its_steps[some] = (its_steps[some] + its_shares[some] / whole * change) / max(whole - change, LITTLE)
        if objective.balances(its_shares):
            bound, x = _bound_one(dynamics, objective, its_shares / whole, np.minimum(its_steps, 1.0))
        else:
            bound, x = build_share_map(dynamics, objective, shares + steps).bound(dynamics.J, shares, steps), whole_x
        bounds.append(bound)
        forces.append(np.full(dynamics.J.shape[1], np.nan) if x is None else x @ dynamics.J)
    least, now, most = (np.array([np.prod(s[some]) for some in sets]) for s in (np.maximum(shares - steps, 0.0), shares, shares + steps))
    weights = now / max(now.sum(), LITTLE**4)
    highest = most / np.maximum(most + least.sum() - least, LITTLE**4)
    return np.array(bounds), np.array(forces), min(float(np.maximum(highest - weights, 0.0).sum()), 1.0)


def _bound_one(dynamics: ContactDynamics, objective: PressedShareObjective, shares: Vector, steps: Vector) -> tuple[Vector, Vector | None]:
    """Bound the change of forces, and return the push, where no contact fades; infinite where a set may come to count less."""
    loaded = shares + steps
    found, is_force, width = build_share_map(dynamics, objective, loaded), objective.is_force, dynamics.J.shape[1]
    looked_at, nothing = np.hstack((dynamics.J, np.eye(dynamics.size)[:, is_force])), np.full(width, np.inf)
    if np.count_nonzero(loaded) <= 2:
        moved = objective.adapt(shares)
        sureness, push = objective.bear(moved)
        bound, fit = found.bound(looked_at, moved, STEEPEST * steps), objective.fitness(sureness, push)
    else:
        asked, x = objective.bear(shares)
        if x is None or objective.fitness(asked, x) < 1.0:
            return nothing, x
        strength = float(np.linalg.norm(dynamics.free[:3]))
        far = float(np.linalg.norm(found.bound(np.diag(objective.scale() / strength), shares, steps)))
        if not objective.is_near(np.abs(x[is_force]) + far * strength):
            return nothing, x
        pressed = objective.press(shares, x)
        (sureness, push), its_steps, start, moves = objective.bear(pressed), steps, None, None
        if len(pressed) > len(shares):  # no farther than the push that is wanted moves the one that is nearest
            moves = np.zeros((dynamics.size, len(objective.tilts)))
            moves[objective.tilts, range(len(objective.tilts))] = far * LEVER * strength
            its_steps, start = np.where(loaded > 0.0, far, 0.0), pressed[len(shares) :]
        bound = found.bound(looked_at, pressed[: len(shares)], its_steps, start, moves)
        most, least = shares + steps, np.maximum(pressed[: len(shares)] - its_steps, 0.0)
        fit = objective.fitness(sureness, push) * objective.keeping(most, least)
    stays = push is not None and fit >= 1.0 and objective.is_near(np.abs(push[is_force]) + bound[width:])
    return bound[:width] if stays else nothing, push
