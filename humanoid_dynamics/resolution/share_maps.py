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
from humanoid_dynamics.resolution.face_bounds import push_rates
from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.objectives import RIGID_LEVER, ShareObjective
from humanoid_dynamics.resolution.pressed_corners import LEVER
from humanoid_dynamics.resolution.pressed_shares import STEEPEST, PressedShareObjective
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LITTLE = 1e-9  # share of a contact that is about to bear
SUPPORT = 1e-7  # share of a diagonal below which nothing bears
ALL_THAT_BEARS = "what leaves may be all that bears"
COUNTS_LESS = "they bear too little together, or may come to, where nothing but them is left"
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
def bound_share_step(dynamics: ContactDynamics, shares: Vector, steps: Vector, pressed: bool) -> tuple[Vector, str]:
    """Bound the change of all coordinates' forces, (nv,), from shares that are known; tell which contacts are why where there is none.

    Args:
        dynamics: What is asked, updated.
        shares: (contacts,) shares before.
        steps: (contacts,) how much each may change.
        pressed: Whether the rule is the recommended transition, which moves them to where contacts press.
    """
    objective = PressedShareObjective(dynamics) if pressed else ShareObjective(dynamics)
    found: Vector = np.zeros(dynamics.robot.nv)
    if isinstance(objective, PressedShareObjective):
        found[dynamics.span], reason = _bound_pressed(dynamics, objective, shares, steps)
    else:
        found[dynamics.span] = build_share_map(dynamics, objective, shares + steps).bound(dynamics.J, shares, steps)
        reason = _tell(dynamics, shares + steps, ALL_THAT_BEARS)
    found[np.isnan(found)] = np.inf
    return found, "" if np.isfinite(found).all() else reason


def tell_less(dynamics: ContactDynamics) -> str:
    """Tell which two faces may count less under the recommended transition, whoever bears how much, and why; empty where none may.

    Args:
        dynamics: What is asked, updated, with two faces.
    """
    objective, rates = PressedShareObjective(dynamics), push_rates(dynamics)
    push = objective.bear(np.array((1.0, 0.0)))[1]
    if push is not None and objective.is_near(np.abs(push) + np.abs(rates[1] - rates[0]).max(axis=0)):
        return ""
    return _tell(dynamics, np.ones(2), COUNTS_LESS)


def _tell(dynamics: ContactDynamics, loaded: Vector, why: str) -> str:
    return f"{', '.join(dynamics.surfaces[k].name for k in np.flatnonzero(loaded))}: {why}"


@dataclass(eq=False)
class _Mean:
    """A mean of the answers of sets of contacts, of which weights and answers move: each by its own bound, where it has one.

    A set without a bound gives at most what its fitness leaves, see ``fitness``, and the rest is by shares alone: it is counted as if it
    were by shares alone, and by how far it may be from that, as much as it may come to weigh.

    Attributes:
        by_shares: (width,) forces by shares alone.
        astray: (width,) how far a set may be from that, before or after.
        farthest: (width,) bound of the sets that have one.
        turned: (width,) what weights of sets of one size, passing from some to others, make of forces, and sets without a bound.
        every: Forces of all sets.
    """

    by_shares: Vector
    astray: Vector
    farthest: Vector
    turned: Vector
    every: list[Vector]

    def add(self, bounds: list[Vector | None], forces: list[Vector], highest: Vector, passing: float) -> None:
        """Add sets of one size.

        Args:
            bounds: Of each, None where it has none.
            forces: Of each.
            highest: (sets,) most that each may weigh.
            passing: How much of the weight may pass from some to others.
        """
        its_forces = [self.by_shares if bound is None else one for bound, one in zip(bounds, forces, strict=True)]
        for bound, weight in zip(bounds, highest, strict=True):
            if bound is None:
                self.turned = self.turned + 2.0 * weight * self.astray
            else:
                self.farthest = np.maximum(self.farthest, bound)
        self.turned = self.turned + passing * np.ptp(np.array(its_forces), axis=0)
        self.every += its_forces


