# SPDX-License-Identifier: Apache-2.0
"""How contacts yield a little while their impulses are found, and no more once they are, written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.cone_kernel import certify, search, settle
from humanoid_dynamics.simulation.contacts.cone_newton import TINY, Cones, project, size_steps
from humanoid_dynamics.simulation.contacts.cone_problem import (
    CLOSE,
    FAR,
    FARTHER,
    FARTHEST,
    HARD,
    MOST_PASSES,
    MOST_STALLS,
    NEARER,
    STALLED,
    STRAIGHT,
)
from humanoid_dynamics.simulation.contacts.cones import COMPLIANCE
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


def soften(cones: Cones, guess: Vector, owners: Indices) -> Vector:
    """Let contacts yield a little where their impulse changes, which makes impulses unique; those of a body yield alike.

    Returns (k,) how much each row yields.

    Args:
        cones: The problem; G is softened, and b shifted by the guess.
        guess: (k,) impulses of the last step.
        owners: (m,) number of the body of each contact.
    """
    G, b, m, count = cones.G, cones.b, len(owners), cones.normals
    own, shared, yields = np.zeros(m), np.zeros(m), np.empty(len(cones.b))
    for i in range(m):
        own[owners[i]] += (
            G[i, i] + G[count + i, count + i] + G[count + m + i, count + m + i]
        ) / 3.0
        shared[owners[i]] += 1.0
    for row in range(len(b)):
        i = row if row < count else (row - count) % m
        yields[row] = COMPLIANCE * max(
            own[owners[i]] / shared[owners[i]] if i < m else G[row, row], TINY
        )
        G[row, row] += yields[row]
        b[row] -= yields[row] * guess[row]
    return yields


def harden(cones: Cones, yields: Vector, guess: Vector, p: Vector, u: Vector) -> float:
    """Take what contacts yielded out of their velocities, and let them yield around these impulses from now on.

    Args:
        cones: The problem, softened; b is shifted.
        yields: (k,) from ``soften``.
        guess: (k,) impulses around which they yielded, overwritten with p.
        p: (k,) impulses.
        u: (k,) velocities, overwritten.

    Returns:
        How far the impulses are from a solution in which nothing yields, as a velocity of the worst row [m/s].
    """
    size_steps(cones)
    inside = np.empty(len(p))
    for i in range(len(p)):
        gave = yields[i] * (p[i] - guess[i])
        u[i] -= gave
        cones.b[i] -= gave
        guess[i] = p[i]
        inside[i] = p[i] - cones.step[i] * u[i]
    project(inside, cones.mu, cones.normals, inside)
    error = 0.0
    for i in range(len(p)):
        miss = abs(p[i] - inside[i]) / cones.step[i]
        if not miss <= error:
            error = miss
    return error


def find_lead(own: float, along: float, last: float, far: float) -> float:
    """Return how far passes that lead straight on, each a share of the one before, would still go: as a multiple of the last one.

    Args:
        own: Square of the length of the last pass.
        along: Product of the last two.
        last: Square of the length of the one before it.
        far: The farthest.
    """
    if not (along > 0.0 and along * along > STRAIGHT * STRAIGHT * own * last):
        return 0.0
    return along / (last - along) if along * (1.0 + far) < far * last else far


def lead_on(
    cones: Cones, yields: Vector, guess: Vector, ways: tuple[Vector, Vector], far: float
) -> float:
    """Go on from the last pass as far as all that follow would go, and let contacts yield around what is there.

    Args:
        cones: The problem, softened; b is shifted.
        yields: (k,) from ``soften``.
        guess: (k,) impulses at the end of the pass, overwritten.
        ways: Impulses at its start (k,), and the pass before it (k,); overwritten with those for the next one.
        far: How far to go at most, as a multiple of the pass.

    Returns:
        The same for the next one.
    """
    start, moved = ways
    own, along, last = 0.0, 0.0, 0.0
    for i in range(len(guess)):
        way = guess[i] - start[i]
        own, along, last = own + way * way, along + way * moved[i], last + moved[i] * moved[i]
        moved[i] = way
    share = find_lead(own, along, last, far)
    for i in range(len(guess)):
        cones.b[i] -= yields[i] * share * moved[i]
        guess[i] += share * moved[i]
        start[i] = guess[i]
    return min(FARTHER * far, FARTHEST) if share >= far else far


def settle_hard(
    cones: Cones, yields: Vector, guess: Vector, answer: tuple[Vector, Vector], slides: bool
) -> tuple[float, int]:
    """Solve a contact problem, and again around the answer until nothing yields; where it was not solved, while that comes nearer.

    Args:
        cones: The problem, softened; b is shifted.
        yields: (k,) from ``soften``.
        guess: (k,) impulses of the last step, zero for what is new; overwritten.
        answer: Impulses (k,) and velocities (k,), overwritten.
        slides: Whether it is known that something slides or leaves.

    Returns:
        Residual as a velocity [m/s], and the number of systems solved.
    """
    p, u = answer
    best, least, rounds = (p.copy(), u.copy()), np.inf, 0
    ways, far, stalls = (guess.copy(), np.zeros(len(p))), FAR, 0
    for _ in range(MOST_PASSES + 1):
        if slides:
            p[:] = guess
            error, used = search(cones, p, u)
        else:
            error, used = settle(cones, guess, p, u)
        rounds += used
        before, residual = least, harden(cones, yields, guess, p, u)
        stalls += 1
        if residual < STALLED * least or residual <= HARD:
            least, stalls = residual, 0
            best[0][:] = p
            best[1][:] = u
        if (
            least <= HARD
            or stalls == MOST_STALLS
            or not (error <= CLOSE or least <= NEARER * before)
        ):
            break
        far = lead_on(cones, yields, guess, ways, far)
    p[:] = best[0]
    u[:] = best[1]
    return least, rounds


def solve_problem(
    problem: tuple[Matrix, Vector, Vector, int],
    owners: Indices,
    guess: Vector,
    p: Vector,
    u: Vector,
) -> tuple[float, int, float, float]:
    """Solve a contact problem by itself, as impacts and corrections of depth pose it.

    Args:
        problem: (k, k) velocity per impulse and (k,) velocity without impulses, both overwritten; (m,) coefficients of friction; number of
            normal rows.
        owners: (m,) number of the body of each contact.
        guess: (k,) impulses of the last step, zero for what is new.
        p: (k,) impulses, overwritten.
        u: (k,) velocities, overwritten.

    Returns:
        Residual as a velocity [m/s], number of systems solved, largest p_n |u_n| [J], and how far an impulse is outside its cone [N·s].
    """
    G, b, mu, count = problem
    cones = Cones(G, b, mu, np.empty(len(b)), count)
    soften(cones, guess, owners)
    residual, rounds = settle(cones, guess, p, u)
    complementarity, cone = certify(mu, count, p, u)
    return residual, rounds, complementarity, cone


PARTS = (soften, harden, find_lead, lead_on, settle_hard)
