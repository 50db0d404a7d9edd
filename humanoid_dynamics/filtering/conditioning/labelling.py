"""Stages A2 to A4 together: which feet stand, which make a small step, and what share of the way is gone."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning.contacts import choose_thresholds, drop_short, label_window
from humanoid_dynamics.filtering.conditioning.slides import drift_from, find_slide
from humanoid_dynamics.filtering.conditioning.strides import choose_scale, longest_stride
from humanoid_dynamics.filtering.conditioning.track import Track
from humanoid_dynamics.filtering.conditioning.window import FootState, Window
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.contact_detection import SHORTEST, ContactThresholds
from humanoid_dynamics.spatial.arrays import Vector

HISTORY = 3.0  # s of the past that tell how still standing feet are
RESCALING = 0.02  # largest change of the share of the way from plan to plan [-]


class Labeller:
    """Labels of both feet, with what has to be remembered for them.

    Attributes:
        scale: Share of the way that is gone.
        lies: Whether the robot has fallen: then no foot makes small steps.
    """

    def __init__(self, proportions: Proportions, settings: Settings, track: Track) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
            settings: Times and lengths.
            track: Rows of the reference.
        """
        self._p, self._settings, self._track, self._dt = proportions, settings, track, settings.dt
        self.now, self.feet = 0, list[FootState]()
        self._longest = 0.0
        self.scale = choose_scale(0.0, proportions.stride, settings.shorter) if settings.stride_scale is None else settings.stride_scale
        self._limits: ContactThresholds | None = None
        self._measured = -(10**9)
        self.lies = False

    def thresholds(self, window: Window, now: int) -> ContactThresholds:
        """Follow how still standing feet are, four times a second."""
        if self._limits is None or now - self._measured > 0.25 * self._settings.rate:
            self._measured = now
            track = self._track
            start = max(now - round(HISTORY * self._settings.rate), track.centre.first)
            centre = track.centre.between(start, window.start + len(window.com))
            base = track.q.between(start, window.start + len(window.com))[:, :2]
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
        rows = slice(window.now, None)
        stood = (self.now - self.feet[0].since, self.now - self.feet[1].since)
        labels = label_window(window.height[rows], window.speed[rows], self.thresholds(window, now), (before, stood), self._dt)
        for foot in (0, 1):
            state = self.feet[foot]
            if state.slide and state.slide[1] <= self.now:
                state.slide = None
            if self._settings.split_slides and not self.lies and state.slide is None and state.stands and labels[0, foot]:
                self._seek_slide(window, labels, foot)
            if state.slide:
                self._apply_slide(labels, foot)
        if self._settings.stride_scale is None:
            self._longest = max(self._longest, longest_stride(self._track.centre.between(self.now, self.now + len(labels)), labels))
            wanted = choose_scale(self._longest, self._p.stride, self._settings.shorter)
            self.scale += float(np.clip(wanted - self.scale, -RESCALING, RESCALING))
        return labels

    def _seek_slide(self, window: Window, labels: Labels, foot: int) -> None:
        state, rows = self.feet[foot], slice(window.now, None)
        drift = self._drift_of(window, foot, labels)
        if self.feet[1 - foot].slide or not self.feet[1 - foot].stands:
            return
        found = find_slide(drift, window.speed[rows, foot], labels[:, foot], labels[:, 1 - foot], self._dt)
        if found:
            state.slide = (self.now + found[0], self.now + found[1])

    def _drift_of(self, window: Window, foot: int, labels: Labels) -> tuple[Vector, Vector]:
        """Return how far a standing foot of the reference is, seen from the other one, from where it stands."""
        rows, at, other = slice(window.now, None), self.feet[foot].at, self.feet[1 - foot].at
        apart = window.place[rows, foot] - window.place[rows, 1 - foot]
        apart[:, :2] += (self.scale - 1.0) * (at.path - other.path)
        distance, turn = drift_from(apart, window.heading[rows, foot], at.place - other.place, at.heading)
        both = np.logical_and.accumulate(labels[:, 1 - foot])
        return np.where(both, distance, 0.0), np.where(both, turn, 0.0)

    def _apply_slide(self, labels: Labels, foot: int) -> None:
        state = self.feet[foot]
        if state.slide is None:
            return
        first, after = (max(row - self.now, 0) for row in state.slide)
        other = labels[first:after, 1 - foot]
        if state.swing is None and not other.all():  # the other foot is needed elsewhere: no small step
            state.slide = None
            return
        labels[first:after, foot] = False
        drop_short(labels[:, foot], state.stands, (0, round(SHORTEST / self._dt)))  # what is left before the next swing is none
        alone = ~labels[:, foot]
        labels[alone, 1 - foot] |= ~labels[alone].any(axis=1)
        labels[first:after, 1 - foot] = True
