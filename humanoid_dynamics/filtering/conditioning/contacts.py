# SPDX-License-Identifier: Apache-2.0
"""Stage A2, contacts: which foot stands when, in a window whose past is settled and whose future may still change."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.contact_detection import (
    DOUBLE_SUPPORT,
    HEIGHT_ON,
    SHORTEST,
    SPEED_WORTH,
    STILL,
    ContactThresholds,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only
from humanoid_dynamics.spatial.compiling import compile_kernel

SHORTEST_SWING = 0.16  # s; a foot that is off for a shorter time slides, if anything
ROLLING_SUPPORT = 0.11  # s of common standing before a sole that rolls is lifted
MOVING = 0.02  # m/s; a base that is slower tells nothing about feet
EVIDENCE = 0.1  # s of motion that tells
NINE_OF_TEN = 0.9
PLANNED = 0.012  # m/s; standing feet that are slower than this, nine times of ten, were planned
RECORDED_FEET = ContactThresholds(0.030, 0.045, 0.25, 0.5)
PLANNED_FEET = ContactThresholds(0.002, 0.003, 0.02, 0.04)
LEVEL, LOW, HIGH, SLOW, CALM, FAST, WORTH = range(7)  # places in the limits
SWING, STANCE, BOTH, ROLLING = range(4)  # places in the least numbers of rows
APART: tuple[str, ...] = (
    "drop_kind",
)  # of the parts here, those that are not copied to where they are called

Past = tuple[tuple[bool, bool], tuple[int, int]]


def choose_thresholds(centres: Matrix, base: Matrix, dt: float) -> ContactThresholds:
    """Choose thresholds by how still standing feet are while the base moves.

    Feet that were planned do not move at all while they stand: there the smallest lift is a swing.  Recorded feet slide and float.

    Args:
        centres: (n, 2, 3) middles of both soles [m].
        base: (n, k) configurations, places of the base, seen from above, first [m].
        dt: Time between rows [s].

    Returns:
        The thresholds.
    """
    way = base[1:, :2] - base[:-1, :2]
    moves = (way * way).sum(axis=1) > (MOVING * dt) ** 2
    if np.count_nonzero(moves) * dt < EVIDENCE:
        return RECORDED_FEET
    steps = (centres[1:] - centres[:-1])[moves]
    slower = np.sort((steps * steps).sum(axis=2).min(axis=1))
    last = NINE_OF_TEN * (len(slower) - 1)
    one, other = np.sqrt(slower[[int(last), math.ceil(last)]]).tolist()
    still = one + (last - int(last)) * (other - one) <= PLANNED * dt
    return PLANNED_FEET if still else RECORDED_FEET


def label_window(
    heights: Matrix,
    speeds: Matrix,
    limits: ContactThresholds,
    past: tuple[tuple[bool, bool], tuple[int, int]],
    dt: float,
    *,
    known: int = 0,
    rolls: Labels | None = None,
) -> Labels:
    """Tell which foot stands in each row of a window.

    A foot stands when it is low and slow, and goes on standing until it is clearly high or fast; short contacts and swings are dropped.
    Where no foot stands, the lower, slower one does.  A foot is lifted only when the other one has stood for a while.

    Args:
        heights: (n, 2) heights of both soles over the ground [m].
        speeds: (n, 2) their speeds [m/s].
        limits: Thresholds.
        past: Whether each foot stood before the window, and for how many rows.
        dt: Time between rows [s].
        known: How many of the rows are before the window.
        rolls: (n, 2) where a sole would roll if the other one came down: it is lifted later; nowhere where None.

    Returns:
        (n, 2) labels.
    """
    numbers, least = _numbers(limits, dt)
    labels: Labels = np.empty((len(heights) - known, 2), dtype=bool)
    later: Labels = np.zeros((0, 2), dtype=bool) if rolls is None else rolls
    seen: Labels = np.empty((len(heights), 2), dtype=bool)
    compile_kernel(label_feet)((heights, speeds), numbers, past, least, later, seen, labels)
    return labels


@cache
def _numbers(limits: ContactThresholds, dt: float) -> tuple[Vector, Indices]:
    """Return thresholds and least numbers of rows, as the kernel reads them."""
    still, lowest = min(limits.speed_on, STILL), HEIGHT_ON[2]
    numbers = [
        lowest,
        limits.height_on,
        limits.height_off,
        still,
        limits.speed_on,
        limits.speed_off,
        SPEED_WORTH,
    ]
    least: Indices = np.array(
        [round(time / dt) for time in (SHORTEST_SWING, SHORTEST, DOUBLE_SUPPORT, ROLLING_SUPPORT)],
        dtype=np.intp,
    )
    least.setflags(write=False)
    return read_only(numbers), least


def drop_short(labels: Labels, before: bool, least: tuple[int, int]) -> None:
    """Drop short swings, then short contacts, in place; what touches an end of the window may go on beyond it and stays.

    Args:
        labels: (n,) labels of one foot.
        before: The label before the window.
        least: Rows of a swing, and of a contact, that are not short.
    """
    for kind in (False, True):
        drop_kind(labels, before, least[int(kind)], kind, 0)


def label_feet(
    motion: tuple[Matrix, Matrix],
    limits: Vector,
    past: Past,
    least: Indices,
    rolls: Labels,
    seen: Labels,
    out: Labels,
) -> None:
    """Tell which foot stands in each row of a window; see ``contacts.label_window``.

    Args:
        motion: (n, 2) heights [m] and speeds [m/s] of both soles.
        limits: Height below which a sole that is slow stands anyway, heights and speeds at which a foot begins and ends to stand, and how
            many metres of height a speed is worth [s].
        past: Whether each foot stood before the window, and for how many rows.
        least: Rows of a swing and of a contact that are not short, of common standing, and of that where a sole rolls.
        rolls: (n, 2) where one would if the other came down; no rows where soles do not roll.
        seen: (n, 2) memory.
        out: (m, 2) labels of the last m rows, those of the window; overwritten.
    """
    heights, speeds = motion
    known = len(heights) - len(out)
    for foot in range(2):
        stands = True
        for i in range(len(heights)):
            stands = past[0][foot] if i == known else stands
            seen[i, foot] = stands = goes_on_standing(
                stands, heights[i, foot], speeds[i, foot], limits
            )
        drop_kind(
            seen[known:, foot], past[0][foot], least[SWING], False, count_off(seen[:known, foot])
        )
        drop_kind(seen[known:, foot], past[0][foot], least[STANCE], True, 0)
    for i in range(len(heights)):
        if not (seen[i, 0] or seen[i, 1]):
            left, right = (
                heights[i, 0] + limits[WORTH] * speeds[i, 0],
                heights[i, 1] + limits[WORTH] * speeds[i, 1],
            )
            seen[i, 1 if right < left else 0] = True
    for foot in range(2):  # what a change of mind leaves of a swing may be none
        drop_kind(
            seen[known:, foot], past[0][foot], least[STANCE], False, count_off(seen[:known, foot])
        )
    hand_over(seen[known:], past, least, rolls, out)


def hand_over(given: Labels, past: Past, least: Indices, rolls: Labels, out: Labels) -> None:
    """Let the load go from foot to foot while both stand; where that leaves next to nothing of a swing nobody waits for its end either."""
    for _ in range(2):
        for i in range(len(given)):
            out[i, 0], out[i, 1] = given[i, 0], given[i, 1]
        for foot in range(2):
            hold_other(given, foot, past, (least[BOTH], least[ROLLING]), rolls[:, foot], out)
            drop_kind(out[:, foot], past[0][foot], least[STANCE], False, 0)
        for foot in range(2):
            drop_gone(given[:, foot], out[:, foot])


def drop_gone(labels: Labels, left: Labels) -> None:
    """Let a foot stand, in place, in stretches off the ground of which nothing is left."""
    first = 0
    while first < len(labels):
        after, gone = first, True
        while after < len(labels) and not labels[after]:
            gone = gone and left[after]
            after += 1
        for i in range(first, after):
            labels[i] = gone and after < len(labels)
        first = after + 1


def count_off(labels: Labels) -> int:
    """Return for how many rows, up to the last one, a foot has been off."""
    rows = 0
    while rows < len(labels) and not labels[len(labels) - 1 - rows]:
        rows += 1
    return rows


def goes_on_standing(stands: bool, height: float, speed: float, limits: Vector) -> bool:
    """Return whether a foot stands: it begins to where it is low and slow, and ends to where it is clearly high or fast."""
    if (height < limits[LEVEL] and speed < limits[SLOW]) or (
        height < limits[LOW] and speed < limits[CALM]
    ):
        return True
    return stands and height <= limits[HIGH] and speed <= limits[FAST]


def drop_kind(labels: Labels, before: bool, least: int, kind: bool, ago: int) -> None:
    """Turn short stretches of a kind over, in place; what touches an end of the window may go on beyond it and stays.

    Args:
        labels: (n,) labels of one foot.
        before: The label before the window, as it was settled.
        least: Rows of a stretch that is not short.
        kind: The kind.
        ago: How many rows before the window the motion was of that kind, whatever was settled: a stretch does not become short because its
            beginning is past.
    """
    first = 0
    while first < len(labels):
        after = first + 1
        while after < len(labels) and labels[after] == labels[first]:
            after += 1
        inside = after < len(labels) and (first > 0 or before != kind)
        long = after - first + (ago if first == 0 else 0)
        if labels[first] == kind and long < least and inside:
            for i in range(first, after):
                labels[i] = not kind
        first = after


def hold_other(
    given: Labels, foot: int, past: Past, least: tuple[int, int], rolls: Labels, out: Labels
) -> None:
    """Let a foot stand on until the other one has stood for a while, and for longer where it rolls meanwhile."""
    other, first, known = 1 - foot, 0, len(rolls) - len(given)
    while first < len(given):
        after = first + 1
        while after < len(given) and given[after, other] == given[first, other]:
            after += 1
        age = past[1][other] if first == 0 and past[0][other] else 0
        stood = past[0][foot] if first == 0 else given[first - 1, foot]
        if given[first, other] and stood:
            touched = known + first - age
            longer = touched >= 0 and rolls[touched]
            for i in range(first, min(first + least[int(longer)] - age, after)):
                out[i, foot] = True
        first = after
