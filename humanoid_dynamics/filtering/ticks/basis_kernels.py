# SPDX-License-Identifier: Apache-2.0
"""The active rows of a program and their factor, as loops that numba compiles: rows C, and L with L L' = C C' (and one more on soft rows).

Rows are taken four at a time and by four numbers at a time: all are as long as a multiple of four, and memory is four rows longer than
what is kept in it.  What stands behind the last row means nothing.  One over the diagonal of L is on its diagonal.
"""

from __future__ import annotations

import math

from humanoid_dynamics.resolution.small import square
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.fours import (
    FOUR,
    add_four,
    add_products,
    four_alike,
    four_in,
    four_of,
    put_four,
    put_four_in,
    sum_each,
)

APART: tuple[str, ...] = (
    "measure_rest",
    "remove_row",
)  # of the parts here, those that are not copied to where they are called
DEPENDENT = 1e-13  # share of the square of a normal that counts as none
COUNT = 0  # place in the state: how many rows are active

Work = tuple[
    Matrix, Matrix, Matrix, Indices, Indices
]  # normals, factor, vectors, tags now and of last time, state


def four_rows(A: Matrix, i: int, y: Vector, size: int) -> Vector:
    """Return the products of four rows and a vector at once: the sum of one alone would wait for itself."""
    a, b, c, d = four_alike(0.0), four_alike(0.0), four_alike(0.0), four_alike(0.0)
    for k in range(0, size, FOUR):
        numbers = four_of(y, k)
        a, b = (
            add_products(a, four_in(A, i, k), numbers),
            add_products(b, four_in(A, i + 1, k), numbers),
        )
        c, d = (
            add_products(c, four_in(A, i + 2, k), numbers),
            add_products(d, four_in(A, i + 3, k), numbers),
        )
    return sum_each(a, b, c, d)


def measure_rest(C: Matrix, L: Matrix, count: int, g: Vector) -> float:
    """Write the normal behind the active ones in their basis; return the square of what is left of it, or zero."""
    normal = C[count]
    for i in range(0, count + 1, FOUR):
        put_four(g, i, four_rows(C, i, normal, C.shape[1]))
    whole = g[count]
    solve_lower(L, g, count)
    rest = whole - square(g, count)
    return rest if rest > DEPENDENT * whole else 0.0


def append_row(L: Matrix, g: Vector, steep: float, count: int) -> None:
    """Make a normal, given in the basis of the active ones, the next row of L; one over its diagonal is on the diagonal."""
    for i in range(count):
        L[count, i] = g[i]
    L[count, count] = 1.0 / math.sqrt(steep)


def remove_row(work: Work, u: Vector, leaving: int) -> float:
    """Take out an active row and its number in a vector; what comes behind it moves up, and L is turned back to triangular form.

    A vector in the basis of the active rows, g, is turned likewise; the square of what it loses is returned.
    """
    C, L, g, ids, state = work[0], work[1], work[2][1], work[3][0], work[4]
    n, count = C.shape[1], state[COUNT]
    state[COUNT] = count - 1
    for i in range(leaving, min(count, len(C) - 1)):
        for j in range(0, n, FOUR):
            put_four_in(C, i, j, four_in(C, i + 1, j))
    for i in range(leaving, count - 1):
        u[i], ids[i] = u[i + 1], ids[i + 1]
        L[i + 1, i + 1] = 1.0 / L[i + 1, i + 1]
        for j in range(i + 2):
            L[i, j] = L[i + 1, j]
    for i in range(leaving, count - 1):
        a, b = L[i, i], L[i, i + 1]
        length = math.sqrt(a * a + b * b)
        c, s = a / length, b / length
        for k in range(i + 1, count - 1):
            one, other = L[k, i], L[k, i + 1]
            L[k, i], L[k, i + 1] = c * one + s * other, c * other - s * one
        L[i, i] = 1.0 / length
        g[i], g[i + 1] = c * g[i] + s * g[i + 1], c * g[i + 1] - s * g[i]
    lost = float(g[count - 1])
    return lost * lost


def solve_lower(L: Matrix, g: Vector, count: int) -> None:
    """Solve L z = g in place, four rows at a time; what is written behind the last one means nothing."""
    for i in range(0, count, FOUR):
        rest = add_four(four_of(g, i), -1.0, four_rows(L, i, g, i))
        put_four(g, i, rest)
        g[i] = g[i] * L[i, i]
        g[i + 1] = (g[i + 1] - L[i + 1, i] * g[i]) * L[i + 1, i + 1]
        g[i + 2] = (g[i + 2] - L[i + 2, i] * g[i] - L[i + 2, i + 1] * g[i + 1]) * L[i + 2, i + 2]
        g[i + 3] = (
            g[i + 3] - L[i + 3, i] * g[i] - L[i + 3, i + 1] * g[i + 1] - L[i + 3, i + 2] * g[i + 2]
        ) * L[i + 3, i + 3]


def solve_upper(L: Matrix, g: Vector, r: Vector, count: int) -> None:
    """Solve L'r = g, four rows at a time behind what is no whole four."""
    whole = count - count % FOUR
    for i in range(count):
        r[i] = g[i]
    for i in range(count - 1, whole - 1, -1):
        r[i] *= L[i, i]
        for j in range(i):
            r[j] -= L[i, j] * r[i]
    for i in range(whole - FOUR, -1, -FOUR):
        d = r[i + 3] * L[i + 3, i + 3]
        c = (r[i + 2] - L[i + 3, i + 2] * d) * L[i + 2, i + 2]
        b = (r[i + 1] - L[i + 3, i + 1] * d - L[i + 2, i + 1] * c) * L[i + 1, i + 1]
        a = (r[i] - L[i + 3, i] * d - L[i + 2, i] * c - L[i + 1, i] * b) * L[i, i]
        r[i], r[i + 1], r[i + 2], r[i + 3] = a, b, c, d
        for k in range(0, i, FOUR):
            sums = add_four(add_four(four_of(r, k), -a, four_in(L, i, k)), -b, four_in(L, i + 1, k))
            put_four(
                r, k, add_four(add_four(sums, -c, four_in(L, i + 2, k)), -d, four_in(L, i + 3, k))
            )


def place_point(C: Matrix, u: Vector, count: int, y: Vector) -> None:
    """Y = -N' u."""
    for k in range(0, len(y), FOUR):
        sums = four_alike(0.0)
        for i in range(count):
            sums = add_four(sums, -u[i], four_in(C, i, k))
        put_four(y, k, sums)


def move_point(C: Matrix, r: Vector, count: int, length: float, y: Vector) -> None:
    """Move the point against what is left of the normal behind the active ones."""
    for k in range(0, len(y), FOUR):
        sums = four_alike(0.0)
        for i in range(count):
            sums = add_four(sums, r[i], four_in(C, i, k))
        rest = add_four(sums, -1.0, four_in(C, count, k))
        put_four(y, k, add_four(four_of(y, k), length, rest))
