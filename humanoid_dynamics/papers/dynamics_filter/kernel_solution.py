# SPDX-License-Identifier: Apache-2.0
"""The structured solution of ``solution`` as loops for numba, for soles that hold all six rows and a small damping.

With s the contact forces in their units and K = k E + stiff U J_j J_j' U, the forces are eliminated first, then the accelerations, for
which H is the unit matrix up to a share that is tiny; what that leaves out is mended by corrections with the exact equations.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART: tuple[
    str, ...
] = ()  # of the parts of kernels here, those that are not copied to where they are called
SOFT = 1e-13  # share of the diagonal by which dependent rows yield
SERIES = 1e-5  # how much H may differ from the unit matrix
CORRECTIONS = 5
SMALL = 1e-6  # share of the answer; each correction is smaller than the last by ``SERIES`` at least


def mirror(upper: Matrix, M: Matrix) -> None:
    """Write a full symmetric matrix from its upper triangle."""
    for k in range(len(M)):
        for i in range(k + 1):  # down a column: so it lies in memory
            M[k, i] = M[i, k] = upper[i, k]


def factor(A: Matrix) -> bool:
    """Replace the lower triangle of A by its Cholesky factor, one over its diagonal; return whether there is one."""
    for i in range(len(A)):
        for k in range(i):
            total = A[i, k]
            for m in range(k):
                total -= A[i, m] * A[k, m]
            A[i, k] = total * A[k, k]
        total = A[i, i]
        for m in range(i):
            total -= A[i, m] * A[i, m]
        if not total > 0.0:
            return False
        A[i, i] = 1.0 / total**0.5
    return True


def resolve(L: Matrix, x: Vector) -> None:
    """Solve L L' x = b in place, L as ``factor`` leaves it."""
    for i in range(len(x)):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total * L[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] *= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


def reduce(L: Matrix, B: Matrix) -> None:
    """Replace B by L^-1 B, all columns at once."""
    for i in range(len(L)):
        for k in range(i):
            share = L[i, k]
            if share != 0.0:
                for c in range(B.shape[1]):
                    B[i, c] -= share * B[k, c]
        share = L[i, i]
        for c in range(B.shape[1]):
            B[i, c] *= share


def expand(L: Matrix, B: Matrix) -> None:
    """Replace B by L'^-1 B, all columns at once."""
    for i in range(len(L) - 1, -1, -1):
        share = L[i, i]
        for c in range(B.shape[1]):
            B[i, c] *= share
        for k in range(i):
            share = L[i, k]
            if share != 0.0:
                for c in range(B.shape[1]):
                    B[k, c] -= share * B[i, c]


def square(G: Matrix, scale: float, S: Matrix) -> None:
    """Write scale G G' into the lower triangle of S."""
    for i in range(len(G)):
        for k in range(i + 1):
            total = 0.0
            for m in range(G.shape[1]):
                total += G[i, m] * G[k, m]
            S[i, k] = scale * total


def add_square(W: Matrix, scale: float, Q: Matrix) -> None:
    """Add scale W' W to Q."""
    for i in range(len(W)):
        for c in range(len(Q)):
            share = scale * W[i, c]
            for e in range(len(Q)):
                Q[c, e] += share * W[i, e]


def raise_diagonal(A: Matrix, extra: float) -> None:
    """Add a number to the diagonal."""
    for i in range(len(A)):
        A[i, i] += extra


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
    balance: tuple[Matrix, Vector, Matrix, Vector, Vector],
    wanted: Vector,
    robot: tuple[Indices, Indices, Vector],
    a: Vector,
    lam: Vector,
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
    M, h, J, _, unit = balance
    weights = robot[2]
    k, o, nv = len(J), len(robot[1]), len(M)
    JU, Jd, J_o = np.empty((k, nv)), np.empty((k, nv)), np.empty((k, o))
    K, S, G = np.empty((k, k)), np.empty((k + o, k + o)), np.empty((k + o, nv))
    split(J, unit, robot[1], (JU, Jd, J_o, G))
    if not is_nearly_plain(M, robot[0], weights[1]) or not prepare(
        M, (Jd, J_o), (robot[1], weights), (K, G, S)
    ):
        return False
    s, multipliers, f = np.zeros(k), np.zeros(k + o), np.empty(nv)
    apply(M, wanted, f)
    for i in range(nv):
        a[i] = wanted[i]
        f[i] += h[i]
    for _ in range(CORRECTIONS):
        step, size = mend((balance, wanted), robot, (JU, Jd, J_o, K, G, S), (a, s, multipliers, f))
        if not step < np.inf:
            return False
        if step <= SMALL * max(size, 1.0):
            for i in range(k):
                lam[i] = unit[i] * s[i]
            return True
    return False


def is_nearly_plain(M: Matrix, driven: Indices, stiff: float) -> bool:
    """Return whether H is the unit matrix up to ``SERIES``."""
    trace = 0.0
    for i in driven:
        for c in range(len(M)):
            trace += M[i, c] * M[i, c]
    return stiff * trace < SERIES


def split(
    J: Matrix, unit: Vector, others: Indices, parts: tuple[Matrix, Matrix, Matrix, Matrix]
) -> None:
    """Write U J, the same with nothing where no motor is, and what is there; and J itself."""
    JU, Jd, J_o, G = parts
    for i in range(len(J)):
        for c in range(J.shape[1]):
            JU[i, c] = unit[i] * J[i, c]
            Jd[i, c] = JU[i, c]
            G[i, c] = J[i, c]
        for c in range(len(others)):
            J_o[i, c] = JU[i, others[c]]
            Jd[i, others[c]] = 0.0


