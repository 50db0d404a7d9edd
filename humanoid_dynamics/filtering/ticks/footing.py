"""Which soles really bear load, and where they stand: told by the schedule, confirmed by where the soles are."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.sole_edges import FLAT, find_edges
from humanoid_dynamics.filtering.ticks.footing_kernels import Ground, find_lowest, stop_sole, turn_level, upright
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BodyTerms
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_where_possible

TOUCH = (0.003, 0.0005)  # m; a sole that is to stand does so once it is this near to the ground; the second where it is measured
TORN = (0.008, 0.06)  # m and rad; a measured sole that is higher or steeper than this does not stand
TAKEN = 0.1  # s after touch-down, in which a sole may still be steep
RAMP = 0.04  # s; time in which a sole takes its load, and in which it gives it away
FIRST_LOAD = 0.05  # weights of the robot, at touch-down
TILT = (0.2, 0.6)  # rad; and this level; the second where it is late
LATE = 0.03  # s
STOPPING = 0.025  # s; way a sole still goes after touch-down, in times of its speed
REACHING = 0.004  # m; a sole that is late aims this far below the ground
SLOW = 0.05  # m/s; approach of a sole that is late
LYING = (0.02, 1.0)  # rad and rad/s; a sole on an edge that is this level and turns this slowly lies flat


class Footing:
    """The soles that stand, each where it touched down and not where it was meant to.

    Attributes:
        stands: Whether each sole bears load.
        place: (2, 3) where standing soles stand [m].
        turn: (2, 3, 3) their orientations.
        landed: Soles that touched down at the last update.
        torn: Whether each sole was torn off the ground.
        late: (2,) time since each sole should have touched down [s].
        age: (2,) time since each sole touched down [s].
        edges: What each sole stands on: 0 all of it, 1 the front edge, -1 the rear edge.
    """

    def __init__(self, proportions: Proportions) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
        """
        self._corners = proportions.corners
        self._rims = tuple(find_edges(corners) for corners in self._corners if len(corners) > 2)
        self.stands = [False, False]
        self.place: Matrix = np.zeros((2, 3))
        self.turn: Matrix = np.tile(np.eye(3), (2, 1, 1))
        self.landed: list[int] = []
        self.late = np.zeros(2)
        self.torn = [False, False]
        self.age = np.full(2, np.inf)
        self.edges = [FLAT, FLAT]
        self._touch, self._measured = TOUCH[0], False
        self._find, self._stop = compile_where_possible(find_lowest, (upright,)), compile_where_possible(stop_sole)
        self._level = compile_where_possible(turn_level)

    def restart(self) -> None:
        """Forget where soles stand."""
        self.stands, self.torn, self.edges = [False, False], [False, False], [FLAT, FLAT]
        self.late[:] = 0.0
        self.age[:] = np.inf

    def update(self, target: Target, terms: BodyTerms, dt: float, *, measured: bool = False) -> None:
        """Decide which soles bear load in a state, and write that into the target.

        Args:
            target: What is wanted; its touches and the places of standing soles are changed.
            terms: The robot in its state.
            dt: Time until the next tick [s].
            measured: Whether the state comes from a robot.
        """
        self._touch, self._measured = TOUCH[int(measured)], measured
        self.landed = []
        down = [self._bears(foot, target, terms) for foot in (0, 1)]
        wanted = target.touches
        if not any(down) and any(wanted) and any(self.stands):
            down = list(self.stands)  # nobody has taken over: who stands goes on standing
        self._choose_edges(down, target, terms)
        for foot in (0, 1):
            if down[foot] and not self.stands[foot]:
                self._latch(foot, target, terms)
            self.late[foot] = self.late[foot] + dt if wanted[foot] and not down[foot] else 0.0
            if down[foot]:
                self._stay(foot, target)
            elif wanted[foot]:
                self._reach(foot, target)
            fresh = 0.0 if any(self.stands) else np.inf  # who bears all load from the start has it already
            self.age[foot] = self.age[foot] + dt if down[foot] and self.stands[foot] else fresh
        self.stands = down
        target.touches = (down[0], down[1])
        if all(down):
            leaps = target.until[0] == target.until[1]  # nobody takes over
            for foot in (0, 1):
                left = np.inf if leaps else float(target.until[foot])
                share = min(float(self.age[foot]), max(left, 0.0)) / RAMP
                target.load[foot] = FIRST_LOAD + share if share < 1.0 else math.inf

    def _stay(self, foot: int, target: Target) -> None:
        """Write where a sole stands; one on an edge turns as the target has it."""
        target.sole_place[foot] = self.place[foot]
        if not self.edges[foot]:
            target.sole_turn[foot] = self.turn[foot]

    def _choose_edges(self, down: list[bool], target: Target, terms: BodyTerms) -> None:
        if any(target.edges) or any(self.edges):
            for foot in (0, 1):
                self._choose_edge(foot, (down[foot], down[1 - foot]), target, terms)

    def _choose_edge(self, foot: int, down: tuple[bool, bool], target: Target, terms: BodyTerms) -> None:
        """Let a standing sole turn about an edge where it is asked to and the other one stands, until it lies flat again."""
        if not down[0]:
            self.edges[foot] = FLAT
        elif target.edges[foot] and (down[1] or self.edges[foot]):
            self.edges[foot] = target.edges[foot]
        elif self.edges[foot]:
            spin = terms.twist[foot, 3:]
            level = float(terms.turn[foot, :, 2] @ target.normal[foot]) > math.cos(LYING[0])
            if level and float(spin @ spin) < LYING[1] ** 2:
                self.edges[foot] = FLAT

    def _comes_on_edge(self, foot: int, target: Target) -> bool:
        return bool(target.edges[foot] and self.stands[1 - foot] and self._rims)

    def _bears(self, foot: int, target: Target, terms: BodyTerms) -> bool:
        if not target.touches[foot]:
            return False
        if self.stands[foot] and self.edges[foot]:
            return True
        if self.stands[foot]:
            self.torn[foot] = self._measured and self.stands[1 - foot] and self.age[foot] > TAKEN and self._tears(foot, target, terms)
            return not self.torn[foot]
        return self._gap(foot, target, terms) <= self._touch

    def _tears(self, foot: int, target: Target, terms: BodyTerms) -> bool:
        """Whether a measured sole is off the ground, though it should stand."""
        level, lowest = self._lowest(foot, target, terms, tuple(self.place[foot].tolist()))
        return level < math.cos(TORN[1]) or lowest > TORN[0]

    def _gap(self, foot: int, target: Target, terms: BodyTerms) -> float:
        """Return how high the lowest corner of a sole is over the ground under it; infinite where it is too steep to stand."""
        level, lowest = self._lowest(foot, target, terms, _ground(foot, target))
        tilt = TORN[1] if self.torn[foot] else TILT[int(self.late[foot] > LATE or target.edges[foot] != FLAT)]
        return lowest if level > math.cos(tilt) else math.inf

    def _lowest(self, foot: int, target: Target, terms: BodyTerms, ground: Ground) -> tuple[float, float]:
        """Return the cosine of the tilt of a sole, and how high its lowest corner is over a plane through a point of the ground."""
        found = self._find(terms.place[foot], terms.turn[foot], self._corners[foot], target.normal[foot], ground)
        return float(found[0]), float(found[1])

    def _latch(self, foot: int, target: Target, terms: BodyTerms) -> None:
        sole, n = (terms.place[foot], terms.turn[foot], terms.twist[foot]), target.normal[foot]
        self._level(terms.turn[foot], n, self.turn[foot])
        if self._comes_on_edge(foot, target):
            point = self._rims[foot].middle(target.edges[foot])
            edge = terms.place[foot] + terms.turn[foot] @ point
            edge -= float((edge - np.array(_ground(foot, target))) @ n) * n
            self.place[foot] = edge - self.turn[foot] @ point
        else:
            self._stop(sole, n, _ground(foot, target), STOPPING, self.place[foot])
        self.landed.append(foot)

    def _reach(self, foot: int, target: Target) -> None:
        target.sole_place[foot] -= REACHING * target.normal[foot]
        target.sole_rate[foot] = 0.0
        target.sole_acceleration[foot] = 0.0


def level_turn(R: Matrix, normal: Vector) -> Matrix:
    """Return the orientation on a plane that looks the same way.

    Args:
        R: (3, 3) orientation of a sole.
        normal: (3,) normal of the plane.
    """
    out = np.empty((3, 3))
    compile_where_possible(turn_level)(R, normal, out)
    return out


def _ground(foot: int, target: Target) -> Ground:
    """Return the point of the ground under a sole."""
    x, y, _ = target.sole_place[foot].tolist()
    return x, y, float(target.ground[foot])
