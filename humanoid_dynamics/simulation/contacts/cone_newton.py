"""Newton's method on the projection equations of contacts, written so that numba can compile it [Alart, Curnier]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.contacts.cones import ENOUGH, EXACT, HALVINGS, NEWTON
from humanoid_dynamics.simulation.contacts.small_systems import multiply, solve_general
from humanoid_dynamics.spatial.arrays import Matrix, Vector

TINY = 1e-12
LOST = 1e6


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


PARTS = (
    project,
    size_steps,
    measure_distance,
    linearise,
    bind_tangents,
    measure_miss,
    cut_short,
    iterate,
)
