"""Impulses of unilateral contacts with Coulomb friction: 0 <= p_n _|_ u_n >= 0, |p_t| <= mu p_n, and sliding that dissipates the most.

u = G p + b are the velocities after the impulses, G = J M^-1 J^T.  Rows come as N normal ones, then the first and then the second
tangents of the first m of them; normal rows without tangents are joint limits.

Impulses of redundant contacts are not unique, so a contact yields a little where its impulse changes from the last step to this one:
u grows by COMPLIANCE times that change.  What rests does not creep.  All sticking is tried first, by one Cholesky
factorisation; then Newton's method on the projection equations of Alart and Curnier; then sweeps of Gauss-Seidel between more of Newton.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.simulation.contacts.sweep import sweep
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LEAST = 1e-12  # of the diagonal of G: what nothing moves yields this much
COMPLIANCE = 1e-5  # share of the diagonal of G: what makes impulses of redundant contacts unique
EXACT = 1e-9  # residual that ends the search, as a share of the largest impulse
CLOSE = 1e-6  # error in velocity that still passes [m/s]
NEWTON = 12
SWEEPS = (60, 200, 600, 600, 600, 0)  # of Gauss-Seidel after each round of Newton, from the best it found,
AFRESH = 3  # and from this round on from the guess: where Newton's method got stuck, they would lead back there
HALVINGS = 6
ENOUGH = 0.1  # share of the promised gain that a step of Newton, cut short, has to bring


class ConeProblem(NamedTuple):
    """Rows, sizes and coefficients of one instant.

    Attributes:
        G: (k, k) velocity of each row per unit of impulse [1/kg, ...]; k = N + 2m.
        b: (k,) velocity of each row without impulses, shifted by what it should be.
        mu: (m,) Coulomb coefficients of the first m normal rows.
        normals: Number N of normal rows.
        owner: (m,) body of each contact, whose contacts yield alike; each contact is one where left out.
        yielding: (k, k) from ``spread_softness``, which is the same for all problems with these rows; found anew where left out.
    """

    G: Matrix
    b: Vector
    mu: Vector
    normals: int
    owner: Indices | None = None
    yielding: Matrix | None = None


class ConeAnswer(NamedTuple):
    """Impulses and how right they are.

    Attributes:
        p: (k,) impulses.
        u: (k,) velocities of the rows with them.
        residual: Distance from a solution, as a velocity of the worst row [m/s].
        complementarity: Largest p_n |u_n| [J].
        cone: Largest |p_t| - mu p_n, zero inside [N·s].
        rounds: Linear systems solved.
        exact: Whether the residual passes.
    """

    p: Vector
    u: Vector
    residual: float
    complementarity: float
    cone: float
    rounds: int
    exact: bool


Solver = Callable[[ConeProblem, Vector | None], ConeAnswer]


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
    step = _step_sizes(G, problem)
    best, least, rounds = np.zeros_like(b), np.inf, 1
    p = best if guess is None else guess
    swept = np.array(p)
    for turn, sweeps in enumerate(SWEEPS):
        p, residual, used = _newton(G, problem, step, p, careful=turn % 2 == 1)
        rounds += used
        if residual < least:
            best, least = p, residual
        if least <= EXACT:
            break
        p = swept if turn >= AFRESH else np.array(best)
        sweep(G, b, problem.mu, p, sweeps)
        p = np.array(p)
    best = _project(best, problem)
    error = np.abs(best - _project(best - step * (G.dot(best) + b), problem)) / step
    return _report(problem, G, best, float(error.max()), rounds)


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
            own = (np.bincount(problem.owner, own) / np.maximum(np.bincount(problem.owner), 1))[problem.owner]
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


def _stick(G: Matrix, b: Vector, problem: ConeProblem, guess: Vector | None) -> tuple[Vector, Vector] | None:
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


def _step_sizes(G: Matrix, problem: ConeProblem) -> Vector:
    """Return (k,) impulse per velocity for each row, alike for both tangents of a contact."""
    count, m = problem.normals, len(problem.mu)
    diagonal = G.diagonal()
    sizes = 1.0 / np.maximum(diagonal, 1e-12)
    tangent = 2.0 / np.maximum(diagonal[count : count + m] + diagonal[count + m :], 1e-12)
    sizes[count : count + m] = sizes[count + m :] = tangent
    return np.asarray(sizes)


def _newton(G: Matrix, problem: ConeProblem, step: Vector, p: Vector, *, careful: bool) -> tuple[Vector, float, int]:
    """Iterate from p, with whole steps or careful ones; return the best impulses, their residual and the number of systems solved."""
    best, least, used = p, np.inf, 0
    most = 2 * NEWTON if careful else NEWTON
    for used in range(most + 1):
        s = p - step * (G.dot(p) + problem.b)
        residual = _distance(p, s, problem)
        if residual < least:
            best, least = p, residual
        if least <= EXACT or used == most or not residual <= 1e6:
            break
        whole = _linearised(G, problem, step, p, s)
        if not np.isfinite(whole).all():
            break
        p = _cut_short(G, problem, step, p, whole - p) if careful else whole
    return best, least, used


def _cut_short(G: Matrix, problem: ConeProblem, step: Vector, p: Vector, way: Vector) -> Vector:
    """Return the end of the first part of a way, halved again and again, that comes nearer to a solution."""
    before, best, least = _distance(p, p - step * (G.dot(p) + problem.b), problem), p, np.inf
    for halving in range(HALVINGS):
        share = 0.5**halving
        tried = p + share * way
        distance = _distance(tried, tried - step * (G.dot(tried) + problem.b), problem)
        if distance < least:
            best, least = tried, distance
        if distance < (1.0 - ENOUGH * share) * before:
            break
    return best


def _distance(p: Vector, s: Vector, problem: ConeProblem) -> float:
    """Return how far p is from the projection of s onto the cones, as a share of the largest impulse."""
    q = _project(s, problem)
    scale = max(float(np.abs(p).max()), float(np.abs(q).max()), 1e-12)
    return float(np.abs(p - q).max()) / scale


def _project(s: Vector, problem: ConeProblem) -> Vector:
    """Return s with normals cut at zero and tangents at their disks."""
    count, m = problem.normals, len(problem.mu)
    q = np.array(s)
    q[:count] = np.maximum(s[:count], 0.0)
    if m:
        length = np.hypot(s[count : count + m], s[count + m :])
        radius = problem.mu * q[:m]
        share = np.minimum(1.0, radius / np.maximum(length, 1e-300))
        q[count : count + m] *= share
        q[count + m :] *= share
    return q


def _linearised(G: Matrix, problem: ConeProblem, step: Vector, p: Vector, s: Vector) -> Vector:
    """Solve the projection equations linearised at p: closed rows stop, sliding ones pull against their slip, open ones are zero."""
    count, m, size = problem.normals, len(problem.mu), len(p)
    normal, first, second = slice(0, m), slice(count, count + m), slice(count + m, size)
    A, rhs = np.eye(size), np.zeros(size)
    closed = np.flatnonzero(s[:count] > 0.0)
    A[closed], rhs[closed] = G[closed], -problem.b[closed]
    touching = s[normal] > 0.0
    length = np.hypot(s[first], s[second])
    radius = problem.mu * np.maximum(s[normal], 0.0)
    stuck = np.flatnonzero(touching & (length <= radius) & (problem.mu > 0.0))
    for rows in (stuck + count, stuck + count + m):
        A[rows], rhs[rows] = G[rows], -problem.b[rows]
    sliding = np.flatnonzero(touching & (length > radius))
    if len(sliding):
        one, two, along, across, free = _slide(G, problem, step, s, sliding)
        A[one], rhs[one] = along, 0.0
        A[two], rhs[two] = across, free
    _, _, solution, info = lapack.dgesv(A, rhs)
    return solution if info == 0 else np.full(size, np.nan)


def _slide(G: Matrix, problem: ConeProblem, step: Vector, s: Vector, sliding: Indices) -> tuple[Indices, Indices, Matrix, Matrix, Vector]:
    """Return the rows of sliding contacts: along d the tangent is mu p_n, across it the disk bends."""
    count, m = problem.normals, len(problem.mu)
    one, two, rows = sliding + count, sliding + count + m, np.arange(len(sliding))
    length = np.hypot(s[one], s[two])
    d_1, d_2 = s[one] / length, s[two] / length
    mu = problem.mu[sliding]
    bend = np.minimum(mu * s[sliding] / length, 1.0)
    along = np.zeros((len(sliding), len(s)))
    along[rows, one], along[rows, two], along[rows, sliding] = d_1, d_2, -mu
    across = (bend * step[one])[:, None] * (d_1[:, None] * G[two] - d_2[:, None] * G[one])
    across[rows, two] += (1.0 - bend) * d_1
    across[rows, one] -= (1.0 - bend) * d_2
    return one, two, along, across, -bend * step[one] * (d_1 * problem.b[two] - d_2 * problem.b[one])


def _report(problem: ConeProblem, G: Matrix, p: Vector, residual: float, rounds: int) -> ConeAnswer:
    count, m = problem.normals, len(problem.mu)
    u = G.dot(p)
    u += problem.b
    complementarity = float(np.abs(p[:count] * u[:count]).max())
    cone = 0.0
    if m:
        cone = max(0.0, float((np.hypot(p[count : count + m], p[count + m :]) - problem.mu * p[:m]).max()))
    return ConeAnswer(p, u, residual, complementarity, cone, rounds, residual <= CLOSE)
