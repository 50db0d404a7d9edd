"""Stage A2, contacts: which foot stands when, in a window whose past is settled and whose future may still change."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.contact_detection import DOUBLE_SUPPORT, HEIGHT_ON, SHORTEST, SPEED_WORTH, STILL, ContactThresholds
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SHORTEST_SWING = 0.16  # s; a foot that is off for a shorter time slides, if anything
MOVING = 0.02  # m/s; a base that is slower tells nothing about feet
EVIDENCE = 0.1  # s of motion that tells
PLANNED = 0.012  # m/s; standing feet that are slower than this, nine times of ten, were planned
RECORDED_FEET = ContactThresholds(0.030, 0.045, 0.25, 0.5)
PLANNED_FEET = ContactThresholds(0.002, 0.003, 0.02, 0.04)


def choose_thresholds(centres: Matrix, base: Matrix, dt: float) -> ContactThresholds:
    """Choose thresholds by how still standing feet are while the base moves.

    Feet that were planned do not move at all while they stand: there the smallest lift is a swing.  Recorded feet slide and float.

    Args:
        centres: (n, 2, 3) middles of both soles [m].
        base: (n, 2) places of the base, seen from above [m].
        dt: Time between rows [s].

    Returns:
        The thresholds.
    """
    steps = np.diff(centres, axis=0) / dt
    slower = np.min(np.linalg.norm(steps, axis=2), axis=1)
    moving = np.linalg.norm(np.diff(base, axis=0), axis=1) > MOVING * dt
    if np.count_nonzero(moving) * dt < EVIDENCE or float(np.percentile(slower[moving], 90.0)) > PLANNED:
        return RECORDED_FEET
    return PLANNED_FEET


def label_window(
    heights: Matrix, speeds: Matrix, limits: ContactThresholds, past: tuple[tuple[bool, bool], tuple[int, int]], dt: float
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

    Returns:
        (n, 2) labels.
    """
    before, stood = past
    labels = np.column_stack([_hysteresis(heights[:, foot], speeds[:, foot], limits, before[foot]) for foot in (0, 1)])
    for foot in (0, 1):
        drop_short(labels[:, foot], before[foot], (round(SHORTEST_SWING / dt), round(SHORTEST / dt)))
    nearer = np.argmin(heights + SPEED_WORTH * speeds, axis=1)
    alone = ~labels.any(axis=1)
    labels[alone, nearer[alone]] = True
    hold_until_other_stands(labels, before, stood, round(DOUBLE_SUPPORT / dt))
    return labels


def drop_short(labels: Labels, before: bool, least: tuple[int, int]) -> None:
    """Drop short swings, then short contacts, in place; what touches an end of the window may go on beyond it and stays.

    Args:
        labels: (n,) labels of one foot.
        before: The label before the window.
        least: Rows of a swing, and of a contact, that are not short.
    """
    for kind in (False, True):
        for first, after, touches in runs(labels):
            inside = after < len(labels) and (first > 0 or before is not kind)
            if touches is kind and after - first < least[int(kind)] and inside:
                labels[first:after] = not kind


def hold_until_other_stands(labels: Labels, before: tuple[bool, bool], stood: tuple[int, int], least: int) -> None:
    """Let a foot stand on until the other one has stood for a while, in place.

    Args:
        labels: (n, 2) labels.
        before: Labels before the window.
        stood: For how many rows each foot had stood then.
        least: Rows both stand when the load goes from one to the other.
    """
    given = labels.copy()
    for foot in (0, 1):
        other = 1 - foot
        for first, after, touches in runs(given[:, other]):
            age = stood[other] if first == 0 and before[other] else 0
            was = before[foot] if first == 0 else bool(given[first - 1, foot])
            if touches and was and age < least:
                labels[first : min(first + least - age, after), foot] = True


def _hysteresis(heights: Vector, speeds: Vector, limits: ContactThresholds, before: bool) -> Labels:
    still = (heights < HEIGHT_ON[2]) & (speeds < min(limits.speed_on, STILL))
    on = still | ((heights < limits.height_on) & (speeds < limits.speed_on))
    off = ~still & ((heights > limits.height_off) | (speeds > limits.speed_off))
    rows = np.arange(len(heights))
    last_on = np.maximum.accumulate(np.where(on, rows, -1))
    last_off = np.maximum.accumulate(np.where(off & ~on, rows, -1))
    decided = (last_on >= 0) | (last_off >= 0)
    return np.where(decided, last_on > last_off, before)
