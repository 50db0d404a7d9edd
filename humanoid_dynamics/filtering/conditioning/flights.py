# SPDX-License-Identifier: Apache-2.0
"""Flights: stretches in which the reference falls freely with both feet off the ground, and what a leap asks of the centre of mass.

A leap goes from both soles to both soles, in place.  Before lift-off the centre of mass is led to the speed that the flight needs, while it
flies nothing can lead it, and after touch-down it is led back to the reference.  Soles stay flat, so that legs lift off lower than those of
a human on toes, and a leap is as high as legs can push it: it may be shorter than the flight of the reference, never longer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.filtering.conditioning.catching import bounded
from humanoid_dynamics.filtering.conditioning.swing import CLEARANCE, go_on
from humanoid_dynamics.filtering.conditioning.window import Window
from humanoid_dynamics.filtering.conditioning.windows import bell_kernel
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

PREPARED = 0.25  # s before lift-off, at which a leap must be seen whole
PUSH, ABSORB = (
    0.4,
    0.35,
)  # s; in which the speed of a leap is built up, at most, and in which it is taken up
GROUNDED = 0.2  # s; both feet stand for this time before and after
LONGEST, SHORTEST = 0.6, 0.1  # s; flights that are longer or shorter are not made
SHORTER = (1.0, 0.85, 0.7, 0.55, 0.4)  # shares of the flight of the reference that are tried
HARDEST_PUSH = 1.5  # weights that legs push beyond the weight
REACH = (
    0.99  # of the height of the centre of mass in the resting posture: where flat soles lift off
)
ROLLING, HEEL = (
    0.6,
    0.12,
)  # s and m; a foot that is never higher in this time before a flight rolls onto its toes
RISE = 0.7  # share of what the centre of mass rises that feet rise too
SETTLED = 0.06  # s before touch-down
FARTHEST = 0.4  # of the leg; feet come down no farther from where they were to
LOW = 0.06  # m; both feet must be so low at touch-down
BESIDE = 0.05  # s; of standing that tells where a foot is


@dataclass(slots=True, eq=False)
class Leap:
    """A flight that is made.

    Attributes:
        start: Row at which the centre of mass begins to be led to it.
        first: Row without contact.
        after: Row of touch-down.
        way: (2,) how far feet go meanwhile [m].
    """

    start: int
    first: int
    after: int
    way: Vector = field(default_factory=lambda: np.zeros(2))


class FlightPlanner:
    """Which flights are made.

    Attributes:
        leap: The flight that is due, or None.
    """

    def __init__(self, proportions: Proportions, settings: Settings, *, active: bool) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
            settings: Times and lengths.
            active: Whether flights are made at all.
        """
        self._p, self._dt, self._active = proportions, settings.dt, active
        self._kernel = bell_kernel(min(0.06, 0.15 * settings.lookahead) * settings.rate)
        self.leap: Leap | None = None

    def mark(self, window: Window, now: int) -> None:
        """Choose the flight that is due, and take both soles off the ground for it.

        Args:
            window: What is known; its labels are written to.
            now: The row that comes next.
        """
        if self.leap is not None and now >= self.leap.after + self._rows(ABSORB):
            self.leap = None
        if self.leap is None and self._active:
            self._keep_down(window)
            self.leap = self._choose(window)
        if self.leap is None:
            return
        leap, grounded = self.leap, self._rows(GROUNDED)
        rows = np.arange(now, now + len(window.labels))
        window.labels[(rows >= min(leap.start, leap.first - grounded)) & (rows < leap.first)] = True
        window.labels[(rows >= leap.first) & (rows < leap.after)] = False
        window.labels[(rows >= leap.after) & (rows < leap.after + grounded)] = True
        window.leap = (
            leap.start - window.start,
            leap.first - window.start,
            leap.after - window.start,
        )
        window.led = self._lead(window, window.leap)
        window.way = leap.way
        window.place[:, :, 2] += (window.led[0] - window.com[:, 2])[:, None]

    def land(
        self, window: Window, at: tuple[Vector, Vector], state: tuple[Vector, Vector], w: float
    ) -> None:
        """Let feet come down where the robot falls to.

        Args:
            window: What is known; how far feet go is written to it.
            at: Where each foot left the ground, (3,) each [m].
            state: Centre of mass and its velocity.
            w: Rate of the pendulum [1/s].
        """
        leap = self.leap
        left = 0.0 if leap is None else (leap.after - window.start - window.now) * self._dt
        if leap is None or left < SETTLED:
            return
        falls = state[0][:2] + (left + 1.0 / w) * state[1][:2]
        leap.way = bounded(falls - 0.5 * (at[0] + at[1])[:2], FARTHEST * self._p.leg)
        window.way = leap.way

    @property
    def clearance(self) -> float:
        """How high feet are lifted in the flight that is due [m]."""
        T = 0.0 if self.leap is None else (self.leap.after - self.leap.first) * self._dt
        return CLEARANCE + RISE * self._p.gravity * T * T / 8.0

    def leads(self, row: int) -> bool:
        """Whether a row of the track is on the way into a flight or out of it.

        Args:
            row: The row.
        """
        return self.leap is not None and self.leap.start <= row < self.leap.after + self._rows(
            ABSORB
        )

    def _rows(self, time: float) -> int:
        return round(time / self._dt)

    def _lead(self, window: Window, leap: tuple[int, int, int]) -> tuple[Vector, Vector, Vector]:
        half = len(self._kernel) // 2
        height = np.convolve(
            np.pad(window.com[:, 2], half, mode="edge"), self._kernel, mode="valid"
        )
        return lead(height, leap, REACH * self._p.height, (self._dt, self._p.gravity))

    def _keep_down(self, window: Window) -> None:
        """Let feet stand that only roll onto their toes before a flight."""
        flights = [first for first, _ in stretches(window.aloft) if first > window.now]
        if not flights:
            return
        rows = slice(max(flights[0] - self._rows(ROLLING), window.now), flights[0])
        for foot in (0, 1):
            labels = window.labels[rows.start - window.now : rows.stop - window.now, foot]
            if float(window.height[rows, foot].max(initial=0.0)) < HEEL:
                labels[:] = True

    def _choose(self, window: Window) -> Leap | None:
        """Return the first flight ahead if it can be made: seen whole, in time, and from both soles to both."""
        ahead = window.now + self._rows(PREPARED)
        flights = [rows for rows in stretches(window.aloft) if rows[0] >= ahead]
        beside = self._rows(BESIDE)
        if not flights or flights[0][1] + beside > len(window.com):
            return None
        first, after = flights[0]
        row = first - window.now
        stood = window.labels[max(row - self._rows(GROUNDED), 0) : row].any(axis=0)
        lands = window.height[after : after + beside].min(axis=0) < LOW
        if not (stood.all() and lands.all()) or (after - first) * self._dt > LONGEST:
            return None
        for share in SHORTER:
            cut = round(0.5 * (1.0 - share) * (after - first))
            leap = (max(first + cut - self._rows(PUSH), window.now), first + cut, after - cut)
            if (leap[2] - leap[1]) * self._dt < SHORTEST:
                break
            if float(self._lead(window, leap)[2].max()) <= HARDEST_PUSH * self._p.gravity:
                return Leap(leap[0] + window.start, leap[1] + window.start, leap[2] + window.start)
        return None


