# SPDX-License-Identifier: Apache-2.0
"""Dense linear algebra of the active set as loops, in the part of Python that numba compiles."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Matrix, Vector

APART = ("solve_forward", "solve_back")  # called, not copied
PIVOT = 1e-14  # of a diagonal entry: a smaller pivot counts as zero


def factor(H: Matrix, L: Matrix) -> bool:
    """Write L L' = H with one over the diagonal on the diagonal; return whether H is positive definite."""
    for i in range(len(H)):
        for j in range(i):
            total = H[j, i]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total * L[j, j]
        total = H[i, i]
        for k in range(i):
            total -= L[i, k] * L[i, k]
        if not total > PIVOT * H[i, i] or not math.isfinite(total):
            return False
        L[i, i] = 1.0 / math.sqrt(total)
    return True


def is_finite_above(H: Matrix) -> bool:
    """Return whether the upper triangle is finite."""
    for i in range(len(H)):
        for j in range(i, len(H)):
            if not math.isfinite(H[i, j]):
                return False
    return True


def solve_forward(L: Matrix, w: Vector) -> None:
    """Solve L w = w in place."""
    for i in range(len(w)):
        total = w[i]
        for k in range(i):
            total -= L[i, k] * w[k]
        w[i] = total * L[i, i]


def solve_back(L: Matrix, y: Vector, length: float, way: Vector, x: Vector) -> None:
    """Move x by L'^-1 y times a length; ``way`` is memory."""
    n = len(x)
    for i in range(n):
        way[i] = y[i]
    for i in range(n - 1, -1, -1):
        way[i] *= L[i, i]
        for k in range(i):
            way[k] -= L[i, k] * way[i]
        x[i] += length * way[i]


def dot(A: Matrix, row: int, x: Vector) -> float:
    """Return the product of a row and a vector."""
    total = 0.0
    for i in range(len(x)):
        total += A[row, i] * x[i]
    return total


def length_of(x: Vector) -> float:
    """Return the length of a vector."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return math.sqrt(total)


def add_scaled(x: Vector, scale: float, y: Vector, count: int) -> None:
    """Add a multiple of a vector in place."""
    for i in range(count):
        x[i] += scale * y[i]


def solve_turned(R: Matrix, d: Vector, r: Vector, count: int) -> None:
    """Solve R'r = d."""
    for i in range(count - 1, -1, -1):
        total = d[i]
        for j in range(i + 1, count):
            total -= R[j, i] * r[j]
        r[i] = total * R[i, i]


def write_gradient(H: Matrix, f: Vector, x: Vector, t: Vector) -> None:
    """Write -H x - f, of which the upper triangle of H is read."""
    n = len(f)
    for i in range(n):
        t[i] = -f[i]
    for i in range(n):
        total = H[i, i] * x[i]
        for j in range(i + 1, n):
            total += H[i, j] * x[j]
            t[j] -= H[i, j] * x[i]
        t[i] -= total
