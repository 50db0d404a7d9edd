# SPDX-License-Identifier: Apache-2.0
"""Contact forces of a step from the table of near points: rows, the problem, its solution, and what is remembered of it.

What numba compiles in place of ``friction.py``; tables and their columns are named in ``steps.rows``.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.cone_kernel import certify, stick
from humanoid_dynamics.simulation.contacts.cone_newton import Cones
from humanoid_dynamics.simulation.contacts.cone_problem import CLOSE, MOST_PASSES, OUTSIDE
from humanoid_dynamics.simulation.contacts.contact_build import (
    measure_speeds,
    meets_others,
    select_points,
    want_points,
)
from humanoid_dynamics.simulation.contacts.holders import Holders, find_holders
from humanoid_dynamics.simulation.contacts.limit_rows import build_limits, select_limits
from humanoid_dynamics.simulation.contacts.restrain_kernel import (
    build_rows,
    hold_start,
    restrain_rows,
)
from humanoid_dynamics.simulation.contacts.slides import find_stop
from humanoid_dynamics.simulation.contacts.thresholds import CARRIES
from humanoid_dynamics.simulation.contacts.wrench_kernel import (
    AGAIN,
    HOLDS,
    YIELDS,
    push,
    relate,
    stick_by_wrenches,
)
from humanoid_dynamics.simulation.contacts.wrench_shares import collect, relate_rows
from humanoid_dynamics.simulation.contacts.yielding_kernel import harden, settle_hard, soften
from humanoid_dynamics.simulation.steps.bench import A_GUESS, A_P, A_U, A_WANTED, L_IMPULSE, Bench
from humanoid_dynamics.simulation.steps.row_kernel import multiply_rows
from humanoid_dynamics.simulation.steps.rows import (
    COMPLEMENTARITY,
    CONE,
    DEPTH,
    DT,
    FIRST_KEPT,
    M_DEEP,
    M_NEXT,
    M_P,
    M_TOUCHES,
    M_U,
    N_AXES,
    N_GAP,
    N_KEY,
    NORMALS,
    PAPER,
    PASSED,
    POINTS,
    RESIDUAL,
    ROUNDS,
    SPAN,
    STOPS,
    TOUCHING,
    Z_END,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

HELD = 1e30  # coefficient of friction of what holds
# rows of the table of answers
ANSWER_ROWS = 4


def solve_contacts(bench: Bench, q: Vector) -> None:
    """Find the contact forces of a step and the whitened velocity at its end.

    Args:
        bench: All tables.
        q: (nq,) configuration in the middle of the step.
    """
    dofs, numbers = bench.dofs, bench.numbers
    hold_start(bench)
    m = select_points(bench)
    count = select_limits(bench, q, m)
    numbers[POINTS], numbers[NORMALS] = m, count
    numbers[RESIDUAL] = numbers[COMPLEMENTARITY] = numbers[CONE] = numbers[ROUNDS] = 0.0
    numbers[PASSED] = 0.0
    if count == 0:
        return
    z = dofs[Z_END]
    mu, holders, X = np.empty(m), find_holders(bench, m, count), np.zeros((count - m, len(z)))
    want_points(bench, holders, mu)
    build_limits(bench, q, X, m, count)
    held, others = len(bench.Q) > 0, meets_others(holders.others)
    B = build_rows(bench, holders, X) if held or others else np.zeros((0, len(z)))
    if held:
        restrain_rows(bench, holders, X, B)
    if others:
        solve_rows(bench, (B, count), holders.slots, mu)
    else:
        solve_by_wrenches(bench, holders, X, mu)


def solve_by_wrenches(bench: Bench, holders: Holders, X: Matrix, mu: Vector) -> None:
    """Find impulses by way of the wrenches on joints that touch what stands still, and the whitened velocity at the end with them.

    Args:
        bench: All tables.
        holders: Joints that touch.
        X: (c, nv) whitened rows of the limits.
        mu: (m,) coefficients of friction.
    """
    numbers, answer, m = bench.numbers, bench.answer, len(mu)
    count = m + len(X)
    D, b, held = (
        relate(holders, X),
        find_speeds(bench, holders, X),
        np.full(m, HELD) if numbers[PAPER] > 0.0 else mu,
    )
    came, passes = AGAIN, 0
    while came == AGAIN and passes < MOST_PASSES:
        came = stick_by_wrenches(bench, holders, (D, X), b, held)
        passes += 1
    if came == HOLDS:
        numbers[COMPLEMENTARITY], numbers[CONE] = certify(
            mu, count, answer[A_P, : len(b)], answer[A_U, : len(b)]
        )
        numbers[ROUNDS] = float(passes)
        if numbers[PAPER] > 0.0:
            numbers[ROUNDS] = 1.0 if numbers[CONE] <= OUTSIDE else -1.0
        return
    G, w = np.empty((len(b), len(b))), np.empty(len(D))
    relate_rows(holders, D, G)
    solve_problem(bench, Cones(G, b, mu, np.empty(len(b)), count), holders.slots, came == YIELDS)
    collect(holders, answer[A_P, : len(b)], w)
    push(holders, X, w, bench.dofs[Z_END])


def find_speeds(bench: Bench, holders: Holders, X: Matrix) -> Vector:
    """Return (3m + c,) velocities of all rows without contacts, with what is wanted of them.

    Args:
        bench: All tables.
        holders: Joints that touch.
        X: (c, nv) whitened rows of the limits.
    """
    m, limits, z = len(holders.slots), len(X), bench.dofs[Z_END]
    speeds = np.empty(3 * m)
    measure_speeds(bench, holders, z, speeds)
    b = bench.answer[A_WANTED, : 3 * m + limits].copy()
    for row in range(3 * m):
        b[holders.places[row]] += speeds[row]
    for k in range(limits):
        b[m + k] += multiply_rows(X[k], z)
    return b


def solve_rows(bench: Bench, rows: tuple[Matrix, int], slots: Indices, mu: Vector) -> None:
    """Find impulses row by row, and the whitened velocity at the end with them.

    Args:
        bench: All tables.
        rows: (3m + c, nv) whitened rows, and the number of points and limits.
        slots: (m,) number of the body of each contact.
        mu: (m,) coefficients of friction.
    """
    answer, z, (B, count) = bench.answer, bench.dofs[Z_END], rows
    size = len(B)
    b = np.dot(B, z) + answer[A_WANTED, :size]
    solve_problem(bench, Cones(np.dot(B, B.T), b, mu, np.empty(size), count), slots, False)
    for k in range(size):
        for i in range(len(z)):
            z[i] += answer[A_P, k] * B[k, i]


def solve_problem(bench: Bench, cones: Cones, slots: Indices, yields: bool) -> None:
    """Find impulses and velocities row by row, with their certificate.

    Args:
        bench: All tables.
        cones: The problem.
        slots: (m,) number of the body of each contact.
        yields: Whether it is known that something slides or leaves.
    """
    numbers, answer, size, m = bench.numbers, bench.answer, len(cones.b), len(slots)
    p, u = answer[A_P, :size], answer[A_U, :size]
    guess, held = answer[A_GUESS, :size], np.full(m, HELD) if numbers[PAPER] > 0.0 else cones.mu
    soft = soften(cones, guess, slots)
    if numbers[PAPER] == 0.0:
        numbers[RESIDUAL], numbers[ROUNDS] = settle_hard(cones, soft, guess, (p, u), yields)
    elif stick(Cones(cones.G, cones.b, held, cones.step, cones.normals), guess, p, u):
        numbers[RESIDUAL] = harden(cones, soft, guess, p, u)
        numbers[ROUNDS] = 1.0 if numbers[RESIDUAL] <= CLOSE else -1.0
    else:
        numbers[ROUNDS] = -1.0
    numbers[COMPLEMENTARITY], numbers[CONE] = certify(cones.mu, cones.normals, p, u)


def forget_points(memory: Matrix, numbers: Vector) -> None:
    """Forget which points took part in the last step: those it lists, or all where it lists none.

    Args:
        memory: Table of the memory.
        numbers: Numbers in and out.
    """
    if numbers[FIRST_KEPT] < 0.0:
        memory[:, M_TOUCHES : M_DEEP + 1] = 0.0
    k = int(numbers[FIRST_KEPT])
    while k > 0:
        memory[k - 1, M_TOUCHES] = memory[k - 1, M_DEEP] = 0.0
        k = int(memory[k - 1, M_NEXT])
    numbers[FIRST_KEPT] = 0.0


def remember(bench: Bench) -> None:
    """Keep impulses and velocities of points and limits for the next step.

    Args:
        bench: All tables.
    """
    near, memory, limits, answer, chosen, numbers = (
        bench.near,
        bench.memory,
        bench.limits,
        bench.answer,
        bench.chosen,
        bench.numbers,
    )
    m, count = int(numbers[POINTS]), int(numbers[NORMALS])
    forget_points(memory, numbers)
    limits[:, L_IMPULSE] = 0.0
    for i in range(m, count):
        limits[chosen[i], L_IMPULSE] = answer[A_P, i]
    deepest, touching, stop = 0.0, 0, 0.0
    for i in range(m):
        row = near[chosen[i]]
        kept = memory[int(row[N_KEY])]
        kept[M_NEXT], numbers[FIRST_KEPT] = numbers[FIRST_KEPT], row[N_KEY] + 1.0
        kept[M_DEEP] = max(0.0, -row[N_GAP])
        deepest = max(deepest, kept[M_DEEP])
        if answer[A_P, i] > CARRIES:
            kept[M_TOUCHES] = 1.0
            touching += 1
        old = (kept[M_U], kept[M_U + 1], kept[M_U + 2])
        kept[M_U:] = 0.0
        for axis in range(3):
            place = i if axis == 0 else count + (axis - 1) * m + i
            speed = answer[A_U, place] - answer[A_WANTED, place]
            for k in range(3):
                kept[M_U + k] += speed * row[N_AXES + 3 * axis + k]
                kept[M_P + k] += answer[A_P, place] * row[N_AXES + 3 * axis + k]
        soon = find_stop(kept, old, row, numbers[DT])
        stop = soon if stop == 0.0 or 0.0 < soon < stop else stop
    numbers[DEPTH], numbers[TOUCHING], numbers[SPAN], numbers[STOPS] = (
        deepest,
        touching,
        numbers[DT],
        stop,
    )


PARTS = (forget_points, find_speeds, solve_problem, solve_rows, solve_by_wrenches)
