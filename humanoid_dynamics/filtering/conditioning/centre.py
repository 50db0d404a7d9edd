"""Stages A6 and A7 together: the path of the centre of mass."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning.balance import BoundedShift
from humanoid_dynamics.filtering.conditioning.footholds import Stance
from humanoid_dynamics.filtering.conditioning.support import Support, clamp_rows, phases_of
from humanoid_dynamics.filtering.conditioning.swing import Print
from humanoid_dynamics.filtering.conditioning.track import Track
from humanoid_dynamics.filtering.conditioning.window import Window
from humanoid_dynamics.filtering.conditioning.windows import bell_kernel, flat_kernel, slopes, smooth_columns
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

MOST_KNOWN = 64  # supports that are remembered
LARGEST_OFFSET = 0.04  # m; how far angular momentum may move the zero-moment point
LEAST_PUSH = 0.2  # weights that soles bear at least where the zero-moment point is told
STEEPEST_HEIGHT = 4.0  # m/s^2; vertical acceleration of the centre of mass
BEND, STRAIGHT = 0.96, 0.985  # of the length of the leg: where lowering starts, and where it is whole
LOWERING = 0.4  # s; how quickly the pelvis is lowered
REGAINED = 0.004  # trust that comes back from plan to plan [-]
TRUSTED = (0.8, 0.97)  # share of rows with the zero-moment point inside the feet: below the first none, above the second all is trusted


class CentrePlanner:
    """The centre of mass over the rows that come, with everything that is settled about it.

    Attributes:
        balance: The shift of the centre of mass.
        rebase: (2,) where the centre of mass is at the next plan, where it did not go on as planned [m]; None otherwise.
    """

    def __init__(self, proportions: Proportions, settings: Settings, track: Track) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
            settings: Times and lengths.
            track: Rows of the reference.
        """
        self._p, self._settings, self._track, self._dt = proportions, settings, track, settings.dt
        half = round(min(settings.com_smoothing, 0.3 * settings.lookahead) * settings.rate)
        self._calm = flat_kernel(half)
        self._height = bell_kernel(min(0.06, 0.15 * settings.lookahead) * settings.rate)
        self.balance = BoundedShift(proportions.pendulum, settings.dt)
        self._lower = np.nan
        self._trusted = 1.0
        self.rebase: Vector | None = None
        self._known: dict[tuple[object, ...], Support] = {}

    def plan(self, window: Window, prints: list[list[Stance]], count: int) -> tuple[Matrix, Matrix, Matrix]:
        """Plan the next rows.

        Args:
            window: What is known.
            prints: Where feet will stand.
            count: How many rows.

        Returns:
            Places, velocities and accelerations, (count, 3) each.
        """
        dt, now = self._dt, window.now
        place = smooth_columns(window.com, self._calm)
        place[:, 2] = np.convolve(np.pad(window.com[:, 2], len(self._height) // 2, mode="edge"), self._height, mode="valid")
        rate, second = slopes(place, dt)
        second[:, 2] = np.clip(second[:, 2], -STEEPEST_HEIGHT, STEEPEST_HEIGHT)
        if window.led is not None:
            place[:, 2], rate[:, 2], second[:, 2] = window.led
        com, rate, second = place[now:], rate[now:], second[now:]
        if not self._settings.balance:
            return com[:count], rate[:count], second[:count]
        spin = smooth_columns(self._track.spin.between(window.start, window.start + len(window.com))[:, :2], self._calm)
        torque = slopes(spin, dt)[0][now:]
        g = np.maximum(self._p.gravity + second[:, 2], LEAST_PUSH * self._p.gravity)
        offset = np.clip(np.column_stack((-torque[:, 1], torque[:, 0])) / (self._p.mass * g)[:, None], -LARGEST_OFFSET, LARGEST_OFFSET)
        zmp = com[:, :2] - (com[:, 2] / g)[:, None] * (second[:, :2] - self._p.downhill) + offset
        rows, supports = self._supports(window, prints)
        zmp = np.where(self._flies(window)[:, None], com[:, :2], zmp)
        moved = clamp_rows(zmp, supports, rows, self._trust(zmp, supports, rows))
        moved = smooth_columns(moved - zmp, bell_kernel(0.03 / dt))
        if self.rebase is not None:  # time stood still, and the centre of mass was led elsewhere
            self.balance.x, self.rebase = self.rebase - com[0, :2], None
        x, x_rate, x_second = self._shift(window, moved, com, second, count)
        lowered, fall = self._lowered(window, count)
        second = second[:count] + np.column_stack((x_second, np.zeros(count)))
        rate = rate[:count] + np.column_stack((x_rate, -fall))
        return com[:count] + np.column_stack((x, -lowered)), rate, second

    def _shift(self, window: Window, moved: Matrix, com: Matrix, second: Matrix, count: int) -> tuple[Matrix, Matrix, Matrix]:
        """Return by what the centre of mass moves so that its pivot moves as it must; in flight it goes straight on."""
        if window.leap is None:
            return self.balance.advance(moved, count)
        flies = self._flies(window)
        stiffness = np.where(flies, 0.0, np.maximum(self._p.gravity + second[:, 2], 0.0) / com[:, 2])
        force = np.where(flies[:, None], self._p.downhill - second[:, :2], 0.0)
        return self.balance.leap(moved, stiffness, force, count)

    def _flies(self, window: Window) -> Labels:
        rows = np.arange(window.now, len(window.com))
        return np.zeros(len(rows), dtype=np.bool_) if window.leap is None else (rows >= window.leap[1]) & (rows < window.leap[2])

    def _supports(self, window: Window, prints: list[list[Stance]]) -> tuple[list[int], list[Support]]:
        rows, supports = [], []
        for row, stands in phases_of(window.labels):
            found = [next((p[2] for p in prints[foot] if p[0] <= row < p[1]), None) if stands[foot] else None for foot in (0, 1)]
            if found == [None, None]:
                continue
            rows.append(row)
            supports.append(self.support(found[0], found[1]))
        if rows:
            rows[0] = 0
        return rows, supports

    def support(self, left: Print | None, right: Print | None) -> Support:
        """Return the area of one or two prints, built anew only where they are new.

        Args:
            left: Where the left foot stands, or None.
            right: Where the right foot stands, or None.
        """
        key = tuple((*at.place.tolist(), at.heading) for at in (left, right) if at is not None)
        if self._known.get((left is None, right is None, key)) is None:
            standing = [(foot, at) for foot, at in enumerate((left, right)) if at is not None]
            corners = [(self._p.corners[foot] @ at.turn().T + at.place)[:, :2] for foot, at in standing]
            share = self._settings.inside_two if len(corners) > 1 else self._settings.inside_one
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            self._known[left is None, right is None, key] = Support(np.vstack(corners), share)
        return self._known[left is None, right is None, key]

    def _trust(self, zmp: Matrix, supports: list[Support], rows: list[int]) -> float:
        ends = [*rows[1:], len(zmp)]
        inside = sum(int(np.sum(s.reach(zmp[a:b]) <= 1.0)) for s, a, b in zip(supports, rows, ends, strict=True)) / len(zmp)
        now = float(np.clip((inside - TRUSTED[0]) / (TRUSTED[1] - TRUSTED[0]), 0.0, 1.0))
        self._trusted = min(now, self._trusted + REGAINED)
        return self._trusted

    def _lowered(self, window: Window, count: int) -> tuple[Vector, Vector]:
        """Lower the pelvis where a standing leg is straight."""
        first = window.start + window.now
        stretch = self._track.stretch.between(first, first + len(window.labels))
        straight = float(np.max(np.where(window.labels, stretch, 0.0)))
        wanted = self._settings.extra_lower
        if self._settings.lower:
            wanted += (
                (1.0 - self._trusted) * self._settings.lower * self._p.leg * float(np.clip((straight - BEND) / (STRAIGHT - BEND), 0.0, 1.0))
            )
        if np.isnan(self._lower):
            self._lower = wanted
        decay = float(np.exp(-self._dt / LOWERING))
        lowered = np.empty(count)
        for row in range(count):
            lowered[row] = self._lower
            self._lower = wanted + decay * (self._lower - wanted)
        return lowered, (wanted - lowered) / LOWERING
