"""The contact problem of ``cones.py``, written so that numba can compile it: all sticking first, then Newton's method, then sweeps.

Both find the same solution; the order of their arithmetic differs, so their answers agree to round-off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.cones import COMPLIANCE, ENOUGH, EXACT, HALVINGS, NEWTON, SWEEPS
from humanoid_dynamics.simulation.sweep import sweep
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

TINY = 1e-12
LOST = 1e6
ROUND_1, ROUND_2, ROUND_3, ROUND_4 = SWEEPS


class Cones(NamedTuple):
    """A contact problem.

    Attributes:
        G: (k, k) velocity per impulse.
        b: (k,) velocity without impulses.
        mu: (m,) coefficients of friction.
        step: (k,) impulse per velocity of each row, alike for both tangents of a contact.
        normals: Number of normal rows.
    """

    G: Matrix
    b: Vector
    mu: Vector
    step: Vector
    normals: int


def solve_symmetric(A: Matrix, x: Vector) -> bool:
    """Solve A y = x for a positive definite A, whose upper triangle counts and is overwritten.

    Args:
        A: (n, n) matrix.
        x: (n,) right side, overwritten with the solution.

    Returns:
        Whether A is positive definite.
    """
    n = len(x)
    for k in range(n):
        if not A[k, k] > 0.0:
            return False
        for i in range(k + 1, n):
            share = A[k, i] / A[k, k]
            if share != 0.0:
                for j in range(i, n):
                    A[i, j] -= share * A[k, j]
                x[i] -= share * x[k]
    for k in range(n - 1, -1, -1):
        rest = x[k]
        for j in range(k + 1, n):
            rest -= A[k, j] * x[j]
        x[k] = rest / A[k, k]
    return True


def solve_general(A: Matrix, x: Vector) -> bool:
    """Solve A y = x with row exchanges.

    Args:
        A: (n, n) matrix, overwritten.
        x: (n,) right side, overwritten with the solution.

    Returns:
        Whether A is regular.
    """
    n = len(x)
    for k in range(n):
        exchange(A, x, k)
        if not abs(A[k, k]) > 0.0:
            return False
        for i in range(k + 1, n):
            share = A[i, k] / A[k, k]
            if share != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= share * A[k, j]
                x[i] -= share * x[k]
    for k in range(n - 1, -1, -1):
        rest = x[k]
        for j in range(k + 1, n):
            rest -= A[k, j] * x[j]
        x[k] = rest / A[k, k]
    return True


def exchange(A: Matrix, x: Vector, k: int) -> None:
    """Exchange a row with the one below it that has the largest entry in its column.

    Args:
        A: (n, n) matrix.
        x: (n,) right side.
        k: The row.
    """
    best = k
    for i in range(k + 1, len(x)):
        if abs(A[i, k]) > abs(A[best, k]):
            best = i
    if best != k:
        for j in range(k, len(x)):
            A[k, j], A[best, j] = A[best, j], A[k, j]
        x[k], x[best] = x[best], x[k]


def multiply(G: Matrix, p: Vector, b: Vector, u: Vector) -> None:
    """Write u = G p + b, for a symmetric G.

    Args:
        G: (k, k) matrix.
        p: (k,) impulses.
        b: (k,) velocities without them.
        u: (k,) velocities, overwritten.
    """
    k = len(p)
    for i in range(k):
        u[i] = b[i]
    for j in range(k):
        if p[j] != 0.0:
            for i in range(k):
                u[i] += G[j, i] * p[j]


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
        A: (n, n) matrix, whose upper triangle is overwritten.
        x: (n,) right side, overwritten.
    """
    for i in range(len(rows)):
        x[i] = -cones.b[rows[i]]
        for j in range(i, len(rows)):
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


def project(s: Vector, mu: Vector, count: int, q: Vector) -> None:
    """Write s with normals cut at zero and tangents at their disks.

    Args:
        s: (k,) impulses.
        mu: (m,) coefficients of friction.
        count: Number of normal rows.
        q: (k,) impulses inside their cones, overwritten; may be s itself.
    """
    m = len(mu)
    for i in range(count):
        q[i] = max(s[i], 0.0)
    for i in range(m):
        t_1, t_2 = s[count + i], s[count + m + i]
        length, radius = np.sqrt(t_1 * t_1 + t_2 * t_2), mu[i] * q[i]
        share = radius / length if length > radius else 1.0
        q[count + i], q[count + m + i] = share * t_1, share * t_2


