# SPDX-License-Identifier: Apache-2.0
"""Kernels of forces that fulfil the equation of motion, without limits: by load fractions, and by least torques.

Load fractions: parallel forces x_t are parts of one, and x = x_t + C J_u mu makes up for the moments that are left.

Least torques: a straight leg carries load without torque, so that torques alone do not determine the forces.  Small weights of forces do.
They count as far as the Hessian of the torques needs them, by the least pivot of its Cholesky factor.  Forces are then found anew about
the last ones, with the same factor, until torques stay.  What weights eps take from torques that a force moves by sigma per unit shrinks
by eps / (sigma^2 + eps) each time.  Without weights this removes rounding errors.
"""

from __future__ import annotations

from typing import TypeAlias

from humanoid_dynamics.resolution.memory import LIGHT, PART, Memory, open_memory
from humanoid_dynamics.resolution.small import (
    BLOCK,
    add,
    add_block,
    dot,
    factor_cholesky,
    solve_transposed,
    solve_upper,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.fours import FOUR, add_four, four_alike, four_in, put_four_in

APART: tuple[str, ...] = (
    "settle",
)  # parts of kernels that are called, not copied to where they are called

Question: TypeAlias = tuple[Matrix, Vector, Vector, Vector, Vector, Vector]

FACE = 6  # numbers that a face pushes with
FACE_STIFFNESS = 1e10  # how much stiffer forces are, once more, with all of the load on faces, whose moments make up for what is left


def fill_targets(question: Question, M: Memory, soft: Vector) -> None:
    """Write C, and the forces by shares into the push, or the push itself where that follows the shares."""
    J, tau_0, shares, x, first = question[0], question[1], question[2], question[3], M.sizes.first
    told, on_faces = len(shares) > M.sizes.contacts, 0.0
    for i in range(FACE - 1, len(x)):
        if M.owner[i] >= 0 and M.owner[i] == M.owner[i - FACE + 1]:
            on_faces += shares[M.owner[i]]
    stiff = stiffen(on_faces, M.sizes.m, M.sizes.linear)
    for i in range(len(x)):
        share = shares[M.owner[i]] if M.owner[i] >= 0 else 1.0
        soft[i] = M.softness[i] * share
        x[i] = shares[M.sizes.contacts + i] if told else 0.0
        if M.softness[i] < 1.0:
            soft[i] *= stiff
            for k in range(first, first + M.sizes.linear if not told else first):
                x[i] += share * J[i, k] * tau_0[k]
    if not told:
        add_twist(x, M.twist)


def stiffen(on_faces: float, rows: int, linear: int) -> float:
    """Return what the compliance of forces is multiplied with: next to nothing where faces bear, whose moments need no help of forces.

    It is 1 where no face bears, and where joints without motor need forces: the system is solved as well as can be.

    Args:
        on_faces: Part of the load on faces, 0 to 1.
        rows: How many coordinates contacts alone push on.
        linear: How many of them move the base along.
    """
    if rows != 3 * linear - 3:  # others than those of the base
        return 1.0
    return 1.0 / (1.0 + FACE_STIFFNESS * on_faces * on_faces)


def add_twist(x: Vector, twist: Matrix) -> None:
    """Write the moments about their normals that edges have for their forces: two rows after those forces."""
    for i in range(4, len(x)):
        if twist[i, 0] != 0.0 or twist[i, 1] != 0.0:
            x[i] = twist[i, 0] * x[i - 4] + twist[i, 1] * x[i - 3]


def fill_shares(question: Question, M: Memory, soft: Vector) -> None:
    """Write J_u into ``Z``, J_u' C J_u into ``S``, and what the push leaves of free_u, free_u - J_u'x, into ``d``."""
    J, tau_0, x, bearing, Z, K, d = question[0], question[1], question[3], M.bearing, M.Z, M.S, M.d
    m = len(bearing)
    for i in range(BLOCK):
        d[i] = tau_0[bearing[i]] if i < m else 0.0
        for j in range(BLOCK):
            K[i, j] = 0.0
    for k in range(len(x)):
        z = Z[k]
        for i in range(m):
            z[i] = J[k, bearing[i]]
        add_block(d, -x[k], z)
        for i in range(m):
            add_block(K[i], soft[k] * z[i], z)


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


CLEAR = 3e-3  # share of its diagonal from which on a pivot tells of no digits lost
SURE, DOUBTFUL = (
    1e-6,
    1e-8,
)  # the same from which on it needs no weights, and up to which it needs all of them
MOST_PASSES = 20
SETTLED = 1e-24  # share of the square of all torques that may still change


def weigh(pivot: float) -> float:
    """Return which part of the weights of pushes counts, 0 to 1.

    Args:
        pivot: The least of the Cholesky factors of the torques' Hessian, squared, as a share of its diagonal.
    """
    return min(1.0, max(0.0, (SURE - pivot) / (SURE - DOUBTFUL)))


def factor_weighted(M: Memory) -> float:
    """Factor the Hessian of the torques, and of pushes with it by as much as is needed, which ``part`` of the memory tells.

    Returns:
        The least pivot as a share of its diagonal; negative where weights do not help.
    """
    n, pivot, part = M.sizes.n, 0.0, 1.0
    if M.settings[LIGHT] > 0.0:
        pivot = least_pivot(M.H, M.U, n) if factor_cholesky(M.H, M.U, n) else 0.0
        part = weigh(pivot)
    M.settings[PART] = part
    if part == 0.0:
        return pivot
    for i in range(n):
        M.H[i, i] += part * M.h_x[i]
    return pivot if factor_cholesky(M.H, M.U, n) else -1.0


def least_pivot(H: Matrix, U: Matrix, size: int) -> float:
    """Return the least pivot of H = U'U as a share of its diagonal, one over the diagonal of U on its diagonal."""
    most = 1.0
    for k in range(size):
        most = max(most, U[k, k] * U[k, k] * H[k, k])
    return 1.0 / most


def settle(question: Question, F: Vector, I: Indices) -> None:  # noqa: E741
    """Find the push anew about the last one until torques stay, and write the linear term of the last cost.

    Args:
        question: What the tick asks, its push written.
        F: Numbers of the memory, factors written.
        I: Indices of the memory.
    """
    M = open_memory(F, I)
    J, tau_0, x = question[0], question[1], question[3]
    n, first, width = M.sizes.n, M.sizes.first, M.sizes.width
    left, way = M.work[:width], M.work[width : width + n]
    for k in range(width):
        left[k] = tau_0[first + k]
    take(J, first, x, left)
    whole = dot(tau_0, tau_0, len(tau_0))
    for _ in range(MOST_PASSES):
        find_way(J, left, way, M)
        for i in range(n):
            x[i] += way[i]
        if not take(J, first, way, left) > SETTLED * whole:
            break
    for i in range(n):
        M.g[i] += M.settings[PART] * M.h_x[i] * (x[i] - way[i])


def take(J: Matrix, first: int, x: Vector, left: Vector) -> float:
    """Take what a push does from the forces of the span; return the square of it."""
    change = 0.0
    for k in range(len(left)):
        push = 0.0
        for i in range(len(x)):
            push += J[i, first + k] * x[i]
        left[k] -= push
        change += push * push
    return change


def find_way(J: Matrix, left: Vector, way: Vector, M: Memory) -> None:
    """Write the push of least cost for the forces that are left."""
    n, m, first, d = M.sizes.n, M.sizes.m, M.sizes.first, M.d
    for i in range(n):
        way[i] = 0.0
        for k in range(len(left)):
            way[i] += J[i, first + k] * M.weights[k] * left[k]
    solve_transposed(M.U, way, n)
    for k in range(m):
        d[k] = left[M.bearing[k] - first]
    for i in range(n):
        add(d, -way[i], M.Z[i], m)
    solve_transposed(M.S, d, m)
    solve_upper(M.S, d, m)
    for i in range(n):
        way[i] += dot(M.Z[i], d, m)
    solve_upper(M.U, way, n)
