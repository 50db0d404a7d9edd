"""Rows that a push has to keep, as loops: those of contacts, six numbers each, and those of torques, two for each.

What these loops need of the memory is handed to them array by array: to hand on all of it at every step takes longer than the step.
"""

from __future__ import annotations

from typing import NamedTuple

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART: tuple[str, ...] = ()  # of the parts of kernels here, those that are not copied to where they are called


class Rows(NamedTuple):
    """Rows of contacts, then two for each torque: too high, too low.

    Attributes:
        A: (6, rows) rows of each contact on its own unknowns, transposed.
        b: (rows,) their bounds.
        y: (rows,) rows less bounds, written.
        firsts: (contacts + 1,) where the unknowns of each contact start.
        ends: (contacts + 1,) where its rows do.
        T: (n, torques) what the push takes from each torque.
        t: (torques,) torques without a push.
        effort: (torques,) their limits.
        z: (2 torques,) by how much torques are too high, then by how much too low, written.
    """

    A: Matrix
    b: Vector
    y: Vector
    firsts: Indices
    ends: Indices
    T: Matrix
    t: Vector
    effort: Vector
    z: Vector


def rows_of(M: Memory) -> Rows:
    """Return the rows of a memory."""
    return Rows(M.rows, M.b, M.y, M.firsts, M.ends, M.T, M.t, M.effort, M.z)


def write_torques(J: Matrix, free: Vector, M: Memory) -> None:
    """Write the rows of the limited torques side by side."""
    for k in range(M.sizes.torques):
        M.t[k] = free[M.torques[k]]
        for i in range(M.sizes.n):
            M.T[i, k] = J[i, M.torques[k]]


def worst_row(x: Vector, rows: Rows, torques: int, exact: float) -> tuple[int, float]:
    """Return the row that is broken most, minus one where none is broken by more than ``exact``; and by how much.

    Args:
        x: The push.
        rows: The rows.
        torques: How many of the torques count, none or all.
        exact: What a row may be broken by.
    """
    write_excess(x, rows)
    worst, place = highest(rows.y, exact)
    if torques:
        write_torque_excess(x, rows.T, rows.t, rows.effort, rows.z)
        most, at = highest(rows.z, worst)
        if at >= 0:
            worst, place = most, len(rows.y) + 2 * (at % torques) + at // torques
    return place, worst


def highest(y: Vector, least: float) -> tuple[float, int]:
    """Return the largest number beyond a least one, and its place; the least one and minus one where there is none.

    Few are beyond, so that asking for four at a time is quick.
    """
    whole, place = len(y) - len(y) % 4, -1
    for i in range(0, whole, 4):
        if (y[i] > least) | (y[i + 1] > least) | (y[i + 2] > least) | (y[i + 3] > least):
            for k in range(i, i + 4):
                if y[k] > least:
                    least, place = y[k], k
    for i in range(whole, len(y)):
        if y[i] > least:
            least, place = y[i], i
    return least, place


def write_torque_excess(x: Vector, T: Matrix, t: Vector, effort: Vector, z: Vector) -> None:
    """Write by how much torques are too high, then by how much they are too low, four at a time."""
    count = len(t)
    whole = count - count % 4
    for k in range(0, whole, 4):
        one, two, three, four = t[k], t[k + 1], t[k + 2], t[k + 3]
        for i in range(len(x)):
            one -= T[i, k] * x[i]
            two -= T[i, k + 1] * x[i]
            three -= T[i, k + 2] * x[i]
            four -= T[i, k + 3] * x[i]
        z[k], z[k + 1], z[k + 2], z[k + 3] = one, two, three, four
    for k in range(whole, count):
        z[k] = t[k]
        for i in range(len(x)):
            z[k] -= T[i, k] * x[i]
    for k in range(count):
        z[count + k] = -z[k] - effort[k]
        z[k] -= effort[k]


def write_excess(x: Vector, rows: Rows) -> None:
    """Write the rows of all contacts less their bounds into ``y``."""
    A, b, y = rows.A, rows.b, rows.y
    for c in range(len(rows.firsts) - 1):
        first, size = rows.firsts[c], rows.firsts[c + 1] - rows.firsts[c]
        x_0, x_1, x_2 = x[first], x[first + 1], x[first + 2]
        x_3, x_4, x_5 = x[first + 3] if size > 3 else 0.0, x[first + 4] if size > 4 else 0.0, x[first + 5] if size > 5 else 0.0
        start, end = rows.ends[c], rows.ends[c + 1]
        A_0, A_1, A_2, A_3 = A[0][start:end], A[1][start:end], A[2][start:end], A[3][start:end]
        A_4, A_5, its_y, its_b = A[4][start:end], A[5][start:end], y[start:end], b[start:end]
        for i in range(len(its_y)):  # from zero on and without gaps, so that the compiler may take several at once
            its_y[i] = A_0[i] * x_0 + A_1[i] * x_1 + A_2[i] * x_2 + A_3[i] * x_3 + A_4[i] * x_4 + A_5[i] * x_5 - its_b[i]


def write_row(rows: Rows, row: int, normal: Vector) -> None:
    """Write a row on the whole push."""
    count = len(rows.b)
    if row >= count:
        k, sign = (row - count) // 2, 2.0 * ((row - count) % 2) - 1.0
        for i in range(len(normal)):
            normal[i] = sign * rows.T[i, k]
        return
    first, size = place_of(rows, row)
    for i in range(len(normal)):
        normal[i] = rows.A[i - first, row] if first <= i < first + size else 0.0


def place_of(rows: Rows, row: int) -> tuple[int, int]:
    """Return where the unknowns of the contact of a row start, and how many they are."""
    c = 0
    while row >= rows.ends[c + 1]:
        c += 1
    return rows.firsts[c], rows.firsts[c + 1] - rows.firsts[c]
