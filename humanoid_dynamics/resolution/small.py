"""Small, dense linear algebra as loops, for kernels that numba compiles: a call of LAPACK costs more than the work it does here."""

from __future__ import annotations

from humanoid_dynamics.spatial.arrays import Matrix, Vector

APART: tuple[str, ...] = ()  # of the parts of kernels here, those that are not copied to where they are called
IN_ORDER = ("dot_row", "square", "add_row", "add_rows")  # those whose sums are added as they are written, several side by side
FOUR = 4  # numbers that the compiler takes at once
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
    for k in range(BLOCK):
        one[k] += factor * other[k]


def dot_row(A: Matrix, row: int, d: Vector, size: int) -> float:
    """Return the product of the first entries of a row and of a vector, four sums side by side."""
    whole = size - size % 4
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    for k in range(0, whole, 4):
        one, two = one + A[row, k] * d[k], two + A[row, k + 1] * d[k + 1]
        three, four = three + A[row, k + 2] * d[k + 2], four + A[row, k + 3] * d[k + 3]
    for k in range(whole, size):
        one += A[row, k] * d[k]
    return (one + two) + (three + four)


def square(d: Vector, size: int) -> float:
    """Return the square of the first entries of a vector, four sums side by side."""
    whole = size - size % 4
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    for k in range(0, whole, 4):
        one, two, three, four = one + d[k] * d[k], two + d[k + 1] * d[k + 1], three + d[k + 2] * d[k + 2], four + d[k + 3] * d[k + 3]
    for k in range(whole, size):
        one += d[k] * d[k]
    return (one + two) + (three + four)


def add_row(d: Vector, factor: float, A: Matrix, row: int, size: int) -> None:
    """Add a multiple of a row to a vector, four entries at a time; all are read before one is written, so that they may be one memory."""
    whole = size - size % 4
    for k in range(0, whole, 4):
        one, two, three, four = A[row, k], A[row, k + 1], A[row, k + 2], A[row, k + 3]
        one, two, three, four = d[k] + factor * one, d[k + 1] + factor * two, d[k + 2] + factor * three, d[k + 3] + factor * four
        d[k], d[k + 1], d[k + 2], d[k + 3] = one, two, three, four
    for k in range(whole, size):
        d[k] += factor * A[row, k]


def add_rows(d: Vector, factors: Vector, A: Matrix, first: int, count: int, size: int) -> None:  # noqa: PLR0917
    """Add multiples of rows to a vector, all rows to four entries at a time: nothing waits until the entries are in memory."""
    whole = size - size % 4
    for k in range(0, whole, 4):
        one, two, three, four = d[k], d[k + 1], d[k + 2], d[k + 3]
        for i in range(count):
            factor, row = factors[i], first + i
            one, two = one + factor * A[row, k], two + factor * A[row, k + 1]
            three, four = three + factor * A[row, k + 2], four + factor * A[row, k + 3]
        d[k], d[k + 1], d[k + 2], d[k + 3] = one, two, three, four
    for k in range(whole, size):
        for i in range(count):
            d[k] += factors[i] * A[first + i, k]


def factor_cholesky(H: Matrix, U: Matrix, size: int) -> bool:
    """Write U with H = U'U, both in their upper triangle, one over its diagonal on the diagonal; in place where U is H.

    Returns:
        Whether H is positive definite.
    """
    for i in range(size):
        for j in range(i, size):
            U[i, j] = H[i, j]
    for k in range(size):
        if not U[k, k] > 0.0:
            return False
        inverse = 1.0 / U[k, k] ** 0.5
        U[k, k] = inverse
        for j in range(k + 1, size):
            U[k, j] *= inverse
        for j in range(k + 1, size):
            factor = U[k, j]
            for i in range(j, size):
                U[j, i] -= factor * U[k, i]
    return True


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