def _bound_pressed(dynamics: ContactDynamics, objective: PressedShareObjective, shares: Vector, steps: Vector) -> tuple[Vector, str]:
    """Bound what the recommended transition does: each answer that is mixed moves, and so do the weights, see ``split_contacts``."""
    loaded = np.flatnonzero(shares + steps).tolist()
    if len(loaded) <= 2:
        bound, _, reason = _bound_one(dynamics, objective, shares, steps)
        return bound, reason
    change, fade, J = float(steps.max()), fade_of(len(shares)), dynamics.J
    order = np.sort(shares[loaded])[::-1]
    low, high = np.clip((order - change) / fade, 0.0, 1.0), np.clip((order + change) / fade, 0.0, 1.0)
    low[:2] = high[:2] = 1.0
    moved, x = build_share_map(dynamics, objective, shares + steps).bound(J, shares, steps), objective.bear(shares)[1]
    if x is None or not np.isfinite(moved).all():
        return np.full(J.shape[1], np.inf), _tell(dynamics, shares + steps, ALL_THAT_BEARS)
    most = objective.most_force() * np.linalg.norm(objective.of_contacts[:, None] * J, axis=0)
    mean = _Mean(x @ J, most + 2.0 * np.abs(x @ J) + 3.0 * moved, moved, np.zeros(J.shape[1]), [x @ J])
    stay = set(np.flatnonzero(shares > steps).tolist())
    for size in range(2, len(loaded) + 1):
        weight = high[size - 1] - (low[size] if size < len(loaded) else 0.0)
        sets = [list(some) for some in combinations(loaded, size)]
        if weight > 0.0:
            found = [_bound_set(dynamics, objective, shares, steps, some) for some in sets]
            alone = next(
                (reason for (_, _, reason), some in zip(found, sets, strict=True) if reason and size == 2 and stay <= set(some)), ""
            )
            if alone:  # it may be all that is left, and then counts in full
                return np.full(J.shape[1], np.inf), alone
            highest, passing = _weigh_sets(shares, steps, sets)
            bounds = [None if reason else bound for bound, _, reason in found]
            mean.add(bounds, [mean.by_shares if x is None else x @ J for _, x, _ in found], weight * highest, weight * passing)
    return np.asarray(mean.farthest + mean.turned + float(np.sum(high - low)) * np.ptp(np.array(mean.every), axis=0)), ""


def _bound_set(
    dynamics: ContactDynamics, objective: PressedShareObjective, shares: Vector, steps: Vector, some: list[int]
) -> tuple[Vector, Vector | None, str]:
    """Return bound, push and reason of a set; one that cannot hold a body is by shares alone."""
    its_shares, its_steps = np.zeros(len(shares)), np.zeros(len(shares))
    its_shares[some], its_steps[some] = np.maximum(shares[some], LITTLE), steps[some]
    whole, change = its_shares.sum(), its_steps.sum()
    its_steps[some] = (its_steps[some] + its_shares[some] / whole * change) / max(whole - change, LITTLE)
    if objective.balances(its_shares):
        return _bound_one(dynamics, objective, its_shares / whole, np.minimum(its_steps, 1.0))
    return build_share_map(dynamics, objective, shares + steps).bound(dynamics.J, shares, steps), None, ""


def _weigh_sets(shares: Vector, steps: Vector, sets: list[list[int]]) -> tuple[Vector, float]:
    """Return the most that each set of one size may weigh among these, and which part of the weights may pass from some to others."""
    least, now, most = (np.array([np.prod(s[some]) for some in sets]) for s in (np.maximum(shares - steps, 0.0), shares, shares + steps))
    weights = now / max(now.sum(), LITTLE**4)
    highest = most / np.maximum(most + least.sum() - least, LITTLE**4)
    return highest, min(float(np.maximum(highest - weights, 0.0).sum()), 1.0)


def _bound_one(
    dynamics: ContactDynamics, objective: PressedShareObjective, shares: Vector, steps: Vector
) -> tuple[Vector, Vector | None, str]:
    """Bound the change of forces, and return the push, where no contact fades; infinite, with the reason, where a set may count less."""
    loaded = shares + steps
    found, size, width = build_share_map(dynamics, objective, loaded), dynamics.size, dynamics.J.shape[1]
    looked_at, nothing = np.hstack((dynamics.J, np.eye(size))), np.full(width, np.inf)
    less = _tell(dynamics, loaded, COUNTS_LESS)
    if np.count_nonzero(loaded) <= 2:
        fit, moved, push = objective.take(shares)
        bound = found.bound(looked_at, moved, STEEPEST * steps)
    else:
        asked, x = objective.bear(shares)
        if x is None or objective.fitness(asked, x) < 1.0:
            return nothing, x, less
        strength = float(np.linalg.norm(dynamics.free[:3]))
        apart = found.bound(np.eye(size), shares, steps)
        far = float(np.linalg.norm(objective.scale() / strength * apart))
        if not objective.is_near(np.abs(x) + apart):
            return nothing, x, less
        pressed = objective.press(shares, x)
        (sureness, push), its_steps, start, moves = objective.bear(pressed), steps, None, None
        if len(pressed) > len(shares):  # no farther than the push that is wanted moves the one that is nearest
            moves = np.zeros((dynamics.size, len(objective.tilts)))
            moves[objective.tilts, range(len(objective.tilts))] = far * LEVER * strength
            its_steps, start = np.where(loaded > 0.0, far, 0.0), pressed[len(shares) :]
        bound = found.bound(looked_at, pressed[: len(shares)], its_steps, start, moves)
        most, least = shares + steps, np.maximum(pressed[: len(shares)] - its_steps, 0.0)
        fit = objective.fitness(sureness, push) * objective.keeping(most, least)
    stays = push is not None and fit >= 1.0 and objective.is_near(np.abs(push) + bound[width:])
    if not np.isfinite(bound).all():
        return nothing, push, _tell(dynamics, loaded, ALL_THAT_BEARS)
    return (bound[:width], push, "") if stays else (nothing, push, less)
