# SPDX-License-Identifier: Apache-2.0
"""Few of the many points of a round or flat shape that touch at once: the lowest, and those that a small tilt would make the lowest.

What is left out cannot sink: once it is the lowest it takes part.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.steps.bench import Bench
from humanoid_dynamics.simulation.steps.rows import (
    DT,
    M_TOUCHES,
    N_AXES,
    N_GAP,
    N_KEY,
    N_PLACE,
    N_POINT,
    N_SPEED,
    P_SHAPE,
)
from humanoid_dynamics.spatial.arrays import read_only

FEW_AT_ONCE = 4  # so many of a shape all take part
TILT = 0.02  # [rad]
STEADY = (
    1e-5  # what touched before counts as so much lower, so that points take turns less often [m]
)
TILTS = read_only(
    [[0.0, 0.0], *([np.cos(angle), np.sin(angle)] for angle in np.arange(8) * np.pi / 4.0)]
)


def arrive_at(bench: Bench, k: int) -> float:
    """Return how near a point comes in a step, a little less for one that touched in the last one [m].

    Args:
        bench: All tables.
        k: Row of the point in the table of near points.
    """
    row = bench.near[k]
    steady = STEADY if bench.memory[int(row[N_KEY]), M_TOUCHES] > 0.0 else 0.0
    return float(row[N_GAP] + bench.numbers[DT] * row[N_SPEED] - steady)


def find_tilted(bench: Bench, span: tuple[int, int], first: int, tilt: tuple[int, int]) -> int:
    """Return the place of the point that is lowest among some if what carries them tilts.

    Args:
        bench: All tables.
        span: Places of the first of them among what was chosen, and of the one after the last.
        first: Place of one of them: only those count that touch the same shape.
        tilt: Row of the point in the table of near points along whose axes it tilts, and which way.
    """
    near, chosen, shape = bench.near, bench.chosen, slot_of(bench, first)
    (axes, way), lowest, found = tilt, np.inf, first
    x, y = TILT * TILTS[way, 0], TILT * TILTS[way, 1]
    a = x * near[axes, N_AXES + 3] + y * near[axes, N_AXES + 6]
    b = x * near[axes, N_AXES + 4] + y * near[axes, N_AXES + 7]
    c = x * near[axes, N_AXES + 5] + y * near[axes, N_AXES + 8]
    for i in range(span[0], span[1]):
        if slot_of(bench, i) != shape:
            continue
        k = chosen[i]
        height = (
            arrive_at(bench, k)
            - a * near[k, N_PLACE]
            - b * near[k, N_PLACE + 1]
            - c * near[k, N_PLACE + 2]
        )
        if height < lowest:
            lowest, found = height, i
    return found


def slot_of(bench: Bench, i: int) -> int:
    """Return which shape a chosen point touches: zero for all that stand still."""
    return int(bench.near[bench.chosen[i], N_KEY]) // len(bench.points)


def thin_shape(bench: Bench, span: tuple[int, int], kept: int) -> int:
    """Choose among points of one shape; return the number of all that are chosen so far.

    Args:
        bench: All tables.
        span: Places of the first of them among what was chosen, and of the one after the last.
        kept: How many were kept of those before.
    """
    begin, end = span
    keeps = np.zeros(end - begin)
    for i in range(begin, end):
        known = False
        for j in range(begin, i):
            if slot_of(bench, j) == slot_of(bench, i):
                known = True
                break
        if known:
            continue
        axes = bench.chosen[find_tilted(bench, span, i, (bench.chosen[i], 0))]
        for way in range(len(TILTS)):
            keeps[find_tilted(bench, span, i, (axes, way)) - begin] = 1.0
    for i in range(begin, end):
        if keeps[i - begin] > 0.0:
            bench.chosen[kept] = bench.chosen[i]
            kept += 1
    return kept


def thin_points(bench: Bench, m: int) -> int:
    """Keep few points of each shape among those that were chosen; return their number.

    Args:
        bench: All tables.
        m: How many were chosen.
    """
    points, near, chosen = bench.points, bench.near, bench.chosen
    begin, kept = 0, 0
    while begin < m:
        shape = points[int(near[chosen[begin], N_POINT]), P_SHAPE]
        end = begin + 1
        while end < m and points[int(near[chosen[end], N_POINT]), P_SHAPE] == shape:
            end += 1
        if shape > 0.0 and end - begin > FEW_AT_ONCE:
            kept = thin_shape(bench, (begin, end), kept)
        else:
            for i in range(begin, end):
                chosen[kept] = chosen[i]
                kept += 1
        begin = end
    return kept


PARTS = (slot_of, arrive_at, find_tilted, thin_shape, thin_points)
