# SPDX-License-Identifier: Apache-2.0
"""The nearest point inside limits, compiled: the dual active-set method of Goldfarb and Idnani for squares that are nearly plain.

The cost is |y|^2 / 2 and the squares of a few soft rows, N y - b.  Soft rows and equations are as good as active rows that never leave:
with K = N N' + 1 on soft rows and N N' elsewhere, the point is y = -N' u where K u = -b.  So no Hessian is made, and all that is factored
is as large as the number of active rows.  From the last tick's active rows on, the row that is broken most is made to hold, again and
again; a row that would have to pull is let go.  The cost rises at every step, so that there is an end.
"""

from __future__ import annotations

import math

from humanoid_dynamics.filtering.ticks.basis_kernels import (
    COUNT,
    Work,
    append_row,
    four_rows,
    measure_rest,
    move_point,
    place_point,
    remove_row,
    solve_lower,
    solve_upper,
)
from humanoid_dynamics.resolution.small import dot, dot_row, dot_rows
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.fours import FOUR, put_four

APART: tuple[str, ...] = (
    "_begin_always",
    "_begin_known",
    "_finish",
    "_press",
    "find_worst",
    "write_normal",
)  # of the parts here, those that are not copied to where they are called
FOUND, HOPELESS, LOST, HELD = range(4)
MOST_STEPS = 150
EXACT = 1e-9  # of the unit of the unknowns: what a row of unit length may be broken by
KEPT = 1e-7  # and what may be left in the end, of the larger of one and the point
UPPER, LOWER = 1, -1
START, KNOWN, STEPS, CHANGE = range(
    1, 5
)  # places in the state behind the active rows: those that never leave, known ones of last time,
# steps, and the row of the tags that begins and is remembered instead of those of last time, where one does; then how many are in each row

Always = tuple[Matrix, Vector]
Limits = tuple[Matrix, Vector, Vector, Vector]


def find_nearest(
    always: Always, soft: int, limits: Limits, bounds: Matrix, y: Vector, work: Work
) -> int:
    """Find the point of least cost inside all limits.

    Args:
        always: Soft rows and equations, N and b.
        soft: How many of them are soft.
        limits: Rows A, lower <= A y <= upper, their bounds, and their lengths; a row of length zero is none.
        bounds: (2, k) least and largest values of the first unknowns.
        y: The point; overwritten.
        work: Memory, see ``NearestPoint``.

    Returns:
        How it ended.
    """
    tags, state = work[3], work[4]
    state[START] = _begin_always(always, soft, work)
    if not _begin_known(limits, bounds, work):
        return LOST
    place_point(work[0], work[2][0], state[COUNT], y)
    exact, ended = EXACT * _size_of(y), LOST
    for step in range(MOST_STEPS):
        state[STEPS] = step
        row, side, excess = find_worst(limits, bounds, y, exact, work[2][1])
        if row < 0:
            return _finish(always, soft, limits, bounds, y, work)
        if state[COUNT] >= tags.shape[1]:
            break
        write_normal(limits[0], bounds.shape[1], row, side, work[0], state[COUNT])
        ended = _press(side * (row + 1), excess, y, work)
        if ended == HELD:  # rounding in a row that others hold already
            return _finish(always, soft, limits, bounds, y, work)
        if ended != FOUND:
            break
    state[KNOWN] = 0
    return HOPELESS if ended == HOPELESS else LOST


def recall_rows(work: Work) -> None:
    """Begin with the rows that were active after the same change the last time, where one is told."""
    tags, state = work[3], work[4]
    change = state[CHANGE]
    if change:
        state[KNOWN] = state[CHANGE + change]
        for i in range(state[KNOWN]):
            tags[1, i] = tags[change, i]


def remember_rows(work: Work) -> None:
    """Remember the rows that are active now, after a change."""
    tags, state = work[3], work[4]
    change = state[CHANGE]
    if change:
        state[CHANGE], state[CHANGE + change] = 0, state[KNOWN]
        for i in range(state[KNOWN]):
            tags[change, i] = tags[1, i]


def _press(tag: int, excess: float, y: Vector, work: Work) -> int:
    """Let the force of a new row grow until the row holds; rows that would have to pull are let go."""
    C, L, V, tags, state = work
    u, g, r, now, pressed = V[0], V[1], V[2], tags[0], 0.0
    steep = measure_rest(C, L, state[COUNT], g)
    for _ in range(MOST_STEPS):
        count = state[COUNT]
        solve_upper(L, g, r, count)
        length, leaving = _longest_step(u, r, state[START], count)
        if steep > 0.0 and excess <= length * steep:
            length, leaving = excess / steep, -1
        elif leaving < 0:
            return HELD if excess <= KEPT * _size_of(y) and pressed == 0.0 else HOPELESS
        pressed += length
        for i in range(count):
            u[i] -= length * r[i]
        if steep > 0.0:
            move_point(C, r, count, length, y)
            excess -= length * steep
        if leaving < 0:
            append_row(L, g, steep, count)
            u[count], now[count], state[COUNT] = pressed, tag, count + 1
            return FOUND
        steep += remove_row(work, u, leaving)
    return LOST


