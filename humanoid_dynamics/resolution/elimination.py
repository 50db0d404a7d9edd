# SPDX-License-Identifier: Apache-2.0
"""Equations of any rank eliminated from a program, in the part of Python that numba compiles."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Indices, Matrix

DEPENDENT = 1e-9  # of the length of a row: what is left of a row that depends on those before


def eliminate(E: Matrix) -> Matrix:
    """Solve E x = e for some of x, by Gauss-Jordan elimination with the largest entry of each row as pivot.

    Rows that depend on rows before them are left out, whatever their right-hand side.

    Args:
        E: (m, n + 1) equations, the right-hand side e in the last column; overwritten.

    Returns:
        (n, free + 1) C with x = C (y, 1) for any y, the free entries of x.
    """
    n = E.shape[1] - 1
    row_of = np.full(n, -1)
    for i in range(len(E)):
        scale_row(E, i)
    for i in range(len(E)):
        pivot = find_pivot(E, i, row_of)
        if pivot >= 0:
            row_of[pivot] = i
            clear_column(E, i, pivot)
    free = np.flatnonzero(row_of < 0)
    C = np.zeros((n, len(free) + 1))
    for j in range(len(free)):
        C[free[j], j] = 1.0
    for i in range(n):
        if row_of[i] >= 0:
            C[i, len(free)] = E[row_of[i], n]
            for j in range(len(free)):
                C[i, j] = -E[row_of[i], free[j]]
    return C


def scale_row(E: Matrix, row: int) -> None:
    """Divide an equation by its largest coefficient."""
    largest = 0.0
    for j in range(E.shape[1] - 1):
        largest = max(largest, abs(E[row, j]))
    if largest > 0.0:
        for j in range(E.shape[1]):
            E[row, j] /= largest


def find_pivot(E: Matrix, row: int, row_of: Indices) -> int:
    """Return the unknown with the largest coefficient of those that have no equation yet; minus one where all are rounding."""
    pivot, largest = -1, DEPENDENT
    for j in range(len(row_of)):
        if row_of[j] < 0 and abs(E[row, j]) > largest:
            pivot, largest = j, abs(E[row, j])
    return pivot


def clear_column(E: Matrix, row: int, pivot: int) -> None:
    """Make the coefficient of the pivot one in its equation and zero in all others."""
    per_pivot = 1.0 / E[row, pivot]
    for j in range(E.shape[1]):
        E[row, j] *= per_pivot
    for k in range(len(E)):
        factor = E[k, pivot]
        if k != row and factor != 0.0:
            for j in range(E.shape[1]):
                E[k, j] -= factor * E[row, j]
