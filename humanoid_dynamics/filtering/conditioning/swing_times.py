# SPDX-License-Identifier: Apache-2.0
"""Swings that last as long as the way is far: a foot that would have to fly is put down later, and the other one waits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humanoid_dynamics.filtering.conditioning.footholds import Stance
from humanoid_dynamics.filtering.conditioning.swing import Print
from humanoid_dynamics.motion.clip import Labels

FASTEST = 1.8  # m/s, on average from lift-off to touch-down


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
