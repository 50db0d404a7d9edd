# SPDX-License-Identifier: Apache-2.0
"""Stage A as a whole: from the rows of a reference to targets for the tick, a few rows at a time.

Every plan looks at the rows that are known now, from a little before the row that comes next to the end of the look-ahead.  What has been
handed out is settled: which feet stood, where, how far the centre of mass was shifted.  All else is planned anew.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.conditioning.catching import Catcher
from humanoid_dynamics.filtering.conditioning.centre import CentrePlanner
from humanoid_dynamics.filtering.conditioning.flights import FlightPlanner
from humanoid_dynamics.filtering.conditioning.footholds import (
    Feet,
    Stance,
    keep_aims,
    lengthen_swings,
    offset_of_prints,
    place_prints,
    shift_print,
)
from humanoid_dynamics.filtering.conditioning.gate import BLIND, FAR_ENOUGH, HoldGate
from humanoid_dynamics.filtering.conditioning.labelling import HISTORY, ContactEstimator
from humanoid_dynamics.filtering.conditioning.returning import Returner
from humanoid_dynamics.filtering.conditioning.rows import RingBuffer
from humanoid_dynamics.filtering.conditioning.soles import SolePlanner, SoleRows, room_for_soles
from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.conditioning.swing import Print, Swing
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.conditioning.window import FootState, Window, edges_of, look
from humanoid_dynamics.filtering.conditioning.windows import bell_kernel, smooth_columns
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

ROLLING_AHEAD = 0.75  # what part of a distance ahead counts where soles roll


class Planner:
    """Targets from a track, with everything that is settled so far."""

    def __init__(self, proportions: Proportions, settings: Settings, track: ReferenceTrack) -> None:
        """Prepare.

        Args:
            proportions: Its measures.
            settings: Times and lengths.
            track: Rows of the reference.
        """
        self._p, self._settings, self._track = proportions, settings, track
        self._dt = settings.dt
        self._drift = bell_kernel(settings.stride_smoothing * settings.rate)
        self.now = 0
        self._offsets = RingBuffer(2)
        self._ahead = ROLLING_AHEAD if settings.toe_roll else 1.0
        self.restart()

    def restart(self) -> None:
        """Go on from the next row as if motion began there: feet are where the reference has them."""
        proportions, settings, track = self._p, self._settings, self._track
        self._last_height = proportions.height
        self.feet: list[FootState] = []
        self.labeller = ContactEstimator(proportions, settings, track)
        self.centre = CentrePlanner(proportions, settings, track)
        self._offsets.begin(self.now)
        self.catcher = Catcher(proportions, settings.dt)
        self.returner = Returner(settings.dt)
        far = settings.lookahead >= FAR_ENOUGH
        self.gate = HoldGate(
            proportions.pendulum,
            settings.dt,
            active=settings.gate and not far,
            blind=settings.lookahead < BLIND,
        )
        self.flights = FlightPlanner(proportions, settings, active=settings.flights and far)
        self.soles = SolePlanner(proportions, settings, self.labeller, self.flights)

    def plan(self, count: int, state: tuple[Vector, Vector] | None = None) -> list[Target]:
        """Plan the next rows; the track must be at least two rows longer.

        Args:
            count: How many, at most.
            state: Centre of mass [m] and its velocity [m/s] of the robot, for the gate.

        Returns:
            Their targets.
        """
        window = self._look()
        borne = None if state is None else (state[0][:2] + self._p.lean, state[1])
        if borne is not None and self.flights.leap is None and self._catches(borne):
            count = 1  # the next plan knows how far the robot is from this one
        window.labels = self.labeller.label(window, self.feet, self.now)
        self.flights.mark(window, self.now)
        if window.leap is not None:
            self._ride(window, state)
        elif state is not None:
            if self._settings.split_slides and not self.labeller.lies:
                self.returner.seek(
                    window,
                    self.feet,
                    self._limits,
                    self.now,
                    math.hypot(*self.catcher.missed.tolist()),
                )
            self.catcher.hurry(self.feet, window.labels, self.now)
            self.catcher.move_prints(self.feet, window.labels)
        count = min(count, len(window.labels) - 2)
        prints = self._stand(window)
        self.soles.roll(window, self.feet, prints)
        if self.gate.active and borne is not None:
            lifted = [
                foot for foot in (0, 1) if self.feet[foot].stands and not window.labels[0, foot]
            ]
            if len(lifted) == 1 and self._must_wait(lifted[0], borne):
                return self._wait(window, lifted[0], count)
            self._go_on()
            count = min(count, _until_change(window.labels))
        com = self.centre.plan(window, prints, count)
        if state is not None:
            self.catcher.compare(state, com)
        soles = self.soles.plan(window, self.feet, prints, count)
        targets = self._targets(window, com, soles, count)
        self._settle(window, prints, count)
        self._last_height = float(com[0][-1, 2])
        return targets

    def _ride(self, window: Window, state: tuple[Vector, Vector] | None) -> None:
        """While the robot flies nothing leads it: what is planned begins where it is."""
        if (
            state is not None
            and not any(foot.stands for foot in self.feet)
            and not window.labels[0].any()
        ):
            self.centre.rebase = np.array(state[0][:2])
            self.flights.land(
                window, (self.feet[0].at.place, self.feet[1].at.place), state, self._p.pendulum
            )

    def _look(self) -> Window:
        window = look(self._track, self._settings, self.now, self._p.gravity)
        if not self.feet:
            self._found(window)
        return window

    def _catches(self, state: tuple[Vector, Vector]) -> bool:
        """Lift a foot where only a step can catch the robot; what is planned then begins where it is."""
        if not self.catcher.lost:
            return False
        lifts = self.catcher.lift(
            self.feet, self.centre.support(self.feet[0].at, self.feet[1].at), state, self.now
        )
        if lifts:
            self.centre.rebase = state[0] - self._p.lean
        return lifts

    def _go_on(self) -> None:
        """Begin where the centre of mass was led to while time stood still."""
        led = self.gate.release()
        if led is not None and self.centre.rebase is None:
            self.centre.rebase = led - self._p.lean

    def _must_wait(self, foot: int, state: tuple[Vector, Vector]) -> bool:
        other = self.feet[1 - foot]
        return other.stands and self.gate.closed(
            self._other(foot), state[0][:2], state[1][:2], landed=not other.late
        )

    def _other(self, foot: int) -> SupportArea:
        """Return the sole that stays when a foot is lifted."""
        left, right = self.feet[0].at, self.feet[1].at
        return self.centre.support(None, right) if foot == 0 else self.centre.support(left, None)

    def _wait(self, window: Window, foot: int, count: int) -> list[Target]:
        """Let time stand still: both feet stand, the centre of mass goes over the one that stays, once that is on the ground."""
        other = self.feet[1 - foot]
        if other.late:
            moved = self.gate.nearer(other.at.place, self.feet[foot].at.place, count)
            other.at = shift_print(other.at, self.feet[foot].at, (1 - foot, moved), self._p.widest)
        place, rate, second = self.gate.wait(self._other(1 - foot if other.late else foot), count)
        level = np.full((count, 1), self._last_height)
        flat = np.zeros((count, 1))
        com = (
            np.hstack((place - self._p.lean, level)),
            np.hstack((rate, flat)),
            np.hstack((second, flat)),
        )
        soles = room_for_soles(count)
        for foot, state in enumerate(self.feet):
            soles[0][:, foot], soles[1][:, foot] = state.at.place, state.at.turn()
        targets = []
        for row in range(count):
            (target,) = self._targets(window, (com[0][row:], com[1][row:], com[2][row:]), soles, 1)
            target.touches, target.v, target.a = (True, True), 0.0 * target.v, 0.0 * target.a
            target.until[:] = np.inf
            targets.append(target)
        return targets

    def lie_down(self) -> None:
        """Make no small steps any more: the robot has fallen, and its feet are not where they were planned."""
        self.labeller.lies = True
        for state in self.feet:
            state.slide = state.down = None

    def landed(self, foot: int, place: Vector, turn: Matrix) -> None:
        """Say where a foot really touched down, or slipped to.

        Args:
            foot: 0 for the left, 1 for the right.
            place: (3,) origin of the sole [m].
            turn: (3, 3) orientation of the sole.
        """
        if not self.feet:  # planning begins anew and will find out
            return
        state = self.feet[foot]
        state.late = False
        if state.stands:
            state.meant = state.meant or state.at
            state.at = Print(
                np.array(place), float(np.arctan2(turn[1, 0], turn[0, 0])), state.at.path
            )

    @property
    def _limits(self) -> tuple[float, float, float]:
        """What footholds keep to: see ``place_prints``."""
        return self.labeller.scale, self._p.widest, self._ahead

    def _found(self, window: Window) -> None:
        """Settle where the feet stand at the very beginning."""
        limits = self.labeller.thresholds(window, self.now)
        for foot in (0, 1):
            low = window.height[window.now, foot] < limits.height_off
            place = np.array([*window.place[window.now, foot, :2], 0.0])
            at = Print(place, float(window.heading[0, foot]), window.path[0])
            self.feet.append(FootState(bool(low), at))
            if not low:
                self.feet[foot].swing = Swing(self.now, at)

    def _stand(self, window: Window) -> list[list[Stance]]:
        """Choose footholds (stages A3 and A5) and move the reference along with them."""
        now = slice(window.now, None)
        shift = np.array([state.shift for state in self.feet])
        landing = None if window.leap is None else (window.leap[2] - window.now, window.way)
        feet = Feet(window.place[now], window.heading, window.path, window.labels, shift, landing)
        at, stands = (self.feet[0].at, self.feet[1].at), (self.feet[0].stands, self.feet[1].stands)
        prints = place_prints(feet, at, stands, self._limits, self._dt)
        if window.leap is None and self._lengthen(window.labels, prints):
            prints = place_prints(feet, at, stands, self._limits, self._dt)
        keep_aims(prints, (self.feet[0].swing, self.feet[1].swing), self._dt)
        offset = np.empty((len(window.com), 2))
        offset[now] = offset_of_prints(feet, prints)
        offset[: window.now] = (
            self._offsets.between(window.start, self.now) if self.now else offset[window.now]
        )
        window.offset = offset
        way = smooth_columns(offset, self._drift)
        window.shift[:, :2] = way
        window.com[:, :2] += way
        window.place[:, :, :2] += way[:, None]
        return prints

    def _lengthen(self, labels: Labels, prints: list[list[Stance]]) -> bool:
        """Leave feet in the air for as long as their ways need; return whether that changes anything."""
        last = [
            (state.at, 0 if state.swing is None else self.now - state.swing.start)
            for state in self.feet
        ]
        return lengthen_swings(labels, prints, last, self._dt)

    def _targets(
        self, window: Window, com: tuple[Matrix, Matrix, Matrix], soles: SoleRows, count: int
    ) -> list[Target]:
        """Put together the targets of the next rows."""
        dt, now, labels = self._dt, self.now, window.labels
        rates = self._track.rate.between(now, now + count + 1)
        placed = self._track.q.between(now, now + count).copy()
        placed[:, :3] += window.shift[window.now : window.now + count]
        v, a = 0.5 * (rates[:-1] + rates[1:]), (rates[1:] - rates[:-1]) / dt
        ground, load = np.zeros((count, 2)), np.full((count, 2), np.inf)
        normals, until = np.zeros((count, 2, 3)), count_until_lift(labels, count, dt)
        normals[:, :, 2] = 1.0
        place, turn, rate, second = soles
        touches, aloft = (
            labels[:count].tolist(),
            window.aloft[window.now : window.now + count].tolist(),
        )
        return [
            Target(
                (touches[k][0], touches[k][1]), com[0][k], com[1][k], com[2][k], placed[k], v[k], a[k],
                place[k], turn[k], rate[k], second[k], ground[k], normals[k], until[k], load[k], (now + k) * dt,
                aloft=aloft[k], leaps=self.flights.leads(now + k), edges=edges_of(window, k),
            )
            for k in range(count)
        ]  # fmt: skip

    def _settle(self, window: Window, prints: list[list[Stance]], count: int) -> None:
        """Go on to the row after those handed out."""
        for foot in (0, 1):
            state, labels = self.feet[foot], window.labels[:count, foot].tolist()
            state.tilt = self.soles.tilt(foot, count)
            at = next((p[2] for p in prints[foot] if p[0] <= count - 1 < p[1]), None)
            stood, state.stands = state.stands, labels[-1]
            state.late = state.stands and (state.late or not (stood and all(labels)))
            if state.stands and at is not None:
                state.at, state.swing = at, None
                if not (stood and all(labels)):
                    state.since = self.now + (
                        0 if all(labels) else count - labels[::-1].index(False)
                    )
            else:
                state.meant = None
                state.at = next((p[2] for p in reversed(prints[foot]) if p[0] < count), state.at)
                state.swing = state.next
        self._offsets.extend(window.offset[window.now : window.now + count])
        self.now += count
        oldest = self.now - round(HISTORY * self._settings.rate)
        self._offsets.forget(oldest)
        self._track.forget(oldest)


def _until_change(labels: Labels) -> int:
    """Return after how many rows a foot is lifted that stands in the first one; all rows where none is."""
    lifted = np.flatnonzero((labels[:-1] & ~labels[1:]).any(axis=1))
    return int(lifted[0]) + 1 if len(lifted) else len(labels)


def count_until_lift(labels: Labels, count: int, dt: float) -> Matrix:
    """Return how long each foot goes on standing in the first rows, (count, 2) [s]; infinite where its end is not seen.

    Args:
        labels: (n, 2) which feet stand.
        count: How many rows.
        dt: Time between rows [s].
    """
    until = np.full((count, 2), np.inf)
    for foot in (0, 1):
        first = 0
        for row in np.flatnonzero(
            ~labels[:, foot]
        ).tolist():  # each is the next for those since the last
            if first >= count:
                break
            until[first : row + 1, foot] = dt * (row - np.arange(first, min(row + 1, count)))
            first = row + 1
    return until
