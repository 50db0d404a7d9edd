# SPDX-License-Identifier: Apache-2.0
"""Stages A2 to A4 together: which feet stand, which make a small step, and what share of the way is gone."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.filtering.conditioning.contacts import (
    choose_thresholds,
    drop_short,
    label_window,
)
from humanoid_dynamics.filtering.conditioning.rolling import BEHIND, find_behind, rolling_heights
from humanoid_dynamics.filtering.conditioning.slides import FARTHEST, WIDEST, find_slide
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.conditioning.window import FootState, Window
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.sole_edges import find_edges
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.contact_detection import SHORTEST, ContactThresholds
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix

HISTORY = 3.0  # s of the past that tell how still standing feet are
ROLLING_STRIDE = 1.4  # times as long strides are where soles roll
LAGGING = 0.45  # rad; a standing foot that the reference has turned so far away from makes the next small step
RESCALING = 0.02  # largest change of the share of the way from plan to plan [-]
SHORTEST_SCALE, LEAST_SCALE = 0.5, 0.3  # by itself, and where it is asked for


class ContactEstimator:
    """Labels of both feet, with what has to be remembered for them.

    Attributes:
        scale: Share of the way that is gone.
        lies: Whether the robot has fallen: then no foot makes small steps.
    """

    def __init__(self, proportions: Proportions, settings: Settings, track: ReferenceTrack) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
            settings: Times and lengths.
            track: Rows of the reference.
        """
        self._p, self._settings, self._track, self._dt = proportions, settings, track, settings.dt
        self.now, self.feet = 0, list[FootState]()
        self._longest = 0.0
        self._stride = proportions.stride * (ROLLING_STRIDE if settings.toe_roll else 1.0)
        self._edges = tuple(
            find_edges(corners)
            for corners in proportions.corners
            if settings.toe_roll and len(corners) > 2
        )
        self.scale = (
            choose_scale(0.0, proportions.stride, settings.shorter)
            if settings.stride_scale is None
            else settings.stride_scale
        )
        self._limits: ContactThresholds | None = None
        self._measured = -(10**9)
        self.lies = False

    def thresholds(self, window: Window, now: int) -> ContactThresholds:
        """Follow how still standing feet are, four times a second."""
        if self._limits is None or now - self._measured > 0.25 * self._settings.rate:
            self._measured = now
            track = self._track
            end = window.start + len(window.com)
            start = min(
                max(now - round(HISTORY * self._settings.rate), track.centre.first, track.whole),
                end,
            )
            centre, base = track.centre.between(start, end), track.q.between(start, end)
            self._limits = choose_thresholds(centre, base, self._dt)
        return self._limits

    def label(self, window: Window, feet: list[FootState], now: int) -> Labels:
        """Tell which feet stand in the rows that come.

        Args:
            window: What is known.
            feet: What is settled about both feet; small steps that become due are written there.
            now: The row that comes next.

        Returns:
            (n, 2) labels.
        """
        self.now, self.feet = now, feet
        before = (self.feet[0].stands, self.feet[1].stands)
        stood = (self.now - self.feet[0].since, self.now - self.feet[1].since)
        height, speed, rolls = window.height, window.speed, None
        if len(self._edges) > 1:
            height, speed = rolling_heights(window, self._edges, self._dt)
            rolls = find_behind(window, BEHIND * self._p.leg)
        labels = label_window(
            height,
            speed,
            self.thresholds(window, now),
            (before, stood),
            self._dt,
            known=window.now,
            rolls=rolls,
        )
        for foot in (0, 1):
            state = self.feet[foot]
            if state.slide and state.slide[1] <= self.now:
                state.slide = None
            if (
                self._settings.split_slides
                and not self.lies
                and state.slide is None
                and state.stands
                and labels[0, foot]
            ):
                self._seek_slide(window, labels, foot)
            if state.slide:
                self._apply_slide(labels, foot)
        if self._settings.stride_scale is None:
            self._longest = max(
                self._longest,
                find_longest(self._track.centre.between(self.now, self.now + len(labels)), labels),
            )
            wanted = choose_scale(self._longest, self._stride, self._settings.shorter)
            self.scale += min(max(wanted - self.scale, -RESCALING), RESCALING)
        return labels

    def _seek_slide(self, window: Window, labels: Labels, foot: int) -> None:
        state, other, rows = self.feet[foot], self.feet[1 - foot], slice(window.now, None)
        if other.slide or not other.stands or self._waits(window, 1 - foot):
            return
        drift = self._find_drift(window, labels, foot)
        stands = np.logical_and.accumulate(labels[:, foot])
        if (np.abs(drift[:, stands]).max(axis=1, initial=0.0) > (FARTHEST, WIDEST)).any():
            mine, other_foot = labels[:, foot], labels[:, 1 - foot]
            found = find_slide(drift, window.speed[rows, foot], mine, other_foot, self._dt)
            state.slide = (self.now + found[0], self.now + found[1]) if found else None

    def _find_drift(self, window: Window, labels: Labels, foot: int) -> Matrix:
        """Return how far a foot is, seen from the other one, from where it stands [m], and by what angle, while both stand; (2, n)."""
        at, other, rows = self.feet[foot].at, self.feet[1 - foot].at, slice(window.now, None)
        away = (at.place - other.place)[:2] - (self.scale - 1.0) * (at.path - other.path)
        apart = (window.place[rows, foot] - window.place[rows, 1 - foot])[:, :2] - away
        turn = window.heading[:, foot] - at.heading
        turned = turn - math.tau * np.floor(turn / math.tau + 0.5)
        both = np.logical_and.accumulate(labels[:, 1 - foot])
        return np.where(both, (np.hypot(apart[:, 0], apart[:, 1]), turned), 0.0)

    def _waits(self, window: Window, foot: int) -> bool:
        """Return whether a foot is turned away from the reference so far, and farther than the other one, that its step comes first."""
        off = [
            abs(math.remainder(float(window.heading[0, k]) - self.feet[k].at.heading, math.tau))
            for k in (foot, 1 - foot)
        ]
        return off[0] > max(LAGGING, off[1])

    def _apply_slide(self, labels: Labels, foot: int) -> None:
        state = self.feet[foot]
        if state.slide is None:
            return
        first, after = (max(row - self.now, 0) for row in state.slide)
        other = labels[first:after, 1 - foot]
        if (
            state.swing is None and not other.all()
        ):  # the other foot is needed elsewhere: no small step
            state.slide = None
            return
        labels[first:after, foot] = False
        drop_short(
            labels[:, foot], state.stands, (0, round(SHORTEST / self._dt))
        )  # what is left before the next swing is none
        alone = ~labels[:, foot]
        labels[alone, 1 - foot] |= ~labels[alone].any(axis=1)
        labels[first:after, 1 - foot] = True


def find_longest(places: Matrix, labels: Labels) -> float:
    """Return the longest way a foot goes from one footprint to the next, as far as it is seen [m].

    Args:
        places: (n, 2, 3) middles of both soles [m].
        labels: (n, 2) which feet stand.
    """
    ways, last = [0.0], len(labels) - 1
    for foot in (0, 1):
        for first, after, stands in runs(labels[:, foot]):
            if not stands:
                way = places[min(after, last), foot, :2] - places[max(first - 1, 0), foot, :2]
                ways.append(math.hypot(*way))
    return max(ways)


def choose_scale(longest: float, most: float, shorter: float = 0.0) -> float:
    """Return the share of the way a robot goes.

    Args:
        longest: Longest stride of the reference [m].
        most: Longest stride of the robot [m].
        shorter: What is taken off the share.

    Returns:
        Share, at most one [-].
    """
    share = 1.0 if longest <= most else max(most / longest, SHORTEST_SCALE)
    return float(max(share - shorter, LEAST_SCALE))
