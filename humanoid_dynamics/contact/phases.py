# SPDX-License-Identifier: Apache-2.0
"""A schedule, met by what really happens: contacts that close early, late or never, or are lost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule, normalise
from humanoid_dynamics.spatial.arrays import Vector, read_only
from humanoid_dynamics.status import StatusEnum


class ContactPhaseStatus(StatusEnum):
    """How contacts compare with their schedule."""

    PLANNED = "PLANNED", "contacts are as scheduled"
    WAITING = (
        "WAITING",
        "a scheduled contact has not closed; the schedule waits and the load stays until it closes",
    )
    LOST = "LOST", "a contact that carries load has opened"
    FLIGHT = "FLIGHT", "no contact carries load"


@dataclass(frozen=True, eq=False)
class Phase:
    """Who bears the load now.

    Attributes:
        shares: (surfaces,) part of the load that each surface takes, of sum 1; all zero in flight.
        status: How contacts compare with the schedule.
        reason: Which contact, and since when; empty while planned.
        schedule_time: Where the schedule is [s]; behind the clock by the time that was waited.
    """

    shares: Vector
    status: ContactPhaseStatus
    reason: str
    schedule_time: float


class PhaseManager:
    """Turns a schedule and contact events into shares [BP, assumption 4].

    Without events it follows the schedule.  Once it is told about a surface, that surface's touch-downs wait for it: an early contact is
    loaded from then on and until the time that was planned, a late one stops the schedule until it comes.  So shares never jump, except
    where a loaded contact is lost.
    """

    def __init__(
        self, schedule: ContactSchedule, start: float = 0.0, patience: float = 0.0
    ) -> None:
        """Begin.

        Args:
            schedule: What is planned.
            start: Time on the clock, and in the schedule, at which it begins [s].
            patience: How long the schedule goes on without a contact that is late, which bears no load meanwhile [s].
        """
        self.schedule, self._patience = schedule, patience
        self._rates = read_only(schedule.share_rates(events=True))
        self._clock = self._now = start
        self._stopped = False  # whether the clock has gone on without the schedule
        self._closed: dict[str, bool] = {}
        self._since: dict[str, float] = {}
        self._until = -np.inf  # nothing changes before this time of the schedule
        self._resting: tuple[Vector, ContactPhaseStatus, str] = (
            read_only(np.zeros(0)),
            ContactPhaseStatus.PLANNED,
            "",
        )
        self._lost: dict[
            str, float
        ] = {}  # surface -> time at which it came back, infinite while it has not
        self._late: set[str] = set()  # those of them that have not touched yet

    def share_rates(self) -> Vector:
        """Bound how fast each share can change from now on, unless a loaded contact is lost, (surfaces,) [1/s].

        It holds for early and late touch-downs as well, known before any comes.
        """
        return np.full(len(self._rates), np.inf) if self._lost else self._rates

    def observe(self, surface: str, closed: bool, t: float) -> None:
        """Take what a contact sensor tells.

        Args:
            surface: The surface.
            closed: Whether it touches.
            t: Time [s]; one that is not a finite number is the last one.

        Raises:
            UnknownNameError: If the surface is not scheduled.
        """
        self.schedule.index(surface)
        t, closed = (
            self._time(t),
            bool(closed),
        )  # a comparison of numpy is another false than Python's
        self._advance(t)
        if self._closed.get(surface) == closed:
            return
        self._closed[surface], self._since[surface], self._until = closed, t, -np.inf
        now = self._interval_at(surface)
        if closed and now is None:
            self._start_early(surface)
        elif closed and surface in self._lost:
            self._lost[surface] = t
            self._late.discard(surface)
        elif (
            not closed
            and now is not None
            and now.start < self._now
            and now.value(self._now, self.schedule.profile) > 0.0
        ):
            self._lost[surface] = np.inf

    def phase(self, t: float) -> Phase:
        """Return who bears the load at a time.

        Args:
            t: Time, never before the last one [s]; one that is not a finite number is the last one.
        """
        t = self._time(t)
        target = self._now + max(0.0, t - self._clock)
        if target < self._until:
            self._clock, self._now = max(self._clock, t), target
            return Phase(*self._resting, target)
        waited = self._advance(t)
        self._find_late()
        loads = self.schedule.loads(self._now)
        lost = self._take_lost(loads, t)
        shares = read_only(normalise(loads))
        if lost:
            return Phase(
                shares,
                ContactPhaseStatus.LOST,
                f"{lost} opened under load at {self._since[lost]:.3f} s",
                self._now,
            )
        if waited:
            return Phase(
                shares,
                ContactPhaseStatus.WAITING,
                f"{waited} was to touch {t - self._now:.3f} s ago in the schedule",
                self._now,
            )
        self._resting = (
            (shares, ContactPhaseStatus.PLANNED, "")
            if shares.any()
            else (shares, ContactPhaseStatus.FLIGHT, "no contact bears load")
        )
        self._until = self._find_change() if not self._lost else -np.inf
        return Phase(*self._resting, self._now)

    def _time(self, t: float) -> float:
        """Return the time, or the last one where it is not a finite number."""
        return t if math.isfinite(t) else self._clock

    def _find_change(self) -> float:
        """Return the time of the schedule until which no share changes; minus infinity while one does."""
        now, profile = self._now, self.schedule.profile
        breaks = [time for interval in self.schedule.intervals for time in interval.breaks()]
        after = min((time for time in breaks if time > now), default=np.inf)
        before = max((time for time in breaks if time <= now), default=-np.inf)
        changes = any(
            i.slope(max(before, now - 1.0), min(after, now + 1.0), profile)
            for i in self.schedule.intervals
        )
        return -np.inf if changes or now in breaks else float(after)

    def _advance(self, t: float) -> str:
        """Move the schedule on, at most to the next touch-down that is observed and has not happened; return who is waited for."""
        target = self._now + max(0.0, t - self._clock)
        self._clock = max(self._clock, t)
        late = self._patience
        open_ones = (
            i
            for i in self.schedule.intervals
            if self._closed.get(i.surface) is False and i.end > i.start + late
        )
        awaited = (i for i in open_ones if self._now <= i.start + late <= target)
        interval = min(awaited, key=lambda i: i.start, default=None)
        if interval is None:
            self._now, self._stopped = target, False
            return ""
        if target > self._now:  # asked again at the same time, it says the same again
            self._stopped = target > interval.start + late
        self._now = interval.start + late
        return interval.surface if self._stopped else ""

    def _interval_at(self, surface: str) -> ContactInterval | None:
        """Return the closing of a surface that is on; a touch-down that is waited for belongs to it."""
        for interval in self.schedule.intervals:
            if interval.surface == surface and interval.start <= self._now <= interval.end:
                return interval
        return None

    def _start_early(self, surface: str) -> None:
        """Move the next touch-down of a surface to now; no closing of the surface is on, so that none is met."""
        ahead = [i for i in self.schedule.intervals if i.surface == surface and i.start > self._now]
        if ahead:
            self.schedule = self.schedule.starting_at(min(ahead, key=lambda i: i.start), self._now)

    @property
    def absent(self) -> frozenset[str]:
        """Surfaces that should touch and do not, while the schedule goes on: late ones and lost ones."""
        return frozenset(surface for surface, back in self._lost.items() if back == np.inf)

    def touches_within(self, surface: str, seconds: float) -> bool:
        """Return whether a surface is to close within a time that begins now.

        Args:
            surface: The surface.
            seconds: The time [s].
        """
        return any(
            i.surface == surface and self._now <= i.start < self._now + seconds
            for i in self.schedule.intervals
        )

    def _find_late(self) -> None:
        """Take contacts that should have closed, and have not, as lost until they do."""
        for interval in self.schedule.intervals if self._patience else ():
            opened = (
                self._since.get(interval.surface, np.inf) <= interval.start
                and self._closed.get(interval.surface) is False
            )
            if (
                opened
                and interval.start < self._now < interval.end
                and interval.surface not in self._lost
            ):
                self._lost[interval.surface] = np.inf
                self._late.add(interval.surface)

    def _take_lost(self, loads: Vector, t: float) -> str:
        """Take the load from contacts that opened; return it as slowly as it first came once they are back."""
        told = ""
        for surface, back in tuple(self._lost.items()):
            interval = self._interval_at(surface)
            if interval is None:
                del self._lost[surface]
                self._late.discard(surface)
                continue
            time = interval.load or interval.unload
            share = (
                self.schedule.profile((t - back) / time)
                if time > 0.0 and back < np.inf
                else float(t >= back)
            )
            loads[self.schedule.index(surface)] *= share
            if share >= 1.0:
                del self._lost[surface]
            elif back == np.inf and surface not in self._late:
                told = surface
        return told
