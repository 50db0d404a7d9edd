# SPDX-License-Identifier: Apache-2.0
"""Internal forces of the contacts of a robot: what they can do to torques without an effect on the acceleration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.contact.cone import WrenchCone, build_wrench_cone
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.resolution.problem import DynamicsProblem
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

RANK = 1e-9  # share of the largest pivot below which a direction counts as dependent
REDUNDANT = 1e-13  # of the mean diagonal: forces of redundant contacts are the least ones


@dataclass(frozen=True, eq=False)
class LoadedContact:
    """A contact that may carry load, reduced to its loaded vertices.

    Attributes:
        contact: Index in the problem.
        rows: Its rows in the problem.
        T: (rows, r) forces of the loaded vertices in the held directions of the contact.
        cone: Their cone.
        trust: Fade by probability, 0 to 1.
        place: (3,) origin of the surface [m].
        flat: Whether all vertices are loaded.
    """

    contact: int
    rows: slice
    T: Matrix
    cone: WrenchCone
    trust: float
    place: Vector
    flat: bool


@dataclass(frozen=True, eq=False)
class InternalForces:
    """Internal forces of the loaded contacts, gears and loops.

    Attributes:
        parts: The contacts, with ``starts`` and ``sizes`` of their forces in f.
        f: (r,) forces of the rigid equation with the received torques.
        speed: (r,) speed along them [m/s, rad/s].
        undriven: (nu, r) rows of J'f without a motor.
        N: (r, n) null space of these rows.
        B: (na, n) torque change of internal forces.
        A, b: (m, n), (m,) cones on internal forces, A z <= b with b >= 0.
        slack: (m,) slack of the cones with the received torques; negative outside.
    """

    parts: list[LoadedContact]
    starts: list[int]
    sizes: list[int]
    f: Vector
    speed: Vector
    undriven: Matrix
    N: Matrix
    B: Matrix
    A: Matrix
    b: Vector
    slack: Vector


def span_internal_forces(
    problem: DynamicsProblem, tau: Vector, parts: list[LoadedContact]
) -> InternalForces | None:
    """Solve the rigid equation of motion for the contact forces of torques, and span the internal forces.

    M a + h = S' tau + J_r' f and J_r a = gamma_r give (J_r M^-1 J_r') f = gamma_r - J_r M^-1 (S' tau - h).
    """
    sizes = [part.T.shape[1] for part in parts]
    starts = [int(at) for at in np.cumsum([0, *sizes])[:-1]]
    end = problem.parts[-1].stop if problem.parts else 0
    J = np.vstack([part.T.T @ problem.J[part.rows] for part in parts] + [problem.J[end:]])
    gamma = np.concatenate(
        [part.T.T @ problem.gamma[part.rows] for part in parts] + [problem.gamma[end:]]
    )
    push = -problem.h
    push[problem.driven_v] += tau
    U = problem.M_factor
    X, failed = lapack.dtrtrs(U, np.column_stack((J.T, push)), trans=1)
    if failed or not np.isfinite(X).all():
        return None
    Y, y = X[:, :-1], X[:, -1]
    G = Y.T @ Y
    G[np.diag_indices_from(G)] += REDUNDANT * max(float(np.trace(G)) / max(len(G), 1), 1e-300)
    _, f, failed = lapack.dposv(G, gamma - Y.T @ y)
    if failed:
        return None
    undriven = J[:, problem.undriven_v].T
    N = find_null_space(undriven)
    A, b = _stack_cones(parts, starts, len(f))
    slack: Vector = b - A @ f
    return InternalForces(
        parts,
        starts,
        sizes,
        np.asarray(f),
        J @ problem.v,
        undriven,
        N,
        -(J[:, problem.driven_v].T @ N),
        A @ N,
        np.maximum(slack, 0.0),
        slack,
    )


def _stack_cones(parts: list[LoadedContact], starts: list[int], size: int) -> tuple[Matrix, Vector]:
    """Return the cones of contacts as rows on all forces."""
    b: Vector = np.concatenate([np.zeros(0), *(part.cone.b for part in parts)])
    A, row = np.zeros((len(b), size)), 0
    for part, at in zip(parts, starts, strict=True):
        rows = part.cone.A
        A[row : row + len(rows), at : at + rows.shape[1]] = rows
        row += len(rows)
    return A, b


def find_null_space(rows: Matrix) -> Matrix:
    """Return an orthonormal basis of the vectors that rows map to zero, (columns, n)."""
    if not rows.size:
        return np.eye(rows.shape[1])
    qr, _, reflectors, _, _ = lapack.dgeqp3(rows.T)
    pivots = np.abs(np.diag(qr))
    rank = int(np.count_nonzero(pivots > RANK * pivots.max(initial=0.0)))
    whole = np.zeros((rows.shape[1], rows.shape[1]), order="F")
    whole[:, : qr.shape[1]] = qr[:, : whole.shape[1]]
    Q, _, _ = lapack.dorgqr(whole, reflectors)
    return np.asarray(Q[:, rank:])


@lru_cache(maxsize=512)
def reduce_contact(
    surface: ContactSurface, loaded: tuple[bool, ...], inside: float
) -> tuple[Matrix, WrenchCone]:
    """Return the forces of the loaded vertices in the held directions of a surface, and their cone."""
    vertices = np.asarray(surface.vertices)[np.array(loaded)]
    middle = vertices.mean(axis=0)
    smaller = middle + inside * (vertices - middle)
    part = replace(surface, vertices=smaller, friction=inside * surface.friction)
    cone, whole = build_wrench_cone(part), build_wrench_cone(surface)
    T = np.linalg.lstsq(whole.basis, cone.basis, rcond=None)[0]
    return read_only(T), cone
