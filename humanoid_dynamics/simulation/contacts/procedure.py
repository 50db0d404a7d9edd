# SPDX-License-Identifier: Apache-2.0
"""The contact procedure of the dynamics filter [DF, sec. 4]: hold all that touches, look at the forces, let go of what would pull.

A surface holds with its face, an edge, a point, or not at all; where the centre of pressure leaves the face the nearest edge or corner is
kept, where the normal force pulls nothing is.  All surfaces are demoted at once, at most four systems are solved, and a jump of
velocities is always computed from the velocity before.  Completed in four points: before a demotion another distribution of the same
forces is looked for, in which nothing pulls; what was let go and would sink in is held again, once; where that contradicts itself, or what
holds asks for more friction than there is, Coulomb's law decides, and the answer says why.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import nnls

from humanoid_dynamics.contact.demotion import stay_held
from humanoid_dynamics.simulation.contacts.cone_problem import (
    CLOSE,
    HARD,
    MOST_PASSES,
    OUTSIDE,
    ConeAnswer,
    ConeProblem,
    Solver,
)
from humanoid_dynamics.simulation.contacts.cones import measure_softness, solve_cones
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

MOST_SOLVES = 4
PULL = 1e-6  # share of the largest impulse below which a pull is round-off
SINK = 1e-6  # [m/s]
SAME_FORCE = 1e-8
STEEPEST = 10.0
FACETS = tuple((float(np.cos(angle)), float(np.sin(angle))) for angle in np.arange(8) * np.pi / 4)
Mask = NDArray[np.bool_]


def solve_by_procedure(
    problem: ConeProblem,
    groups: Sequence[Indices],
    plane: Matrix,
    guess: Vector | None = None,
    way_out: Solver = solve_cones,
) -> ConeAnswer:
    """Solve a contact problem by holding and letting go.

    Args:
        problem: The problem.
        groups: Normal rows of the corners of each surface, in order around it.
        plane: (m, 2) where the corners touch, along their tangents [m].
        guess: (k,) impulses of the last step, for the way out.
        way_out: Solves what holding and letting go does not.

    Returns:
        Impulses with their certificate.
    """
    held, promoted, reason = (
        np.ones(problem.normals, dtype=np.bool_),
        False,
        f"{MOST_SOLVES} systems did not tell what holds",
    )
    for solves in range(1, MOST_SOLVES + 1):
        p = _hold(problem, held, guess)
        keep = _demote(problem, groups, plane, p, held)
        if keep is not None or measure_outside(problem, p) > OUTSIDE:
            other = _redistribute(problem, p, held)
            if other is not None:
                p = other
            elif keep is not None:
                held = keep
                continue
            else:
                reason = "what holds asks for more friction than there is"
                break
        sinking = ~held & ((problem.G.dot(p) + problem.b)[: problem.normals] < -SINK)
        if not sinking.any():
            answer = _report(problem, p, solves)
            if answer.exact:
                return answer
            reason = "what holds does not stand still"
            break
        if promoted:
            reason = "what was let go sinks in, and pulls where it is held"
            break
        promoted, held = True, held | sinking
    return way_out(problem, guess)._replace(rounds=MOST_SOLVES, handed=reason)


def _hold(problem: ConeProblem, held: Mask, guess: Vector | None) -> Vector:
    """Return the impulses that stop all rows of what is held."""
    m = len(problem.mu)
    rows = np.flatnonzero(np.concatenate((held, held[:m], held[:m])))
    p = np.zeros(len(problem.b))
    if len(rows):
        G = problem.G[np.ix_(rows, rows)]
        soft = measure_softness(problem)[rows]
        U, info = lapack.dpotrf(G + np.diag(soft))
        around = np.zeros(len(rows)) if guess is None else guess[rows]
        for _ in range(MOST_PASSES if info == 0 else 1):
            before, around = around, lapack.dpotrs(U, soft * around - problem.b[rows])[0]
            if np.abs(soft * (around - before)).max() <= HARD:
                break
        p[rows] = around
    return p


def _demote(
    problem: ConeProblem, groups: Sequence[Indices], plane: Matrix, p: Vector, held: Mask
) -> Mask | None:
    """Return what stays held; None where everything may."""
    keep = np.array(held)
    least = -PULL * float(np.abs(p).max(initial=0.0))
    for corners in groups:
        here = corners[held[corners]]
        if len(here):
            keep[here] = False
            keep[_stay(here, p[here], plane, least)] = True
    limits = np.arange(len(problem.mu), problem.normals)
    keep[limits] &= p[limits] >= least
    return None if (keep == held).all() else keep


def _stay(here: Indices, normal: Vector, plane: Matrix, least: float) -> Indices:
    """Return the corners of a surface that stay held: all, an edge, a point, or none."""
    total = float(normal.sum())
    if total < least or total <= 0.0:
        return here if total >= least and (normal >= least).all() else here[:0]
    corners = plane[here]
    return here[stay_held(corners, total, normal @ corners / total, least)]


def _redistribute(problem: ConeProblem, p: Vector, held: Mask) -> Vector | None:
    """Return impulses with the same effect, each inside its friction pyramid; None where there are none."""
    m, count = len(problem.mu), problem.normals
    corners, limits = np.flatnonzero(held[:m]), np.flatnonzero(held[m:]) + m
    mu = np.minimum(problem.mu[corners], STEEPEST)
    edges = np.zeros((len(p), len(corners) * len(FACETS) + len(limits)))
    for k, (x, y) in enumerate(FACETS):
        columns = np.arange(len(corners)) + k * len(corners)
        (
            edges[corners, columns],
            edges[count + corners, columns],
            edges[count + m + corners, columns],
        ) = 1.0, x * mu, y * mu
    edges[limits, len(corners) * len(FACETS) + np.arange(len(limits))] = 1.0
    wanted = problem.G.dot(p)
    scale = float(np.abs(wanted).max(initial=0.0)) or 1.0
    share, left = nnls(problem.G.dot(edges) / scale, wanted / scale)
    return edges.dot(share) if left <= SAME_FORCE else None


def measure_outside(problem: ConeProblem, p: Vector) -> float:
    """Return how far impulses are outside their cones of friction [N·s].

    Args:
        problem: The problem.
        p: (k,) impulses.
    """
    count, m = problem.normals, len(problem.mu)
    return float(
        (np.hypot(p[count : count + m], p[count + m :]) - problem.mu * p[:m]).max(initial=0.0)
    )


def _report(problem: ConeProblem, p: Vector, solves: int) -> ConeAnswer:
    count = problem.normals
    u = problem.G.dot(p) + problem.b
    cone = measure_outside(problem, p)
    error = max(
        float(np.abs(np.minimum(u[:count], 0.0)).max()),
        float(np.abs(u[:count] * (p[:count] != 0.0)).max()),
    )
    return ConeAnswer(
        p, u, error, float(np.abs(p[:count] * u[:count]).max()), cone, solves, error <= CLOSE
    )
