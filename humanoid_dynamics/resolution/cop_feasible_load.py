# SPDX-License-Identifier: Apache-2.0
"""Load fractions for which contacts press inside themselves: the recommended transition of load [BP, eq. 28-29, assumption 2].

With 1 - s on one contact and s on the other, pressures at p_1 and p_2 add up to the zero-moment point z = (1 - s) p_1 + s p_2.  So s is
kept where p_1 and p_2 can lie within their contacts.  A step rolls over while one of them is a face and the other an edge, or in the plane
an edge and a point.  Then s rises in two parts, and passes at half time the one fraction for which both press where they face each other:
there contacts may change from heel to sole and from sole to toe, and no torque has a step.

With three contacts or more the force is the nearest one to that of ``transition`` that presses inside all contacts that are ground;
load fractions and centres of pressure give way together.  A contact with a small fraction fades: the force is the mean of those with and
without it, see ``split_contacts``, so that contacts come and go without a step, down to two and one.

On a slope contacts are ground in part: the fraction between two goes so far of its way, and of three a steep one presses so far from its
middle.

A set that cannot hold a body, such as an edge and a point on its line, has no answer, and forces beyond all bounds on the way there.  It
counts the less the nearer it is to that, and load fractions alone count in its place.  So do two contacts whose fractions are moved: with
a joint without motor in a leg all of the load on the other one may leave nothing that holds the joint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.resolution.cop_feasible_forces import RISE, SAME, PressedCorners, press_share
from humanoid_dynamics.resolution.fading import fade_of
from humanoid_dynamics.resolution.load_objective import ShareObjective
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


def bear_surely(J_u: Matrix, compliance: Vector, missing: Vector) -> tuple[float, Vector | None]:
    """Return C J_u mu with J_u' C J_u mu = missing: the push of least x'x / C that makes up for what is missing.

    Args:
        J_u: (size, equations) what the push does.
        compliance: (size,) how much each part of it gives way, C.
        missing: (equations,) what it is to do.

    Returns:
        Which part of an equation is not one of those before it, at least, zero where nothing bears; and the push (size,), then None.
    """
    if not J_u.shape[1]:
        return 1.0, np.zeros(len(J_u))
    roots = np.sqrt(compliance)
    A = J_u * roots[:, None]
    sizes = np.linalg.norm(A, axis=0)
    if len(A) < len(sizes) or not (sizes > 0.0).all() or not np.isfinite(A).all():
        return 0.0, None
    Q, R = np.linalg.qr(A / sizes)
    bearing, info = lapack.dtrtrs(R, missing / sizes, trans=1)
    push = roots * Q.dot(bearing)
    if info or not np.isfinite(push).all():
        return 0.0, None
    return float(np.abs(R.diagonal()).min()), push


FLOATING = ("free_flyer", "planar")
FARTHEST = 10.0  # forces of the contacts of a set, and moments over 1 m, in body weights or total forces, from which on it counts less
SURE = 1e-10  # how surely contacts bear, see ``bear_surely``, from which on they do
LESS = 0.1  # of what faces bear before pressures move; where they bear less after it the set counts less
STEEP_GROUND, GROUND = (
    0.8,
    0.9,
)  # cosines between a normal and the vertical from which on a contact begins to be ground, and is


class PressedShareObjective(ShareObjective):
    """``ShareObjective`` with shares, and pressures of three contacts or more, moved to where contacts on the ground can press.

    Heights may differ: places are counted along the total force, which bears on the same line wherever it is met.

    Attributes:
        tilts: Parts of the push that move centres of pressure.
        of_contacts: (size,) one for each part of the push of a contact, zero for others.
        reach: (size,) distance of the farthest corner from the origin of the surface that each part belongs to [m], zero for others.
    """

    def __init__(self, problem: DynamicsProblem) -> None:
        """Prepare.

        Args:
            problem: What is asked.
        """
        super().__init__(problem)
        self._corners = PressedCorners(problem.surfaces, problem.size)
        self.of_contacts = np.zeros(problem.size)
        self.of_contacts[: problem.parts[-1].stop if problem.parts else 0] = 1.0
        self.tilts = [row for part in problem.parts for row in range(part.start + 3, part.stop - 1)]
        self.reach = np.zeros(problem.size)
        for surface, part in zip(problem.surfaces, problem.parts, strict=True):
            self.reach[part] = np.linalg.norm(surface.vertices, axis=1).max()

    @np.errstate(all="ignore")  # what is not finite leaves shares as they are
    def adapt(self, shares: Vector) -> Vector:
        """Return the shares that are taken, where they are others than asked for followed by the push, see ``ShareObjective.target``.

        Args:
            shares: (contacts,) part of the load that each contact is to take, of sum 1.
        """
        self.lost = False
        if np.count_nonzero(shares) > 2:
            return self._mix(
                shares,
                (
                    (weight, *(self.take(some) if self.balances(some) else (0.0, some, None)))
                    for weight, some in split_contacts(shares)
                ),
            )
        moved = self._adapt_two(shares)
        return (
            shares
            if np.array_equal(moved, shares)
            else self._mix(shares, [(1.0, *self._weigh(moved))])
        )

    def _adapt_two(self, shares: Vector) -> Vector:
        """Return shares of two contacts; of another number as they are."""
        loaded = np.flatnonzero(shares)
        ground = self.find_ground(loaded) if len(loaded) == 2 else None
        if ground is None:
            return shares
        asked, moved = float(shares[loaded[1]]), np.array(shares)
        rolls = len({self.problem.surfaces[k].kind for k in loaded}) > 1
        upright, zmp, one, other = ground
        share = asked + upright * (press_share(asked, zmp, one, other, rolls) - asked)
        moved[loaded] = 1.0 - share, share
        return moved if 0.0 <= share <= 1.0 else shares

    def _mix(
        self, shares: Vector, found: Iterable[tuple[float, float, Vector, Vector | None]]
    ) -> Vector:
        """Return shares and push, the mean over sets of contacts, each with its weight and what ``take`` finds for it.

        For sets that do not bear, shares alone stand; where these have no push either, shares are as they were asked for.
        """
        taken, left = np.zeros(len(shares) + self.problem.size), 0.0
        for weight, fitness, moved, x in found:
            if x is not None:
                taken += weight * fitness * np.concatenate((moved[: len(shares)], x))
            left += weight * (1.0 - fitness)
        if left > 0.0:
            x = self.bear(shares)[1]
            if x is None:
                return shares
            taken += left * np.concatenate((shares, x))
        return taken

    def take(self, shares: Vector) -> tuple[float, Vector, Vector | None]:
        """Return what is taken where no contact fades: how fit it is, shares (more than two followed by their target), and the push.

        Args:
            shares: (contacts,) part of the load that each contact is to take, of sum 1.
        """
        if np.count_nonzero(shares) <= 2:
            return self._weigh(self._adapt_two(shares))
        asked, x = self.bear(shares)
        if x is None:
            return 0.0, shares, None
        moved = self.press(shares, x)
        sureness, push = self.bear(moved)
        return (
            self.fitness(asked, x)
            * self.fitness(sureness, push)
            * self.keeping(shares, moved[: len(shares)]),
            moved,
            push,
        )

    def _weigh(self, moved: Vector) -> tuple[float, Vector, Vector | None]:
        """Return how fit shares are, these, and their push."""
        sureness, x = self.bear(moved)
        return self.fitness(sureness, x), moved, x

    def bear(self, shares: Vector) -> tuple[float, Vector | None]:
        """Return how surely contacts bear, and what ``choose`` does, also where little bears; see ``bear_surely``.

        Args:
            shares: (contacts,) shares; where more numbers follow, these are the target of the push.
        """
        target, *way = self.give_way(shares)
        sureness, rest = bear_surely(*way)
        return sureness, None if rest is None else self.complete(target + rest)

    def fitness(self, sureness: float, x: Vector | None) -> float:
        """Return how much a set counts: one, but on the way to where its contacts bear nothing zero.

        Args:
            sureness: How surely they bear.
            x: (size,) its push, None where there is none.
        """
        if x is None:
            return 0.0
        nearness = self.most_force() / max(float(np.linalg.norm(x * self.of_contacts)), 1e-300)
        return min(max(sureness / SURE - 0.01, 0.0), 1.0) * min(1.0, nearness) ** 2

    def keeping(self, asked: Vector, moved: Vector) -> float:
        """Return how much a set counts whose pressures moved: one, but on the way to where all is taken from faces, which bear, zero.

        Args:
            asked: (contacts,) shares before.
            moved: (contacts,) shares after.
        """
        least = LESS * float(self.to_faces.dot(asked))
        return 1.0 if least == 0.0 else min(float(self.to_faces.dot(moved)) / least, 1.0)

    def is_near(self, forces: Vector) -> bool:
        """Whether forces of contacts are small enough for the set to count in full.

        Args:
            forces: (size,) all their parts [N or N·m].
        """
        return float(np.linalg.norm(forces * self.of_contacts)) <= self.most_force()

    def most_force(self) -> float:
        """Return the norm of a push [N and N·m] from which on a set counts less: times its fitness it is never more."""
        return FARTHEST * max(
            self.problem.unit_force,
            float(np.linalg.norm(self.problem.free[self.problem.base_linear])),
        )

    def balances(self, shares: Vector) -> bool:
        """Whether the contacts that have shares can hold a body whatever its motion: two points cannot, but in the plane.

        Args:
            shares: (contacts,) shares.
        """
        kinds = [
            surface.kind
            for surface, share in zip(self.problem.surfaces, shares, strict=True)
            if share > 0.0
        ]
        held = 1 if self.problem.robot.root == "planar" else 2
        return len(kinds) > held or any(kind != "point" for kind in kinds)

    def scale(self) -> Vector:
        """Return what a push is multiplied with to tell how far another one is, in forces, (size,)."""
        return np.sqrt(self._corners.weights)

    def press(self, shares: Vector, x: Vector) -> Vector:
        """Return shares, and the target of the push after them, nearest to those of three contacts or more by shares alone.

        Args:
            shares: (contacts,) part of the load that each contact is to take, of sum 1; returned as they are where nothing presses.
            x: (size,) push by shares alone.
        """
        problem, gravity = self.problem, self.problem.robot.model.gravity.linear
        if problem.robot.root not in FLOATING or not gravity.any():
            return shares
        up, places = (
            -gravity / np.linalg.norm(gravity),
            [problem.place(k) for k in range(len(shares))],
        )
        p_WB, force, moment = problem.total_wrench()
        pressing = float(up @ force)
        if not pressing > 0.0:
            return shares
        plane = np.linalg.svd(up[None])[2][1:].T
        plane[:, 1] = _turn(up, plane[:, 0])
        flat = plane - np.outer(up, force @ plane / pressing)
        zmp = np.array((-plane[:, 1] @ moment, plane[:, 0] @ moment)) / pressing
        level = []
        for (R, p), middle, ways in zip(
            places, self._corners.middles, self._corners.ways, strict=True
        ):
            level.append(
                np.column_stack(((R @ middle + p - p_WB) @ flat - zmp, (ways @ R.T @ flat).T))
            )
        forces, ground = (
            np.array([R.T @ force for R, _ in places]),
            np.array([ground_of(up, R) for R, _ in places]),
        )
        loaded = (shares > 0.0).astype(float)
        found = self._corners.press(
            x, forces, level, loaded, ground
        )  # on the ground all of a contact may press, else its middle
        if found is None:
            self.lost = True
            return shares
        moved, push = found
        target = self.target(moved)
        target[self.tilts] = push[self.tilts]
        return np.concatenate((moved, target))

    def find_ground(self, loaded: Indices) -> tuple[float, Vector, Matrix, Matrix] | None:
        """Return how much two contacts are ground, see ``ground_of``, the zero-moment point (2,), and their corners (k, 2).

        Both are from one to the other and across [m].

        None where they are not two contacts on the ground, apart from each other, that something presses on.
        """
        problem, gravity = self.problem, self.problem.robot.model.gravity.linear
        if problem.robot.root not in FLOATING or not gravity.any():
            return None
        up, places = -gravity / np.linalg.norm(gravity), [problem.place(int(k)) for k in loaded]
        p_WB, force, moment = problem.total_wrench()
        corners = [
            problem.surfaces[k].vertices @ R.T + (p - p_WB)
            for k, (R, p) in zip(loaded, places, strict=True)
        ]
        along = _find_way(corners, up)
        pressing, upright = float(up @ force), min(ground_of(up, R) for R, _ in places)
        if not (along.any() and pressing > 0.0 and upright > 0.0):
            return None
        plane = np.column_stack((along, _turn(up, along)))
        flat = plane - np.outer(
            up, force @ plane / pressing
        )  # along the total force to the height of the root
        zmp = np.array((-plane[:, 1] @ moment, plane[:, 0] @ moment)) / pressing
        return upright, zmp, corners[0] @ flat, corners[1] @ flat


def ground_of(up: Vector, R: Matrix) -> float:
    """Return how much a contact is ground: one where it is level, less and less on a slope, zero from ``STEEP_GROUND`` on.

    Args:
        up: (3,) the vertical.
        R: (3, 3) axes of the surface, its normal last.
    """
    return RISE((float(up @ R[:, 2]) - STEEP_GROUND) / (GROUND - STEEP_GROUND))


def split_contacts(shares: Vector) -> Iterator[tuple[float, Vector]]:
    """Return the sets of contacts whose answers are mixed, as shares, with their weights.

    The third largest share tells how much three contacts count against two, the fourth how much four against three: fully from ``fade`` on.
    Sets of one size count by the product of their shares.  So a contact that leaves takes all sets that it is in along, and what
    is left is the rule of the others.

    Args:
        shares: (contacts,) shares of sum one, two of them or more positive.

    Yields:
        A positive weight, all of sum one, and shares of sum one, zero outside the set.
    """
    loaded = np.flatnonzero(shares)
    largest = np.sort(shares[loaded])[::-1]
    parts = np.minimum(largest / fade_of(len(shares)), 1.0)
    parts[:2] = 1.0
    for size, weight in enumerate(parts - np.append(parts[1:], 0.0), start=1):
        if weight > 0.0:
            sets = [list(some) for some in combinations(loaded, size)]
            products = np.array(
                [np.prod(np.sort(shares[some])[::-1] / largest[:size]) for some in sets]
            )  # of the largest: none is too small
            for some, part in zip(sets, products / products.sum(), strict=True):
                taken = np.zeros(len(shares))
                taken[some] = shares[some] / shares[some].sum()
                yield float(weight * part), taken


def _find_way(corners: list[Matrix], up: Vector) -> Vector:
    """Return the level direction across an edge that lies across, else from middle to middle, of length one; zero where there is none."""
    between = corners[1].mean(axis=0) - corners[0].mean(axis=0)
    between -= up * (up @ between)
    across = [_turn(c[1] - c[0], up) for c in corners if len(c) == 2]
    way = next(
        (w for w in across if (w @ between) ** 2 > 0.5 * (w @ w) * (between @ between)), between
    )
    length, way = float(np.linalg.norm(way)), way * np.sign(way @ between)
    return way / length if length > SAME else np.zeros(3)


def _turn(one: Vector, other: Vector) -> Vector:
    """Return the cross product of two vectors; numpy's takes ten times as long."""
    (a, b, c), (x, y, z) = one.tolist(), other.tolist()
    return np.array((b * z - c * y, c * x - a * z, a * y - b * x))