def find_worst(
    limits: Limits, bounds: Matrix, y: Vector, exact: float, values: Vector
) -> tuple[int, int, float]:
    """Return the row that is broken most for its length, the side it is broken at and by how much; minus one where all hold.

    The first rows are the bounds on unknowns; values is memory.
    """
    A, lower, upper, size = limits
    row, side, worst, excess, na = -1, UPPER, exact, 0.0, bounds.shape[1]
    for i in range(na):
        over, under = y[i] - bounds[1, i], bounds[0, i] - y[i]
        if over > worst:
            row, side, worst, excess = i, UPPER, over, over
        if under > worst:
            row, side, worst, excess = i, LOWER, under, under
    for first in range(0, len(lower), FOUR):
        begin = min(first, len(lower) - FOUR)
        put_four(values, 0, four_rows(A, begin, y, len(y)))
        for i in range(FOUR):
            k = begin + i
            over, under, most = values[i] - upper[k], lower[k] - values[i], worst * size[k]
            if max(over, under) > most and size[k] > 0.0:
                side = UPPER if over > under else LOWER
                row, excess = na + k, max(over, under)
                worst = excess / size[k]
    return row, side, excess


def write_normal(A: Matrix, na: int, row: int, side: int, C: Matrix, place: int) -> None:
    """Write the outward normal of a row of the limits."""
    n = C.shape[1]
    if row >= na:
        for j in range(n):
            C[place, j] = side * A[row - na, j]
        return
    for j in range(n):
        C[place, j] = 0.0
    C[place, row] = side


def _begin_always(always: Always, soft: int, work: Work) -> int:
    """Factor soft rows and equations; an equation that follows from others is left out."""
    (N, b), C, L, V, ids = always, work[0], work[1], work[2], work[3][0]
    n, count, g = C.shape[1], 0, V[1]
    for k in range(len(b)):
        for j in range(n):
            C[count, j] = N[k, j]
        steep = measure_rest(C, L, count, g)
        if k < soft:
            steep += 1.0
        if steep > 0.0:
            append_row(L, g, steep, count)
            V[3, count], ids[count] = b[k], 0
            count += 1
    return count


def _begin_known(limits: Limits, bounds: Matrix, work: Work) -> bool:
    """Add the active rows of the last tick, without those that would have to pull; return whether numbers are numbers."""
    C, L, V, ids, state = work
    u, g, b, na = V[0], V[1], V[3], bounds.shape[1]
    count = state[START]
    for i in range(state[KNOWN]):
        tag = ids[1, i]
        row, side = abs(tag) - 1, UPPER if tag > 0 else LOWER
        bound = _bound_of(limits, bounds, row, side)
        if not math.isfinite(bound) or count >= ids.shape[1]:
            continue
        write_normal(limits[0], na, row, side, C, count)
        steep = measure_rest(C, L, count, g)
        if steep > 0.0:
            append_row(L, g, steep, count)
            b[count], ids[0, count] = bound, tag
            count += 1
    state[COUNT] = count
    for i in range(count):
        g[i] = -b[i]
    solve_lower(L, g, count)
    pulling = _find_pull(work)
    while pulling >= 0:
        remove_row(work, b, pulling)
        pulling = _find_pull(work)
    return math.isfinite(u[0])


def _find_pull(work: Work) -> int:
    """Write the forces of the active rows from their basis, and return the limit that pulls most; minus one where none does."""
    L, V, state = work[1], work[2], work[4]
    u, g, count = V[0], V[1], state[COUNT]
    solve_upper(L, g, u, count)
    worst, leaving = 0.0, -1
    for i in range(state[START], count):
        if u[i] < worst:
            worst, leaving = u[i], i
    return leaving


def _bound_of(limits: Limits, bounds: Matrix, row: int, side: int) -> float:
    """Return where a row ends, in the direction of its outward normal; infinite where it does not."""
    na = bounds.shape[1]
    if row < na:
        return float(bounds[1, row] if side > 0 else -bounds[0, row])
    if row - na >= len(limits[3]) or not limits[3][row - na] > 0.0:
        return math.inf
    return float(limits[2][row - na] if side > 0 else -limits[1][row - na])


def _finish(
    always: Always, soft: int, limits: Limits, bounds: Matrix, y: Vector, work: Work
) -> int:
    """Take away what rounding left in the active rows; say whether all rows hold."""
    C, L, V, ids, state = work
    u, g, r, b, n, count = V[0], V[1], V[2], V[3], len(y), state[COUNT]
    state[KNOWN] = count - state[START]
    for i in range(count):
        tag = ids[0, i]
        if tag != 0:
            ids[1, i - state[START]] = tag
            b[i] = _bound_of(limits, bounds, abs(tag) - 1, UPPER if tag > 0 else LOWER)
        g[i] = dot_row(C, i, y, n) - b[i] - (u[i] if i < soft else 0.0)
    solve_lower(L, g, count)
    solve_upper(L, g, r, count)
    for i in range(count):
        u[i] += r[i]
    place_point(C, u, count, y)
    largest = _size_of(y)
    if not math.isfinite(largest):
        return LOST
    N, right = always
    for k in range(soft, len(right)):
        miss = abs(dot_row(N, k, y, n) - right[k])
        if not miss <= KEPT * largest * max(math.sqrt(dot_rows(N, k, N, k, n)), 1.0):
            return HOPELESS
    row, _, _ = find_worst(limits, bounds, y, KEPT * largest, g)
    return FOUND if row < 0 else LOST


def _size_of(y: Vector) -> float:
    """Return one and the length of a point."""
    return 1.0 + math.sqrt(dot(y, y, len(y)))


def _longest_step(u: Vector, r: Vector, first: int, count: int) -> tuple[float, int]:
    """Return how far the forces of the active limits let a new one grow, and which of them ends it."""
    length, leaving = 1e300, -1
    for i in range(first, count):
        if r[i] > 0.0 and u[i] < length * r[i]:
            length, leaving = max(u[i], 0.0) / r[i], i
    return length, leaving
