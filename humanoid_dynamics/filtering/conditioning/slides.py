# SPDX-License-Identifier: Apache-2.0
"""Stage A4: a standing foot that slides or pivots too far makes a small step instead."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

FARTHEST = 0.05  # m
WIDEST = np.deg2rad(17.0)
DURATION = 0.28  # s of the small step
SETTLED = 0.06  # s the other foot must stand before and after it
LEAD = 0.75  # of what is known; the centre of mass must have time to go to the other foot


def find_slide(
    drift: Matrix, speeds: Vector, mine: Labels, other: Labels, dt: float
) -> tuple[int, int] | None:
    """Find when a foot that should stand makes a small step instead.

    Args:
        drift: (2, n) how far the foot of the reference is from where it stands [m], and by what angle it is turned [rad].
        speeds: (n,) its speed [m/s].
        mine: (n,) whether the foot stands; the first run counts.
        other: (n,) whether the other foot stands.
        dt: Time between rows [s].

    Returns:
        First row of the step and the row after its last; None where none is needed or possible.
    """
    after = len(mine) if mine.all() else int(np.argmin(mine))
    far = (drift[0][:after] > FARTHEST) | (np.abs(drift[1][:after]) > WIDEST)
    if not far.any():
        return None
    length, margin = round(DURATION / dt), round(SETTLED / dt)
    lead = max(margin, round(LEAD * len(mine)))
    latest = (
        len(mine) - margin if after == len(mine) else after - length - margin
    )  # beyond what is known it may go on
    starts = np.arange(lead, latest)
    if not len(starts):
        return None
    kept = np.concatenate(([0], np.cumsum(~other)))
    free = kept[np.minimum(starts + length + margin, len(mine))] == kept[starts - margin]
    if not free.any():
        return None
    starts = starts[free]
    middle = speeds[np.minimum(starts + length // 2, len(mine) - 1)]
    late = int(np.argmax(far))
    best = starts[int(np.argmax(middle - 0.05 * np.abs(starts + length // 2 - late) * dt))]
    return int(best), int(best) + length
