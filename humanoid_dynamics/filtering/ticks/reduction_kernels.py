# SPDX-License-Identifier: Apache-2.0
"""Elimination of the base from the tick's program, as loops that numba compiles: T and t, P and p, S and s, and rows on the unknowns."""

from __future__ import annotations

from humanoid_dynamics.resolution.small import (
    dot_row,
    dot_rows,
    factor_cholesky,
    solve_transposed,
    solve_upper,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.fours import FOUR, add_four, four_in, put_four_in

BASE = WRENCH = 6
NAN = float("nan")
FIRST, SECOND, FREE = range(
    3
)  # places in the plan: soles that stand, or minus one, and the motion of the second one that is free, or minus one

APART: tuple[str, ...] = (
    "add_products",
    "reduce_rows",
    "write_torques",
)  # of the parts here, those that are not copied to where they are called

State = tuple[Matrix, Vector, Matrix, Matrix, Matrix, Matrix, Vector]
Wish = tuple[Vector, Vector, Vector, Matrix, Matrix, Matrix, Vector, Vector, Vector]
Given = tuple[Indices, Vector, Matrix, Matrix, Vector, Vector]
Reduced = tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Vector]


def move_base(state: State, wish: Wish, first: int, reduced: Reduced) -> None:
    """T = -B J, t = B (wish - drift): the base accelerates by T va + t."""
    J, drift, B = state[2][first], state[3][first], state[4][first]
    T, t, minus, soles = reduced[0][:BASE], reduced[2][0], reduced[4], wish[3]
    na, joints = T.shape[1], J[:, BASE:]
    for i in range(BASE):
        t[i] = 0.0
        for k in range(WRENCH):
            t[i] += B[i, k] * (soles[first, k] - drift[k])
            minus[i, k] = -B[i, k]
        for j in range(na):
            T[i, j] = 0.0
        add_products(T, i, minus, i, joints, na)


def fly(state: State, reduced: Reduced) -> None:
    """T = -M_b^-1 M_j, t = -M_b^-1 h: no wrench acts on the robot."""
    M, h = state[0], state[1]
    T, t, U = reduced[0][:BASE], reduced[2][0], reduced[4][2 * WRENCH :]
    if not factor_cholesky(M, U, BASE):
        U[0, 0] = NAN
    for i in range(BASE):
        t[i] = -h[i]
    solve_transposed(U, t, BASE)
    solve_upper(U, t, BASE)
    y = reduced[2][3]
    for j in range(T.shape[1]):
        for i in range(BASE):
            y[i] = -M[i, BASE + j]
        solve_transposed(U, y, BASE)
        solve_upper(U, y, BASE)
        for i in range(BASE):
            T[i, j] = y[i]


def write_torques(state: State, reduced: Reduced, A: Matrix) -> None:
    """P va + p is the force the base needs; torques are those of a robot that is bolted to the ground at the sole."""
    M, h = state[0], state[1]
    T, P, t, p, rest, turned = (
        reduced[0][:BASE],
        reduced[0][BASE:],
        reduced[2][0],
        reduced[2][1],
        reduced[3][5],
        reduced[5],
    )
    na = T.shape[1]
    for i in range(BASE):
        p[i] = h[i] + dot_row(M, i, t, BASE)
        set_joints(P, i, M, i, na)
        add_products(P, i, M, i, T, na)
        for j in range(na):
            turned[j, i] = T[i, j]
    for i in range(na):
        rest[i] = h[BASE + i] + dot_row(M, BASE + i, t, BASE) + dot_row(turned, i, p, BASE)
        set_joints(A, i, M, BASE + i, na)
        add_products(A, i, M, BASE + i, T, na)
        add_products(A, i, turned, i, P, na)


def write_wrench(state: State, given: Given, reduced: Reduced, A: Matrix) -> None:
    """S x + s is the wrench under the first sole, S = B' P behind the joints; what a second one does to it and to the torques."""
    plan, units = given[0], given[4]
    B, P, p, S, s, second = (
        state[4][plan[FIRST]],
        reduced[0][BASE:],
        reduced[2][1],
        reduced[1],
        reduced[2][2],
        plan[SECOND],
    )
    na, turned = P.shape[1], reduced[4]
    for i in range(WRENCH):
        for k in range(BASE):
            turned[i, k] = B[k, i]
        s[i] = dot_row(turned, i, p, BASE)
        for j in range(S.shape[1]):
            S[i, j] = 0.0
        add_products(S, i, turned, i, P, na)
    if second >= 0:
        _write_second(state[2][second], units, reduced, A)


def _write_second(J: Matrix, units: Vector, reduced: Reduced, A: Matrix) -> None:
    """Write what the wrench under a second sole does to that under the first and to the torques; the transposed B is in the memory."""
    S, T, turned, rows = reduced[1], reduced[0][:BASE], reduced[4], reduced[4][WRENCH : 2 * WRENCH]
    na = T.shape[1]
    for i in range(WRENCH):
        for j in range(WRENCH):
            S[i, na + j] = -dot_rows(turned, i, J, j, BASE) * units[WRENCH + j]
    for i in range(WRENCH):
        set_joints(rows, i, J, i, na)
        add_products(rows, i, J, i, T, na)
        for j in range(na):
            A[j, na + i] = -rows[i, j] * units[WRENCH + i]


def reduce_rows(
    J: Matrix, T: Matrix, t: Vector, count: int, N: Matrix, b: Vector, row: int
) -> None:
    """Write rows on the accelerations of the robot as rows on the unknowns, and take off what the base does to them."""
    for k in range(count):
        set_joints(N, row + k, J, k, T.shape[1])
        add_products(N, row + k, J, k, T, T.shape[1])
        b[row + k] = -dot_row(J, k, t, BASE)


def set_row(A: Matrix, i: int, B: Matrix, k: int, size: int) -> None:
    """Write the first entries of row k of B to row i of A, and zeros behind them."""
    for j in range(size):
        A[i, j] = B[k, j]
    for j in range(size, A.shape[1]):
        A[i, j] = 0.0


def set_joints(A: Matrix, i: int, B: Matrix, k: int, size: int) -> None:
    """Write what belongs to joints in row k of B to row i of A, and zeros behind it."""
    for j in range(size):
        A[i, j] = B[k, BASE + j]
    for j in range(size, A.shape[1]):
        A[i, j] = 0.0


def add_products(out: Matrix, i: int, F: Matrix, k: int, A: Matrix, size: int) -> None:
    """Add F[k, 0] A[0] + ... + F[k, 5] A[5] to row i."""
    a, b, c, d, e, f = F[k, 0], F[k, 1], F[k, 2], F[k, 3], F[k, 4], F[k, 5]
    whole = size - size % FOUR
    for j in range(0, whole, FOUR):
        sums = add_four(
            add_four(add_four(four_in(out, i, j), a, four_in(A, 0, j)), b, four_in(A, 1, j)),
            c,
            four_in(A, 2, j),
        )
        put_four_in(
            out,
            i,
            j,
            add_four(
                add_four(add_four(sums, d, four_in(A, 3, j)), e, four_in(A, 4, j)),
                f,
                four_in(A, 5, j),
            ),
        )
    for j in range(whole, size):
        out[i, j] += (
            a * A[0, j] + b * A[1, j] + c * A[2, j] + d * A[3, j] + e * A[4, j] + f * A[5, j]
        )
