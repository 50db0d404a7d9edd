# SPDX-License-Identifier: Apache-2.0
"""Impulses of unilateral contacts with Coulomb friction: 0 <= p_n _|_ u_n >= 0, |p_t| <= mu p_n, and sliding that dissipates the most.

u = G p + b are the velocities after the impulses, G = J M^-1 J^T.  Rows come as N normal ones, then the first and then the second
tangents of the first m of them; normal rows without tangents are joint limits.

Impulses of redundant contacts are not unique, so a contact yields a little where its impulse changes from the last step to this one:
u grows by COMPLIANCE times that change.  What rests does not creep.  All sticking is tried first, by one Cholesky
factorisation; then Newton's method on the projection equations of Alart and Curnier; then problems in which impulses resist their own
change, which Newton's method solves surely, with less and less resistance [Rockafellar's proximal points].
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.simulation.contacts.array_newton import iterate, project, size_steps
from humanoid_dynamics.simulation.contacts.cone_problem import (
    CLOSE,
    EXACT,
    FINEST,
    HARD,
    ConeAnswer,
    ConeProblem,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LEAST = 1e-12  # of the diagonal of G: what nothing moves yields this much
COMPLIANCE = 1e-5  # share of the diagonal of G: what makes impulses of redundant contacts unique
RESISTANCE, LEAST_RESISTANCE = (
    1e-2,
    1e-5,
)  # to a change of impulses, as a share of the diagonal of G: at first, and at last
EASING, FIRMER = (
    0.5,
    8.0,
)  # what becomes of the resistance after a problem that was solved, and after one that was not
MOST_EASINGS = 40


def solve_cones(problem: ConeProblem, guess: Vector | None = None) -> ConeAnswer:
    """Solve a contact problem.

    Args:
        problem: The problem.
        guess: (k,) impulses of the last step, zero for what is new.

    Returns:
        Impulses with their certificate; the nearest that was found where none is exact.
    """
    G, b = problem.G.copy(), problem.b
    soft = measure_softness(problem)
    diagonal = G.ravel()[:: len(b) + 1]
    diagonal += soft
    if guess is not None:
        b = b - soft * guess
    stuck = _stick(G, b, problem, guess)
    if stuck is not None:
        p, u = stuck
        power = p[: problem.normals] * u[: problem.normals]
        return ConeAnswer(p, u, 0.0, float(abs(power[np.abs(power).argmax()])), 0.0, 1, True)
    problem = problem._replace(b=b)
    step = size_steps(G, problem)
    start = np.zeros_like(b) if guess is None else guess
    p, residual, rounds = iterate(G, problem, step, start, EXACT, careful=False)
    inside = project(p, problem)
    error = _measure_error(G, problem, step, inside)
    if residual <= EXACT and error > HARD:
        p, _, more = iterate(G, problem, step, p, FINEST, careful=False)
        inside = project(p, problem)
        error, rounds = _measure_error(G, problem, step, inside), rounds + more
    if residual > EXACT or error > CLOSE:
        p, used = _approach(G, problem, step, start)
        p, _, more = iterate(G, problem, step, p, FINEST, careful=True)
        inside = project(p, problem)
        error, rounds = _measure_error(G, problem, step, inside), rounds + used + more
    return _report(problem, G, inside, error, rounds + 1)


def _approach(G: Matrix, problem: ConeProblem, step: Vector, p: Vector) -> tuple[Vector, int]:
    """Come near a solution by problems whose impulses resist their change, less and less; return the nearest, and the systems solved."""
    best, least, rounds, share = p, np.inf, 0, RESISTANCE
    for _ in range(MOST_EASINGS):
        resistance = share / step
        firm, near = G + np.diag(resistance), problem._replace(b=problem.b - resistance * p)
        sizes = size_steps(firm, near)
        found, residual, used = iterate(firm, near, sizes, p, FINEST, careful=False)
        if residual > EXACT:
            found, residual, more = iterate(firm, near, sizes, found, FINEST, careful=True)
            used += more
        rounds += used
        error = _measure_error(G, problem, step, project(found, problem))
        if error < least:
            best, least = found, error
        if least <= 0.1 * CLOSE:
            break
        if residual > EXACT:
            share *= FIRMER
        else:
            p, share = found, max(EASING * share, LEAST_RESISTANCE)
    return best, rounds


def _measure_error(G: Matrix, problem: ConeProblem, step: Vector, p: Vector) -> float:
    """Return how far impulses inside their cones are from a solution, as a velocity of the worst row [m/s]."""
    return float((np.abs(p - project(p - step * (G.dot(p) + problem.b), problem)) / step).max())


def measure_softness(problem: ConeProblem) -> Vector:
    """Return (k,) how much each row yields per unit of impulse, alike for all contacts of a body.

    What is light yields easily, but makes nothing else yield.

    Args:
        problem: The problem.
    """
    m, count = len(problem.mu), problem.normals
    if problem.yielding is not None:
        return np.asarray(problem.yielding.dot(problem.G.diagonal()) + COMPLIANCE * LEAST)
    soft: Vector = COMPLIANCE * (problem.G.diagonal() + LEAST)
    if m:
        own = (soft[:m] + soft[count : count + m] + soft[count + m :]) / 3.0
        if problem.owner is not None:
            own = (np.bincount(problem.owner, own) / np.maximum(np.bincount(problem.owner), 1))[
                problem.owner
            ]
        soft[:m] = soft[count : count + m] = soft[count + m :] = own
    return soft


def spread_softness(owner: Indices, count: int) -> Matrix:
    """Return (k, k) what ``measure_softness`` makes of the diagonal: shares of the means over the rows of each body.

    Args:
        owner: (m,) body of each contact.
        count: Number of normal rows.
    """
    m = len(owner)
    means = np.eye(count + 2 * m)
    points = np.concatenate((np.arange(m), np.arange(count, count + 2 * m)))
    alike = np.tile(owner[:, None] == owner, (3, 3))
    means[np.ix_(points, points)] = alike / alike.sum(axis=1, keepdims=True)
    return COMPLIANCE * means


def _stick(
    G: Matrix, b: Vector, problem: ConeProblem, guess: Vector | None
) -> tuple[Vector, Vector] | None:
    """Return the impulses that stop every row, or every row that carried any in the last step, and velocities; None if no solution."""
    m = len(problem.mu)
    normals = None if guess is None else guess[: problem.normals]
    if normals is None or normals[normals.argmin()] > 0.0 or normals[normals.argmax()] <= 0.0:
        _, p, info = lapack.dposv(G.T, -b, overwrite_b=1)
        return (p, G.dot(p) + b) if info == 0 and _is_inside(p, problem) else None
    carried = normals > 0.0
    rows = np.concatenate((carried, carried[:m], carried[:m])).nonzero()[0]
    some, p = G.take(rows, 0).take(rows, 1), np.zeros(len(b))
    _, p[rows], info = lapack.dposv(some.T, -b[rows], overwrite_a=1, overwrite_b=1)
    if info != 0 or not _is_inside(p, problem):
        return None
    u = G.dot(p)
    u += b
    away = u[: problem.normals] >= 0.0
    return (p, u) if np.count_nonzero(away | carried) == problem.normals else None


def _is_inside(p: Vector, problem: ConeProblem) -> bool:
    """Return whether no row pulls and none leaves its cone."""
    count, m = problem.normals, len(problem.mu)
    least = p[p[:count].argmin()]
    if least < 0.0 or m == 0:
        return bool(least >= 0.0)
    room, tangents = problem.mu * p[:m], p[count:] * p[count:]
    room *= room
    room -= tangents[:m]
    room -= tangents[m:]
    return bool(room[room.argmin()] >= 0.0)


def certify(problem: ConeProblem, answer: ConeAnswer) -> ConeAnswer:
    """Return impulses with velocities and certificate of the problem as it is posed, in which nothing yields.

    Args:
        problem: The problem.
        answer: Its impulses.
    """
    error = _measure_error(problem.G, problem, size_steps(problem.G, problem), answer.p)
    return _report(problem, problem.G, answer.p, error, answer.rounds)


def _report(problem: ConeProblem, G: Matrix, p: Vector, residual: float, rounds: int) -> ConeAnswer:
    count, m = problem.normals, len(problem.mu)
    u = G.dot(p)
    u += problem.b
    complementarity = float(np.abs(p[:count] * u[:count]).max())
    cone = 0.0
    if m:
        cone = max(
            0.0, float((np.hypot(p[count : count + m], p[count + m :]) - problem.mu * p[:m]).max())
        )
    return ConeAnswer(p, u, residual, complementarity, cone, rounds, residual <= CLOSE)
