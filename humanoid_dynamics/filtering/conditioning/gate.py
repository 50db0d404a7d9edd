# SPDX-License-Identifier: Apache-2.0
"""The hold gate: with a short look-ahead time stops before a foot is lifted until the robot is balanced on the other one."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.spatial.arrays import Matrix, Vector

FAR_ENOUGH = 0.55  # s of look-ahead from which on no gate is needed
INSIDE = 0.5  # share of the sole that must hold the point the robot falls towards
SLOW = (0.12, 0.35)  # m/s; speed of the centre of mass; the second where nothing is foreseen
LONGEST = 1.5  # s; then the foot is lifted anyway
BLIND = 0.25  # s of look-ahead; with less a touch-down is foreseen too late, and the robot never falls to where it does not stand
FASTEST = 0.5  # m/s; how fast the centre of mass goes to the other foot at most
OUT_OF_REACH = (
    0.3  # s; a foot that has not come down by then does not reach its place, and comes nearer
)
NEARER = 0.3  # m/s; how fast
PACE = (
    2.5,
    3.5,
)  # 1/s; how the centre of mass goes to the other foot, and how where nothing is foreseen


class HoldGate:
    """Whether a foot may be lifted now, and where the centre of mass goes until then."""

    def __init__(self, w: float, dt: float, *, active: bool, blind: bool = False) -> None:
        """Prepare.

        Args:
            w: Rate of the pendulum [1/s].
            dt: Time between rows [s].
            active: Whether it ever closes.
            blind: Whether nothing is foreseen.
        """
        self._w, self._dt, self.active = w, dt, active
        self._waited, self._pace, self._slow = 0.0, PACE[int(blind)], SLOW[int(blind)]
        self.com: Vector | None = None

    def closed(self, support: SupportArea, com: Vector, rate: Vector, *, landed: bool) -> bool:
        """Whether time must stop.

        Args:
            support: The sole that stays.
            com: (2,) centre of mass, seen from above [m].
            rate: (2,) its velocity [m/s].
            landed: Whether that sole is on the ground, and not only by plan.
        """
        falls_to = com + rate / self._w
        balanced = (
            landed
            and float(support.reach(falls_to[None])[0]) <= INSIDE
            and float(np.hypot(*rate)) < self._slow
        )
        if balanced or self._waited >= LONGEST:
            self._waited = 0.0
            return False
        if self.com is None:
            self.com = np.array(com)
        return True

    def wait(self, support: SupportArea, count: int) -> tuple[Matrix, Matrix, Matrix]:
        """Go towards the sole that stays.

        Args:
            support: That sole.
            count: How many rows.

        Returns:
            Places, velocities and accelerations seen from above, (count, 2) each.
        """
        start = self.com if self.com is not None else support.centre
        gap, pace = start - support.centre, self._pace
        far, near = math.hypot(*gap.tolist()), FASTEST / self._pace
        times = (
            self._dt * np.arange(count + 1)[:, None] - max(far - near, 0.0) / FASTEST
        )  # from where it begins to slow down
        left = np.where(
            times < 0.0,
            near - FASTEST * times,
            min(far, near) * np.exp(-pace * np.maximum(times, 0.0)),
        )
        ahead = gap / max(far, 1e-9)
        self.com, self._waited = support.centre + left[-1] * ahead, self._waited + self._dt * count
        rate, second = (
            np.maximum(-pace * left, -FASTEST),
            np.where(times < 0.0, 0.0, pace * pace * left),
        )
        return support.centre + left[:-1] * ahead, rate[:-1] * ahead, second[:-1] * ahead

    def nearer(self, late: Vector, stays: Vector, count: int) -> Vector:
        """Return by how much the place of a foot that does not come down is moved, (2,) [m]: nothing at first, then to the other one.

        Args:
            late: Where it should come down [m].
            stays: Where the other one stands [m].
            count: How many rows time stands still.
        """
        way = stays[:2] - late[:2]
        step = NEARER * self._dt * count if self._waited > OUT_OF_REACH else 0.0
        return np.asarray(way * (step / max(math.hypot(*way.tolist()), 1e-9)))

    def release(self) -> Vector | None:
        """Return where the centre of mass was led to, once, when time goes on."""
        com, self.com = self.com, None
        return com
