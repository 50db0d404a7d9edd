# SPDX-License-Identifier: Apache-2.0
"""A schedule as a table: the load of each surface at the times it begins or ends to change, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SAME = 1e-6


def loads_of_schedule(schedule: ContactSchedule, start: float, end: float) -> tuple[Vector, Matrix]:
    """Return a schedule as a table.

    Args:
        schedule: The schedule.
        start: First time of the table [s].
        end: Last time of the table [s].

    Returns:
        (n,) times, rising [s]; (n, surfaces) load of each surface then, 0 to its weight.
    """
    breaks = {b for interval in schedule.intervals for b in interval.breaks() if start < b < end}
    times = np.array(sorted({start, *breaks, end}))
    return times, np.array([schedule.loads(t) for t in times])


def schedule_from_loads(
    surfaces: Sequence[str], times: Sequence[float], loads: Matrix
) -> ContactSchedule:
    """Return the schedule that a table tells; before its first time and after its last one loads stay as they are there.

    Between two times the load of a surface stays or passes from nothing to all or back, as the profile of schedules has it.

    Args:
        surfaces: Names of the surfaces.
        times: (n,) times, rising [s].
        loads: (n, surfaces) loads.

    Returns:
        The schedule; a surface that never bears load is not in it.

    Raises:
        ShapeError: If sizes do not fit, times do not rise, or a load is negative or no number.
    """
    table = np.asarray(loads, dtype=np.float64)
    if (
        table.shape != (len(times), len(surfaces))
        or not len(times)
        or len(set(surfaces)) != len(surfaces)
    ):
        raise ShapeError(
            "loads", f"shape {table.shape}", f"({len(times)}, {len(surfaces)}), each surface once"
        )
    if not np.all(np.diff(times) > 0.0) or not np.isfinite(table).all() or np.any(table < 0.0):
        raise ShapeError(
            "loads",
            "times that do not ascend, or a load that is negative or not finite",
            "ascending times, finite loads of at least 0",
        )
    intervals: list[ContactInterval] = []
    for column, surface in zip(table.T.tolist(), surfaces, strict=True):
        intervals += _read(surface, list(times), column)
    return ContactSchedule.of(intervals)


def _read(surface: str, times: list[float], loads: list[float]) -> list[ContactInterval]:
    """Return the closings of one surface."""
    found, weight = [], max(loads)
    if weight == 0.0:
        return []
    # On the way between nothing and all a table has rows where other surfaces change.
    ends = [
        (t, load > 0.5 * weight)
        for t, load in zip(times, loads, strict=True)
        if min(load, weight - load) <= SAME * weight
    ]
    if not ends:
        raise ShapeError(
            f"loads of {surface}",
            str(loads[:6]),
            "zero at some times and the largest load at others",
        )
    start, load = (-np.inf if ends[0][1] else np.nan), 0.0
    for (before, was), (now, bears) in pairwise(ends):
        if bears and not was:
            start, load = before, now - before
        elif was and not bears:
            found.append(ContactInterval(surface, start, now, load, now - before, weight))
    if ends[-1][1]:
        found.append(ContactInterval(surface, start, np.inf, load, 0.0, weight))
    return found
