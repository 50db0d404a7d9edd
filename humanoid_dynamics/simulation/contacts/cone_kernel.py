# SPDX-License-Identifier: Apache-2.0
"""The contact problem of ``cones.py``, written so that numba can compile it.

All sticking is tried first, then Newton's method, then Newton's method on problems in which impulses resist their own change.
Both find the same solution; the order of their arithmetic differs, so their answers agree to round-off.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.cone_newton import (
    Cones,
    iterate,
    project,
    size_steps,
)
from humanoid_dynamics.simulation.contacts.cone_problem import CLOSE, EXACT, FINEST, HARD
from humanoid_dynamics.simulation.contacts.cones import (
    EASING,
    FIRMER,
    LEAST_RESISTANCE,
    MOST_EASINGS,
    RESISTANCE,
)
from humanoid_dynamics.simulation.contacts.small_systems import multiply, solve_symmetric
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


def is_inside(p: Vector, mu: Vector, count: int) -> bool:
    """Return whether no row pulls and none leaves its cone.

    Args:
        p: (k,) impulses.
        mu: (m,) coefficients of friction.
        count: Number of normal rows.
    """
    m = len(mu)
    for i in range(count):
        if not p[i] >= 0.0:
            return False
    for i in range(m):
        t_1, t_2, bound = p[count + i], p[count + m + i], mu[i] * p[i]
        if not t_1 * t_1 + t_2 * t_2 <= bound * bound:
            return False
    return True


def choose_rows(guess: Vector, m: int, count: int) -> Indices:
    """Return the rows of what carried force in the last step; all where that is everything or nothing.

    Args:
        guess: (k,) impulses of the last step.
        m: Number of points.
        count: Number of normal rows.
    """
    carried = 0
    for i in range(count):
        carried += 1 if guess[i] > 0.0 else 0
    rows = np.empty(len(guess), dtype=np.intp)
    found = 0
    for start, end in ((0, count), (count, count + m), (count + m, count + 2 * m)):
        for i in range(start, end):
            if carried == 0 or guess[i - start] > 0.0:
                rows[found] = i
                found += 1
    return rows[:found]


def gather(cones: Cones, rows: Indices, A: Matrix, x: Vector) -> None:
    """Write the part of the problem that belongs to some rows.

    Args:
        cones: The problem.
        rows: The rows.
        A: (n, n) matrix, whose lower triangle is overwritten.
        x: (n,) right side, overwritten.
    """
    for i in range(len(rows)):
        x[i] = -cones.b[rows[i]]
        for j in range(i + 1):
            A[i, j] = cones.G[rows[i], rows[j]]


def stick(cones: Cones, guess: Vector, p: Vector, u: Vector) -> bool:
    """Try the impulses that stop every row, or every row that carried any in the last step.

    Args:
        cones: The problem.
        guess: (k,) impulses of the last step.
        p: (k,) impulses, overwritten.
        u: (k,) velocities, overwritten.

    Returns:
        Whether they are a solution.
    """
    G, b, count = cones.G, cones.b, cones.normals
    rows = choose_rows(guess, len(cones.mu), count)
    size = len(rows)
    A, x = np.empty((size, size)), np.empty(size)
    if size == len(b):
        A[:] = G
        x[:] = -b
    else:
        gather(cones, rows, A, x)
    if not solve_symmetric(A, x):
        return False
    p[:] = 0.0
    for i in range(size):
        p[rows[i]] = x[i]
    if not is_inside(p, cones.mu, count):
        return False
    multiply(G, p, b, u)
    return size == len(b) or leaves(u, guess, count)


def leaves(u: Vector, guess: Vector, count: int) -> bool:
    """Return whether nothing approaches that carried no force in the last step.

    Args:
        u: (k,) velocities.
        guess: (k,) impulses of the last step.
        count: Number of normal rows.
    """
    least = 0.0
    for i in range(count):
        if guess[i] <= 0.0:
            least = min(least, u[i])
    return least >= 0.0


def measure_error(cones: Cones, p: Vector, inside: Vector) -> float:
    """Return how far impulses are from a solution once they are put inside their cones, as a velocity of the worst row [m/s].

    Args:
        cones: The problem.
        p: (k,) impulses.
        inside: (k,) the same inside their cones, overwritten.
    """
    u = np.empty(len(p))
    project(p, cones.mu, cones.normals, inside)
    multiply(cones.G, inside, cones.b, u)
    for i in range(len(p)):
        u[i] = inside[i] - cones.step[i] * u[i]
    project(u, cones.mu, cones.normals, u)
    error = 0.0
    for i in range(len(p)):
        miss = abs(inside[i] - u[i]) / cones.step[i]
        if not miss <= error:
            error = miss
    return error


def approach(cones: Cones, p: Vector) -> int:
    """Come near a solution by problems whose impulses resist their change, less and less; return how many systems it took.

    Args:
        cones: The problem.
        p: (k,) impulses, overwritten with the nearest that were found.
    """
    size = len(p)
    firm = Cones(cones.G.copy(), np.empty(size), cones.mu, np.empty(size), cones.normals)
    start, here, inside, least, rounds, share = (
        p.copy(),
        np.empty(size),
        np.empty(size),
        np.inf,
        0,
        RESISTANCE,
    )
    for _ in range(MOST_EASINGS):
        for i in range(size):
            resistance = share / cones.step[i]
            firm.G[i, i], firm.b[i] = cones.G[i, i] + resistance, cones.b[i] - resistance * start[i]
        size_steps(firm)
        here[:] = start
        residual, used = iterate(firm, here, FINEST, False)
        rounds += used
        if residual > EXACT:
            residual, used = iterate(firm, here, FINEST, True)
            rounds += used
        error = measure_error(cones, here, inside)
        if error < least:
            least = error
            p[:] = here
        if least <= 0.1 * CLOSE:
            break
        if residual > EXACT:
            share *= FIRMER
        else:
            start[:] = here
            share = max(EASING * share, LEAST_RESISTANCE)
    return rounds


def search(cones: Cones, p: Vector, u: Vector) -> tuple[float, int]:
    """Find impulses by Newton's method.

    Args:
        cones: The problem.
        p: (k,) first guess, overwritten with the impulses.
        u: (k,) velocities, overwritten.

    Returns:
        Residual as a velocity [m/s], and the number of systems solved.
    """
    size_steps(cones)
    found, inside = p.copy(), np.empty(len(p))
    residual, rounds = iterate(cones, found, EXACT, False)
    error = measure_error(cones, found, inside)
    if residual <= EXACT and error > HARD:
        _, more = iterate(cones, found, FINEST, False)
        error, rounds = measure_error(cones, found, inside), rounds + more
    if residual > EXACT or error > CLOSE:
        found[:] = p
        used = approach(cones, found)
        _, more = iterate(cones, found, FINEST, True)
        error, rounds = measure_error(cones, found, inside), rounds + used + more
    p[:] = inside
    multiply(cones.G, p, cones.b, u)
    return error, rounds + 1


def settle(cones: Cones, guess: Vector, p: Vector, u: Vector) -> tuple[float, int]:
    """Solve a contact problem.

    Args:
        cones: The problem, softened.
        guess: (k,) impulses of the last step, zero for what is new.
        p: (k,) impulses, overwritten.
        u: (k,) velocities, overwritten.

    Returns:
        Residual as a velocity [m/s], and the number of systems solved.
    """
    if stick(cones, guess, p, u):
        return 0.0, 1
    p[:] = guess
    return search(cones, p, u)


def certify(mu: Vector, count: int, p: Vector, u: Vector) -> tuple[float, float]:
    """Return the largest p_n |u_n| [J] and how far an impulse is outside its cone [N·s].

    Args:
        mu: (m,) coefficients of friction.
        count: Number of normal rows.
        p: (k,) impulses.
        u: (k,) velocities.
    """
    m, complementarity, cone = len(mu), 0.0, 0.0
    for i in range(count):
        complementarity = max(complementarity, abs(p[i] * u[i]))
    for i in range(m):
        t_1, t_2 = p[count + i], p[count + m + i]
        cone = max(cone, np.sqrt(t_1 * t_1 + t_2 * t_2) - mu[i] * p[i])
    return complementarity, cone


PARTS = (
    measure_error,
    approach,
    is_inside,
    choose_rows,
    gather,
    leaves,
    stick,
    search,
    settle,
    certify,
)
