# SPDX-License-Identifier: Apache-2.0
"""Stage A2, contacts: which foot stands when, in a window whose past is settled and whose future may still change."""

from __future__ import annotations

from functools import cache

import numpy as np

from humanoid_dynamics.filtering.conditioning.label_kernels import drop_kind, label_feet
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
    moves = np.linalg.norm(np.diff(base[:, :2], axis=0), axis=1) > MOVING * dt
    if np.count_nonzero(moves) * dt < EVIDENCE:
        return RECORDED_FEET
    speeds = np.linalg.norm(np.diff(centres, axis=0)[moves], axis=2) / dt
    still = float(np.quantile(speeds.min(axis=1), NINE_OF_TEN)) <= PLANNED
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
