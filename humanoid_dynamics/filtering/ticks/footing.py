# SPDX-License-Identifier: Apache-2.0
"""Which soles really bear load, and where they stand: told by the schedule, confirmed by where the soles are."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.sole_edges import find_edges
from humanoid_dynamics.filtering.ticks.stance_kernels import (
    AGE,
    EDGE,
    LANDED,
    SETTLES,
    STANDS,
    follow_feet,
    turn_level,
)
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import DynamicsTerms
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

STOOD, CALM = (
    0.3,
    0.1,
)  # s after touch-down and m/s of the centre of mass: nobody looks before, and while the robot is faster
FOLLOWING = 0.1  # s; how quickly the place of a sole that slipped is followed
SLIPPED = (
    0.001,
    0.0025,
)  # m and rad; a sole that is so far from where it was told to stand has slipped

FootingState = tuple[Matrix, Matrix, Indices, Matrix, tuple[Matrix, Matrix] | None]


class ContactTracker:
    """The soles that stand, each where it touched down and not where it was meant to.

    Attributes:
        place: (2, 3) where standing soles stand [m].
        turn: (2, 3, 3) their orientations.
    """

    def __init__(self, proportions: Proportions) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
        """
        corners = proportions.corners
        rims = [find_edges(c).points for c in corners] if min(map(len, corners)) > 2 else []
        self._soles = (np.array(corners[0]), np.array(corners[1])), np.array(rims).reshape(-1, 2, 3)
        self.place: Matrix = np.zeros((2, 3))
        self.turn: Matrix = np.tile(np.eye(3), (2, 1, 1))
        self._marks: Indices = np.zeros((5, 2), dtype=np.intp)
        self._times = np.zeros((2, 2))
        self._seen: tuple[Matrix, Matrix] | None = None
        self._follow = compile_kernel(follow_feet)
        self.restart()

    @property
    def stands(self) -> tuple[bool, bool]:
        """Whether each sole bears load."""
        left, right = self._marks[STANDS].tolist()
        return left != 0, right != 0

    @property
    def settled(self) -> tuple[bool, bool]:
        """Whether each sole stands and lies on its ground, or on an edge; one that settles bears nothing until it does."""
        left, right = (self._marks[STANDS] > self._marks[SETTLES]).tolist()
        return left, right

    @property
    def edges(self) -> tuple[int, int]:
        """What each sole stands on: 0 all of it, 1 the front edge, -1 the rear edge."""
        left, right = self._marks[EDGE].tolist()
        return left, right

    @edges.setter
    def edges(self, edges: tuple[int, int]) -> None:
        self._marks[EDGE] = edges

    def landings(self) -> list[tuple[int, Vector, Matrix]]:
        """Return the soles that touched down since this was asked the last time, or slipped, with place and orientation."""
        landed = np.flatnonzero(self._marks[LANDED]).tolist()
        self._marks[LANDED] = 0
        return [(foot, self.place[foot], self.turn[foot]) for foot in landed]

    def _follow_slips(self, target: Target, terms: DynamicsTerms, dt: float) -> None:
        """See where soles are that have stood for longer, once the robot is calm: they slipped while it was pushed."""
        stay = all(self.stands) and not any(self.edges) and bool(np.isinf(target.until).all())
        if not stay or self._times[AGE].min() < STOOD or _is_apart(terms.com_rate[:2], CALM):
            self._seen = None
            return
        if self._seen is None:
            self._seen = self.place.copy(), self.turn.copy()
        share = dt / FOLLOWING
        for foot, (place, turn) in enumerate(zip(*self._seen, strict=True)):
            n = target.normal[foot]
            way = terms.place[foot] - place
            place += share * (way - float(way @ n) * n)
            turn[:] = level_turn((1.0 - share) * turn + share * terms.turn[foot], n)
            if _is_apart(place - self.place[foot], SLIPPED[0]) or _is_apart(
                turn[:, 0] - self.turn[foot, :, 0], SLIPPED[1]
            ):
                self.place[foot], self.turn[foot], self._marks[LANDED, foot] = place, turn, 1

    def restart(self) -> None:
        """Forget where soles stand."""
        self._marks[:] = 0
        self._times[:] = 0.0
        self._seen = None
        self._times[AGE] = np.inf

    def copy(self) -> FootingState:
        """Return what lives from tick to tick."""
        seen = None if self._seen is None else (self._seen[0].copy(), self._seen[1].copy())
        return (
            self.place.copy(),
            self.turn.copy(),
            self._marks.copy(),
            self._times.copy(),
            seen,
        )

    def restore(self, state: FootingState) -> None:
        """Go on from what was kept."""
        self.place[:], self.turn[:], self._marks[:], self._times[:], seen = state
        self._seen = None if seen is None else (seen[0].copy(), seen[1].copy())

    def update(
        self, target: Target, terms: DynamicsTerms, dt: float, *, measured: bool = False
    ) -> None:
        """Decide which soles bear load in a state, and write that into the target.

        Args:
            target: What is wanted; its touches and the places of standing soles are changed.
            terms: The robot in its state.
            dt: Time until the next tick [s].
            measured: Whether the state comes from a robot.
        """
        ground = target.until, target.load, target.ground, target.normal
        wanted = (
            *ground,
            target.sole_place,
            target.sole_turn,
            target.sole_rate,
            target.sole_acceleration,
        )
        held = self._marks, self._times, self.place, self.turn
        asked, body = (target.touches, target.edges), (terms.place, terms.turn, terms.twist)
        self._follow(asked, wanted, body, self._soles, held, (dt, measured))
        target.touches = self.stands
        if measured:
            self._follow_slips(target, terms, dt)


def _is_apart(way: Vector, far: float) -> bool:
    return float(way @ way) > far * far


def level_turn(R: Matrix, normal: Vector) -> Matrix:
    """Return the orientation on a plane that looks the same way.

    Args:
        R: (3, 3) orientation of a sole.
        normal: (3,) normal of the plane.
    """
    out = np.empty((3, 3))
    compile_kernel(turn_level)(R, normal, out)
    return out
