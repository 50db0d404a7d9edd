# SPDX-License-Identifier: Apache-2.0
"""Stages A6 and A7 together: the path of the centre of mass."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.filtering.conditioning.balance import BoundedShift
from humanoid_dynamics.filtering.conditioning.centre_kernels import Areas, follow_path, move_pivots
from humanoid_dynamics.filtering.conditioning.footholds import Stance
from humanoid_dynamics.filtering.conditioning.gate import BLIND
from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.conditioning.swing import Print
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.conditioning.window import Window, edges_of
from humanoid_dynamics.filtering.conditioning.windows import (
    bell_kernel,
    flat_kernel,
)
from humanoid_dynamics.filtering.proportions import Proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.sole_edges import FLAT, HEEL, TOE, find_edges
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

MOST_KNOWN = 64  # supports that are remembered
LARGEST_OFFSET = 0.04  # m; how far angular momentum may move the zero-moment point
LEAST_PUSH = 0.2  # weights that soles bear at least where the zero-moment point is told
STEEPEST_HEIGHT = 4.0  # m/s^2; vertical acceleration of the centre of mass
BEND, STRAIGHT = (
    0.96,
    0.985,
)  # of the length of the leg: where lowering starts, and where it is whole
LOWERING = 0.4  # s; how quickly the pelvis is lowered
CAPTURED = 0.5  # share of what the robot stands on that must hold the point it falls to, where nothing is foreseen

Path = tuple[Matrix, Matrix, Matrix, Matrix]


class CentrePlanner:
    """The centre of mass over the rows that come, with everything that is settled about it.

    Attributes:
        balance: The shift of the centre of mass.
        rebase: (2,) where the centre of mass is at the next plan, where it did not go on as planned [m]; None otherwise.
    """

    def __init__(self, proportions: Proportions, settings: Settings, track: ReferenceTrack) -> None:
        """Prepare.

        Args:
            proportions: Measures of the robot.
            settings: Times and lengths.
            track: Rows of the reference.
        """
        self._p, self._settings, self._track, self._dt = proportions, settings, track, settings.dt
        half = round(min(settings.com_smoothing, 0.3 * settings.lookahead) * settings.rate)
        height = bell_kernel(min(0.06, 0.15 * settings.lookahead) * settings.rate)
        self._bells, self._short = (flat_kernel(half), height), bell_kernel(0.03 * settings.rate)
        p = proportions
        self._numbers = np.array(
            [settings.dt, p.mass, p.gravity, *p.downhill, STEEPEST_HEIGHT, LARGEST_OFFSET]
        )
        self.balance = BoundedShift(proportions.pendulum, settings.dt)
        self._lower = np.nan
        self._trusted = 1.0
        self._captures, self._behind = settings.gate and settings.lookahead < BLIND, np.zeros(2)
        self.rebase: Vector | None = None
        self._known: dict[tuple[object, ...], SupportArea] = {}
        self._areas, self._packed = list[SupportArea](), pack_areas(())
        self._pendulum = np.array([p.pendulum, *p.lean])
        self._follow, self._pivots = compile_kernel(follow_path), compile_kernel(move_pivots)
        self._corners = {(foot, FLAT): corners for foot, corners in enumerate(p.corners)}
        if settings.toe_roll:
            self._corners |= {
                (foot, kind): find_edges(p.corners[foot]).ends(kind)
                for foot in (0, 1)
                for kind in (TOE, HEEL)
            }

    def plan(
        self, window: Window, prints: list[list[Stance]], count: int
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Plan the next rows.

        Args:
            window: What is known.
            prints: Where feet will stand.
            count: How many rows.

        Returns:
            Places, velocities and accelerations, (count, 3) each.
        """
        path = self._find_path(window)
        com, rate, second = (each[:count] for each in path[:3])
        if not self._settings.balance:
            return com, rate, second
        rows, supports = self._supports(window, prints)
        spans: Indices = np.array([*rows, len(path[0])], dtype=np.intp)
        if supports != self._areas:
            self._areas, self._packed = supports, pack_areas(supports)
        moves = self._move_pivots(path, spans, holds=window.leap is None)
        if self.rebase is not None:  # time stood still, and the centre of mass was led elsewhere
            self.balance.x, self.rebase = self.rebase - com[0, :2], None
            self._behind[:] = 0.0
        elif self.balance.x is None and supports and window.leap is None:
            self._begin(moves, com[0, :2], supports[0])
        shifted = self._shift(window, moves, path[0], path[2], count)
        for table, moved in zip((com, rate, second), shifted, strict=True):
            table[:, :2] += moved
        self._sink(window, com, rate)
        if self._captures:
            self._capture(rows, supports, (com, rate, second))
        return com, rate, second

    def _move_pivots(self, path: Path, spans: Indices, *, holds: bool) -> Matrix:
        """Return by how much the zero-moment point of each row has to move to be inside what the robot stands on, smoothly."""
        moves = np.empty(path[3].shape)
        self._trusted = self._pivots(
            path, self._short, self._pendulum, spans, self._packed, self._trusted, holds, moves
        )
        return moves

    def _begin(self, moves: Matrix, com: Vector, support: SupportArea) -> None:
        """Begin no farther out over what the robot stands on than the reference would rest: what led beyond is not known."""
        at = com + self._p.lean
        out = float(support.reach(at[None])[0])
        share = out if CAPTURED < out < 1.0 else CAPTURED
        self.balance.x = support.clamp(at + self.balance.advance(moves, 1)[0], share)[0] - at

    def _capture(
        self, rows: list[int], supports: list[SupportArea], path: tuple[Matrix, Matrix, Matrix]
    ) -> None:
        """Keep the point the robot falls to inside what it stands on, in place: where it will step is not known."""
        (com, rate, second), w = path, self._p.pendulum
        decay = math.exp(-w * self._dt)
        for k in range(len(com)):
            support = next(
                (
                    s
                    for first, s in zip(reversed(rows), reversed(supports), strict=True)
                    if first <= k
                ),
                None,
            )
            falls_to = com[k, :2] + rate[k, :2] / w + self._p.lean
            way = (
                np.zeros(2)
                if support is None
                else support.clamp(falls_to[None], CAPTURED)[0] - falls_to
            )
            behind = self._behind
            com[k, :2] += behind
            rate[k, :2] += w * (way - behind)
            if way.any():  # the point is held: the pivot is there
                second[k, :2] = w * w * (com[k, :2] + self._p.lean - falls_to - way)
            else:
                second[k, :2] += w * w * behind
            self._behind = way + decay * (behind - way)

    def _find_path(self, window: Window) -> Path:
        """Return places, rates and second rates of the reference, and its zero-moment points, from the next row on."""
        n = len(window.com)
        left = n - window.now
        spin = self._track.spin.between(window.start, window.start + n)
        path = np.empty((left, 3)), np.empty((left, 3)), np.empty((left, 3)), np.empty((left, 2))
        self._follow(window.com, spin, self._bells, self._numbers, path)
        return path if window.led is None else self._lead(window, window.led, path)

    def _lead(self, window: Window, led: Sequence[Vector], path: Path) -> Path:
        """Return the path with the heights of a flight, and of the way into it and out of it."""
        com, rate, second, zmp = path
        level, before = second[:, :2] - self._p.downhill, (self._p.gravity + second[:, 2])[:, None]
        torque = (zmp - com[:, :2]) * before + com[:, 2:] * level
        for table, height in zip((com, rate, second), led, strict=True):
            table[:, 2] = height[window.now :]
        push = np.maximum(self._p.gravity + second[:, 2:], LEAST_PUSH * self._p.gravity)
        offset = np.clip(torque / push, -LARGEST_OFFSET, LARGEST_OFFSET)
        zmp = com[:, :2] - (com[:, 2:] / push) * level + offset
        return com, rate, second, np.where(self._flies(window)[:, None], com[:, :2], zmp)

    def _shift(
        self, window: Window, moved: Matrix, com: Matrix, second: Matrix, count: int
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Return by what the centre of mass moves so that its pivot moves as it must; in flight it goes straight on."""
        if window.leap is None:
            return self.balance.advance(moved, count)
        flies = self._flies(window)
        stiffness = np.where(
            flies, 0.0, np.maximum(self._p.gravity + second[:, 2], 0.0) / com[:, 2]
        )
        force = np.where(flies[:, None], self._p.downhill - second[:, :2], 0.0)
        return self.balance.leap(moved, stiffness, force, count)

    def _flies(self, window: Window) -> Labels:
        rows = np.arange(window.now, len(window.com))
        return (
            np.zeros(len(rows), dtype=np.bool_)
            if window.leap is None
            else (rows >= window.leap[1]) & (rows < window.leap[2])
        )

    def _supports(
        self, window: Window, prints: list[list[Stance]]
    ) -> tuple[list[int], list[SupportArea]]:
        rows, supports = [], []
        for row in _changes(window, prints):
            found = [
                next((p[2] for p in prints[foot] if p[0] <= row < p[1]), None) for foot in (0, 1)
            ]
            if found == [None, None]:
                continue
            rows.append(row)
            supports.append(self.support(found[0], found[1], edges_of(window, row)))
        if rows:
            rows[0] = 0
        return rows, supports

    def support(
        self, left: Print | None, right: Print | None, edges: tuple[int, int] = (FLAT, FLAT)
    ) -> SupportArea:
        """Return the area of one or two prints, built anew only where they are new.

        Args:
            left: Where the left foot stands, or None.
            right: Where the right foot stands, or None.
            edges: What they stand on.
        """
        key = (
            edges,
            *(None if at is None else (*at.place.tolist(), at.heading) for at in (left, right)),
        )
        known = self._known.get(key)
        if known is None:
            soles = [
                (self._corners[foot, edges[foot]], at)
                for foot, at in enumerate((left, right))
                if at is not None
            ]
            corners = np.vstack([(sole @ at.turn().T + at.place)[:, :2] for sole, at in soles])
            share = self._settings.inside_two if len(soles) > 1 else self._settings.inside_one
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = SupportArea(corners, share)
        return known

    def _sink(self, window: Window, com: Matrix, rate: Matrix) -> None:
        """Lower the pelvis where a standing leg is straight, in place, and raise it again, slowly."""
        first = window.start + window.now
        stretch = self._track.stretch.between(first, first + len(window.labels))
        straight = float(stretch.max(initial=0.0, where=window.labels))
        wanted = self._settings.extra_lower
        if self._settings.lower:
            needed = min(max((straight - BEND) / (STRAIGHT - BEND), 0.0), 1.0)
            wanted += (1.0 - self._trusted) * self._settings.lower * self._p.leg * needed
        now = wanted if math.isnan(self._lower) else self._lower
        decay = np.exp(-self._dt / LOWERING * np.arange(len(com) + 1))
        lowered = wanted + decay * (now - wanted)
        com[:, 2] -= lowered[:-1]
        rate[:, 2] -= (wanted - lowered[:-1]) / LOWERING
        self._lower = float(lowered[-1])


def pack_areas(supports: Sequence[SupportArea]) -> Areas:
    """Return areas as kernels read them.

    Args:
        supports: The areas.
    """
    edges: Indices = np.cumsum([0, *(len(support.b) for support in supports)], dtype=np.intp)
    if not supports:
        return np.zeros((0, 2)), np.zeros(0), np.zeros((0, 2)), np.zeros(0), edges
    centre, share = (
        np.array([support.centre for support in supports]),
        np.array([support.share for support in supports]),
    )
    return (
        np.concatenate([support.A for support in supports]),
        np.concatenate([support.b for support in supports]),
        centre,
        share,
        edges,
    )


def _changes(window: Window, prints: list[list[Stance]]) -> list[int]:
    """Return the rows at which feet begin to stand, end to, or stand on something else."""
    rows = {0} | {
        row for stances in prints for first, after, _ in stances for row in (first, after)
    }
    if len(window.edges):
        rows.update(
            (np.flatnonzero((window.edges[1:] != window.edges[:-1]).any(axis=1)) + 1).tolist()
        )
    return sorted(row for row in rows if row < len(window.labels))
