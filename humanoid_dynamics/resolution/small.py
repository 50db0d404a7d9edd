# SPDX-License-Identifier: Apache-2.0
"""Small, dense linear algebra as loops, for kernels that numba compiles: a call of LAPACK costs more than the work it does here."""

from __future__ import annotations

from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.fours import (
    FOUR,
    add_four,
    add_products,
    four_alike,
    four_in,
    four_of,
    put_four,
    put_four_in,
    sum_four,
)

APART: tuple[str, ...] = (
    "factor_cholesky",
    "solve_transposed",
    "solve_upper",
)  # of the parts here, those that are not copied
BLOCK = 8  # six equations of a free base, a right-hand side, and one to make it even


def dot(one: Vector, other: Vector, size: int) -> float:
    """Return the product of the first entries of two vectors."""
    total = 0.0
    for k in range(size):
        total += one[k] * other[k]
    return total


def dot_rows(A: Matrix, i: int, B: Matrix, j: int, size: int) -> float:
    """Return the product of the first entries of row i of A and row j of B; handing over rows as arrays costs as much as the product."""
    total = 0.0
    for k in range(size):
        total += A[i, k] * B[j, k]
    return total


def add(one: Vector, factor: float, other: Vector, size: int) -> None:
    """Add a multiple of the first entries of a vector to those of another."""
    for k in range(size):
        one[k] += factor * other[k]


def add_block(one: Vector, factor: float, other: Vector) -> None:
    """Add a multiple of ``BLOCK`` entries: a number of them that the compiler knows beforehand takes no loop."""
    first, second = (
        add_four(four_of(one, 0), factor, four_of(other, 0)),
        add_four(four_of(one, FOUR), factor, four_of(other, FOUR)),
    )
    put_four(one, 0, first)
    put_four(one, FOUR, second)


def dot_row(A: Matrix, row: int, d: Vector, size: int) -> float:
    """Return the product of the first entries of a row and of a vector, four sums side by side."""
    whole, sums = size - size % FOUR, four_alike(0.0)
    for k in range(0, whole, FOUR):
        sums = add_products(sums, four_in(A, row, k), four_of(d, k))
    total = sum_four(sums)
    for k in range(whole, size):
        total += A[row, k] * d[k]
    return total


def square(d: Vector, size: int) -> float:
    """Return the square of the first entries of a vector, four sums side by side."""
    whole, sums = size - size % FOUR, four_alike(0.0)
    for k in range(0, whole, FOUR):
        numbers = four_of(d, k)
        sums = add_products(sums, numbers, numbers)
    total = sum_four(sums)
    for k in range(whole, size):
        total += d[k] * d[k]
    return total


def add_row(d: Vector, factor: float, A: Matrix, row: int, size: int) -> None:
    """Add a multiple of a row to a vector, four entries at a time."""
    whole = size - size % FOUR
    for k in range(0, whole, FOUR):
        put_four(d, k, add_four(four_of(d, k), factor, four_in(A, row, k)))
    for k in range(whole, size):
        d[k] += factor * A[row, k]


def add_rows(d: Vector, factors: Vector, A: Matrix, first: int, count: int, size: int) -> None:
    """Add multiples of rows to a vector, all rows to four entries at a time: nothing waits until the entries are in memory."""
    whole = size - size % FOUR
    for k in range(0, whole, FOUR):
        sums = four_of(d, k)
        for i in range(count):
            sums = add_four(sums, factors[i], four_in(A, first + i, k))
        put_four(d, k, sums)
    for k in range(whole, size):
        for i in range(count):
            d[k] += factors[i] * A[first + i, k]


def factor_cholesky(H: Matrix, U: Matrix, size: int) -> bool:
    """Write U with H = U'U, both in their upper triangle, one over its diagonal on the diagonal; in place where U is H.

    What is below the diagonal is written as well, and means nothing: rows are taken by whole fours.

    Returns:
        Whether H is positive definite.
    """
    for i in range(size):
        copy_row(H, U, i, size)
    for k in range(size):
        if not U[k, k] > 0.0:
            return False
        inverse = 1.0 / U[k, k] ** 0.5
        U[k, k] = inverse
        for j in range(k + 1, size):
            U[k, j] *= inverse
        for j in range(k + 1, size):
            eliminate(U, k, j, size)
    return True


def copy_row(H: Matrix, U: Matrix, i: int, size: int) -> None:
    """Write a row from the four with its diagonal on."""
    whole = size - size % FOUR
    for j in range(i - i % FOUR, whole, FOUR):
        put_four_in(U, i, j, four_in(H, i, j))
    for j in range(whole, size):
        U[i, j] = H[i, j]


def eliminate(U: Matrix, k: int, j: int, size: int) -> None:
    """Take from a row what an earlier one has of its diagonal, from the four with that on."""
    whole, factor = size - size % FOUR, -U[k, j]
    for i in range(j - j % FOUR, whole, FOUR):
        put_four_in(U, j, i, add_four(four_in(U, j, i), factor, four_in(U, k, i)))
    for i in range(whole, size):
        U[j, i] += factor * U[k, i]


def solve_transposed(U: Matrix, d: Vector, size: int) -> None:
    """Solve U'z = d in place."""
    for i in range(size):
        z = d[i] * U[i, i]
        d[i] = z
        for j in range(i + 1, size):
            d[j] -= U[i, j] * z


def solve_upper(U: Matrix, d: Vector, size: int) -> None:
    """Solve U z = d in place."""
    for i in range(size - 1, -1, -1):
        total = d[i]
        for j in range(i + 1, size):
            total -= U[i, j] * d[j]
        d[i] = total * U[i, i]
