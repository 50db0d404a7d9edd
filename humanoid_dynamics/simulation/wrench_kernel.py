"""All that touches holds: found from one wrench for each joint that touches, in place of three impulses for each of its points.

The impulses p of points that stick solve (A^T D A + s) p = r, where A makes wrenches w = A p on the joints of them, D is the velocity
of these joints per wrench and s the little that contacts yield.  Then (D + s N^-1) w = N^-1 A r with N = A A^T, which has six rows for
each joint, however many points it stands on, and p = A^T N^-1 (w - A r / s) + r / s.  Written so that numba can compile it.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.bench import A_GUESS, A_P, A_U, Bench
from humanoid_dynamics.simulation.cone_kernel import is_inside, leaves
from humanoid_dynamics.simulation.cones import COMPLIANCE
from humanoid_dynamics.simulation.holders import Holders
from humanoid_dynamics.simulation.rows import Z_END
from humanoid_dynamics.simulation.small_systems import invert_block, solve_symmetric
from humanoid_dynamics.simulation.wrench_shares import apply_blocks, collect, gather_wrenches, share_out, spread, spread_softness
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

TINY = 1e-12


def correlate(W: Matrix, lasts: Indices, parents: Indices, dense: bool, D: Matrix) -> None:
    """Write the velocity of all joints that touch per wrench on each.

    Args:
        W: (n, nv, 6) whitened Jacobians of these joints.
        lasts: (n,) last coordinate of each.
        parents: (nv,) coordinate that carries each.
        dense: Whether every coordinate counts, not only those that carry a joint.
        D: (6n + c, 6n + c) zero, whose upper triangle is overwritten.
    """
    for a in range(len(W)):
        for b in range(a, len(W)):
            i = lasts[a]
            while i >= 0:
                for k in range(6):
                    x = W[a, i, k]
                    for j in range(6):
                        D[6 * a + k, 6 * b + j] += x * W[b, i, j]
                i = i - 1 if dense else parents[i]


def measure_softness(holders: Holders, D: Matrix, N: Matrix, chosen: Vector) -> Vector:
    """Return (n + c,) how much the contacts of each joint and each limit yield, a share of the velocity of a row per impulse on it.

    Args:
        holders: Joints that touch.
        D: (6n + c, 6n + c) velocity per wrench.
        N: (n, 6, 6) sums of w w^T of the points that are tried.
        chosen: (m + c,) points and limits that are tried.
    """
    m, n = len(holders.slots), len(N)
    soft, rows = np.zeros(n + len(D) - 6 * n), np.zeros(n)
    for s in range(n):
        for k in range(36):
            soft[s] += N[s, k // 6, k % 6] * D[6 * s + k // 6, 6 * s + k % 6]
    for row in range(3 * m):
        s = holders.slots[row % m]
        rows[s] += 1.0
        if chosen[row % m] == 0.0:
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


def relate(bench: Bench, holders: Holders, X: Matrix) -> Matrix:
    """Return (6n + c, 6n + c) the velocity of joints that touch, and of limits, per wrench on each and impulse of each.

    Args:
        bench: All tables.
        holders: Joints that touch.
        X: (c, nv) whitened rows of the limits.
    """
    size = 6 * len(holders.W) + len(X)
    D = np.zeros((size, size))
    correlate(holders.W, holders.lasts, bench.parents, len(bench.Q) > 0, D)
    couple_limits(holders.W, X, D)
    for i in range(size):
        for j in range(i):
            D[i, j] = D[j, i]
    return D


def stick_by_wrenches(bench: Bench, holders: Holders, X: Matrix, b: Vector, mu: Vector) -> bool:
    """Try the impulses that stop every point and limit, or every one that carried any in the last step.

    Impulses, velocities of the rows and the whitened velocity at the end are overwritten; the last only with a solution.

    Args:
        bench: All tables.
        holders: Joints that touch, each by points that hold it in all directions.
        X: (c, nv) whitened rows of the limits.
        b: (3m + c,) velocity of the rows without impulses.
        mu: (m,) coefficients of friction.

    Returns:
        Whether they are a solution.
    """
    count, W, answer = len(mu) + len(X), holders.W, bench.answer
    guess, p, u = answer[A_GUESS, : len(b)], answer[A_P, : len(b)], answer[A_U, : len(b)]
    N, inverse, chosen = np.zeros((len(W), 6, 6)), np.empty((len(W), 6, 6)), np.empty(count)
    every = choose(guess, chosen)
    gather_wrenches(holders.wrenches, holders.slots, chosen, N)
    D = relate(bench, holders, X)
    soft = measure_softness(holders, D, N, chosen)
    if not invert_blocks(N, inverse):
        return False
    w, rest = np.empty(len(D)), np.empty(len(b))
    yields = spread_softness(holders, soft, len(b))
    for row in range(len(b)):
        p[row] = chosen[row if row < count else (row - count) % len(mu)] * (yields[row] * guess[row] - b[row])
    collect(holders, p, w)
    apply_blocks(inverse, w)
    held = w.copy()
    if not find_wrenches(D, inverse, soft, chosen, w):
        return False
    share_out(holders, inverse, (held, w), soft, (chosen, p, rest))
    if not is_inside(p, mu, count):
        return False
    spread(holders, np.dot(D, w), rest)
    for row in range(len(b)):
        u[row] = b[row] + yields[row] * (p[row] - guess[row]) + rest[row]
    if not (every or leaves(u, guess, count)):
        return False
    push(W, holders.lasts, X, w, bench.dofs[Z_END])
    return True


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


def push(W: Matrix, lasts: Indices, X: Matrix, w: Vector, z: Vector) -> None:
    """Add what wrenches and limits do to the whitened velocity at the end.

    Args:
        W: (n, nv, 6) whitened Jacobians of the joints that touch.
        lasts: (n,) last coordinate of each.
        X: (c, nv) whitened rows of the limits.
        w: (6n + c,) wrenches on them, and impulses of the limits.
        z: (nv,) whitened velocity, overwritten.
    """
    for s in range(len(W)):
        for i in range(lasts[s] + 1):
            for k in range(6):
                z[i] += W[s, i, k] * w[6 * s + k]
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
    push,
    stick_by_wrenches,
)
