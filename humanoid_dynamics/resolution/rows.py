# SPDX-License-Identifier: Apache-2.0
"""Rows that a push has to keep, as loops: those of contacts, six numbers each, and those of torques, two for each.

What these loops need of the memory is handed to them array by array: to hand on all of it at every step takes longer than the step.
"""

from __future__ import annotations

from typing import NamedTuple

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.resolution.small import BLOCK, add_row, add_rows
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.fours import (
    FOUR,
    add_four,
    four_alike,
    four_in,
    four_of,
    larger_four,
    largest_of_four,
    put_four,
)

APART: tuple[
    str, ...
] = ()  # of the parts of kernels here, those that are not copied to where they are called


class Rows(NamedTuple):
    """Rows of contacts, then two for each torque: too high, too low.

    Attributes:
        A: (6, rows) rows of each contact on its own unknowns, transposed.
        b: (rows,) their bounds.
        y: (rows,) rows less bounds, written.
        firsts: (contacts + 1,) where the unknowns of each contact start.
        ends: (groups + 1,) where the rows of each group start: one of each contact; then another of each, which is asked after the first.
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
    """Return the row that is broken most of the first kind of which one is, minus one where none is broken.

    First come pressure, load and friction, few rows that most often decide; then friction about the normal, of which there are many; then
    torques.

    Args:
        x: The push.
        rows: The rows.
        torques: How many of the torques count, none or all.
        exact: What a row may be broken by.

    Returns:
        The row, and by how much it is broken.
    """
    contacts, place, worst = len(rows.firsts) - 1, -1, exact
    for group in range(0, len(rows.ends) - 1, contacts):
        write_excess(x, rows, group, group + contacts)
        start, end = rows.ends[group], rows.ends[group + contacts]
        worst, at = highest(rows.y[start:end], exact)
        if at >= 0:
            return start + at, worst
    if torques:
        write_torque_excess(x, rows.T, rows.t, rows.effort, rows.z)
        worst, at = highest(rows.z, exact)
        if at >= 0:
            place = len(rows.y) + 2 * (at % torques) + at // torques
    return place, worst


def highest(y: Vector, least: float) -> tuple[float, int]:
    """Return the largest number beyond a least one, and its place; the least one and minus one where there is none.

    First how large it is, eight at a time, for a computer that guesses wrong where numbers rise and fall loses more than it saves.
    """
    whole = len(y) - len(y) % BLOCK
    one, two = four_alike(least), four_alike(least)
    for i in range(0, whole, BLOCK):
        one, two = larger_four(four_of(y, i), one), larger_four(four_of(y, i + FOUR), two)
    most = largest_of_four(larger_four(one, two))
    for i in range(whole, len(y)):
        most = larger(y[i], most)
    return most, first_of(y, most) if most > least else -1


def larger(one: float, other: float) -> float:
    """Return the first number where it is larger, otherwise the second, also where the first is none."""
    return one if one > other else other


def first_of(y: Vector, number: float) -> int:
    """Return the place of the largest number, looking at eight at a time; some place where others are none."""
    i = 0
    while (
        i + BLOCK < len(y)
        and largest_of_four(larger_four(four_of(y, i), four_of(y, i + FOUR))) < number
    ):
        i += BLOCK
    while i < len(y) - 1 and y[i] != number:
        i += 1
    return i


def write_torque_excess(x: Vector, T: Matrix, t: Vector, effort: Vector, z: Vector) -> None:
    """Write by how much torques are too high, then by how much they are too low, four at a time."""
    count, nothing = len(t), four_alike(0.0)
    whole = count - count % FOUR
    for k in range(0, whole, FOUR):
        torques, limits = four_of(t, k), four_of(effort, k)
        for i in range(len(x)):
            torques = add_four(torques, -x[i], four_in(T, i, k))
        put_four(z, k, add_four(torques, -1.0, limits))
        put_four(z, count + k, add_four(add_four(nothing, -1.0, torques), -1.0, limits))
    for k in range(whole, count):
        torque = t[k]
        for i in range(len(x)):
            torque -= T[i, k] * x[i]
        z[k], z[count + k] = torque - effort[k], -torque - effort[k]


def write_excess(x: Vector, rows: Rows, start: int, end: int) -> None:
    """Write the rows of groups from one to before another less their bounds into ``y``."""
    A, b, y, contacts = rows.A, rows.b, rows.y, len(rows.firsts) - 1
    for group in range(start, end):
        c = group if group < contacts else group - contacts
        first, size = rows.firsts[c], rows.firsts[c + 1] - rows.firsts[c]
        x_0, x_1, x_2 = x[first], x[first + 1], x[first + 2]
        x_3, x_4, x_5 = (
            x[first + 3] if size > 3 else 0.0,
            x[first + 4] if size > 4 else 0.0,
            x[first + 5] if size > 5 else 0.0,
        )
        one, last = rows.ends[group], rows.ends[group + 1]
        whole = last - (last - one) % FOUR
        for i in range(one, whole, FOUR):
            over = add_four(add_four(four_alike(0.0), x_0, four_in(A, 0, i)), x_1, four_in(A, 1, i))
            over = add_four(add_four(over, x_2, four_in(A, 2, i)), x_3, four_in(A, 3, i))
            over = add_four(add_four(over, x_4, four_in(A, 4, i)), x_5, four_in(A, 5, i))
            put_four(y, i, add_four(over, -1.0, four_of(b, i)))
        for i in range(whole, last):
            y[i] = (
                A[0, i] * x_0
                + A[1, i] * x_1
                + A[2, i] * x_2
                + A[3, i] * x_3
                + A[4, i] * x_4
                + A[5, i] * x_5
                - b[i]
            )


def bend_row(rows: Rows, row: int, N: Matrix, U: Matrix, rest: Vector, width: int) -> float:
    """Write a row in the coordinates of ways to move.

    Args:
        rows: The rows.
        row: Which.
        N: The ways, as columns.
        U: The Cholesky factor of the cost.
        rest: (width,) written, N'a.
        width: How many entries.

    Returns:
        The square of what it is made of, by which digits that are lost are told.
    """
    count, whole = len(rows.b), 0.0
    for k in range(width):
        rest[k] = 0.0
    if row >= count:
        k, sign = (row - count) // 2, 2.0 * ((row - count) % 2) - 1.0
        for i in range(len(N)):
            add_row(rest, sign * rows.T[i, k], N, i, width)
            whole += (rows.T[i, k] * U[i, i]) ** 2
        return whole
    first, size = place_of(rows, row)
    add_rows(rest, rows.A[:, row], N, first, size, width)
    for i in range(size):
        whole += (rows.A[i, row] * U[first + i, first + i]) ** 2
    return whole


def place_of(rows: Rows, row: int) -> tuple[int, int]:
    """Return where the unknowns of the contact of a row start, and how many they are."""
    group, contacts = 0, len(rows.firsts) - 1
    while row >= rows.ends[group + 1]:
        group += 1
    c = group if group < contacts else group - contacts
    return rows.firsts[c], rows.firsts[c + 1] - rows.firsts[c]
