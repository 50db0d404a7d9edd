# SPDX-License-Identifier: Apache-2.0
"""Newton's method on the projection equations of contacts, written so that numba can compile it [Alart, Curnier]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.contacts.array_newton import ENOUGH, HALVINGS, NEWTON
from humanoid_dynamics.simulation.contacts.small_systems import multiply, solve_general
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART: tuple[str, ...] = (
    "iterate",
    "cut_short",
)  # of the parts of kernels here, those that are not copied to where they are called
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


class Unknowns(NamedTuple):
    """What a step of Newton's method has to find.

    Attributes:
        places: (k, 3) rows of the normal and both tangents of the contact of each.
        makes: (k, 3) impulses along these per unit of it.
        asks: (k, 3) shares of the velocities along these in its equation.
        own: (k,) share of itself in it.
    """

    places: Indices
    makes: Matrix
    asks: Matrix
    own: Vector


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


def list_unknowns(cones: Cones, s: Vector, unknowns: Unknowns) -> int:
    """List what the projection equations linearised at p leave to be found; return how many.

    Closed rows stop; what sticks has both tangents; what slides is pulled along its slip d by mu p_n, and only across d is anything left,
    where the disk bends; open rows are zero.

    Args:
        cones: The problem.
        s: (k,) p - step u.
        unknowns: What is left, overwritten.
    """
    m, found = len(cones.mu), 0
    for i in range(cones.normals):
        if s[i] > 0.0:
            held = i < m and cones.mu[i] > 0.0
            one, two = (cones.normals + i, cones.normals + m + i) if held else (i, i)
            length = np.sqrt(s[one] * s[one] + s[two] * s[two]) if held else 0.0
            radius = cones.mu[i] * s[i] if held else 0.0
            slides = length > radius
            d_1, d_2, mu = (
                (s[one] / length, s[two] / length, cones.mu[i]) if slides else (0.0, 0.0, 0.0)
            )
            first, more = found, 1
            put(unknowns, first, (1.0, mu * d_1, mu * d_2), (1.0, 0.0, 0.0))
            if slides:
                bend = min(radius / length, 1.0)
                factor, more = bend * cones.step[one], 2
                put(unknowns, first + 1, (0.0, -d_2, d_1), (0.0, -factor * d_2, factor * d_1))
                unknowns.own[first + 1] = 1.0 - bend
            elif held:
                more = 3
                put(unknowns, first + 1, (0.0, 1.0, 0.0), (0.0, 1.0, 0.0))
                put(unknowns, first + 2, (0.0, 0.0, 1.0), (0.0, 0.0, 1.0))
            found += more
            for k in range(first, found):
                unknowns.places[k, 0], unknowns.places[k, 1], unknowns.places[k, 2] = i, one, two
    return found


def put(
    unknowns: Unknowns, k: int, makes: tuple[float, float, float], asks: tuple[float, float, float]
) -> None:
    """Write what an unknown makes and what its equation asks.

    Args:
        unknowns: What is left to be found.
        k: Which of them.
        makes: Impulses along the normal and both tangents of its contact per unit of it.
        asks: Shares of the velocities of these in its equation.
    """
    for axis in range(3):
        unknowns.makes[k, axis], unknowns.asks[k, axis] = makes[axis], asks[axis]
    unknowns.own[k] = 0.0


def condense(cones: Cones, unknowns: Unknowns, felt: Matrix, A: Matrix, rhs: Vector) -> None:
    """Write the equations of what is to be found.

    Args:
        cones: The problem.
        unknowns: What is to be found.
        felt: (n, k) velocity of each row per unit of each unknown, overwritten.
        A: (n, n) matrix, overwritten.
        rhs: (n,) right side, overwritten.
    """
    G, b, places, makes, asks = cones.G, cones.b, unknowns.places, unknowns.makes, unknowns.asks
    for k in range(len(rhs)):
        i, one, two = places[k, 0], places[k, 1], places[k, 2]
        x, y, z = makes[k, 0], makes[k, 1], makes[k, 2]
        for row in range(len(b)):
            felt[k, row] = x * G[i, row] + y * G[one, row] + z * G[two, row]
    for k in range(len(rhs)):
        i, one, two = places[k, 0], places[k, 1], places[k, 2]
        x, y, z = asks[k, 0], asks[k, 1], asks[k, 2]
        rhs[k] = -(x * b[i] + y * b[one] + z * b[two])
        for j in range(len(rhs)):
            A[k, j] = x * felt[j, i] + y * felt[j, one] + z * felt[j, two]
        A[k, k] += unknowns.own[k]


def step_on(cones: Cones, s: Vector, unknowns: Unknowns, room: Vector, whole: Vector) -> bool:
    """Write the impulses that solve the projection equations linearised at p; return whether there are any.

    Args:
        cones: The problem.
        s: (k,) p - step u.
        unknowns: Room for what is to be found.
        room: (2 k² + k,) room for its equations.
        whole: (k,) impulses, overwritten.
    """
    n, size = list_unknowns(cones, s, unknowns), len(s)
    A, x, felt = (
        room[: n * n].reshape(n, n),
        room[n * n : n * n + n],
        room[size * size + size :].reshape(size, size),
    )
    condense(cones, unknowns, felt, A, x)
    if not solve_general(A, x):
        return False
    whole[:] = 0.0
    for k in range(n):
        for axis in range(3):
            whole[unknowns.places[k, axis]] += unknowns.makes[k, axis] * x[k]
    return True


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


def iterate(cones: Cones, p: Vector, enough: float, careful: bool) -> tuple[float, int]:
    """Iterate by Newton's method from p, which is left at the best impulses found.

    Args:
        cones: The problem.
        p: (k,) impulses, overwritten.
        enough: Residual that ends the search.
        careful: Whether steps are cut short where they lead away.

    Returns:
        Their residual and the number of systems solved.
    """
    size = len(p)
    here, whole, s, q, room = (
        p.copy(),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(2 * size * size + size),
    )
    unknowns = Unknowns(
        np.empty((size, 3), dtype=np.intp), np.empty((size, 3)), np.empty((size, 3)), np.empty(size)
    )
    least, used = np.inf, 0
    most = 2 * NEWTON if careful else NEWTON
    for used in range(most + 1):
        residual = measure_miss(cones, here, s, q)
        if residual < least:
            least = residual
            p[:] = here
        if least <= enough or used == most or not residual <= LOST:
            break
        if not step_on(cones, s, unknowns, room, whole):
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
    put,
    list_unknowns,
    condense,
    step_on,
    measure_miss,
    cut_short,
    iterate,
)
