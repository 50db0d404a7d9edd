# SPDX-License-Identifier: Apache-2.0
"""When contacts close and open, and how load passes: shares of sum one that move no faster than a bound [BP, assumption 4]."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ulp
from numbers import Real

import numpy as np

from humanoid_dynamics.contact.transfer import Profile, find_profile
from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.spatial.arrays import Vector

PIECES = 16  # per stretch between switches, for the bound
LEAST_SUPPORT = 1e-6


@dataclass(frozen=True)
class ContactInterval:
    """One closing of one contact, in absolute times.

    Attributes:
        surface: Its name.
        start: Touch-down [s]; minus infinity where it is closed from the beginning.
        end: Lift-off [s]; infinity where it stays.
        load: Time in which it takes its load, from touch-down on [s]; zero is a step.
        unload: Time in which it gives it away, until lift-off [s].
        weight: Load it takes when fully loaded, against that of other contacts [-]; a hand may take 0.2 of a foot.
    """

    surface: str
    start: float
    end: float
    load: float
    unload: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        for name in ("start", "end", "load", "unload", "weight"):
            value = getattr(self, name)
            if not isinstance(value, Real):
                raise ShapeError(
                    f"interval of {self.surface}: {name}",
                    f"{type(value).__name__} {value!r:.60}",
                    "a number",
                )
        numbers = (self.load, self.unload, self.weight)
        if not (
            self.start + self.load <= self.end - self.unload + self._round_off()
            or self.start == -np.inf
            or self.end == np.inf
        ):
            expected = "a contact that is loaded before it is unloaded"
            raise ShapeError(f"interval of {self.surface}", self._told(), expected)
        if not (
            self.start < self.end
            and all(0.0 <= number < np.inf for number in numbers)
            and self.weight > 0.0
        ):
            expected = "an end after the start, finite times of loading, a positive weight"
            raise ShapeError(f"interval of {self.surface}", self._told(), expected)

    def _told(self) -> str:
        return f"{self.start:g} s to {self.end:g} s, loaded in {self.load:g} s, unloaded in {self.unload:g} s, weight {self.weight:g}"

    def _round_off(self) -> float:
        """Return what sums and differences of its times may be off by [s]."""
        return 4.0 * ulp(max(abs(self.start), abs(self.end), self.load, self.unload))

    def value(self, t: float, profile: Profile) -> float:
        """Return how far it is loaded, 0 to 1."""
        if not self.start <= t <= self.end:
            return 0.0
        rise = (
            profile((t - self.start) / self.load)
            if self.load > 0.0 and self.start > -np.inf
            else 1.0
        )
        fall = (
            profile((self.end - t) / self.unload)
            if self.unload > 0.0 and self.end < np.inf
            else 1.0
        )
        return min(rise, fall)

    def slope(self, a: float, b: float, profile: Profile) -> float:
        """Return a bound on how fast its load changes between two times that no break separates [1/s]."""
        middle = 0.5 * (a + b)
        if self.start < middle < self.start + self.load:
            return profile.steepest / self.load
        return profile.steepest / self.unload if self.end - self.unload < middle < self.end else 0.0

    def breaks(self) -> tuple[float, ...]:
        """Return the times at which it starts or stops to change."""
        return (self.start, self.start + self.load, self.end - self.unload, self.end)


@dataclass(frozen=True)
class ContactSchedule:
    """Which contacts are closed when.

    Attributes:
        intervals: All closings, in any order; those of one surface do not overlap.
        profile: How load rises and falls.
        surfaces: Names of the surfaces, in order of their first appearance; the order of shares.
    """

    intervals: tuple[ContactInterval, ...]
    profile: Profile
    surfaces: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "surfaces", tuple(dict.fromkeys(interval.surface for interval in self.intervals))
        )
        for surface in self.surfaces:
            own = sorted((i for i in self.intervals if i.surface == surface), key=lambda i: i.start)
            for one, other in pairwise(own):
                if other.start < one.end:
                    raise ShapeError(
                        f"schedule of {surface}",
                        f"closed until {one.end} s and again from {other.start} s",
                        "times in order",
                    )

    @classmethod
    def of(
        cls, intervals: Iterable[ContactInterval], profile: str | Profile = "quintic"
    ) -> ContactSchedule:
        """Make a schedule.

        Args:
            intervals: All closings.
            profile: Name of a profile, or a profile.

        Raises:
            ShapeError: If closings of one surface overlap.
            UnknownNameError: If the profile does not exist.
        """
        return cls(tuple(intervals), find_profile(profile))

    def index(self, surface: str) -> int:
        """Return the place of a surface in the shares.

        Raises:
            UnknownNameError: If it is not scheduled.
        """
        if surface not in self.surfaces:
            raise UnknownNameError("scheduled surface", surface, self.surfaces)
        return self.surfaces.index(surface)

    def loads(self, t: float) -> Vector:
        """Return how far each surface is loaded at a time, times its weight, (surfaces,) [-]."""
        loads = np.zeros(len(self.surfaces))
        for interval in self.intervals:
            k = self.surfaces.index(interval.surface)
            loads[k] = max(loads[k], interval.weight * interval.value(t, self.profile))
        return loads

    def shares(self, t: float) -> Vector:
        """Return the part of the load that each surface takes at a time, (surfaces,), of sum 1; all zero in flight."""
        return normalise(self.loads(t))

    def closed(self, t: float, after: bool = True) -> tuple[bool, ...]:
        """Tell which surfaces touch just after or just before a time."""
        now = [
            i for i in self.intervals if (i.start <= t < i.end if after else i.start < t <= i.end)
        ]
        return tuple(any(i.surface == surface for i in now) for surface in self.surfaces)

    def switches(self) -> tuple[float, ...]:
        """Return the times at which a contact closes or opens, rising [s]."""
        times = {time for interval in self.intervals for time in (interval.start, interval.end)}
        return tuple(sorted(time for time in times if np.isfinite(time)))

    def share_rates(self, events: bool = False) -> Vector:
        """Bound how fast each share can change at any time, (surfaces,) [1/s].

        With loads r_k of sum R the share s_k = r_k / R changes by ((1 - s_k) r_k' - s_k sum of the other r') / R, which is at most the
        larger of the size of r_k' and the sum of the others' over R.  Slopes are bounded by the profile; between two close times R is at
        least the sum of the smaller loads.

        A contact that closes early is loaded more slowly and never bears less than planned; one that closes late stops the schedule.  So
        with events every slope may come at any time, and R is at least the least that is planned.

        Args:
            events: Whether touch-downs may come earlier or later than planned.

        Returns:
            The bounds; infinite where a load is a step, or where no contact bears any.
        """
        breaks = sorted(
            {b for interval in self.intervals for b in interval.breaks() if np.isfinite(b)}
        )
        rates: Vector = np.zeros(len(self.surfaces))
        if any(
            (i.load == 0.0 and i.start > -np.inf) or (i.unload == 0.0 and i.end < np.inf)
            for i in self.intervals
        ):
            return np.full(len(self.surfaces), np.inf)
        pieces = [
            (self._slopes(start, end), self._support(start, end)) for start, end in pairwise(breaks)
        ]
        if events and pieces:
            pieces = [
                (
                    np.max([slopes for slopes, _ in pieces], axis=0),
                    min(support for _, support in pieces),
                )
            ]
        for slopes, support in pieces:
            if slopes.any():
                worst = np.maximum(slopes, slopes.sum() - slopes)
                rates = np.maximum(rates, worst / support if support > LEAST_SUPPORT else np.inf)
        return rates

    def _slopes(self, start: float, end: float) -> Vector:
        """Bound how fast loads change between two times that no break separates, (surfaces,) [1/s]."""
        slopes = np.zeros(len(self.surfaces))
        for interval in self.intervals:
            slopes[self.surfaces.index(interval.surface)] += interval.weight * interval.slope(
                start, end, self.profile
            )
        return slopes

    def _support(self, start: float, end: float) -> float:
        """Bound the sum of loads between two times from below."""
        loads = np.array([self.loads(t) for t in np.linspace(start, end, PIECES + 1)])
        return float(np.min(np.minimum(loads[:-1], loads[1:]).sum(axis=1)))

    def starting_at(self, interval: ContactInterval, start: float) -> ContactSchedule:
        """Return the schedule with one touch-down moved, and the time at which it is loaded kept.

        Args:
            interval: One of its intervals.
            start: The new touch-down [s], after the last lift-off of the surface.
        """
        load = interval.start + interval.load - start
        moved = replace(interval, start=start, load=max(load, 0.0))
        return ContactSchedule(
            tuple(moved if i is interval else i for i in self.intervals), self.profile
        )


def normalise(loads: Vector) -> Vector:
    """Return loads divided by their sum; all zero where there is none.

    Args:
        loads: (k,) loads, none negative.
    """
    total = float(loads.sum())
    return loads / total if total > 0.0 else np.zeros(len(loads))
