"""The structured solution of ``paper_solution`` as loops for numba, for soles that hold all six rows and a small damping.

With s the contact forces in their units and K = k E + stiff U J_j J_j' U, the forces are eliminated first, then the accelerations, for
which H is the unit matrix up to a share that is tiny; what that leaves out is mended by corrections with the exact equations.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SOFT = 1e-13  # share of the diagonal by which dependent rows yield
SERIES = 1e-5  # how much H may differ from the unit matrix
CORRECTIONS = 5
SMALL = 1e-6  # share of the answer; each correction is smaller than the last by ``SERIES`` at least


def mirror(upper: Matrix, M: Matrix) -> None:
    """Write a full symmetric matrix from its upper triangle."""
    for i in range(len(M)):
        for k in range(i, len(M)):
            M[i, k] = upper[i, k]
            M[k, i] = upper[i, k]


def factor(A: Matrix) -> bool:
    """Replace the lower triangle of A by its Cholesky factor; return whether there is one."""
    for i in range(len(A)):
        for k in range(i):
            total = A[i, k]
            for m in range(k):
                total -= A[i, m] * A[k, m]
            A[i, k] = total / A[k, k]
        total = A[i, i]
        for m in range(i):
            total -= A[i, m] * A[i, m]
        if not total > 0.0:
            return False
        A[i, i] = total**0.5
    return True


def resolve(L: Matrix, x: Vector) -> None:
    """Solve L L' x = b in place."""
    for i in range(len(x)):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


def square(G: Matrix, scale: float, S: Matrix) -> None:
    """Write scale G G' into the lower triangle of S."""
    for i in range(len(G)):
        for k in range(i + 1):
            total = 0.0
            for m in range(G.shape[1]):
                total += G[i, m] * G[k, m]
            S[i, k] = scale * total


def apply(G: Matrix, x: Vector, y: Vector) -> None:
    """Write G x into y."""
    for i in range(len(G)):
        total = 0.0
        for k in range(len(x)):
            total += G[i, k] * x[k]
        y[i] = total


def add_transposed(G: Matrix, x: Vector, scale: float, y: Vector) -> None:
    """Add scale G' x to y."""
    for i in range(len(x)):
        share = scale * x[i]
        for k in range(len(y)):
            y[k] += share * G[i, k]


def find_motion(
    balance: tuple[Matrix, Vector, Matrix, Vector, Vector], wanted: Vector, robot: tuple[Indices, Indices, Vector], a: Vector, lam: Vector
) -> bool:
    """Write the acceleration nearest to the wanted one, and its contact forces.

    Args:
        balance: M, h, J, gamma, unit of the instant.
        wanted: (nv,) desired acceleration.
        robot: Coordinates with a motor, without; k, its share for a torque, and the weight of an acceleration.
        a: (nv,) written.
        lam: (k,) written.

    Returns:
        Whether it was found.
    """
    M, J, unit = balance[0], balance[2], balance[4]
    weights = robot[2]
    k, o, nv = len(J), len(robot[1]), len(M)
    K, S = np.empty((k, k)), np.empty((k + o, k + o))
    G, P, JU = np.empty((k + o, nv)), np.zeros((k, nv)), np.empty((k, nv))
    for i in range(k):
        JU[i] = unit[i] * J[i]
        G[i] = J[i]
    if not prepare(M, JU, robot, (K, P, G)):
        return False
    square(G, 1.0 / weights[2], S)
    for i in range(k):
        S[i, i] *= 1.0 + SOFT
    add_forces(JU, K, robot[1], S)
    if not factor(S):
        return False
    s, multipliers = np.zeros(k), np.zeros(k + o)
    a[:] = wanted
    for _ in range(CORRECTIONS):
        step, size = mend((balance, JU, wanted), robot, (K, P, G, S), (a, s, multipliers))
        if not step < np.inf:
            return False
        if step <= SMALL * max(size, 1.0):
            lam[:] = unit * s
            return True
    return False


