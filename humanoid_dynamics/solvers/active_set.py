# SPDX-License-Identifier: Apache-2.0
"""Dense, strictly convex quadratic programs by the dual active-set method of Goldfarb and Idnani, in the part of Python that numba compiles.

With H = L L' and y = L'x the cost is the squared distance of y from y_0 = -L^-1 f.  The normals of the active rows, w = L^-1 a, are the
rows of R Q: R lower triangular, the rows of Q orthonormal.  Equations enter first.  Then the most violated row enters, again and again; a
row whose multiplier would change its sign leaves.  The cost rises at every step, so the method ends.
"""

from __future__ import annotations

import math

from humanoid_dynamics.solvers.dense import (
    add_scaled,
    dot,
    factor,
    is_finite_above,
    length_of,
    solve_back,
    solve_forward,
    solve_turned,
    write_gradient,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART = ("find_worst", "refine")  # called, not copied
OPTIMAL, INFEASIBLE, NOT_CONVEX, ITERATION_LIMIT, INVALID = range(5)
VIOLATION = 1e-9  # of the size of x: violation of a row of unit length that makes it enter
KEPT = 1e-7  # of the size of x: violation that a row may keep where active rows determine it
ROUNDING = 1e-13  # of the length of x
DEPENDENT = 1e-18  # squared share of a normal outside of the active ones that counts as zero
SHRUNK = 1e-3  # squared share below which a normal is made orthogonal a second time
MOST_STEPS = 1000
MOST_RETURNS = 4  # corrections of rounding
EXACT = 1e-11  # of the length of x: a correction that is the last
LONGEST = 1e300
NORMAL, PARTS, TURN, FORCE, WAY = range(5)  # vectors of the memory
VECTORS = 5

Rows = tuple[Matrix, Vector, Vector, Vector]
Basis = tuple[Matrix, Matrix, Matrix, Matrix, Indices]


def solve_program(
    objective: tuple[Matrix, Vector],
    rows: Rows,
    n_equal: int,
    size: float,
    memory: Basis,
    x: Vector,
    forces: Vector,
) -> tuple[int, int, float]:
    """Minimise x'Hx/2 + f'x with lower <= A x <= upper.

    Args:
        objective: (n, n) Hessian, of which the upper triangle is read, and (n,) linear term.
        rows: (m, n) rows A, equations first, their lower and upper bounds, and (m,) memory for their lengths.
        n_equal: Number of equations.
        size: Typical size of x.
        memory: L, Q, R, ``VECTORS`` vectors, and the active rows: their number + 1 with the sign of the side.
        x: (n,) the minimum; overwritten.
        forces: (m,) multipliers of the rows, H x + f + A' forces = 0; overwritten.

    Returns:
        How it ended, the number of changes of the active set, and the largest violation of a row.
    """
    H, f = objective
    L, V, n = memory[0], memory[3], len(f)
    if not measure_rows(rows, f):
        return INVALID, 0, math.inf
    if not factor(H, L):
        return (NOT_CONVEX if is_finite_above(H) else INVALID), 0, math.inf
    x[:] = 0.0
    V[NORMAL, :n] = f
    solve_forward(L, V[NORMAL])
    solve_back(L, V[NORMAL], -1.0, V[WAY], x)
    ended, count, steps = iterate(objective, rows, n_equal, size, memory, x)
    if ended != OPTIMAL:
        return ended, steps, math.inf
    violation = finish(memory, rows, count, x, forces, size)
    return (OPTIMAL if violation >= 0.0 else ITERATION_LIMIT), steps, violation


def iterate(
    objective: tuple[Matrix, Vector],
    rows: Rows,
    n_equal: int,
    size: float,
    memory: Basis,
    x: Vector,
) -> tuple[int, int, int]:
    """Move x from the unconstrained minimum to the minimum inside the rows.

    Returns:
        How it ended, the number of active rows, and the number of changes of the active set.
    """
    count, fixed, steps, returns, row = 0, 0, 0, 0, 0
    while steps < MOST_STEPS:
        worst, side, excess = select_row(rows, row, n_equal, x, size)
        if worst < 0:
            returns += 1
            is_exact = refine(memory, objective, rows, count, x)
            if returns == MOST_RETURNS or (is_exact and find_worst(rows, n_equal, x, size)[0] < 0):
                return OPTIMAL, count, steps
            continue
        entered, count, changes = enter_row(memory, rows, fixed, count, worst, side, excess, x)
        steps += changes
        if not entered and not excess <= KEPT * (size + length_of(x)) * max(rows[3][worst], 1e-9):
            return INFEASIBLE, count, steps
        if row < n_equal:
            row, fixed = row + 1, count
        elif not entered:
            refine(memory, objective, rows, count, x)
            return OPTIMAL, count, steps
    return ITERATION_LIMIT, count, steps


def select_row(
    rows: Rows, row: int, n_equal: int, x: Vector, size: float
) -> tuple[int, float, float]:
    """Return the next equation, or the most violated row, with its side and violation; minus one if all rows are satisfied."""
    if row >= n_equal:
        return find_worst(rows, n_equal, x, size)
    excess = dot(rows[0], row, x) - rows[2][row]
    return (row, 1.0, excess) if excess >= 0.0 else (row, -1.0, -excess)


def measure_rows(rows: Rows, f: Vector) -> bool:
    """Write the lengths of the rows; return whether all numbers are finite, infinite bounds apart."""
    A, lower, upper, lengths = rows
    total = 0.0
    for i in range(len(f)):
        total += abs(f[i])
    for k in range(len(lower)):
        square = 0.0
        for i in range(len(f)):
            square += A[k, i] * A[k, i]
        lengths[k] = math.sqrt(square)
        total += lengths[k]
        if math.isnan(lower[k]) or math.isnan(upper[k]):
            return False
    return math.isfinite(total)


def find_worst(rows: Rows, first: int, x: Vector, size: float) -> tuple[int, float, float]:
    """Return the row violated most for its length, its side and its violation; minus one if all are satisfied."""
    A, lower, upper, lengths = rows
    worst, row, side, excess = VIOLATION * size + ROUNDING * length_of(x), -1, 1.0, 0.0
    for k in range(first, len(lower)):
        value = dot(A, k, x)
        over, under = value - upper[k], lower[k] - value
        most = over if over > under else under
        if most > worst * lengths[k] and (lengths[k] > 0.0 or most > worst):
            row, side, excess = k, 1.0 if over > under else -1.0, most
            worst = most / lengths[k] if lengths[k] > 0.0 else LONGEST
    return row, side, excess


def enter_row(
    memory: Basis,
    rows: Rows,
    fixed: int,
    count: int,
    row: int,
    side: float,
    excess: float,
    x: Vector,
) -> tuple[bool, int, int]:
    """Move x until a row is satisfied, and make it active; rows whose multiplier would change its sign leave.

    Args:
        memory: The active rows.
        rows: All rows.
        fixed: How many active rows are equations, which never leave.
        count: How many rows are active.
        row: The row that enters.
        side: 1 at its upper bound, -1 at its lower one.
        excess: Its violation.
        x: The unknowns; moved.

    Returns:
        Whether it entered and not depends on active rows, how many are active, and the number of changes of the active set.
    """
    L, Q, R, V, active = memory
    w, d, r, u, n = V[NORMAL], V[PARTS], V[TURN], V[FORCE], len(L)
    for i in range(n):
        w[i] = side * rows[0][row, i]
    solve_forward(L, w)
    steep = split(Q, count, w, d)
    pressed = 0.0
    for changes in range(1, MOST_STEPS):
        solve_turned(R, d, r, count)
        length, leaving = find_longest(u, r, fixed, count)
        if steep > 0.0 and excess <= length * steep:
            length, leaving = excess / steep, -1
        elif leaving < 0:
            return False, count, changes
        pressed += length
        add_scaled(u, -length, r, count)
        if steep > 0.0:
            solve_back(L, w, -length, V[WAY], x)
            excess -= length * steep
        if leaving < 0:
            append_row(memory, count, steep, pressed)
            active[count] = row + 1 if side > 0.0 else -row - 1
            return True, count + 1, changes
        count -= 1
        remove_row(memory, count, leaving)
        add_scaled(w, d[count], Q[count], n)
        steep += d[count] * d[count]
    return False, count, MOST_STEPS


def find_longest(u: Vector, r: Vector, fixed: int, count: int) -> tuple[float, int]:
    """Return how far the multiplier of a new row may grow, and the active row that ends it; minus one if none does."""
    length, leaving = LONGEST, -1
    for j in range(fixed, count):
        if r[j] > 0.0 and u[j] < length * r[j]:
            length, leaving = max(u[j], 0.0) / r[j], j
    return length, leaving


def append_row(memory: Basis, count: int, steep: float, force: float) -> None:
    """Append the normal to the active rows: its parts to R, its rest to Q."""
    Q, R, V = memory[1], memory[2], memory[3]
    per_length = 1.0 / math.sqrt(steep)
    for i in range(count):
        R[count, i] = V[PARTS, i]
    for i in range(len(Q)):
        Q[count, i] = V[NORMAL, i] * per_length
    R[count, count], V[FORCE, count] = per_length, force


def split(Q: Matrix, count: int, w: Vector, d: Vector) -> float:
    """Split a normal into parts along the rows of Q and a rest; return the square of the rest, zero if it is rounding."""
    n = len(w)
    whole = 0.0
    for i in range(n):
        whole += w[i] * w[i]
    for j in range(count):
        d[j] = 0.0
    steep = 0.0
    for turn in range(2):
        for j in range(count):
            part = dot(Q, j, w)
            d[j] += part
            for i in range(n):
                w[i] -= part * Q[j, i]
        steep = 0.0
        for i in range(n):
            steep += w[i] * w[i]
        if turn == 0 and steep >= SHRUNK * whole:
            break
    return steep if steep > DEPENDENT * whole and count < n else 0.0


def remove_row(memory: Basis, count: int, leaving: int) -> None:
    """Take a row out of R, of which ``count`` are left, and make R triangular again by rotations of Q and of the parts of the normal."""
    Q, R, V, active = memory[1], memory[2], memory[3], memory[4]
    d, u, n = V[PARTS], V[FORCE], len(Q)
    for j in range(leaving, count):
        u[j], active[j] = u[j + 1], active[j + 1]
        for i in range(j + 2):
            R[j, i] = R[j + 1, i]
    for j in range(leaving, count):
        above, diagonal = R[j, j], 1.0 / R[j, j + 1]
        length = math.sqrt(above * above + diagonal * diagonal)
        c, s = above / length, diagonal / length
        R[j, j] = 1.0 / length
        for i in range(j + 1, count):
            one, other = R[i, j], R[i, j + 1]
            R[i, j] = c * one + s * other
            R[i, j + 1] = c * other - s * one
        one, other = d[j], d[j + 1]
        d[j], d[j + 1] = c * one + s * other, c * other - s * one
        for i in range(n):
            one, other = Q[j, i], Q[j + 1, i]
            Q[j, i] = c * one + s * other
            Q[j + 1, i] = c * other - s * one


def refine(
    memory: Basis, objective: tuple[Matrix, Vector], rows: Rows, count: int, x: Vector
) -> bool:
    """Correct x and the multipliers by what is left of their equations: H x + f + A'u = 0, A x = b on active rows.

    Returns:
        Whether the correction was small enough to be the last.
    """
    H, f = objective
    L, Q, R, V, active = memory
    t, c, d, u, n = V[NORMAL], V[PARTS], V[TURN], V[FORCE], len(f)
    write_gradient(H, f, x, t)
    for k in range(count):
        row, side = abs(active[k]) - 1, 1.0 if active[k] > 0 else -1.0
        add_scaled(t, -side * u[k], rows[0][row], n)
        total = (rows[2][row] if side > 0.0 else -rows[1][row]) - side * dot(rows[0], row, x)
        for j in range(k):
            total -= R[k, j] * d[j]
        d[k] = total * R[k, k]
    solve_forward(L, t)
    for k in range(count):
        c[k] = dot(Q, k, t)
    for k in range(count):
        c[k] -= d[k]
        add_scaled(t, -c[k], Q[k], n)
    solve_turned(R, c, c, count)
    add_scaled(u, 1.0, c, count)
    before = length_of(x)
    solve_back(L, t, 1.0, V[WAY], x)
    return length_of(V[WAY]) <= EXACT * before


def finish(memory: Basis, rows: Rows, count: int, x: Vector, forces: Vector, size: float) -> float:
    """Write the multipliers; return the largest violation of a row, minus one if it is too large or not a number."""
    V, active = memory[3], memory[4]
    forces[:] = 0.0
    for i in range(count):
        forces[abs(active[i]) - 1] += V[FORCE, i] if active[i] > 0 else -V[FORCE, i]
    violation, length = 0.0, length_of(x)
    for k in range(len(forces)):
        value = dot(rows[0], k, x)
        most = max(value - rows[2][k], rows[1][k] - value)
        violation = max(violation, most)
        if not most <= KEPT * (size + length) * max(rows[3][k], 1.0):
            return -1.0
    return violation if math.isfinite(length) else -1.0
