"""Rows that a push has to keep, as loops: those of contacts, six numbers each, and those of torques, columns of J, two for each.

What these loops need of the memory is handed to them array by array: to hand on all of it at every step takes longer than the step.
"""

from __future__ import annotations

from typing import NamedTuple

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class Rows(NamedTuple):
    """Rows of contacts, then two for each torque: too high, too low.

    Attributes:
        A: (6, rows) rows of each contact on its own unknowns, transposed.
        b: (rows,) their bounds.
        y: (rows,) rows less bounds, written.
        firsts: (contacts + 1,) where the unknowns of each contact start.
        ends: (contacts + 1,) where its rows do.
        torques: Coordinates of the limited torques.
        effort: Their limits.
    """

    A: Matrix
    b: Vector
    y: Vector
    firsts: Indices
    ends: Indices
    torques: Indices
    effort: Vector


def rows_of(M: Memory) -> Rows:
    """Return the rows of a memory."""
    return Rows(M.rows, M.b, M.y, M.firsts, M.ends, M.torques, M.effort)


def worst_row(J: Matrix, free: Vector, x: Vector, rows: Rows, torques: int) -> tuple[int, float]:
    """Return the row that is broken most, and by how much, counting the first torques only."""
    worst, place, y = press(x, rows), -1, rows.y
    for i in range(len(y)):
        if y[i] == worst:
            place = i
            break
    for t in range(torques):
        at = rows.torques[t]
        torque = free[at]
        for i in range(len(x)):
            torque -= J[i, at] * x[i]
        if abs(torque) - rows.effort[t] > worst:
            worst, place = abs(torque) - rows.effort[t], len(y) + 2 * t + (1 if torque < 0.0 else 0)
    return place, worst


def excess_of(J: Matrix, free: Vector, x: Vector, rows: Rows, row: int) -> float:
    """Return by how much a row is broken; negative where it is kept."""
    count, excess = len(rows.b), 0.0
    if row >= count:
        at, sign = rows.torques[(row - count) // 2], 2.0 * ((row - count) % 2) - 1.0
        excess -= sign * free[at] + rows.effort[(row - count) // 2]
        for i in range(len(x)):
            excess += sign * J[i, at] * x[i]
        return float(excess)
    c = 0
    while row >= rows.ends[c + 1]:
        c += 1
    first = rows.firsts[c]
    for i in range(rows.firsts[c + 1] - first):
        excess += rows.A[i, row] * x[first + i]
    return excess - float(rows.b[row])


def press(x: Vector, rows: Rows) -> float:
    """Write the rows of all contacts less their bounds into ``y`` and return the largest."""
    y, b, firsts, ends = rows.y, rows.b, rows.firsts, rows.ends
    for c in range(len(firsts) - 1):
        first, size = firsts[c], firsts[c + 1] - firsts[c]
        x_0, x_1, x_2 = x[first], x[first + 1], x[first + 2]
        x_3, x_4, x_5 = x[first + 3] if size > 3 else 0.0, x[first + 4] if size > 4 else 0.0, x[first + 5] if size > 5 else 0.0
        its_y, its_b, A = y[ends[c] : ends[c + 1]], b[ends[c] : ends[c + 1]], rows.A[:, ends[c] : ends[c + 1]]
        for i in range(len(its_y)):  # from zero on, so that the compiler may take several at once
            its_y[i] = A[0, i] * x_0 + A[1, i] * x_1 + A[2, i] * x_2 + A[3, i] * x_3 + A[4, i] * x_4 + A[5, i] * x_5 - its_b[i]
    return largest(y)


def largest(y: Vector) -> float:
    """Return the largest of many numbers, by four at a time: one by one, each comparison would wait for the one before."""
    one, two, three, four = -1e300, -1e300, -1e300, -1e300
    whole = len(y) - len(y) % 4
    for i in range(0, whole, 4):
        one = y[i] if y[i] > one else one
        two = y[i + 1] if y[i + 1] > two else two
        three = y[i + 2] if y[i + 2] > three else three
        four = y[i + 3] if y[i + 3] > four else four
    for i in range(whole, len(y)):
        one = y[i] if y[i] > one else one
    return max(one, two, three, four)


def write_normal(J: Matrix, T: Matrix, rows: Rows, row: int, k: int, normal: Vector) -> None:  # noqa: PLR0917
    """Write how fast a row grows along each of the first k directions."""
    count = len(rows.b)
    if row >= count:
        at, sign = rows.torques[(row - count) // 2], 2.0 * ((row - count) % 2) - 1.0
        for j in range(k):
            normal[j] = 0.0
            for i in range(len(J)):
                normal[j] += sign * J[i, at] * T[j, i]
        return
    c = 0
    while row >= rows.ends[c + 1]:
        c += 1
    first = rows.firsts[c]
    for j in range(k):
        along = 0.0
        for i in range(rows.firsts[c + 1] - first):
            along += rows.A[i, row] * T[j, first + i]
        normal[j] = along
