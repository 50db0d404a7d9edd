# SPDX-License-Identifier: Apache-2.0
"""Weights that keep a push bounded and take nothing from least torques.

A straight leg bears load without torque: torques alone then choose no push, and small weights of pushes do.  Two things keep these from
moving torques.  They count only as far as the Hessian of the torques needs them, by the least pivot of its Cholesky factors: not at all
but next to where a leg is straight.  And the push is found anew about the push before, with the same factors, until torques stay.  What
weights eps take from torques that a push moves by sigma per unit shrinks by eps / (sigma^2 + eps) each time, and a push that moves no
torque stays the least one.  Without weights this takes away round-off.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.memory import LIGHT, PART, Memory, open_memory
from humanoid_dynamics.resolution.parallel import Question
from humanoid_dynamics.resolution.small import (
    add,
    dot,
    factor_cholesky,
    solve_transposed,
    solve_upper,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART: tuple[str, ...] = (
    "settle",
)  # of the parts of kernels here, those that are not copied to where they are called
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
