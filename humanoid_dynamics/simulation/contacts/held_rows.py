# SPDX-License-Identifier: Apache-2.0
"""Rows of which bilateral rows leave nothing, and how far what is deep may be pushed out along those they leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.contacts.cone_problem import ConeProblem, Solver
from humanoid_dynamics.simulation.contacts.thresholds import LEFT, PUSH_OUT, SHORT_LINK, SLOP
from humanoid_dynamics.simulation.steps.terms import Terms
from humanoid_dynamics.spatial.arrays import Matrix, Vector

FARTHEST = 2.0  # a joint is pushed no farther than the deepest point is deep times this


def leave_free(terms: Terms, whole: Matrix) -> Matrix:
    """Return rows without what the bilateral rows hold, and zero for a row of which nothing but round-off is left.

    Args:
        terms: The equation of motion.
        whole: (nv, k) whitened rows.
    """
    if not terms.Q.shape[1]:
        return whole
    left = terms.restrain(whole)
    left[:, np.einsum("ij,ij->j", left, left) <= LEFT * np.einsum("ij,ij->j", whole, whole)] = 0.0
    return left


def find_held(terms: Terms, rows: Matrix) -> NDArray[np.intp]:
    """Return which rows are held, by whom else than contacts and limits.

    Args:
        terms: The equation of motion.
        rows: (nv, k) from ``leave_free``.
    """
    return np.flatnonzero(~rows.any(axis=0)) if terms.Q.shape[1] else np.zeros(0, dtype=np.intp)


def find_push(
    terms: Terms, rows: Matrix, gap: Vector, support: Matrix, solver: Solver
) -> tuple[Vector, float] | None:
    """Return the whitened displacement (nv,) that takes some of the depth away, and the largest depth; None where there is nothing to do.

    Args:
        terms: The equation of motion.
        rows: (nv, N) from ``leave_free``, of normals and limits.
        gap: (N,) distances.
        support: (nj, nv) one where a coordinate moves a joint.
        solver: Solves a contact problem.
    """
    free = rows.any(axis=0)
    depth = np.minimum(gap[free] + SLOP, 0.0)
    if not depth.any():
        return None
    B = rows[:, free]
    answer = solver(ConeProblem(B.T.dot(B), PUSH_OUT * depth, np.zeros(0), len(depth)), None)
    push = np.asarray(B.dot(answer.p))
    way, deepest = measure_way(terms, terms.velocity(push), support), -float(depth.min())
    if not np.isfinite(way):
        return None
    return (push if way <= FARTHEST * deepest else push * (FARTHEST * deepest / way)), deepest


def measure_way(terms: Terms, lift: Vector, support: Matrix) -> float:
    """Return how far a displacement moves the joint it moves farthest, and a short link that it turns [m].

    Args:
        terms: The equation of motion.
        lift: (nv,) displacement.
        support: (nj, nv) one where a coordinate moves a joint.
    """
    twists = support.dot((terms.data.J * lift).T)
    turns = twists[:, 3:]
    moves = twists[:, :3] + np.cross(turns, terms.poses[:, 9:12])
    return float((np.linalg.norm(moves, axis=1) + SHORT_LINK * np.linalg.norm(turns, axis=1)).max())
