# SPDX-License-Identifier: Apache-2.0
"""Kernels of inverse dynamics for systems of full rank; tested against the path for systems of any rank, ``any_rank``.

A question is ``J`` (n, nv), ``tau_0`` (nv,) torques of free motion, ``shares`` (contacts,), and what is written: ``x`` (n,)
the push, ``forces`` (nv,) tau_0 - J'x, ``tau`` (na,) what motors give.  What else a tick knows is in its ``Memory``.

A tick returns whether a limit is violated or the motion lacks something.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.equation_kernels import (
    CLEAR,
    Question,
    factor_weighted,
    fill_shares,
    fill_targets,
    fill_torques,
    settle,
    solve_under_equations,
)
from humanoid_dynamics.resolution.fading import count_halves, keep_half, mix_halves, take_half
from humanoid_dynamics.resolution.limit_kernels import FAILED, SOFT, choose_inside
from humanoid_dynamics.resolution.memory import (
    LIGHT,
    MOST_USED,
    TIGHT,
    TOLERANCE,
    Memory,
    open_memory,
)
from humanoid_dynamics.resolution.rows import highest, rows_of, write_excess
from humanoid_dynamics.resolution.small import dot, factor_cholesky, solve_transposed, solve_upper
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.compiling import borrow
from humanoid_dynamics.spatial.fours import FOUR, add_four, four_in, four_of, put_four

APART: tuple[str, ...] = (
    "judge",
)  # of the parts of kernels here, those that are not copied to where they are called
SINGULAR, MISSING, BEYOND, KEPT, VERDICTS = range(5)  # a limit is violated, or none
LARGEST = 1e100  # a sum of squares beyond it cannot be computed with


def torque_tick(
    J: Matrix,
    tau_0: Vector,
    shares: Vector,
    x: Vector,
    forces: Vector,
    tau: Vector,
    F: Vector,
    I: Indices,  # noqa: E741
) -> int:
    """Answer by least torques.

    Args:
        J: Of the question, one by one as the others: what numba is handed as a tuple it looks at for as long as the answer takes.
        tau_0: Torques of free motion.
        shares: Of the contacts.
        x: Written.
        forces: Written.
        tau: Written.
        F: Numbers of the memory.
        I: Indices of the memory.
    """
    return press_by_torques(hold(J, tau_0, shares, x, forces, tau), open_memory(F, I), False)


def torque_tick_inside(
    J: Matrix,
    tau_0: Vector,
    shares: Vector,
    x: Vector,
    forces: Vector,
    tau: Vector,
    F: Vector,
    I: Indices,  # noqa: E741
) -> int:
    """Answer by least torques inside limits, see ``keep_limits``.

    Args:
        J: Of the question, one by one as the others: what numba is handed as a tuple it looks at for as long as the answer takes.
        tau_0: Torques of free motion.
        shares: Of the contacts.
        x: Written.
        forces: Written.
        tau: Written.
        F: Numbers of the memory.
        I: Indices of the memory.
    """
    question, M = hold(J, tau_0, shares, x, forces, tau), open_memory(F, I)
    return keep_limits(question, M, press_by_torques(question, M, True))


def share_tick(
    J: Matrix,
    tau_0: Vector,
    shares: Vector,
    x: Vector,
    forces: Vector,
    tau: Vector,
    F: Vector,
    I: Indices,  # noqa: E741
) -> int:
    """Answer by shares.

    Args:
        J: Of the question, one by one as the others: what numba is handed as a tuple it looks at for as long as the answer takes.
        tau_0: Torques of free motion.
        shares: Of the contacts.
        x: Written.
        forces: Written.
        tau: Written.
        F: Numbers of the memory.
        I: Indices of the memory.
    """
    return press_by_shares(hold(J, tau_0, shares, x, forces, tau), open_memory(F, I), False)


def share_tick_inside(
    J: Matrix,
    tau_0: Vector,
    shares: Vector,
    x: Vector,
    forces: Vector,
    tau: Vector,
    F: Vector,
    I: Indices,  # noqa: E741
) -> int:
    """Answer as near to shares as limits let, see ``keep_limits``; by a mean with and without contacts whose share is small.

    Args:
        J: Of the question, one by one as the others: what numba is handed as a tuple it looks at for as long as the answer takes.
        tau_0: Torques of free motion.
        shares: Of the contacts.
        x: Written.
        forces: Written.
        tau: Written.
        F: Numbers of the memory.
        I: Indices of the memory.
    """
    question, M, told = hold(J, tau_0, shares, x, forces, tau), open_memory(F, I), SINGULAR
    halves = count_halves(question[2], M)
    if halves > len(M.halves):
        return SINGULAR
    for number in range(halves):
        some, bears = take_half(question, M, number, halves)
        if not bears:
            return SINGULAR
        told = keep_limits(some, M, press_by_shares(some, M, True))
        way = told // VERDICTS
        if halves == 1 or way == FAILED or (way != SOFT and told <= MISSING):
            return told
        keep_half(some, M, number, way)
    worst = mix_halves(question[3], M, halves)
    return judge(question, M.numbers, M.places, False) + VERDICTS * worst


def hold(
    J: Matrix, tau_0: Vector, shares: Vector, x: Vector, forces: Vector, tau: Vector
) -> Question:
    """Return a question that is handed on at no cost."""
    return borrow(J), borrow(tau_0), borrow(shares), borrow(x), borrow(forces), borrow(tau)


def keep_limits(question: Question, M: Memory, verdict: int) -> int:
    """Choose the push inside limits where one was found that is not, and judge it.

    Returns:
        What is wrong first, and the way in which the push was found: ``verdict + VERDICTS * way``.
    """
    if verdict <= MISSING or verdict == KEPT:
        return verdict
    way = choose_inside(question, M)
    verdict, forces = judge(question, M.numbers, M.places, False), question[4]
    if not dot(forces, forces, len(forces)) < LARGEST:  # NaN violates no row
        way = FAILED
    return verdict + VERDICTS * way


def press_by_torques(question: Question, M: Memory, limited: bool) -> int:
    """Push so that x'Hx/2 - g'x is least under J_u'x = free_u, H = J W J' + H_x, g = J W free; then judge.

    Where weights of pushes only keep these bounded, H_x counts by as much as is needed, and least torques are met all the same.
    """
    fill_torques(question[0], question[1], M)
    pivot = factor_weighted(M)
    if pivot < 0.0 or not solve_under_equations(question[0], question[1], question[3], M):
        return SINGULAR
    if pivot < CLEAR and M.settings[LIGHT] > 0.0:
        settle(question, M.numbers, M.places)
    return judge(question, M.numbers, M.places, limited)


def press_by_shares(question: Question, M: Memory, limited: bool) -> int:
    """Push x = x_t + C J_u mu with J_u' C J_u mu = free_u - J_u' x_t, then judge."""
    x, n, m, soft, K, d = question[3], M.sizes.n, M.sizes.m, M.work[: M.sizes.n], M.S, M.d
    fill_targets(question, M, soft)
    fill_shares(question, M, soft)
    if not factor_cholesky(K, K, m):
        return SINGULAR
    solve_transposed(K, d, m)
    solve_upper(K, d, m)
    for i in range(n):
        x[i] += soft[i] * dot(M.Z[i], d, m)
    if limited:
        fill_distance(x, M)
    return judge(question, M.numbers, M.places, limited)


def fill_distance(x: Vector, M: Memory) -> None:
    """Write the distance from a push as the cost; J_u, which ``Z`` holds, is in its metric."""
    for i in range(M.sizes.n):
        M.g[i] = x[i]
        for j in range(M.sizes.n):
            M.H[i, j] = M.U[i, j] = 1.0 if i == j else 0.0


def judge(
    question: Question,
    F: Vector,
    I: Indices,  # noqa: E741
    limited: bool,
) -> int:
    """Write forces and torques, and return whether the motion lacks something or a limit is violated; the certificate finds which.

    Args:
        question: What the tick asks, its push written.
        F: Numbers of the memory.
        I: Indices of the memory.
        limited: Whether limits count.
    """
    M, missing, used = open_memory(F, I), 0.0, 0.0
    _, _, _, x, forces, tau = question
    write_forces(question, M.sizes.first, M.sizes.first + M.sizes.width)
    for i in range(len(M.undriven)):
        missing += forces[M.undriven[i]] ** 2
    for i in range(len(tau)):
        tau[i] = forces[M.driven[i]]
        used = max(used, abs(tau[i] * M.per_limit[i]))
    if not missing <= M.settings[TOLERANCE]:
        return MISSING
    if not limited:
        return KEPT
    write_excess(x, rows_of(M), 0, 2 * M.sizes.contacts)
    breaks = highest(M.y, M.settings[TIGHT])[1] >= 0
    return BEYOND if breaks or used > M.settings[MOST_USED] else KEPT


def write_forces(question: Question, first: int, end: int) -> None:
    """Write tau_0 - J'x."""
    J, tau_0, _, x, forces, _ = question
    for i in range(len(forces)):
        forces[i] = tau_0[i]
    whole = end - (end - first) % FOUR
    for i in range(first, whole, FOUR):
        sums = four_of(tau_0, i)
        for k in range(len(x)):
            sums = add_four(sums, -x[k], four_in(J, k, i))
        put_four(forces, i, sums)
    for i in range(whole, end):
        for k in range(len(x)):
            forces[i] -= J[k, i] * x[k]