def prepare(M: Matrix, JU: Matrix, robot: tuple[Indices, Indices, Vector], blocks: tuple[Matrix, Matrix, Matrix]) -> bool:
    """Write the factor of K, P = stiff U J_j M_j, and below J the rows of the base as the forces leave them."""
    K, P, G = blocks
    driven, others, weights = robot
    nv, k = len(M), len(JU)
    trace = 0.0
    for i in driven:
        for c in range(nv):
            trace += M[i, c] * M[i, c]
    if not weights[1] * trace < SERIES:
        return False
    Jd = JU.copy()
    Jd[:, others] = 0.0
    square(Jd, weights[1], K)
    for i in range(k):
        K[i, i] += weights[0]
        for c in range(nv):
            if Jd[i, c] != 0.0:
                share = weights[1] * Jd[i, c]
                for m in range(nv):
                    P[i, m] += share * M[c, m]
    if not factor(K):
        return False
    for c in range(len(others)):
        w = JU[:, others[c]].copy()
        resolve(K, w)
        G[k + c] = M[others[c]]
        add_transposed(P, w, -1.0, G[k + c])
    return True


def add_forces(JU: Matrix, K: Matrix, others: Indices, S: Matrix) -> None:
    """Add J_o' U K^-1 U J_o to the block of the base in S."""
    k = len(JU)
    for c in range(len(others)):
        w = JU[:, others[c]].copy()
        resolve(K, w)
        for e in range(c + 1):
            for i in range(k):
                S[k + c, k + e] += JU[i, others[e]] * w[i]


def mend(
    question: tuple[tuple[Matrix, Vector, Matrix, Vector, Vector], Matrix, Vector],
    robot: tuple[Indices, Indices, Vector],
    blocks: tuple[Matrix, Matrix, Matrix, Matrix],
    answer: tuple[Vector, Vector, Vector],
) -> tuple[float, float]:
    """Correct accelerations, forces in their units and multipliers by what the exact equations miss; return size of step and answer."""
    (M, h, J, gamma, _), JU, wanted = question
    driven, others, weights = robot
    K, P, G, S = blocks
    a, s, multipliers = answer
    k, nv = len(J), len(M)
    f, t, r, y, d = np.empty(nv), np.empty(nv), np.empty(nv), np.empty(k), np.empty(len(G))
    apply(M, a, f)
    f += h
    add_transposed(JU, s, -1.0, f)
    t[driven] = weights[1] * f[driven]
    t[others] = -multipliers[k:]
    apply(M, t, r)
    r[:] = wanted - weights[2] * a - r
    add_transposed(J, multipliers[:k], 1.0, r)
    apply(JU, t, y)
    y -= weights[0] * s
    resolve(K, y)
    add_transposed(P, y, 1.0, r)
    apply(G, r, d)
    d *= -1.0 / weights[2]
    for i in range(k):
        miss = gamma[i]
        for c in range(nv):
            miss += J[i, c] * a[c]
        d[i] -= miss
    for c in range(len(others)):
        d[k + c] -= f[others[c]]
        for i in range(k):
            d[k + c] += JU[i, others[c]] * y[i]
    resolve(S, d)
    add_transposed(G, d, 1.0, r)
    return advance((a, s, multipliers), (r, y, d), (JU, K, P, others), weights[2])


def advance(
    answer: tuple[Vector, Vector, Vector], step: tuple[Vector, Vector, Vector], blocks: tuple[Matrix, Matrix, Matrix, Indices], one: float
) -> tuple[float, float]:
    """Add a correction: r / one to the accelerations, K^-1 (r_s + P da - U J_o dnu) to the forces, d to the multipliers."""
    a, s, multipliers = answer
    r, y, d = step
    JU, K, P, others = blocks
    k = len(s)
    push = np.empty(k)
    most, size = 0.0, 0.0
    for i in range(len(a)):
        r[i] /= one
        a[i] += r[i]
        most, size = max(most, abs(r[i])), max(size, abs(a[i]))
    apply(P, r, push)
    for i in range(k):
        for c in range(len(others)):
            push[i] -= JU[i, others[c]] * d[k + c]
    resolve(K, push)
    for i in range(k):
        y[i] += push[i]
        s[i] += y[i]
        most, size = max(most, abs(y[i])), max(size, abs(s[i]))
        if not abs(y[i]) < np.inf:
            most = np.inf
    multipliers += d
    return most, size


SOLUTION = (mirror, factor, resolve, square, apply, add_transposed, advance, mend, add_forces, prepare, find_motion)