def prepare(
    M: Matrix,
    rows: tuple[Matrix, Matrix],
    robot: tuple[Indices, Vector],
    blocks: tuple[Matrix, Matrix, Matrix],
) -> bool:
    """Write the factors of K and S, and below J the rows of the base as the forces leave them: M_o - J_o' U K^-1 stiff U J_j M_j."""
    Jd, J_o = rows
    others, weights = robot
    K, G, S = blocks
    k, o = len(K), len(others)
    square(Jd, weights[1], K)
    raise_diagonal(K, weights[0])
    if not factor(K):
        return False
    W, Q = J_o.copy(), np.zeros((o, o))
    reduce(K, W)
    add_square(W, 1.0, Q)
    expand(K, W)
    for c in range(o):
        lean((M, Jd, W, others), c, weights[1], G[k + c])
    square(G, 1.0 / weights[2], S)
    for i in range(k):
        S[i, i] *= 1.0 + SOFT
    for c in range(o):
        for e in range(o):
            S[k + c, k + e] += Q[c, e]
    return factor(S)


def lean(blocks: tuple[Matrix, Matrix, Matrix, Indices], c: int, stiff: float, row: Vector) -> None:
    """Write a row of the base as the forces leave it."""
    M, Jd, W, others = blocks
    nv = len(M)
    torque = np.zeros(nv)
    for i in range(len(W)):
        share = stiff * W[i, c]
        for m in range(nv):
            torque[m] -= share * Jd[i, m]
    for n in range(nv):
        row[n] = M[others[c], n]
    for m in range(nv):
        share = torque[m]
        if share != 0.0:
            for n in range(nv):
                row[n] += share * M[m, n]


def weigh_forces(
    f: Vector, multipliers: Vector, robot: tuple[Indices, Indices, Vector], t: Vector
) -> None:
    """Write stiff tau where motors are, minus the multipliers of the base elsewhere."""
    driven, others, weights = robot
    for i in driven:
        t[i] = weights[1] * f[i]
    first = len(multipliers) - len(others)
    for c in range(len(others)):
        t[others[c]] = -multipliers[first + c]


def mend(
    question: tuple[tuple[Matrix, Vector, Matrix, Vector, Vector], Vector],
    robot: tuple[Indices, Indices, Vector],
    blocks: tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix],
    answer: tuple[Vector, Vector, Vector, Vector],
) -> tuple[float, float]:
    """Correct accelerations, forces in their units, multipliers and f = M a + h - J' lam by what the exact equations miss.

    Returns:
        Size of the correction, and of the answer.
    """
    (M, _, J, gamma, _), wanted = question
    _, others, weights = robot
    JU, Jd, J_o, K, G, S = blocks
    a, s, multipliers, f = answer
    k, nv = len(J), len(M)
    t, r, y, d = np.empty(nv), np.empty(nv), np.empty(k), np.empty(len(G))
    weigh_forces(f, multipliers, robot, t)
    apply(JU, t, y)
    for i in range(k):
        y[i] -= weights[0] * s[i]
    resolve(K, y)
    add_transposed(Jd, y, -weights[1], t)
    apply(M, t, r)
    for i in range(nv):
        r[i] = wanted[i] - weights[2] * a[i] - r[i]
    add_transposed(J, multipliers[:k], 1.0, r)
    apply(G, r, d)
    for i in range(len(d)):
        d[i] *= -1.0 / weights[2]
    apply(J, a, t[:k])
    for i in range(k):
        d[i] -= t[i] + gamma[i]
        for c in range(len(others)):
            d[k + c] += J_o[i, c] * y[i]
    for c in range(len(others)):
        d[k + c] -= f[others[c]]
    resolve(S, d)
    add_transposed(G, d, 1.0, r)
    return advance(answer, (r, y, d), (M, JU, Jd, J_o, K), weights)


def advance(
    answer: tuple[Vector, Vector, Vector, Vector],
    step: tuple[Vector, Vector, Vector],
    blocks: tuple[Matrix, Matrix, Matrix, Matrix, Matrix],
    weights: Vector,
) -> tuple[float, float]:
    """Add a correction: da = r / one, ds = y + K^-1 (stiff U J_j M_j da - U J_o dnu), d to the multipliers."""
    a, s, multipliers, f = answer
    r, y, d = step
    M, JU, Jd, J_o, K = blocks
    k = len(s)
    change, push = np.empty(len(a)), np.empty(k)
    most, size = 0.0, 0.0
    for i in range(len(a)):
        r[i] /= weights[2]
        a[i] += r[i]
        most, size = max(most, abs(r[i])), max(size, abs(a[i]))
    apply(M, r, change)
    for i in range(len(a)):
        f[i] += change[i]
    apply(Jd, change, push)
    for i in range(k):
        push[i] *= weights[1]
        for c in range(J_o.shape[1]):
            push[i] -= J_o[i, c] * d[k + c]
    resolve(K, push)
    for i in range(k):
        y[i] += push[i]
        s[i] += y[i]
        most, size = max(most, abs(y[i])), max(size, abs(s[i]))
        if not abs(y[i]) < np.inf:
            most = np.inf
    add_transposed(JU, y, -1.0, f)
    for i in range(len(d)):
        multipliers[i] += d[i]
    return most, size


SOLUTION = (
    *(
        mirror,
        factor,
        resolve,
        reduce,
        expand,
        square,
        add_square,
        raise_diagonal,
        apply,
        add_transposed,
    ),
    *(advance, weigh_forces, mend, lean, prepare, is_nearly_plain, split, find_motion),
)
