# SPDX-License-Identifier: Apache-2.0
"""The push inside limits, compiled: first among those that fulfil the equation of motion, then the one that misses it least.

All that is left of a push of least cost are rows a'x <= b: those of contacts, and torques.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.active_set import FOUND, HOPELESS, walk
from humanoid_dynamics.resolution.corner_forces import miss_wrench, press_corners
from humanoid_dynamics.resolution.free_ways import find_ways
from humanoid_dynamics.resolution.memory import (
    CHOICE,
    EXACT,
    FLOOR,
    TIGHT,
    UNIT_FORCE,
    Memory,
    open_memory,
)
from humanoid_dynamics.resolution.rows import larger, rows_of, worst_row, write_torques
from humanoid_dynamics.resolution.small import (
    add_rows,
    factor_cholesky,
    solve_transposed,
    solve_upper,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART: tuple[str, ...] = (
    "choose_nearest",
)  # of the parts of kernels here, those that are not copied to where they are called
RARE = ("choose_nearest",)  # those that are written short, because they seldom run
LARGEST = 1e300
AS_IT_IS, HARD, SOFT, FAILED = range(4)  # ways in which a push was found


def choose_inside(
    question: tuple[Matrix, Vector, Vector, Vector, Vector, Vector], M: Memory
) -> int:
    """Choose the push of least cost inside limits; where none fulfils the equation of motion, the one that misses least.

    Args:
        question: What the tick asks; its push fulfils the equation of motion.
        M: The memory, Hessian and linear term written.

    Returns:
        How it was found.
    """
    J, free, _, x, _, _ = question
    write_torques(J, free, M)
    doubtful = find_balance(M) > 0.0
    missing = miss_wrench(J, free, x, M.numbers, M.places) if doubtful else 0
    if not missing:
        if not find_ways(M.numbers, M.places, M.sizes.m):
            return FAILED
        end = walk(
            x,
            M.numbers,
            M.places,
            M.sizes.n - M.sizes.m,
            M.sizes.torques,
            M.settings[EXACT] * M.settings[UNIT_FORCE],
        )
        if end != HOPELESS:
            return HARD if end == FOUND else FAILED
        missing = 0 if doubtful else miss_wrench(J, free, x, M.numbers, M.places)
    return choose_nearest(J, free, x, M.numbers, M.places, missing)


def find_balance(M: Memory) -> float:
    """Return by how much contacts together break rows of pressure and friction: what one breaks less what others have left.

    Load can mostly be moved to where something is left.  Where it is not enough, it is worth to ask first whether contacts can give at all
    what the motion needs, which otherwise is known at the end only.
    """
    balance = 0.0
    for c in range(M.sizes.contacts):
        worst = -LARGEST
        for i in range(M.ends[c], M.ends[c + 1]):
            worst = larger(M.y[i], worst)
        balance += worst
    return balance


def choose_nearest(J: Matrix, free: Vector, x: Vector, F: Vector, I: Indices, missing: int) -> int:  # noqa: E741
    """Choose the push of least soft cost that contacts can give and motors can bear; where none can, that contacts can give.

    Args:
        J: Jacobian of the push.
        free: Torques of free motion.
        x: The push, overwritten.
        F: Numbers of the memory.
        I: Indices of the memory.
        missing: Where contacts alone keep the motion from being met, with how many forces of ``active`` at corners they come nearest to it.

    Returns:
        How it was found.
    """
    M = open_memory(F, I)
    if not prepare_soft(J, free, M):
        return FAILED
    exact = M.settings[EXACT] * size_of(free, M)
    if missing:
        end = press_corners(x, M, missing)
        if (
            end == FOUND
            and worst_row(x, rows_of(M), M.sizes.torques, max(exact, M.settings[TIGHT]))[0] < 0
        ):
            return SOFT
    solve_upper(M.U, M.g, M.sizes.n)
    find_ways(M.numbers, M.places, 0)
    for torques in (M.sizes.torques, 0):
        copy(M.g, x)
        if walk(x, M.numbers, M.places, M.sizes.n, torques, exact) == FOUND:
            return SOFT
    return FAILED


def copy(one: Vector, other: Vector) -> None:
    """Write a vector into another."""
    for i in range(len(one)):
        other[i] = one[i]


def prepare_soft(J: Matrix, free: Vector, M: Memory) -> bool:
    """Write the push x that misses the equation of motion least, but for a small weight of the rule's wish, as U x to ``g``."""
    n, U = M.sizes.n, M.U
    fill_soft(J, free, M)
    if not factor_cholesky(M.K, U, n):
        return False
    solve_transposed(U, M.g, n)
    return True


def fill_soft(J: Matrix, free: Vector, M: Memory) -> None:
    """Write the squares of what the equations miss, and the rule's cost with a small weight: Hessian to ``K``, linear term to ``g``."""
    n, m, K, J_u, trace = M.sizes.n, M.sizes.m, M.K, M.Q, 0.0
    for i in range(n):
        trace += M.H[i, i]
    choice = M.settings[CHOICE] * n / max(trace, 1e-300)
    for i in range(n):
        M.g[i] *= choice
        for j in range(n):
            K[i, j] = choice * M.H[i, j]
        K[i, i] += M.settings[CHOICE] * M.settings[FLOOR]
    weighted = M.work[:m]
    for k in range(m):
        weighted[k] = M.misses[k] * free[M.bearing[k]]
        for i in range(n):
            J_u[k, i] = J[i, M.bearing[k]]
    add_rows(M.g, weighted, J_u, 0, m, n)
    for i in range(n):
        for k in range(m):
            weighted[k] = M.misses[k] * J_u[k, i]
        add_rows(K[i], weighted, J_u, 0, m, n)


def size_of(free: Vector, M: Memory) -> float:
    """Return the largest force that is asked for, or the weight of the robot."""
    largest = float(M.settings[UNIT_FORCE])
    for place in M.bearing:
        largest = max(largest, abs(free[place]))
    for place in M.torques:
        largest = max(largest, abs(free[place]))
    return largest