def size_steps(cones: Cones) -> None:
    """Write the impulse per velocity of each row.

    Args:
        cones: The problem; its steps are overwritten.
    """
    G, step, count, m = cones.G, cones.step, cones.normals, len(cones.mu)
    for i in range(count):
        step[i] = 1.0 / max(G[i, i], TINY)
    for i in range(m):
        first, second = count + i, count + m + i
        step[first] = step[second] = 2.0 / max(G[first, first] + G[second, second], TINY)


def measure_distance(p: Vector, q: Vector) -> float:
    """Return how far two impulses are apart, as a share of the largest.

    Args:
        p: (k,) impulses.
        q: (k,) their projection.
    """
    far, scale = 0.0, TINY
    for i in range(len(p)):
        difference = abs(p[i] - q[i])
        if not difference <= far:
            far = difference
        scale = max(scale, abs(p[i]), abs(q[i]))
    return far / scale


def linearise(cones: Cones, s: Vector, A: Matrix, rhs: Vector) -> None:
    """Write the projection equations linearised at p: closed rows stop, sliding ones pull against their slip, open ones are zero.

    Args:
        cones: The problem.
        s: (k,) p - step u.
        A: (k, k) matrix, overwritten.
        rhs: (k,) right side, overwritten.
    """
    A[:] = 0.0
    for i in range(len(rhs)):
        if i < cones.normals and s[i] > 0.0:
            A[i] = cones.G[i]
            rhs[i] = -cones.b[i]
        else:
            A[i, i] = 1.0
            rhs[i] = 0.0
    for i in range(len(cones.mu)):
        if s[i] > 0.0 and cones.mu[i] > 0.0:
            bind_tangents(cones, i, s, A, rhs)


def bind_tangents(cones: Cones, i: int, s: Vector, A: Matrix, rhs: Vector) -> None:
    """Write the two tangential rows of one closed contact: it sticks, or along d the tangent is mu p_n, and across it the disk bends.

    Args:
        cones: The problem.
        i: The contact.
        s: (k,) p - step u.
        A: (k, k) matrix.
        rhs: (k,) right side.
    """
    G, b, mu = cones.G, cones.b, cones.mu[i]
    one, two = cones.normals + i, cones.normals + len(cones.mu) + i
    length = np.sqrt(s[one] * s[one] + s[two] * s[two])
    A[one, one] = A[two, two] = 0.0
    if length <= mu * s[i]:
        A[one], A[two] = G[one], G[two]
        rhs[one], rhs[two] = -b[one], -b[two]
        return
    d_1, d_2, bend = s[one] / length, s[two] / length, min(mu * s[i] / length, 1.0)
    A[one, one], A[one, two], A[one, i] = d_1, d_2, -mu
    factor = bend * cones.step[one]
    for j in range(len(b)):
        A[two, j] = factor * (d_1 * G[two, j] - d_2 * G[one, j])
    A[two, two] += (1.0 - bend) * d_1
    A[two, one] -= (1.0 - bend) * d_2
    rhs[one], rhs[two] = 0.0, -factor * (d_1 * b[two] - d_2 * b[one])


def measure_miss(cones: Cones, p: Vector, s: Vector, q: Vector) -> float:
    """Return how far impulses are from a solution, as a share of the largest.

    Args:
        cones: The problem.
        p: (k,) impulses.
        s: (k,) p - step u, overwritten.
        q: (k,) its projection, overwritten.
    """
    multiply(cones.G, p, cones.b, s)
    for i in range(len(p)):
        s[i] = p[i] - cones.step[i] * s[i]
    project(s, cones.mu, cones.normals, q)
    return measure_distance(p, q)


