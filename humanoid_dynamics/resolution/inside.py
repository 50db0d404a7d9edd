"""The push inside limits, compiled: first among those that fulfil the equation of motion, then the one that misses it least.

All that is left of a push of least cost are rows a'x <= b: those of contacts, and torques.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.active_set import FOUND, HOPELESS, LOST, walk
from humanoid_dynamics.resolution.corner_forces import press_corners
from humanoid_dynamics.resolution.free_ways import find_ways
from humanoid_dynamics.resolution.memory import CHOICE, EXACT, FLOOR, TIGHT, UNIT_FORCE, Memory
from humanoid_dynamics.resolution.rows import rows_of, worst_row, write_torques
from humanoid_dynamics.resolution.small import add, factor_cholesky, solve_transposed, solve_upper
from humanoid_dynamics.spatial.arrays import Matrix, Vector

APART: tuple[str, ...] = ()  # of the parts of kernels here, those that are not copied to where they are called
AS_IT_IS, HARD, SOFT, FAILED = range(4)  # ways in which a push was found


def choose_inside(question: tuple[Matrix, Vector, Vector, Vector, Vector, Vector], M: Memory) -> int:
    """Choose the push of least cost inside limits; where none fulfils the equation of motion, the one that misses least.

    Args:
        question: What the tick asks; its push fulfils the equation of motion.
        M: The memory, Hessian and linear term written.

    Returns:
        How it was found.
    """
    J, free, _, x, _, _ = question
    end, known = LOST, 0
    write_torques(J, free, M)
    if find_ways(M, M.sizes.m):
        end, known = walk(x, M, M.sizes.n - M.sizes.m, M.sizes.torques, M.settings[EXACT] * M.settings[UNIT_FORCE])
    if end == FOUND:
        return HARD
    if end == HOPELESS and prepare_soft(J, free, M):
        return choose_nearest(x, M, M.settings[EXACT] * size_of(free, M), known)
    return FAILED


def choose_nearest(x: Vector, M: Memory, exact: float, known: int) -> int:
    """Choose the push of least soft cost that contacts can give and motors can bear; where none can, that contacts can give.

    Args:
        x: The push, overwritten.
        M: The memory, the soft program written.
        exact: What a row may be broken by.
        known: How many rows of ``active`` contradict each other; where motors are among them forces at corners alone will not do.

    Returns:
        How it was found.
    """
    if are_contacts(M, known):
        copy(M.g, x)
        if press_corners(x, M) == FOUND and worst_row(x, rows_of(M), M.sizes.torques, max(exact, M.settings[TIGHT]))[0] < 0:
            return SOFT
    find_ways(M, 0)
    for torques in (M.sizes.torques, 0):
        copy(M.g, x)
        if walk(x, M, M.sizes.n, torques, exact)[0] == FOUND:
            return SOFT
    return FAILED


def are_contacts(M: Memory, known: int) -> bool:
    """Whether all unknowns are those of contacts, and all of the first active rows."""
    for i in range(known):
        if M.active[i] >= M.sizes.rows:
            return False
    return bool(M.firsts[M.sizes.contacts] == M.sizes.n)


def copy(one: Vector, other: Vector) -> None:
    """Write a vector into another."""
    for i in range(len(one)):
        other[i] = one[i]


def prepare_soft(J: Matrix, free: Vector, M: Memory) -> bool:
    """Write the push that misses the equation of motion least, but for a small weight of the rule's wish, to ``g``."""
    n, U = M.sizes.n, M.U
    fill_soft(J, free, M)
    if not factor_cholesky(M.K, U, n):
        return False
    solve_transposed(U, M.g, n)
    solve_upper(U, M.g, n)
    return True


def fill_soft(J: Matrix, free: Vector, M: Memory) -> None:
    """Write the squares of what the equations miss, and the rule's cost with a small weight: Hessian to ``K``, linear term to ``g``."""
    n, K, column, trace = M.sizes.n, M.K, M.work[: M.sizes.n], 0.0
    for i in range(n):
        trace += M.H[i, i]
    choice = M.settings[CHOICE] * n / max(trace, 1e-300)
    for i in range(n):
        M.g[i] *= choice
        for j in range(i, n):
            K[i, j] = choice * M.H[i, j]
        K[i, i] += M.settings[CHOICE] * M.settings[FLOOR]
    for k in range(M.sizes.m):
        for i in range(n):
            column[i] = J[i, M.bearing[k]]
        add(M.g, M.misses[k] * free[M.bearing[k]], column, n)
        for i in range(n):
            add(K[i], M.misses[k] * column[i], column, n)


def size_of(free: Vector, M: Memory) -> float:
    """Return the largest force that is asked for, or the weight of the robot."""
    largest = float(M.settings[UNIT_FORCE])
    for place in M.bearing:
        largest = max(largest, abs(free[place]))
    for place in M.torques:
        largest = max(largest, abs(free[place]))
    return largest
