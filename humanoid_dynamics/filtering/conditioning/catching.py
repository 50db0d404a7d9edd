# SPDX-License-Identifier: Apache-2.0
"""Steps that catch the robot: where the next foot goes, when it must come down, and when one must be lifted.

A robot on one sole falls away from it at a known rate.  By what it is off its plan now it is off so many times more when the other foot
touches down, and there that foot must be.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.conditioning.window import FootState
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

BORNE = 0.008  # m; a point of falling that is off by this much is left to the sole that stands
CATCHING = (
    0.5,
    1.0,
)  # share of what a footprint should move that it moves at a plan; the second where the robot is lost otherwise
LATEST_CATCH = 0.08  # s before touch-down
FARTHEST_CATCH = 0.5  # of the leg
LOST = 0.03  # m; a point of falling that is off by more needs a step
TOO_LATE = 0.45  # s; a touch-down that is farther away helps nobody who is lost
DURATION = 0.25  # s of a step that catches
OUTSIDE = (
    -0.01
)  # m; a point of falling that is so far outside both soles, here inside, needs a step
AHEAD = 0.7  # share of the way out that must be forward or back: to the side the loaded foot cannot step
STAYING = 0.3  # s a foot that came down early stays


class Catcher:
    """How far the robot is from its plan, and what is done about it.

    Attributes:
        missed: (2,) by how much the point it falls to is off the plan [m].
    """

    def __init__(self, proportions: Proportions, dt: float) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
            dt: Time between rows [s].
        """
        self._w, self._leg, self._dt = proportions.pendulum, proportions.leg, dt
        self.missed: Vector = np.zeros(2)
        self._expected: Vector | None = None

    @property
    def lost(self) -> bool:
        """Whether the robot is so far from its plan that only a step catches it."""
        return math.hypot(*self.missed.tolist()) >= LOST

    def fall_of(self, place: Vector, rate: Vector) -> Vector:
        """Return the point the robot falls to.

        Args:
            place: (2 or 3,) centre of mass [m].
            rate: (2 or 3,) its velocity [m/s].
        """
        return np.asarray(place[:2] + rate[:2] / self._w)

    def compare(self, state: tuple[Vector, Vector], com: tuple[Matrix, Matrix, Matrix]) -> None:
        """Remember how far the robot is from its plan, and where it should be at the next one.

        Args:
            state: Centre of mass and its velocity.
            com: Places, velocities and accelerations that are planned, from now on until then.
        """
        self.missed = self.fall_of(*state) - self.fall_of(com[0][0], com[1][0])
        place, rate, second = (each[-1] for each in com)
        self._expected = self.fall_of(place + self._dt * rate, rate + self._dt * second)

    def see(self, state: tuple[Vector, Vector]) -> None:
        """See before anything is planned anew whether the robot is lost: it was pushed since the last plan.

        Args:
            state: Centre of mass and its velocity.
        """
        if self._expected is not None:
            missed, self._expected = self.fall_of(*state) - self._expected, None
            if math.hypot(*missed.tolist()) >= LOST:
                self.missed = missed

    def move_prints(self, feet: list[FootState], labels: Labels) -> None:
        """Move the next footprint by what the robot will be away from the plan when the foot touches down.

        Args:
            feet: What is settled about both feet; written to.
            labels: (n, 2) which feet stand in the rows that come.
        """
        size = math.hypot(*self.missed.tolist())
        for foot in (0, 1):
            state, stands = feet[foot], labels[:, foot]
            if state.stands:
                state.shift = np.zeros(2)
                continue
            left = float(np.argmax(stands)) * self._dt
            if stands.any() and feet[1 - foot].stands and left > LATEST_CATCH and size > BORNE:
                missed = self.missed * (size - BORNE) / size * np.exp(self._w * left)
                state.shift = bounded(
                    state.shift + CATCHING[int(size > LOST)] * missed, FARTHEST_CATCH * self._leg
                )

    def hurry(self, feet: list[FootState], labels: Labels, now: int) -> None:
        """Let a foot come down where the robot is lost on the other one, in place.

        Args:
            feet: What is settled about both feet; written to.
            labels: (n, 2) which feet stand in the rows that come.
            now: The row that comes next.
        """
        for foot in (0, 1):
            state = feet[foot]
            if state.down is not None and now >= state.down + round(STAYING / self._dt):
                state.down = None
            alone = not state.stands and feet[1 - foot].stands
            if (
                alone
                and state.down is None
                and self.lost
                and not labels[: round(TOO_LATE / self._dt), foot].any()
            ):
                state.down = now + round(DURATION / self._dt)
            if state.down is not None:
                first = max(state.down - now, 0)
                labels[first : first + round(STAYING / self._dt), foot] = True

    def lift(
        self, feet: list[FootState], soles: SupportArea, state: tuple[Vector, Vector], now: int
    ) -> bool:
        """Let a foot make a step where both soles cannot hold the robot; return whether one does.

        Args:
            feet: What is settled about both feet; written to.
            soles: The area under both.
            state: Centre of mass and its velocity.
            now: The row that comes next.
        """
        if not (self.lost and all(foot.stands for foot in feet)) or any(
            foot.slide for foot in feet
        ):
            return False
        fall = self.fall_of(*state)
        beyond = soles.A @ (fall - soles.centre) - soles.b
        edge = int(np.argmax(beyond))
        across = feet[0].at.place[:2] - feet[1].at.place[:2]
        across = across / max(float(np.hypot(*across)), 1e-9)
        if beyond[edge] < OUTSIDE or abs(float(soles.A[edge] @ across)) > np.sqrt(1.0 - AHEAD**2):
            return False
        nearer = int(np.argmin([np.hypot(*(fall - foot.at.place[:2])) for foot in feet]))
        feet[1 - nearer].slide = (now, now + round(DURATION / self._dt))
        self.missed = np.zeros(2)
        return True


def bounded(x: Vector, most: float) -> Vector:
    """Return a vector that is no longer than that.

    Args:
        x: The vector.
        most: Largest length.
    """
    return x * min(1.0, most / max(float(np.hypot(*x)), 1e-9))
