# SPDX-License-Identifier: Apache-2.0
"""Stage A5, footholds: where each foot will stand, seen from the foot that stands already.

A recorded foot that should stand slides; what is kept is not where feet are in the world but where one is from the other when both stand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.conditioning.swing import Print, Swing
from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SOFT = 0.75  # share of the largest distance from which on distances are shortened
LEAST = 1e-9  # m
NEAREST = 0.3  # of the largest distance: feet that catch the robot do not come nearer to each other, sideways
SEEN = 0.25  # s of common standing that tell where one foot is from the other
SOON = 0.04  # s; a foot that comes down sooner than this is not turned elsewhere any more

Stance = tuple[int, int, Print]  # first row, row after the last, where
FASTEST = 1.8  # m/s, on average from lift-off to touch-down


@dataclass(frozen=True, slots=True, eq=False)
class Feet:
    """Both feet of the reference in the rows that are planned.

    Attributes:
        place: (n, 2, 3) soles, heights repaired [m].
        heading: (n, 2) [rad].
        path: (n, 2) smooth path of the base [m].
        labels: (n, 2) which feet stand.
        shift: (2, 2) by how much the next footprint of each foot is moved to catch the robot [m].
        landing: Row at which a flight ends, and how far feet go in it (2,) [m]; None where none does.
    """

    place: Matrix
    heading: Matrix
    path: Matrix
    labels: Labels
    shift: Matrix
    landing: tuple[int, Vector] | None = None


def place_prints(
    feet: Feet,
    now: tuple[Print, Print],
    stands: tuple[bool, bool],
    limits: tuple[float, float, float],
    dt: float,
) -> list[list[Stance]]:
    """Return for both feet the stretches in which they stand, and where.

    Args:
        feet: The reference.
        now: Where feet stand, or stood last.
        stands: Whether they stand before the first row.
        limits: Share of the way that is gone, largest distance between the feet [m], and what part of a distance ahead counts.
        dt: Time between rows [s].

    Returns:
        For each foot its stretches in order.
    """
    found: list[list[Stance]] = [[], []]
    last, how = [now[0], now[1]], (*limits, round(SEEN / dt))
    stretches = [
        (first, after, foot)
        for foot in (0, 1)
        for first, after, touches in runs(feet.labels[:, foot])
        if touches
    ]
    for first, after, foot in sorted(stretches):
        if first > 0 or not stands[foot]:
            last[foot] = _place_print(feet, (first, after), foot, last, how)
            if not found[foot] and feet.shift[foot].any():
                last[foot] = shift_print(
                    last[foot], last[1 - foot], (foot, feet.shift[foot]), limits[1]
                )
        found[foot].append((first, after, last[foot]))
    return found


def keep_aims(
    prints: list[list[Stance]], swings: tuple[Swing | None, Swing | None], dt: float
) -> None:
    """Let feet that are about to come down point where they were led to, in place, however the reference goes on turning.

    Args:
        prints: For each foot its stretches of standing, in order.
        swings: Swings that go on, with where they lead to; changed.
        dt: Time between rows [s].
    """
    for swing, stretches in zip(swings, prints, strict=True):
        if swing is None or not stretches:
            continue
        first, _, at = stretches[0]
        if first * dt < SOON and swing.aim is not None:
            at.heading = swing.aim
        swing.aim = at.heading


def _place_print(
    feet: Feet,
    rows: tuple[int, int],
    foot: int,
    last: list[Print],
    how: tuple[float, float, float, int],
) -> Print:
    """Return where a foot stands in a stretch."""
    (first, after), landing, (scale, widest, ahead, seen) = rows, feet.landing, how
    place, turns, other = feet.place, feet.heading[first:after, foot], 1 - foot
    heading = math.atan2(float(np.sin(turns).sum()), float(np.cos(turns).sum()))
    path = feet.path[first:after].mean(axis=0)
    stands = feet.labels[first : min(after, first + seen), other]
    both = len(stands) if stands.all() else int(np.argmin(stands))
    if landing is not None and first == landing[0]:
        at = last[foot].place[:2] + landing[1]
    elif both == 0 and not feet.labels[max(first - 1, 0), other]:
        # Out of the air: as far as the reference goes.
        way = place[first:after, foot, :2].mean(axis=0) - place[0, foot, :2]
        at = last[foot].place[:2] + way
    else:
        common = place[first : first + max(both, 1)]
        way = (common[:, foot, :2] - common[:, other, :2]).mean(axis=0)
        way += (scale - 1.0) * (path - last[other].path)
        forward = np.array([math.cos(heading), math.sin(heading)])
        sideways = forward[0] * way[1] - forward[1] * way[0]
        distance = math.hypot(ahead * float(forward @ way), sideways)
        at = last[other].place[:2] + soften_distance(distance, widest) / max(distance, LEAST) * way
    return Print(np.array([*at, 0.0]), heading, path)


def soften_distance(distance: float, most: float) -> float:
    """Return a distance that does not reach a limit: a small one unchanged, a large one pressed together.

    Args:
        distance: The distance.
        most: The limit.
    """
    soft = SOFT * most
    beyond = (distance - soft) / (most - soft)
    return distance if distance <= soft else soft + (most - soft) * math.tanh(beyond)


def shift_print(at: Print, other: Print, how: tuple[int, Vector], widest: float) -> Print:
    """Return a footprint that is moved, but not beyond the other foot and not too far from it.

    Args:
        at: The footprint.
        other: That of the other foot.
        how: 0 for the left, 1 for the right; (2,) by how much it is moved [m].
        widest: Largest distance between the feet [m].
    """
    foot, shift = how
    sideways = (1.0 - 2.0 * foot) * np.array([-np.sin(other.heading), np.cos(other.heading)])
    apart = at.place[:2] - other.place[:2]
    least = min(float(sideways @ apart), NEAREST * widest)
    moved = apart + shift
    moved += max(least - float(sideways @ moved), 0.0) * sideways
    distance = float(np.hypot(*moved))
    place = other.place[:2] + moved * min(
        1.0, max(widest, float(np.hypot(*apart))) / max(distance, 1e-9)
    )
    return Print(np.array([*place, at.place[2]]), at.heading, at.path)


def offset_of_prints(feet: Feet, prints: list[list[Stance]]) -> Matrix:
    """Return by how much the reference must move so that its standing feet are where feet stand.

    Args:
        feet: The reference.
        prints: Where feet stand.

    Returns:
        (n, 2) ways [m]; where no foot stands, on a straight line between.
    """
    n = len(feet.labels)
    total, count = np.zeros((n, 2)), np.zeros(n)
    for foot in (0, 1):
        for first, after, at in prints[foot]:
            total[first:after] += at.place[:2] - feet.place[first:after, foot, :2]
            count[first:after] += 1.0
    known = np.flatnonzero(count)
    if not len(known):
        return total
    if len(known) == n:
        return np.asarray(total / count[:, None])
    ways = total[known] / count[known, None]
    return np.column_stack([np.interp(np.arange(n), known, way) for way in ways.T])


def lengthen_swings(
    labels: Labels, prints: list[list[Stance]], last: Sequence[tuple[Print, int]], dt: float
) -> bool:
    """Put feet down later where they would be too fast, in place.

    Args:
        labels: (n, 2) which feet stand.
        prints: For each foot its stretches of standing, in order.
        last: Where each foot stood last, and how many rows ago that ended.
        dt: Time between rows [s].

    Returns:
        Whether one is put down later.
    """
    later = False
    for foot in (0, 1):
        at, lifted = last[foot][0].place, -last[foot][1]
        for first, after, stands in prints[foot]:
            way = math.dist(stands.place[:2].tolist(), at[:2].tolist())
            due = min(lifted + math.ceil(way / (FASTEST * dt)), len(labels)) if first > 0 else 0
            if due > first:
                labels[first:due, foot], labels[first:due, 1 - foot], later = False, True, True
            at, lifted = stands.place, after
    return later
