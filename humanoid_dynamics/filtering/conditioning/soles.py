# SPDX-License-Identifier: Apache-2.0
"""Stage A5: how soles move from print to print, in the air and while they roll."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.conditioning.contacts import PLANNED_FEET
from humanoid_dynamics.filtering.conditioning.flights import FlightPlanner
from humanoid_dynamics.filtering.conditioning.footholds import Stance
from humanoid_dynamics.filtering.conditioning.labelling import ContactEstimator
from humanoid_dynamics.filtering.conditioning.rolling import Roll, RollPlanner
from humanoid_dynamics.filtering.conditioning.swing import (
    CLEARANCE,
    SETTLING,
    Print,
    Swing,
    against,
    find_rates,
    go_on,
    offset_to,
    swing_path,
    turn_rows,
)
from humanoid_dynamics.filtering.conditioning.window import FootState, Window
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SoleRows = tuple[Matrix, Matrix, Matrix, Matrix]


class SolePlanner:
    """Places, orientations and motions of both soles for the next rows."""

    def __init__(
        self,
        proportions: Proportions,
        settings: Settings,
        labeller: ContactEstimator,
        flights: FlightPlanner,
    ) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
            settings: Times and lengths.
            labeller: What tells whether feet were planned.
            flights: What knows how high feet go in a flight.
        """
        self._p, self._dt, self._labeller, self._flights = (
            proportions,
            settings.dt,
            labeller,
            flights,
        )
        self._rolling = RollPlanner(proportions, settings)
        self._rolls: list[Roll | None] = [None, None]

    def roll(self, window: Window, feet: list[FootState], prints: list[list[Stance]]) -> None:
        """Find out when soles roll, and mark those rows in the window.

        Args:
            window: What is known; written to.
            feet: What is settled about both feet.
            prints: Where feet will stand.
        """
        self._rolls = self._rolling.plan(window, feet, prints)

    def tilt(self, foot: int, count: int) -> Vector | None:
        """Return by how much the heel of a foot is up in the last of some rows, rate and second rate; None where it does not roll.

        Args:
            foot: 0 for the left, 1 for the right.
            count: How many rows.
        """
        if not self._rolling.active:
            return None
        rolls = (self._rolls[foot], self._rolling.heels[foot])
        now = next((each for each in rolls if each and each.first < count <= each.after), None)
        return None if now is None else now.tilt[count - 1 - now.start]

    def plan(
        self, window: Window, feet: list[FootState], prints: list[list[Stance]], count: int
    ) -> SoleRows:
        """Plan the next rows.

        Args:
            window: What is known.
            feet: What is settled about both feet; a swing that goes on is written there.
            prints: Where feet will stand.
            count: How many rows.

        Returns:
            (count, 2, 3) places [m], (count, 2, 3, 3) orientations, (count, 2, 6) velocities and accelerations.
        """
        soles = room_for_soles(count)
        for foot in (0, 1):
            self._plan_foot(window, foot, feet[foot], prints[foot], soles)
        return soles

    def _plan_foot(
        self, window: Window, foot: int, state: FootState, prints: list[Stance], soles: SoleRows
    ) -> None:
        """Write places, orientations, velocities and accelerations of a sole for the next rows."""
        count = len(soles[0])
        places, turns = np.empty((count + 2, 3)), np.empty((count + 2, 3, 3))
        labels = [
            state.stands,
            *window.labels[: count + 1, foot].tolist(),
        ]  # row 0 is the one before the next
        places[:], turns[:] = state.at.place, state.at.turn()
        for first, _, at in prints:
            if at is not state.at and first <= count:
                places[first + 1 :], turns[first + 1 :] = at.place, at.turn()
        for roll in (self._rolls[foot], self._rolling.heels[foot]):
            if roll is None:
                continue
            on = next((p[2] for p in prints if p[0] <= max(roll.first, 0) < p[1]), state.at)
            self._rolling.write(
                roll,
                foot,
                on,
                slice(max(roll.start + 1, 0), min(roll.after + 1, count + 2)),
                (places, turns),
            )
        for first, after, stands in runs(np.array(labels)) if not all(labels) else ():
            if not stands:
                self._fill_swing(window, (foot, state), prints, (first, after), (places, turns))
        soles[0][:, foot], soles[1][:, foot] = places[1:-1], turns[1:-1]
        soles[2][:, foot], soles[3][:, foot] = find_rates(places, turns, self._dt)

    def _fill_swing(
        self,
        window: Window,
        whose: tuple[int, FootState],
        prints: list[Stance],
        rows: tuple[int, int],
        out: tuple[Matrix, Matrix],
    ) -> None:
        """Write the rows (counted from the one before the next) of one swing."""
        (foot, state), now, dt = whose, window.now, self._dt
        row = window.start + now
        first, after = rows
        lifted = max(first - 1, 0)
        swing = state.swing if first == 0 else None
        if swing is None:
            origin = (
                next((p[2] for p in reversed(prints) if p[1] <= lifted), state.at)
                if first > 0
                else state.at
            )
            swing = self._lift(window, foot, origin, lifted)
        ahead = next((p for p in prints if p[0] > lifted), None)
        index = np.arange(now + first - 1, now + after - 1)
        goal, duration = self._goal(window, foot, swing, ahead, lifted)
        since = np.asarray((index - now - lifted) * dt, dtype=np.float64)
        states = go_on(swing.offset, goal, duration, since)
        places = window.place[index, foot] + states[:, 0, :3]
        turns = turn_rows(states[:, 0, 3:], window.turn[index, foot])
        length = np.inf if ahead is None else float(row + ahead[0] - swing.start)
        if window.leap is None:
            seen = window.height[now : now + (ahead[0] if ahead else len(window.labels)), foot]
            lift = CLEARANCE - float(np.max(seen, initial=0.0))
        else:  # the body rises by itself
            lift = self._flights.clearance
        swing_path(
            places,
            turns,
            lift,
            ((row + first - 1 - swing.start) / length, 1.0 / length),
            self._p.corners[foot],
        )
        out[0][first:after], out[1][first:after] = places, turns
        if after == len(
            out[0]
        ):  # it goes on into the next plan, which starts at the last of these rows
            swing.offset = states[-1]
            state.next = swing

    def _goal(
        self, window: Window, foot: int, swing: Swing, ahead: Stance | None, lifted: int
    ) -> tuple[Matrix, float]:
        """Return what the offset of a swinging foot must become, and in what time: at rest on its print, if that is near."""
        goal = np.zeros((3, 6))
        if ahead is None:
            goal[0] = swing.offset[0]
            return goal, SETTLING
        touch = min(window.now + ahead[0], len(window.place) - 2)
        goal[0] = offset_to(ahead[2], window.place[touch, foot], window.turn[touch, foot])
        heel = self._rolling.heels[foot]
        if heel is not None and heel.first == ahead[0]:
            place, turn, _ = self._rolling.move(heel, foot, ahead[2], 0)
            goal[0] = np.concatenate(
                (place - window.place[touch, foot], pin.log3(turn @ window.turn[touch, foot].T))
            )
        duration = (ahead[0] - lifted) * self._dt
        if duration > SETTLING:
            return goal, SETTLING
        goal[1:] = self._against(window, foot, touch)
        return goal, duration

    def _against(self, window: Window, foot: int, at: int) -> Matrix:
        if (
            self._labeller.thresholds(window, window.start + window.now) is PLANNED_FEET
        ):  # these start and end at rest by themselves
            return np.zeros((2, 6))
        rows = slice(at - 1, at + 2)
        return against(window.place[rows, foot], window.turn[rows, foot], self._dt)

    def _lift(self, window: Window, foot: int, origin: Print, row: int) -> Swing:
        at = window.now + row
        swing, roll = Swing(window.start + at, origin), self._rolls[foot]
        swing.offset[0] = offset_to(origin, window.place[at, foot], window.turn[at, foot])
        swing.offset[1:] = self._against(window, foot, at)
        if roll is not None and roll.after == row:
            place, turn, moves = self._rolling.move(roll, foot, origin, -1)
            swing.offset[0, :3] = place - window.place[at, foot]
            swing.offset[0, 3:] = pin.log3(turn @ window.turn[at, foot].T)
            swing.offset[1:] += moves
        return swing


def room_for_soles(count: int) -> SoleRows:
    """Return room for places, orientations, velocities and accelerations of both soles; what moves is zero.

    Args:
        count: How many rows.
    """
    return (
        np.empty((count, 2, 3)),
        np.empty((count, 2, 3, 3)),
        np.zeros((count, 2, 6)),
        np.zeros((count, 2, 6)),
    )