def iterate(cones: Cones, p: Vector, careful: bool) -> tuple[float, int]:
    """Iterate by Newton's method from p, which is left at the best impulses found.

    Args:
        cones: The problem.
        p: (k,) impulses, overwritten.
        careful: Whether steps are cut short where they lead away.

    Returns:
        Their residual and the number of systems solved.
    """
    size = len(p)
    A, here, whole, s, q = np.empty((size, size)), p.copy(), np.empty(size), np.empty(size), np.empty(size)
    least, used = np.inf, 0
    most = 2 * NEWTON if careful else NEWTON
    for used in range(most + 1):
        residual = measure_miss(cones, here, s, q)
        if residual < least:
            least = residual
            p[:] = here
        if least <= EXACT or used == most or not residual <= LOST:
            break
        linearise(cones, s, A, whole)
        if not solve_general(A, whole):
            break
        if careful:
            cut_short(cones, here, whole, residual)
        here[:] = whole
    return least, used


def cut_short(cones: Cones, here: Vector, whole: Vector, before: float) -> None:
    """Go only as far as the first part of a step, halved again and again, that comes nearer to a solution.

    Args:
        cones: The problem.
        here: (k,) impulses before the step.
        whole: (k,) those at its end, overwritten; with the best where none does enough.
        before: How far ``here`` is from a solution.
    """
    tried, best, s, q = np.empty(len(here)), whole.copy(), np.empty(len(here)), np.empty(len(here))
    least, share = np.inf, 1.0
    for _ in range(HALVINGS):
        for i in range(len(here)):
            tried[i] = here[i] + share * (whole[i] - here[i])
        distance = measure_miss(cones, tried, s, q)
        if distance < least:
            least = distance
            best[:] = tried
        if distance < (1.0 - ENOUGH * share) * before:
            break
        share *= 0.5
    whole[:] = best


def search(cones: Cones, p: Vector, u: Vector) -> tuple[float, int]:
    """Find impulses by Newton's method between sweeps.

    Args:
        cones: The problem.
        p: (k,) first guess, overwritten with the impulses.
        u: (k,) velocities, overwritten.

    Returns:
        Residual as a velocity [m/s], and the number of systems solved.
    """
    size_steps(cones)
    best, least, rounds = p.copy(), np.inf, 1
    careful = False
    for sweeps in (ROUND_1, ROUND_2, ROUND_3, ROUND_4):
        residual, used = iterate(cones, p, careful)
        careful = not careful
        rounds += used
        if residual < least:
            least = residual
            best[:] = p
        if least <= EXACT:
            break
        p[:] = best
        sweep(cones.G, cones.b, cones.mu, p, sweeps)
    project(best, cones.mu, cones.normals, p)
    multiply(cones.G, p, cones.b, u)
    for i in range(len(p)):
        best[i] = p[i] - cones.step[i] * u[i]
    project(best, cones.mu, cones.normals, best)
    error = 0.0
    for i in range(len(p)):
        error = max(error, abs(p[i] - best[i]) / cones.step[i])
    return error, rounds


def soften(cones: Cones, guess: Vector) -> None:
    """Let contacts yield a little where their impulse changes, which makes impulses unique.

    Args:
        cones: The problem; G is softened, and b shifted by the guess.
        guess: (k,) impulses of the last step.
    """
    trace = 0.0
    for i in range(len(guess)):
        trace += cones.G[i, i]
    soft = COMPLIANCE * max(trace / len(guess), TINY)
    for i in range(len(guess)):
        cones.G[i, i] += soft
        cones.b[i] -= soft * guess[i]


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


def certify(cones: Cones, p: Vector, u: Vector) -> tuple[float, float]:
    """Return the largest p_n |u_n| [J] and how far an impulse is outside its cone [N·s].

    Args:
        cones: The problem.
        p: (k,) impulses.
        u: (k,) velocities.
    """
    mu, count, m, complementarity, cone = cones.mu, cones.normals, len(cones.mu), 0.0, 0.0
    for i in range(count):
        complementarity = max(complementarity, abs(p[i] * u[i]))
    for i in range(m):
        t_1, t_2 = p[count + i], p[count + m + i]
        cone = max(cone, np.sqrt(t_1 * t_1 + t_2 * t_2) - mu[i] * p[i])
    return complementarity, cone


PARTS = (
    sweep,
    solve_symmetric,
    exchange,
    solve_general,
    multiply,
    is_inside,
    choose_rows,
    gather,
    leaves,
    stick,
    project,
    size_steps,
    measure_distance,
    linearise,
    bind_tangents,
    measure_miss,
    cut_short,
    iterate,
    search,
    soften,
    settle,
    certify,
)
