# SPDX-License-Identifier: Apache-2.0
"""Feet that an operator leads: one at a time is lifted, once the robot is balanced on the other one, and put down again."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.ticks.footing import level_turn
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import DynamicsTerms
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

LIFT, LOWERED = (
    0.025,
    0.012,
)  # m; a goal higher than the first asks to be lifted, one lower than the second to be put down
HIGHEST, FARTHEST = 0.25, 0.35  # of the leg; over the ground, and ahead or behind of the other foot
STEEPEST, LEAST = (
    0.6,
    1e-6,
)  # rad; how far a lifted sole is turned from level, and the sine below which it has no way back
NARROWEST = 0.8  # of the distance of the feet at the start
BALANCED = 0.45  # share of the standing sole in which the capture point must be
PATIENCE, PAUSE = (
    3.0,
    1.0,
)  # s; how long balance is waited for, and how long a foot is refused after that
GIVING = 0.06  # s in which the load goes to the other foot
SINKING = 0.2  # m/s; how fast a foot is put down
DEEPER = 0.04  # m; how far below the ground it is drawn until it is there; the ground stops it
NEAR = (
    0.9  # share of the sole that bears all; a capture point farther out calls the lifted foot down
)
TILTED = 0.25  # rad; so does a base that tilts so far from where it was when the foot was lifted
HASTY = 0.6  # m/s; how fast a foot is put down then
REST = 2.0  # s; how long it is refused after that
UP = read_only([0.0, 0.0, 1.0])

REASONS = {
    "": "",
    "other": "the other foot is not on the ground, or is asked for as well",
    "balance": "the centre of mass did not get over the other foot",
    "fall": "the robot was about to fall, so the foot was put down",
}


class LedFeet:
    """What led feet do: ``stand``, ``shift`` to the other one, ``give`` load away, be ``up``, go ``down``.

    Attributes:
        phase: Of each foot.
        soles: Frames of both soles, and their middles in them.
        refused: Why a foot that is asked for is not lifted, a key of ``REASONS``; empty where it is not asked for or is lifted.
    """

    def __init__(self, proportions: Proportions) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
        """
        self._leg, self._w = proportions.leg, proportions.pendulum
        self._corners = proportions.corners
        self.soles = tuple(zip(proportions.soles, proportions.centres, strict=True))
        self.phase, self.refused = ["stand", "stand"], ["", ""]
        self._timer, self._pause = np.zeros(2), np.zeros(2)
        self._why, self._lateral = ["", ""], 0.2
        self._upright = UP
        self._goal_p, self._goal_R = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))

    def restart(self, terms: DynamicsTerms) -> None:
        """Stand on both feet.

        Args:
            terms: The robot where it stands.
        """
        self.phase, self.refused = ["stand", "stand"], ["", ""]
        self._timer[:] = self._pause[:] = 0.0
        self._lateral = NARROWEST * float(np.linalg.norm((terms.place[0] - terms.place[1])[:2]))

    @property
    def rescues(self) -> bool:
        """Whether a foot is put down because the robot was about to fall."""
        return "down" in self.phase and "fall" in self.refused

    def reach(self, foot: int, terms: DynamicsTerms) -> float:
        """Return how far out the capture point is in a sole: one on the edge, zero in the middle.

        Args:
            foot: Which one.
            terms: The robot in its state.
        """
        capture = (terms.com + terms.com_rate / self._w)[:2]
        return float(self.area((foot,), terms, 1.0).reach(capture[None])[0])

    @property
    def standing(self) -> tuple[bool, bool]:
        """Whether each foot should bear load."""
        return self.phase[0] != "up", self.phase[1] != "up"

    @property
    def alone(self) -> int:
        """The foot over which the centre of mass should be; -1 for both."""
        for foot in (0, 1):
            if self.phase[foot] != "stand":
                return 1 - foot
        return -1

    def update(
        self, heights: Vector, terms: DynamicsTerms, stands: tuple[bool, bool], dt: float
    ) -> None:
        """Go on for one tick.

        Args:
            heights: (2,) height of the goals of the soles over the ground [m]; zero for feet that are not led.
            terms: The robot in its state.
            stands: Whether each sole bears load.
            dt: Time until the next tick [s].
        """
        for foot in (0, 1):
            asked = heights[foot] > (LIFT if self.phase[foot] == "stand" else LOWERED)
            self.refused[foot] = ""
            self._pause[foot] = max(0.0, self._pause[foot] - dt)
            self._timer[foot] += dt
            self._go_on(foot, asked, terms, stands)

    def _go_on(
        self, foot: int, asked: bool, terms: DynamicsTerms, stands: tuple[bool, bool]
    ) -> None:
        match self.phase[foot]:
            case "stand":
                if asked:
                    self._ask(foot, all(stands))
            case "shift":
                self._shift(foot, asked, terms)
            case "give":
                self._give(foot, asked, terms)
            case "up":
                self._stay_up(foot, asked, terms)
            case "down":
                self._come_down(foot, stands)

    def _go(self, foot: int, phase: str) -> None:
        self.phase[foot], self._timer[foot] = phase, 0.0

    def _ask(self, foot: int, both: bool) -> None:
        if self.phase[1 - foot] != "stand" or not both:
            self.refused[foot] = "other"
        elif self._pause[foot] > 0.0:
            self.refused[foot] = self._why[foot]
        else:
            self._go(foot, "shift")

    def _shift(self, foot: int, asked: bool, terms: DynamicsTerms) -> None:
        if not asked:
            self._go(foot, "stand")
        elif self.is_balanced(1 - foot, terms):
            self._go(foot, "give")
        elif self._timer[foot] > PATIENCE:
            self._go(foot, "stand")
            self._pause[foot], self._why[foot] = PAUSE, "balance"

    def _give(self, foot: int, asked: bool, terms: DynamicsTerms) -> None:
        if not asked or not self.is_balanced(1 - foot, terms, 2.0 * BALANCED):
            self._go(foot, "stand")
        elif self._timer[foot] > GIVING:
            self._go(foot, "up")
            self._upright = terms.R_WB[2].copy()

    def _stay_up(self, foot: int, asked: bool, terms: DynamicsTerms) -> None:
        tilted = float(self._upright @ terms.R_WB[2]) < np.cos(TILTED)
        falls = tilted or self.reach(1 - foot, terms) > NEAR
        if asked and not falls:
            return
        self._go(foot, "down")
        self._goal_p[foot], self._goal_R[foot] = terms.place[foot], level_turn(terms.turn[foot], UP)
        self._why[foot] = self.refused[foot] = "fall" if falls else ""

    def is_balanced(self, foot: int, terms: DynamicsTerms, share: float = BALANCED) -> bool:
        """Return whether the robot can stand on one foot alone.

        Args:
            foot: Which one.
            terms: The robot in its state.
            share: Share of the sole in which the capture point must be.
        """
        return self.reach(foot, terms) < share

    def area(self, feet: tuple[int, ...], terms: DynamicsTerms, share: float) -> SupportArea:
        """Return the area under soles.

        Args:
            feet: Which.
            terms: Where they are.
            share: Share of it that is used.
        """
        corners = [terms.place[foot] + self._corners[foot] @ terms.turn[foot].T for foot in feet]
        return SupportArea(np.vstack(corners)[:, :2], share)

    def bound(self, foot: int, p: Vector, terms: DynamicsTerms, ground: float) -> Vector:
        """Return where the sole may go, nearest to where it is wanted.

        Args:
            foot: Which one.
            p: (3,) where it is wanted [m].
            terms: The robot in its state.
            ground: Height of the ground [m].

        Returns:
            (3,) place.
        """
        other, turn = terms.place[1 - foot], level_turn(terms.turn[1 - foot], UP)
        way = turn.T @ (p - other)
        side = 1.0 if foot == 0 else -1.0
        way[0] = min(max(way[0], -FARTHEST * self._leg), FARTHEST * self._leg)
        way[1] = side * min(max(side * way[1], self._lateral), self._lateral + FARTHEST * self._leg)
        bounded: Vector = np.asarray(other + turn @ way)
        bounded[2] = min(max(float(p[2]), ground), ground + HIGHEST * self._leg)
        return bounded

    def _come_down(self, foot: int, stands: tuple[bool, bool]) -> None:
        if self._why[foot] == "fall":
            self._pause[foot], self.refused[foot] = REST, "fall"
        if stands[foot]:
            self._go(foot, "stand")

    def bound_turn(self, foot: int, R: Matrix, terms: DynamicsTerms) -> Matrix:
        """Return how the sole may be turned, nearest to how it is wanted: not far from level.

        Args:
            foot: Which one.
            R: (3, 3) orientation that is wanted.
            terms: The robot in its state.
        """
        axis = np.cross(R[:, 2], UP)
        sine = float(np.linalg.norm(axis))
        tilt = float(np.arctan2(sine, R[2, 2]))
        if tilt <= STEEPEST:
            return R
        if sine < LEAST:
            return level_turn(terms.turn[1 - foot], UP)
        return np.asarray(pin.exp3((tilt - STEEPEST) / sine * axis) @ R)

    def sink(self, foot: int, ground: float, dt: float) -> tuple[Vector, Matrix]:
        """Return where a foot that is put down goes next.

        Args:
            foot: Which one.
            ground: Height of the ground [m].
            dt: Time until the next tick [s].

        Returns:
            p: (3,) place.
            R: (3, 3) orientation.
        """
        self._goal_p[foot, 2] = max(
            ground - DEEPER, self._goal_p[foot, 2] - (HASTY if self.rescues else SINKING) * dt
        )
        return self._goal_p[foot], self._goal_R[foot]

    def write(self, target: Target) -> None:
        """Write into a target which feet should stand, and when they will be lifted.

        Args:
            target: The target.
        """
        target.touches = self.standing
        for foot in (0, 1):
            target.until[foot] = (
                max(GIVING - self._timer[foot], 0.0) if self.phase[foot] == "give" else np.inf
            )
