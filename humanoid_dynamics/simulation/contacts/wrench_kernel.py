# SPDX-License-Identifier: Apache-2.0
"""All that touches holds: found from one wrench for each joint that touches, in place of three impulses for each of its points.

The impulses p of points that stick solve (A^T D A + s) p = r, where A makes wrenches w = A p on the joints of them, D is the velocity
of these joints per wrench and s the little that contacts yield.  Then (D + s N^-1) w = N^-1 A r with N = A A^T, which has six rows for
each joint, however many points it stands on, and p = A^T N^-1 (w - A r / s) + r / s.  Written so that numba can compile it.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.cone_kernel import is_inside, leaves
from humanoid_dynamics.simulation.contacts.cone_problem import HARD
from humanoid_dynamics.simulation.contacts.cones import COMPLIANCE
from humanoid_dynamics.simulation.contacts.holders import Holders
from humanoid_dynamics.simulation.contacts.small_systems import invert_block, solve_symmetric
from humanoid_dynamics.simulation.contacts.wrench_shares import (
    apply_blocks,
    collect,
    gather_wrenches,
    share_out,
    spread,
    spread_softness,
)
from humanoid_dynamics.simulation.steps.bench import A_GUESS, A_P, A_U, Bench
from humanoid_dynamics.simulation.steps.rows import RESIDUAL, Z_END
from humanoid_dynamics.spatial.arrays import Matrix, Vector

TINY = 1e-12
# what came of a try
HOLDS, YIELDS, UNKNOWN, AGAIN = 1, 0, -1, 2


def correlate(holders: Holders, D: Matrix) -> None:
    """Write the velocity of all joints that touch per wrench on each.

    Args:
        holders: Joints that touch.
        D: (6n + c, 6n + c) zero; overwritten where joints are concerned.
    """
    W, chains = holders.W, holders.chains
    for a in range(len(W)):
        for b in range(a, len(W)):
            for k in range(6):
                t, u, v, x, y, z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for r in range(holders.depths[a]):
                    i = chains[a, r]
                    share = W[a, i, k]
                    t += share * W[b, i, 0]
                    u += share * W[b, i, 1]
                    v += share * W[b, i, 2]
                    x += share * W[b, i, 3]
                    y += share * W[b, i, 4]
                    z += share * W[b, i, 5]
                row, n = 6 * a + k, 6 * b
                D[row, n], D[row, n + 1], D[row, n + 2] = t, u, v
                D[row, n + 3], D[row, n + 4], D[row, n + 5] = x, y, z


def measure_softness(holders: Holders, D: Matrix, N: Matrix, chosen: Vector) -> Vector:
    """Return (n + c,) how much the contacts of each joint and each limit yield, a share of the velocity of a row per impulse on it.

    Args:
        holders: Joints that touch.
        D: (6n + c, 6n + c) velocity per wrench.
        N: (n, 6, 6) sums of w w^T of the points that are tried.
        chosen: (m + c,) points and limits that are tried.
    """
    n = len(N)
    soft, rows = np.zeros(n + len(D) - 6 * n), np.zeros(n)
    for s in range(n):
        total = 0.0
        for k in range(6):
            for j in range(6):
                total += N[s, k, j] * D[6 * s + k, 6 * s + j]
        soft[s] = total
    for row in range(len(holders.owners)):
        s = holders.owners[row]
        rows[s] += 1.0
        if chosen[holders.origins[row]] == 0.0:
            soft[s] += measure_row(holders.wrenches, row, D, 6 * s)
    for k in range(len(soft)):
        soft[k] = COMPLIANCE * max(soft[k] / rows[k] if k < n else D[5 * n + k, 5 * n + k], TINY)
    return soft


def measure_row(wrenches: Matrix, row: int, D: Matrix, first: int) -> float:
    """Return the velocity along a row per impulse on it.

    Args:
        wrenches: (3m, 6) of all rows.
        row: The row.
        D: (6n + c, 6n + c) velocity per wrench.
        first: Where the joint of the row begins there.
    """
    total = 0.0
    for k in range(6):
        for j in range(6):
            total += wrenches[row, k] * D[first + k, first + j] * wrenches[row, j]
    return total


def couple_limits(W: Matrix, X: Matrix, D: Matrix) -> None:
    """Write what limits of joints and wrenches do to one another.

    Args:
        W: (n, nv, 6) whitened Jacobians of the joints that touch.
        X: (c, nv) whitened rows of the limits.
        D: (6n + c, 6n + c) its upper triangle is overwritten where limits are concerned.
    """
    first = 6 * len(W)
    for a in range(len(X)):
        for i in range(X.shape[1]):
            if X[a, i] != 0.0:
                for s in range(len(W)):
                    for k in range(6):
                        D[6 * s + k, first + a] += X[a, i] * W[s, i, k]
                for b in range(a, len(X)):
                    D[first + a, first + b] += X[a, i] * X[b, i]


def find_wrenches(D: Matrix, inverse: Matrix, soft: Vector, chosen: Vector, w: Vector) -> bool:
    """Find the wrenches that solve (D + s N^-1) w = rhs; return whether that matrix is positive definite.

    Args:
        D: (6n + c, 6n + c) velocity per wrench.
        inverse: (n, 6, 6) blocks of N^-1.
        soft: (n + c,) how much contacts yield.
        chosen: (m + c,) points and limits that are tried.
        w: (6n + c,) right side, overwritten with wrenches and impulses of limits.
    """
    A, first, least = D.copy(), 6 * len(inverse), len(chosen) - len(D) + 6 * len(inverse)
    for s in range(len(inverse)):
        for k in range(6):
            for j in range(6):
                A[6 * s + k, 6 * s + j] += soft[s] * inverse[s, k, j]
    for k in range(first, len(D)):
        A[k, k] += soft[k - 5 * len(inverse)]
        if chosen[least + k - first] == 0.0:
            A[k] = 0.0
            A[:, k] = 0.0
            A[k, k] = 1.0
    return bool(solve_symmetric(A, w))


def choose(guess: Vector, chosen: Vector) -> bool:
    """Write which points and limits are tried: those that carried force in the last step, or all; return whether all are.

    Args:
        guess: (k,) impulses of the last step.
        chosen: (m + c,) one where tried, zero elsewhere; overwritten.
    """
    carried, count = 0, len(chosen)
    for i in range(count):
        chosen[i] = 1.0 if guess[i] > 0.0 else 0.0
        carried += 1 if guess[i] > 0.0 else 0
    if carried == 0:
        chosen[:] = 1.0
    return carried in (0, count)


def relate(holders: Holders, X: Matrix) -> Matrix:
    """Return (6n + c, 6n + c) the velocity of joints that touch, and of limits, per wrench on each and impulse of each.

    Args:
        holders: Joints that touch.
        X: (c, nv) whitened rows of the limits.
    """
    size = 6 * len(holders.W) + len(X)
    D = np.zeros((size, size))
    correlate(holders, D)
    couple_limits(holders.W, X, D)
    for i in range(size):
        for j in range(i):
            D[i, j] = D[j, i]
    return D


def stick_by_wrenches(
    bench: Bench, holders: Holders, links: tuple[Matrix, Matrix], b: Vector, mu: Vector
) -> int:
    """Try the impulses that stop every point and limit, or every one that carried any in the last step.

    Impulses, velocities of the rows and the whitened velocity at the end are overwritten; the last only with a solution.

    Args:
        bench: All tables.
        holders: Joints that touch, each by points that hold it in all directions.
        links: (6n + c, 6n + c) velocity per wrench, from ``relate``, and (c, nv) whitened rows of the limits.
        b: (3m + c,) velocity of the rows without impulses.
        mu: (m,) coefficients of friction.

    Returns:
        ``HOLDS`` where they are a solution, ``AGAIN`` where they yield and are the guess now, ``YIELDS`` where something slides or leaves,
        ``UNKNOWN`` where wrenches do not tell.
    """
    D, X = links
    count, W, answer = len(mu) + len(X), holders.W, bench.answer
    guess, p, u = answer[A_GUESS, : len(b)], answer[A_P, : len(b)], answer[A_U, : len(b)]
    N, inverse, chosen = np.zeros((len(W), 6, 6)), np.empty((len(W), 6, 6)), np.empty(count)
    every = choose(guess, chosen)
    gather_wrenches(holders, chosen, N)
    soft = measure_softness(holders, D, N, chosen)
    if not invert_blocks(N, inverse):
        return UNKNOWN
    w, rest = np.empty(len(D)), np.empty(len(b))
    yields = spread_softness(holders, soft, len(b))
    ask(holders, chosen, (yields, guess, b), p)
    collect(holders, p, w)
    apply_blocks(inverse, w)
    held = w.copy()
    if not find_wrenches(D, inverse, soft, chosen, w):
        return UNKNOWN
    share_out(holders, inverse, (held, w), soft, (chosen, p, rest))
    if not is_inside(p, mu, count):
        return YIELDS
    answer_all(holders, D, w, rest)
    missed = 0.0
    for row in range(len(b)):
        u[row] = b[row] + rest[row]
        missed = max(missed, abs(yields[row] * (p[row] - guess[row])))
    if not (every or leaves(u, guess, count)):
        return YIELDS
    bench.numbers[RESIDUAL] = missed
    if missed > HARD:
        guess[:] = p
        return AGAIN
    push(holders, X, w, bench.dofs[Z_END])
    return HOLDS


def ask(holders: Holders, chosen: Vector, rows: tuple[Vector, Vector, Vector], p: Vector) -> None:
    """Write what impulses have to do: stop all rows that are tried, from their guess on.

    Args:
        holders: Joints that touch.
        chosen: (m + c,) points and limits that are tried.
        rows: (3m + c,) how much each yields, its guess, and its velocity without impulses.
        p: (3m + c,) overwritten.
    """
    yields, guess, b = rows
    for k in range(len(holders.slots), len(chosen)):
        p[k] = chosen[k] * (yields[k] * guess[k] - b[k])
    for row in range(len(holders.places)):
        place = holders.places[row]
        p[place] = chosen[holders.origins[row]] * (yields[place] * guess[place] - b[place])


def answer_all(holders: Holders, D: Matrix, w: Vector, rest: Vector) -> None:
    """Write what wrenches change in the velocities of all rows.

    Args:
        holders: Joints that touch.
        D: (6n + c, 6n + c) velocity per wrench.
        w: (6n + c,) wrenches.
        rest: (3m + c,) overwritten.
    """
    speeds = np.empty(len(w))
    for i in range(len(w)):
        total = 0.0
        for j in range(len(w)):
            total += D[i, j] * w[j]
        speeds[i] = total
    spread(holders, speeds, rest)


def invert_blocks(blocks: Matrix, inverse: Matrix) -> bool:
    """Write the inverses of blocks; return whether all are far from singular.

    Args:
        blocks: (n, 6, 6) these, overwritten.
        inverse: (n, 6, 6) their inverses, overwritten.
    """
    regular = True
    for s in range(len(blocks)):
        regular = regular and invert_block(blocks[s], inverse[s])
    return regular


def push(holders: Holders, X: Matrix, w: Vector, z: Vector) -> None:
    """Add what wrenches and limits do to the whitened velocity at the end.

    Args:
        holders: Joints that touch.
        X: (c, nv) whitened rows of the limits.
        w: (6n + c,) wrenches on them, and impulses of the limits.
        z: (nv,) whitened velocity, overwritten.
    """
    W = holders.W
    for s in range(len(W)):
        n = 6 * s
        a, b, c, d, e, f = w[n], w[n + 1], w[n + 2], w[n + 3], w[n + 4], w[n + 5]
        for r in range(holders.depths[s]):
            i = holders.chains[s, r]
            z[i] += (
                W[s, i, 0] * a
                + W[s, i, 1] * b
                + W[s, i, 2] * c
                + W[s, i, 3] * d
                + W[s, i, 4] * e
                + W[s, i, 5] * f
            )
    for k in range(len(X)):
        share = w[6 * len(W) + k]
        if share != 0.0:
            for i in range(len(z)):
                z[i] += X[k, i] * share


PARTS = (
    correlate,
    measure_row,
    measure_softness,
    couple_limits,
    find_wrenches,
    choose,
    relate,
    invert_blocks,
    ask,
    answer_all,
    push,
    stick_by_wrenches,
)
