# SPDX-License-Identifier: Apache-2.0
"""The ways in which a push may move while the equations hold, compiled: reflections of Householder, eight columns at a time.

With H = U'U and the equations Z'(U x) = free_u, a way is a column of U'^-1 V, where V completes the columns of Z to all directions.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.active_set import DEPENDENT
from humanoid_dynamics.resolution.memory import open_memory
from humanoid_dynamics.resolution.small import BLOCK
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.fours import FOUR, add_four, four_alike, four_in, put_four_in

APART: tuple[str, ...] = (
    "find_ways",
)  # of the parts of kernels here, those that are not copied to where they are called


def find_ways(F: Vector, I: Indices, equations: int) -> bool:  # noqa: E741
    """Write columns N with U N orthonormal and Z'U N = 0, filled up with zeros to whole blocks.

    Args:
        F: Numbers of the memory, U and Z written; what is in Z is lost.
        I: Indices of the memory.
        equations: How many columns of Z count, none or all.

    Returns:
        Whether these do not depend on each other.
    """
    M = open_memory(F, I)
    n, N, per_square = M.sizes.n, M.N, M.work[: M.sizes.n]
    if not reflect_equations(M.Z, M.Q, per_square, equations, n):
        return False
    for first in range(0, n - equations, BLOCK):
        for i in range(n):
            for k in range(first, first + BLOCK):
                N[i, k] = 1.0 if i == equations + k else 0.0
        for j in range(equations - 1, -1, -1):
            reflect_block(M.Q, j, per_square[j], N, first, n)
        solve_block(M.U, N, first, n)
    return True


def reflect_equations(Z: Matrix, Q: Matrix, per_square: Vector, equations: int, n: int) -> bool:
    """Make Z triangular; write the mirrors that do it to the rows of Q, and two over their squares."""
    for j in range(equations):
        per_square[j] = 0.0
    for i in range(n):
        for j in range(equations):
            per_square[j] += Z[i, j] ** 2
    for j in range(equations):
        square = 0.0
        for i in range(j, n):
            Q[j, i] = Z[i, j]
            square += Q[j, i] ** 2
        if not square > DEPENDENT * per_square[j]:
            return False
        length = float(square**0.5)
        per_square[j] = 1.0 / (square + length * abs(Q[j, j]))
        Q[j, j] += length if Q[j, j] > 0.0 else -length
        reflect_block(Q, j, per_square[j], Z, 0, n)
    return True


def reflect_block(Q: Matrix, j: int, per_square: float, N: Matrix, first: int, n: int) -> None:
    """Reflect a block of columns in the mirror of a row of Q."""
    one, two, second = four_alike(0.0), four_alike(0.0), first + FOUR
    for i in range(j, n):
        q = Q[j, i]
        one, two = add_four(one, q, four_in(N, i, first)), add_four(two, q, four_in(N, i, second))
    for i in range(j, n):
        q = -Q[j, i] * per_square
        put_four_in(N, i, first, add_four(four_in(N, i, first), q, one))
        put_four_in(N, i, second, add_four(four_in(N, i, second), q, two))


def solve_block(U: Matrix, N: Matrix, first: int, n: int) -> None:
    """Solve U N = V in place, for a block of columns."""
    nothing, second = four_alike(0.0), first + FOUR
    for i in range(n - 1, -1, -1):
        one, two = (
            add_four(nothing, U[i, i], four_in(N, i, first)),
            add_four(nothing, U[i, i], four_in(N, i, second)),
        )
        put_four_in(N, i, first, one)
        put_four_in(N, i, second, two)
        for j in range(i):
            put_four_in(N, j, first, add_four(four_in(N, j, first), -U[j, i], one))
            put_four_in(N, j, second, add_four(four_in(N, j, second), -U[j, i], two))
