# SPDX-License-Identifier: Apache-2.0
"""Negative controls: motions that keep less than they seem to, none of which may count as preserved."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from humanoid_dynamics.filtering.clip_filter import LADDER, filter_clip, reference_instants
from humanoid_dynamics.filtering.preservation import find_broken_bounds, measure_preservation
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.spatial.arrays import Vector

STEPS = 4
POSITIVE = "planned_walk"  # the filter leaves it alone: it has to be preserved
Motion = tuple[
    Clip, Vector
]  # filtered motion, and the instant of the reference of each of its rows [s]


def stands_still(motion: Motion) -> Motion:
    """Hold the first posture on both soles all the time."""
    clip, stamps = motion
    q = np.tile(clip.q[0], (len(clip), 1))
    return clip.change(
        q=q, v=None, a=None, contacts={name: np.ones(len(clip), bool) for name in clip.contacts}
    ), stamps


def takes_twice_as_long(motion: Motion) -> Motion:
    """Play the motion at half its speed."""
    clip, stamps = motion
    return clip.change(times=2.0 * clip.times, v=None, a=None), stamps


def makes_half_of_the_way(motion: Motion) -> Motion:
    """Halve the horizontal way of the base."""
    clip, stamps = motion
    q = np.array(clip.q)
    q[:, :2] = q[0, :2] + 0.5 * (q[:, :2] - q[0, :2])
    return clip.change(q=q, v=None, a=None), stamps


def declares_other_contacts(motion: Motion) -> Motion:
    """Swap the contacts of the two soles."""
    clip, stamps = motion
    names = list(clip.contacts)
    return clip.change(
        contacts=dict(zip(names, [clip.contacts[name] for name in reversed(names)], strict=True))
    ), stamps


FALSIFIED: Mapping[str, Callable[[Motion], Motion]] = {
    make.__name__: make
    for make in (stands_still, takes_twice_as_long, makes_half_of_the_way, declares_other_contacts)
}
CRIPPLED: Mapping[str, tuple[Settings | None, TickSettings | None]] = {
    "without_terminal_constraint": (Settings(balance=False), None),
    "without_contact_limits": (Settings(balance=False), TickSettings(unilateral=False)),
}


def run_controls(clip: Clip) -> dict[str, tuple[str, ...]]:
    """Return the broken bounds of every control: none of the positive control, at least one of each negative control.

    Args:
        clip: A recorded walk, for the controls of the filter; falsified results are those of a planned walk of its robot.
    """
    planned = plan_walk(clip.robot, steps=STEPS).clip
    found = filter_clip(clip.robot, planned, ladder=LADDER[:1])
    motion = (found.clip, reference_instants(planned, found.frames))
    broken = {POSITIVE: tuple(found.report.broken)}
    for name, make in FALSIFIED.items():
        broken[name] = find_broken_bounds(measure_preservation(planned, *make(motion)))
    for name, (settings, tick) in CRIPPLED.items():
        report = filter_clip(
            clip.robot, clip, ladder=LADDER[:1], settings=settings, tick=tick
        ).report
        broken[name] = () if report.preserved else tuple(report.broken)
    return broken