def stretches(rows: Labels) -> list[tuple[int, int]]:
    """Return where rows are true.

    Args:
        rows: (n,) truths.

    Returns:
        (first row, row after the last) of each stretch.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], rows, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def lead(
    height: Vector, leap: tuple[int, int, int], reach: float, how: tuple[float, float]
) -> tuple[Vector, Vector, Vector]:
    """Lead the height of the centre of mass into a flight and out of it.

    Args:
        height: (n,) heights of the reference [m].
        leap: Rows at which it begins to be led, without contact, and of touch-down.
        reach: Largest height at lift-off and touch-down [m].
        how: Time between rows [s], and size of gravity [m/s^2].

    Returns:
        Heights, their rates and second rates, (n,) each.
    """
    (start, first, after), (dt, g), n = leap, how, len(height)
    rate = np.gradient(height, dt)
    states = np.column_stack((height, rate, np.gradient(rate, dt)))
    low, high = (min(float(height[min(max(row, 0), n - 1)]), reach) for row in (first, after))
    T = (after - first) * dt
    up = (high - low) / T + 0.5 * g * T
    flight: Indices = np.arange(max(first, 0), min(after, n - 1) + 1)
    t = (flight - first) * dt
    leaves, lands = np.array((low, up, -g)), np.array((high, up - g * T, -g))
    taken = min(after + round(ABSORB / dt), n - 1)
    if taken > max(after, 0):
        _join(states, (after, taken), (lands, states[taken]), dt)
    if first > 0:
        _join(states, (max(start, 0), first), (states[max(start, 0)], leaves), dt)
    states[flight] = np.column_stack(
        (low + t * (up - 0.5 * g * t), up - g * t, np.full(len(t), -g))
    )
    return states[:, 0], states[:, 1], states[:, 2]


def _join(states: Matrix, rows: tuple[int, int], ends: tuple[Vector, Vector], dt: float) -> None:
    """Go from one state to another between two rows, in place."""
    between: Indices = np.arange(max(rows[0], 0), rows[1])
    since = np.asarray((between - rows[0]) * dt, dtype=np.float64)
    states[between] = go_on(ends[0][:, None], ends[1][:, None], (rows[1] - rows[0]) * dt, since)[
        :, :, 0
    ]
