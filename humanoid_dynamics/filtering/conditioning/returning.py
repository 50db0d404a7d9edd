# SPDX-License-Identifier: Apache-2.0
"""Small steps back: once everything stands still, a foot that is not where the reference has it makes a step there."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.conditioning.catching import LOST
from humanoid_dynamics.filtering.conditioning.footholds import Feet, place_prints
from humanoid_dynamics.filtering.conditioning.slides import LEAD, SETTLED
from humanoid_dynamics.filtering.conditioning.swing import Print
from humanoid_dynamics.filtering.conditioning.window import FootState, Window

STILL = (
    0.02,
    0.02,
)  # m/s; soles and the centre of mass of a reference that are slower than this stand still
RESTING = 0.5  # s for which it has stood still, and the robot has been on its plan
ON_PLAN = 0.008  # m; a point of falling that is off by less is on its plan
FAR = (0.02, math.radians(5.0))  # m and rad; a foot that is farther away steps back
SLIPPED = (0.005, math.radians(0.4))  # the same of a foot that slipped where it stood
BACK = 0.4  # s of a step back
MOST = 6  # steps back, until the reference moves or the robot is pushed again


class Returner:
    """Which foot steps back, and when."""

    def __init__(self, dt: float) -> None:
        """Prepare.

        Args:
            dt: Time between rows [s].
        """
        self._dt = dt
        self._since: int | None = None
        self._made = 0

    def seek(
        self,
        window: Window,
        feet: list[FootState],
        limits: tuple[float, float, float],
        now: int,
        missed: float,
    ) -> None:
        """Let a foot step back where that is due; its small step is written to what is settled about it.

        Args:
            window: What is known, labels included.
            feet: What is settled about both feet; written to.
            limits: Share of the way that is gone, largest distance between the feet [m], and what part of a distance ahead counts.
            now: The row that comes next.
            missed: How far the point the robot falls to is off its plan [m].
        """
        if missed > LOST or not _stands_still(window, self._dt):
            self._since, self._made = None, 0
            return
        rests = missed < ON_PLAN and all(
            foot.stands and foot.slide is None and foot.down is None for foot in feet
        )
        if not rests or not window.labels.all():
            self._since = None
            return
        self._since = now if self._since is None else self._since
        if self._made >= MOST or now - self._since < round(RESTING / self._dt):
            return
        self._step(window, feet, limits, now)

    def _step(
        self, window: Window, feet: list[FootState], limits: tuple[float, float, float], now: int
    ) -> None:
        away = [self._away(window, feet, foot, limits) for foot in (0, 1)]
        foot = int(np.argmax(away))
        if away[foot] > 1.0:
            first = now + max(round(LEAD * len(window.labels)), round(SETTLED / self._dt))
            feet[foot].slide = first, first + round(BACK / self._dt)
            self._made += 1
        else:
            self._made = MOST

    def _away(
        self, window: Window, feet: list[FootState], foot: int, limits: tuple[float, float, float]
    ) -> float:
        """Return how far a foot is from where it would come down now, in times of what is far."""
        rows, state = slice(window.now, None), feet[foot]
        known = Feet(
            window.place[rows], window.heading, window.path, window.labels, np.zeros((2, 2))
        )
        prints = place_prints(
            known, (feet[0].at, feet[1].at), (foot != 0, foot != 1), limits, self._dt
        )
        slipped = state.meant is not None and _compare(state.meant, state.at, SLIPPED) > 1.0
        return _compare(state.at, prints[foot][0][2], SLIPPED if slipped else FAR)


def _compare(first: Print, second: Print, far: tuple[float, float]) -> float:
    """Return how far two prints are from each other, in times of what is far."""
    apart = second.place[:2] - first.place[:2]
    turn = abs(math.remainder(second.heading - first.heading, math.tau))
    return max(math.hypot(*apart.tolist()) / far[0], turn / far[1])


def _stands_still(window: Window, dt: float) -> bool:
    """Return whether the reference stands still in all rows that are known."""
    if float(window.speed.max()) > STILL[0]:
        return False
    return float(np.abs(np.diff(window.com, axis=0)).max()) < STILL[1] * dt
