"""The ways in which a push may move while the equations hold, compiled: reflections of Householder, eight columns at a time.

With H = U'U and the equations Z'(U x) = free_u, a way is a column of U'^-1 V, where V completes the columns of Z to all directions.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.active_set import DEPENDENT
from humanoid_dynamics.resolution.memory import open_memory
from humanoid_dynamics.resolution.small import BLOCK
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART: tuple[str, ...] = ("find_ways",)  # of the parts of kernels here, those that are not copied to where they are called
IN_ORDER = ("reflect_block", "solve_block")  # those whose sums are added as they are written, several side by side


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


def reflect_block(Q: Matrix, j: int, per_square: float, N: Matrix, first: int, n: int) -> None:  # noqa: PLR0917
    """Reflect a block of columns in the mirror of a row of Q."""
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(j, n):
        q, way = Q[j, i], N[i, first : first + BLOCK]
        a, b, c, d = a + q * way[0], b + q * way[1], c + q * way[2], d + q * way[3]
        e, f, g, h = e + q * way[4], f + q * way[5], g + q * way[6], h + q * way[7]
    a, b, c, d = a * per_square, b * per_square, c * per_square, d * per_square
    e, f, g, h = e * per_square, f * per_square, g * per_square, h * per_square
    for i in range(j, n):
        q, way = Q[j, i], N[i, first : first + BLOCK]
        way[0], way[1], way[2], way[3] = way[0] - q * a, way[1] - q * b, way[2] - q * c, way[3] - q * d
        way[4], way[5], way[6], way[7] = way[4] - q * e, way[5] - q * f, way[6] - q * g, way[7] - q * h


def solve_block(U: Matrix, N: Matrix, first: int, n: int) -> None:
    """Solve U N = V in place, for a block of columns."""
    for i in range(n - 1, -1, -1):
        u, row = U[i, i], N[i, first : first + BLOCK]
        a, b, c, d, e, f, g, h = row[0] * u, row[1] * u, row[2] * u, row[3] * u, row[4] * u, row[5] * u, row[6] * u, row[7] * u
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = a, b, c, d, e, f, g, h
        for j in range(i):
            u, way = U[j, i], N[j, first : first + BLOCK]
            way[0], way[1], way[2], way[3] = way[0] - u * a, way[1] - u * b, way[2] - u * c, way[3] - u * d
            way[4], way[5], way[6], way[7] = way[4] - u * e, way[5] - u * f, way[6] - u * g, way[7] - u * h
