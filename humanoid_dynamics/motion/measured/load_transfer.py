# SPDX-License-Identifier: Apache-2.0
"""From the times each surface touches to the shares of the load: each contact is loaded while another one is unloaded."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.contact.schedule import ContactInterval, ContactSchedule, normalise
from humanoid_dynamics.contact.transfer import Profile, find_profile
from humanoid_dynamics.motion.schedule import Interval, TouchTimes
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def plan_transfer(schedule: TouchTimes, profile: str | Profile = "quintic") -> ContactSchedule:
    """Give each contact the time in which it takes its load and the time in which it gives it away.

    A contact is loaded from its touch-down until the next of the contacts that were there before lifts off, and unloaded from the last
    touch-down of a contact that stays until its own lift-off.  One that was never alone has half its time for each.

    Args:
        schedule: Which surface touches when; what touches at its start or end goes on beyond it.
        profile: How load rises and falls.

    Returns:
        The schedule of loads.
    """
    found = []
    for surface, intervals in schedule.intervals.items():
        others = [
            other
            for name, stretches in schedule.intervals.items()
            if name != surface
            for other in stretches
        ]
        found += [_plan(surface, interval, others, schedule) for interval in intervals]
    return ContactSchedule.of(found, find_profile(profile))


def share_table(
    schedule: TouchTimes,
    surfaces: tuple[str, ...],
    times: Vector,
    profile: str | Profile = "quintic",
) -> Matrix:
    """Return the share of each surface at many instants; a surface that does not touch has none.

    Args:
        schedule: Which surface touches when.
        surfaces: Order of the surfaces; those of the schedule that are not among them bear nothing.
        times: (n,) instants [s].
        profile: How load rises and falls.

    Returns:
        (n, surfaces) shares of sum 1; all zero where nothing touches.
    """
    chosen = TouchTimes(
        schedule.start,
        schedule.end,
        {s: schedule.intervals[s] for s in surfaces if s in schedule.intervals},
    )
    plan, touches = plan_transfer(chosen, profile), chosen.labels(times)
    shares = np.zeros((len(times), len(surfaces)))
    closed = np.zeros((len(times), len(surfaces)), dtype=bool)
    for column, surface in enumerate(surfaces):
        closed[:, column] = touches.get(surface, False)
    for row, t in enumerate(times):
        loads = dict(zip(plan.surfaces, plan.loads(t), strict=True))
        borne = normalise(np.array([loads.get(surface, 0.0) for surface in surfaces]) * closed[row])
        shares[row] = borne if borne.any() else normalise(closed[row].astype(np.float64))
    return shares


def _plan(
    surface: str, interval: Interval, others: list[Interval], schedule: TouchTimes
) -> ContactInterval:
    start, end = interval
    leaving = [b for a, b in others if a < start < b < end]
    coming = [a for a, b in others if start < a < end < b]
    load, unload = min(leaving, default=start) - start, end - max(coming, default=end)
    excess = (load + unload) / (end - start)
    if excess > 1.0:
        load, unload = load / excess, unload / excess
    first = -np.inf if start <= schedule.start else start
    last = np.inf if end >= schedule.end else end
    return ContactInterval(surface, first, last, load, unload)
