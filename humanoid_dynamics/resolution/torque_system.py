# SPDX-License-Identifier: Apache-2.0
"""The system of the rules of least torques, as loops: what torques have in common with parts of the push, and the push under equations."""

from __future__ import annotations

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.resolution.small import (
    BLOCK,
    dot,
    factor_cholesky,
    solve_transposed,
    solve_upper,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.fours import FOUR, add_four, four_alike, four_in, put_four_in

APART: tuple[
    str, ...
] = ()  # of the parts of kernels here, those that are not copied to where they are called
RIGHT = BLOCK - 1  # column of the right-hand side


def fill_torques(J: Matrix, tau_0: Vector, M: Memory) -> None:
    """Write J W J' and J W free; what no coordinate feels weighs itself."""
    n, columns, weights = M.sizes.n, M.columns, M.weights
    write_columns(J, tau_0, M)
    whole = n - n % FOUR
    for i in range(0, whole, FOUR):
        for j in range(i, whole, FOUR):
            write_products(M.H, i, j, columns, weights)
    for j in range(whole, n):
        for i in range(j + 1):
            M.H[i, j] = 0.0
            for k in range(len(weights)):
                M.H[i, j] += columns[k, i] * weights[k] * columns[k, j]
    for i in range(n):
        if M.H[i, i] == 0.0:
            M.H[i, i] = M.h_x[i]


def write_columns(J: Matrix, tau_0: Vector, M: Memory) -> None:
    """Write what the push does to each coordinate side by side, and J W free."""
    first = M.sizes.first
    for i in range(M.sizes.n):
        total = 0.0
        for k in range(M.sizes.width):
            M.columns[k, i] = J[i, first + k]
            total += J[i, first + k] * M.weights[k] * tau_0[first + k]
        M.g[i] = total


def write_products(H: Matrix, i: int, j: int, columns: Matrix, weights: Vector) -> None:
    """Write what torques have in common with four parts of the push and four others."""
    nothing = four_alike(0.0)
    one, two, three, last = nothing, nothing, nothing, nothing
    for k in range(len(weights)):
        others = add_four(nothing, weights[k], four_in(columns, k, j))
        one, two = add_four(one, columns[k, i], others), add_four(two, columns[k, i + 1], others)
        three, last = (
            add_four(three, columns[k, i + 2], others),
            add_four(last, columns[k, i + 3], others),
        )
    put_four_in(H, i, j, one)
    put_four_in(H, i + 1, j, two)
    put_four_in(H, i + 2, j, three)
    put_four_in(H, i + 3, j, last)


def solve_under_equations(J: Matrix, tau_0: Vector, x: Vector, M: Memory) -> bool:
    """Write the push of least cost with J_u'x = free_u; H = U'U, Z = U'^-1 J_u and the multipliers with Z'Z mu = free_u - Z'U'^-1 g."""
    n, m, Z, K, d = M.sizes.n, M.sizes.m, M.Z, M.S, M.d
    for i in range(n):
        for k in range(m):
            Z[i, k] = J[i, M.bearing[k]]
        Z[i, RIGHT] = M.g[i]
    substitute(M)
    for i in range(m):
        d[i] = tau_0[M.bearing[i]] - K[i, RIGHT]
    if not factor_cholesky(K, K, m):
        return False
    solve_transposed(K, d, m)
    solve_upper(K, d, m)
    for i in range(n):
        x[i] = Z[i, RIGHT] + dot(Z[i], d, m)
    solve_upper(M.U, x, n)
    return True


def substitute(M: Memory) -> None:
    """Solve U'Z = (J_u, g) in place, and write Z'Z to ``S``."""
    U, Z, K, nothing, n = M.U, M.Z, M.S, four_alike(0.0), M.sizes.n
    for i in range(n):
        one, two = (
            add_four(nothing, U[i, i], four_in(Z, i, 0)),
            add_four(nothing, U[i, i], four_in(Z, i, FOUR)),
        )
        put_four_in(Z, i, 0, one)
        put_four_in(Z, i, FOUR, two)
        for j in range(i + 1, n):
            put_four_in(Z, j, 0, add_four(four_in(Z, j, 0), -U[i, j], one))
            put_four_in(Z, j, FOUR, add_four(four_in(Z, j, FOUR), -U[i, j], two))
    for k in range(M.sizes.m):
        one, two = nothing, nothing
        for i in range(n):
            one, two = (
                add_four(one, Z[i, k], four_in(Z, i, 0)),
                add_four(two, Z[i, k], four_in(Z, i, FOUR)),
            )
        put_four_in(K, k, 0, one)
        put_four_in(K, k, FOUR, two)
