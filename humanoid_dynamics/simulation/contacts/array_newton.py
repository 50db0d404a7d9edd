# SPDX-License-Identifier: Apache-2.0
"""Newton's method on the projection equations of contacts, with arrays [Alart, Curnier]."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.simulation.contacts.cone_problem import ConeProblem
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

NEWTON = 12
HALVINGS = 6
ENOUGH = 0.1  # share of the promised gain that a step of Newton, cut short, has to bring


def size_steps(G: Matrix, problem: ConeProblem) -> Vector:
    """Return (k,) impulse per velocity for each row, alike for both tangents of a contact.

    Args:
        G: (k, k) velocity per impulse, softened.
        problem: The problem.
    """
    count, m = problem.normals, len(problem.mu)
    diagonal = G.diagonal()
    sizes = 1.0 / np.maximum(diagonal, 1e-12)
    tangent = 2.0 / np.maximum(diagonal[count : count + m] + diagonal[count + m :], 1e-12)
    sizes[count : count + m] = sizes[count + m :] = tangent
    return np.asarray(sizes)


def iterate(
    G: Matrix, problem: ConeProblem, step: Vector, p: Vector, enough: float, *, careful: bool
) -> tuple[Vector, float, int]:
    """Iterate from p, with whole steps or careful ones.

    Args:
        G: (k, k) velocity per impulse, softened.
        problem: The problem.
        step: (k,) from ``size_steps``.
        p: (k,) impulses.
        enough: Residual that ends the search.
        careful: Whether steps are cut short where they lead away.

    Returns:
        The best impulses, their residual and the number of systems solved.
    """
    best, least, used = p, np.inf, 0
    most = 2 * NEWTON if careful else NEWTON
    for used in range(most + 1):
        s = p - step * (G.dot(p) + problem.b)
        residual = _distance(p, s, problem)
        if residual < least:
            best, least = p, residual
        if least <= enough or used == most or not residual <= 1e6:
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
    q = project(s, problem)
    scale = max(float(np.abs(p).max()), float(np.abs(q).max()), 1e-12)
    return float(np.abs(p - q).max()) / scale


def project(s: Vector, problem: ConeProblem) -> Vector:
    """Return s with normals cut at zero and tangents at their disks.

    Args:
        s: (k,) impulses.
        problem: The problem.
    """
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


def _slide(
    G: Matrix, problem: ConeProblem, step: Vector, s: Vector, sliding: Indices
) -> tuple[Indices, Indices, Matrix, Matrix, Vector]:
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
    return (
        one,
        two,
        along,
        across,
        -bend * step[one] * (d_1 * problem.b[two] - d_2 * problem.b[one]),
    )
