# SPDX-License-Identifier: Apache-2.0
"""Small systems of linear equations, written so that numba can compile them.

Unknowns are eliminated from the last to the first: inner loops then begin at zero, and compiled code need not ask at every number whether
a place is negative, which it would count from the end.
"""

from __future__ import annotations

from humanoid_dynamics.spatial.arrays import Matrix, Vector

APART: tuple[str, ...] = (
    "solve_symmetric",
    "solve_general",
)  # of the parts of kernels here, those that are not copied to where they are called
LEAST_PIVOT = (
    1e-8  # share of the largest entry of the diagonal below which a matrix counts as singular
)


def solve_symmetric(A: Matrix, x: Vector) -> bool:
    """Solve A y = x for a positive definite A, whose lower triangle counts and is overwritten.

    Args:
        A: (n, n) matrix.
        x: (n,) right side, overwritten with the solution.

    Returns:
        Whether A is positive definite.
    """
    n = len(x)
    for k in range(n - 1, -1, -1):
        if not A[k, k] > 0.0:
            return False
        inverse = 1.0 / A[k, k]
        for i in range(k):
            share = A[k, i] * inverse
            if share != 0.0:
                for j in range(i + 1):
                    A[i, j] -= share * A[k, j]
                x[i] -= share * x[k]
    for k in range(n):
        rest = x[k]
        for j in range(k):
            rest -= A[k, j] * x[j]
        x[k] = rest / A[k, k]
    return True


def solve_general(A: Matrix, x: Vector) -> bool:
    """Solve A y = x with row exchanges.

    Args:
        A: (n, n) matrix, overwritten.
        x: (n,) right side, overwritten with the solution.

    Returns:
        Whether A is regular.
    """
    n = len(x)
    for k in range(n - 1, -1, -1):
        largest = find_largest(A, k)
        if not abs(A[largest, k]) > 0.0:
            return False
        if largest != k:
            exchange(A, x, k, largest)
        inverse = 1.0 / A[k, k]
        for i in range(k):
            share = A[i, k] * inverse
            for j in range(k):
                A[i, j] -= share * A[k, j]
            x[i] -= share * x[k]
    for k in range(n):
        rest = x[k]
        for j in range(k):
            rest -= A[k, j] * x[j]
        x[k] = rest / A[k, k]
    return True


def find_largest(A: Matrix, k: int) -> int:
    """Return the row that has the largest entry in a column, of those down to its diagonal.

    Args:
        A: (n, n) matrix.
        k: The column.
    """
    largest, size = k, abs(A[k, k])
    for i in range(k):
        here = abs(A[i, k])
        if here > size:
            largest, size = i, here
    return largest


def exchange(A: Matrix, x: Vector, k: int, other: int) -> None:
    """Exchange two rows, as far as the diagonal.

    Args:
        A: (n, n) matrix.
        x: (n,) right side.
        k: The one whose diagonal counts.
        other: The other one.
    """
    for i in range(k + 1):
        A[k, i], A[other, i] = A[other, i], A[k, i]
    x[k], x[other] = x[other], x[k]


def multiply(G: Matrix, p: Vector, b: Vector, u: Vector) -> None:
    """Write u = G p + b, for a symmetric G.

    Args:
        G: (k, k) matrix.
        p: (k,) impulses.
        b: (k,) velocities without them.
        u: (k,) velocities, overwritten.
    """
    k = len(p)
    for i in range(k):
        u[i] = b[i]
    for j in range(k):
        if p[j] != 0.0:
            for i in range(k):
                u[i] += G[j, i] * p[j]


def invert_block(A: Matrix, inverse: Matrix) -> bool:
    """Write the inverse of a positive definite matrix.

    Args:
        A: (n, n) matrix, overwritten.
        inverse: (n, n) its inverse, overwritten.

    Returns:
        Whether A is far from singular.
    """
    n, largest = len(A), 0.0
    for k in range(n):
        largest = max(largest, A[k, k])
        inverse[k] = 0.0
        inverse[k, k] = 1.0
    for k in range(n):
        if not A[k, k] > LEAST_PIVOT * largest:
            return False
        share = 1.0 / A[k, k]
        for j in range(n):
            A[k, j] *= share
            inverse[k, j] *= share
        for i in range(n):
            x = A[i, k]
            if i != k and x != 0.0:
                for j in range(n):
                    A[i, j] -= x * A[k, j]
                    inverse[i, j] -= x * inverse[k, j]
    return True


PARTS = (
    invert_block,
    solve_symmetric,
    find_largest,
    exchange,
    solve_general,
    multiply,
)
