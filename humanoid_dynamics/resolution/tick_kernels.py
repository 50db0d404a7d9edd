# SPDX-License-Identifier: Apache-2.0
"""Programs of whole-body control: equations of any rank eliminated, objective and rows written; compiled by numba."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

DEPENDENT = 1e-9  # of the length of a row: what is left of a row that depends on those before
INTERNAL_WEIGHT = 1e-3  # of squared internal forces, in weights of the robot

Terms = tuple[Matrix, Vector, Matrix, Vector]
Tasks = tuple[Matrix, Vector, Vector]
Limits = tuple[Matrix, Vector, Indices, Matrix, Indices, Matrix]
Limited = tuple[Matrix, Vector, Vector]


def write_equations(
    terms: Terms, undriven: Indices, units: Vector, weight: float, first: int, E: Matrix
) -> None:
    """Write the equations of x = (a, f / units): J a = gamma, then rows of the equation of motion without motor by the weight.

    Args:
        terms: J (k, nv), gamma (k,), M (nv, nv) and tau_0 (nv,).
        undriven: Coordinates without motor.
        units: (k,) what counts as one of each force.
        weight: Weight of the robot.
        first: Rows of J before it are left out.
        E: (k - first + undriven, nv + k + 1) with the right-hand side in the last column; all zero, overwritten.
    """
    J, gamma, M, tau_0 = terms
    k, nv = J.shape
    for i in range(first, k):
        E[i - first, nv + k] = gamma[i]
        for j in range(nv):
            E[i - first, j] = J[i, j]
    for i in range(len(undriven)):
        row, at = k - first + i, undriven[i]
        E[row, nv + k] = -tau_0[at] / weight
        for j in range(nv):
            E[row, j] = M[at, j] / weight
        for j in range(k):
            E[row, nv + j] = -J[j, at] * units[j] / weight


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


def write_objective(
    C: Matrix, tasks: Tasks, J: Matrix, undriven: Indices, units: Vector, H: Matrix, f: Vector
) -> None:
    """Write sum w (A a - b)^2 and the weighed square of the internal forces as y'H y / 2 + f'y, for x = C (y, 1).

    Args:
        C: (nv + k, n + 1) of ``eliminate``.
        tasks: (rows, nv) rows A of tasks, (rows,) right-hand sides b and (rows,) weights w.
        J: (k, nv) Jacobian of the forces.
        undriven: Coordinates without motor.
        units: (k,) what counts as one of each force.
        H: (n, n) written.
        f: (n,) written.
    """
    A, b, w = tasks
    nv, n = A.shape[1], len(f)
    H[:], f[:] = 0.0, 0.0
    row = np.empty(n + 1)
    for i in range(len(b)):
        row[:] = 0.0
        row[n] = -b[i]
        for j in range(nv):
            if A[i, j] != 0.0:
                add_row(row, A[i, j], C, j)
        add_square(H, f, row, w[i])
    add_internal_forces(C[nv:].copy(), find_pressed(J, undriven, units), row, H, f)
    for i in range(n):
        for j in range(i):
            H[i, j] = H[j, i]


def add_internal_forces(F: Matrix, Q: Matrix, row: Vector, H: Matrix, f: Vector) -> None:
    """Add the weighed square of what is left of the forces F (y, 1) beside the rows of Q; F is overwritten."""
    for c in range(len(Q)):
        row[:] = 0.0
        for i in range(len(F)):
            add_row(row, Q[c, i], F, i)
        for i in range(len(F)):
            for j in range(len(row)):
                F[i, j] -= Q[c, i] * row[j]
    for i in range(len(F)):
        add_square(H, f, F[i], INTERNAL_WEIGHT)


def add_row(row: Vector, factor: float, C: Matrix, i: int) -> None:
    """Add a multiple of a row of C."""
    for j in range(len(row)):
        row[j] += factor * C[i, j]


def add_square(H: Matrix, f: Vector, row: Vector, w: float) -> None:
    """Add w (row (y, 1))^2 / 2 to the upper triangle of H and to f."""
    n = len(f)
    for i in range(n):
        scaled = w * row[i]
        if scaled != 0.0:
            f[i] += scaled * row[n]
            for j in range(i, n):
                H[i, j] += scaled * row[j]


def find_pressed(J: Matrix, undriven: Indices, units: Vector) -> Matrix:
    """Return orthonormal rows (rank, k) that span the forces, by their units, that act on coordinates without motor."""
    k, rank = len(J), 0
    Q = np.zeros((len(undriven), k))
    for c in range(len(undriven)):
        whole = 0.0
        for i in range(k):
            Q[rank, i] = J[i, undriven[c]] * units[i] / units[0]
            whole += Q[rank, i] * Q[rank, i]
        left = 0.0
        for _ in range(2):  # the second time removes the rounding of the first
            left = make_orthogonal(Q, rank)
        if left > DEPENDENT * DEPENDENT * whole:
            for i in range(k):
                Q[rank, i] /= np.sqrt(left)
            rank += 1
    return Q[:rank]


def make_orthogonal(Q: Matrix, rank: int) -> float:
    """Make a row orthogonal to the rows before it; return its squared length."""
    k, left = Q.shape[1], 0.0
    for r in range(rank):
        part = 0.0
        for i in range(k):
            part += Q[r, i] * Q[rank, i]
        for i in range(k):
            Q[rank, i] -= part * Q[r, i]
    for i in range(k):
        left += Q[rank, i] * Q[rank, i]
    return left


def write_rows(C: Matrix, terms: Terms, units: Vector, limits: Limits, rows: Limited) -> None:
    """Write the rows of cones, torques and accelerations of y.

    Args:
        C: (nv + k, n + 1) of ``eliminate``.
        terms: J (k, nv), gamma (k,), M (nv, nv) and tau_0 (nv,).
        units: (k,) what counts as one of each force.
        limits: (m, k) rows of f / units and (m,) what they are at most; coordinates with a motor and (2, driven) their least and largest
            torques; coordinates whose acceleration is bounded and (2, bounded) the bounds.
        rows: (m + driven + bounded, n) A, lower and upper bounds, written; the lower ones of the cones stay.
    """
    cones, b, driven, torques, bounded, room = limits
    nv, m, d = terms[0].shape[1], len(b), len(driven)
    row = np.empty(C.shape[1])
    for i in range(m):
        row[:] = 0.0
        for j in range(len(units)):
            if cones[i, j] != 0.0:
                add_row(row, cones[i, j], C, nv + j)
        write_row(rows, i, row, -np.inf, b[i])
    for i in range(d):
        still = find_torque(C, terms, units, driven[i], row)
        write_row(rows, m + i, row, torques[0, i] - still, torques[1, i] - still)
    for i in range(len(bounded)):
        row[:] = C[bounded[i]]
        write_row(rows, m + d + i, row, room[0, i], room[1, i])


def find_torque(C: Matrix, terms: Terms, units: Vector, at: int, row: Vector) -> float:
    """Write M a - J'f of a coordinate as a row of (y, 1); return what is to be added to it."""
    J, _, M, tau_0 = terms
    k, nv = J.shape
    row[:] = 0.0
    for j in range(nv):
        if M[at, j] != 0.0:
            add_row(row, M[at, j], C, j)
    for j in range(k):
        if J[j, at] != 0.0:
            add_row(row, -J[j, at] * units[j], C, nv + j)
    return float(tau_0[at])


def write_row(rows: Limited, i: int, row: Vector, least: float, most: float) -> None:
    """Write least <= row (y, 1) <= most."""
    A, lower, upper = rows
    n = A.shape[1]
    lower[i], upper[i] = least - row[n], most - row[n]
    for j in range(n):
        A[i, j] = row[j]
