# SPDX-License-Identifier: Apache-2.0
"""Centroidal plan as a quadratic program: prediction, cost and rows, as loops that numba compiles.

Unknowns of each axis (x, then y): CMP of each block, offset of the centre of pressure from the CMP beyond what swinging legs need,
footsteps, and two slacks of the terminal constraint.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

HULL, SINGLE, BLEND = (
    0,
    1,
    2,
)  # kinds of a block: both soles as they stand, one sole, load passes to a footstep


class Horizon(NamedTuple):
    """What a centroidal plan is made for.

    Attributes:
        blocks: (N, 6) duration [s], lambda [1/s^2], vertical force over the weight [-], load fraction of the second sole [-] and
            offset of the centre of pressure from the CMP for swinging legs, x and y [m].
        kinds: (N, 3) kind of each block, its first and its second foothold.
        feet: (2 + K, 6) middle of each foothold [m] (nominal for footsteps), cosine and sine of its heading, half sizes [m].
        steps: (K, 6) nominal way from the other foot [m, world], and bounds of that way in axes of the other foot [m].
        stance: (K,) foothold of the other foot.
        hull: (r, 3) half planes of the soles that stand.
        start: (4, 2) centre of mass [m], its velocity [m/s], CMP before [m] and excess of angular momentum over weight [m·s].
        velocity: (N, 2) wished velocity of the centre of mass [m/s].
        terminal: (2,) divergent component at the end, from the last footstep or the middle of the soles [m].
    """

    blocks: Matrix
    kinds: Indices
    feet: Matrix
    steps: Matrix
    stance: Indices
    hull: Matrix
    start: Matrix
    velocity: Matrix
    terminal: Vector


def predict(blocks: Matrix, P: Matrix, V: Matrix, free: Matrix) -> None:
    """Write how place and velocity at the ends of blocks follow from the CMP of blocks and from the start.

    Args:
        blocks: (N, 6) blocks of the horizon.
        P: (N + 1, N) places by the CMP; overwritten.
        V: (N + 1, N) velocities; overwritten.
        free: (N + 1, 4) places and velocities by place and velocity at the start; overwritten.
    """
    n = len(blocks)
    P[:], V[:] = 0.0, 0.0
    free[0, 0], free[0, 1], free[0, 2], free[0, 3] = 1.0, 0.0, 0.0, 1.0
    for j in range(n):
        w = math.sqrt(blocks[j, 1])
        c, s = math.cosh(w * blocks[j, 0]), math.sinh(w * blocks[j, 0])
        for k in range(j):
            P[j + 1, k] = c * P[j, k] + s / w * V[j, k]
            V[j + 1, k] = w * s * P[j, k] + c * V[j, k]
        P[j + 1, j], V[j + 1, j] = 1.0 - c, -w * s
        for k in range(2):
            free[j + 1, k] = c * free[j, k] + s / w * free[j, 2 + k]
            free[j + 1, 2 + k] = w * s * free[j, k] + c * free[j, 2 + k]


def fill_cost(
    horizon: Horizon,
    weights: Vector,
    rate: float,
    moves: tuple[Matrix, Matrix, Matrix],
    out: tuple[Matrix, Vector],
) -> float:
    """Write Hessian and gradient; return the constant of the cost.

    Args:
        horizon: What is planned.
        weights: cop, pivot, momentum, velocity, smooth, step, slack and slack_square of the settings.
        rate: Pendulum rate [1/s].
        moves: P, V and free of ``predict``.
        out: H (2 n1, 2 n1) and f (2 n1,); overwritten.
    """
    blocks = horizon.blocks
    N, K = len(blocks), len(horizon.steps)
    n1 = 2 * N + K + 2
    H, f = out
    H[:], f[:] = 0.0, 0.0
    rows = 4 * N + K
    G, g = np.zeros((rows, n1)), np.zeros((rows, 2))
    for j in range(N):
        _weigh_pressure(horizon, weights[0], j, (G, g))
        _weigh_momentum(horizon, rate * rate * weights[2], j, (G, g))
        _weigh_motion(horizon, (weights[3] / rate**2, weights[4]), moves, j, (G, g))
    for k in range(K):
        _weigh_step(horizon, weights[5], k, (G, g))
    H1 = np.dot(G.T, G)
    f1 = np.dot(G.T, g)
    for j in range(N):
        H1[N + j, N + j] += weights[1] * blocks[j, 0]
    H1[n1 - 1, n1 - 1] += weights[7]
    H1[n1 - 2, n1 - 2] += weights[7]
    for i in range(2):
        H[i * n1 : (i + 1) * n1, i * n1 : (i + 1) * n1] = H1
        f[i * n1 : (i + 1) * n1] = f1[:, i]
        f[i * n1 + n1 - 2] += weights[6]
        f[i * n1 + n1 - 1] += weights[6]
    return 0.5 * float(np.sum(g * g))


def _weigh_pressure(horizon: Horizon, weight: float, j: int, out: tuple[Matrix, Matrix]) -> None:
    """Write the row of the centre of pressure of a block from the middle of what stands."""
    blocks, kinds, feet = horizon.blocks, horizon.kinds, horizon.feet
    G, g = out
    N, share = len(blocks), blocks[j, 3]
    w = math.sqrt(weight * blocks[j, 0])
    G[j, j], G[j, N + j] = w, w
    for i in range(2):
        g[j, i] = w * blocks[j, 4 + i]
    for foot, part in ((kinds[j, 1], 1.0 - share), (kinds[j, 2], share)):
        if foot >= 2:
            G[j, 2 * N + foot - 2] -= w * part
        else:
            for i in range(2):
                g[j, i] -= w * part * feet[foot, i]


def _weigh_momentum(horizon: Horizon, weight: float, j: int, out: tuple[Matrix, Matrix]) -> None:
    """Write the row of angular momentum beyond that of swinging legs, over the weight, after a block."""
    blocks, start = horizon.blocks, horizon.start
    G, g = out
    N = len(blocks)
    w = math.sqrt(weight * blocks[j, 0])
    for k in range(j + 1):
        G[N + j, N + k] = w * blocks[k, 0] * blocks[k, 2]
    for i in range(2):
        g[N + j, i] = w * start[3, i]


def _weigh_motion(
    horizon: Horizon,
    weights: tuple[float, float],
    moves: tuple[Matrix, Matrix, Matrix],
    j: int,
    out: tuple[Matrix, Matrix],
) -> None:
    """Write the rows of the velocity after a block, and of the change of the CMP before it."""
    start, (_, V, free), (G, g) = horizon.start, moves, out
    N = len(horizon.blocks)
    r, w = 2 * N + j, math.sqrt(weights[0] * horizon.blocks[j, 0])
    for k in range(N):
        G[r, k] = w * V[j + 1, k]
    for i in range(2):
        v = free[j + 1, 2] * start[0, i] + free[j + 1, 3] * start[1, i]
        g[r, i] = w * (v - horizon.velocity[j, i])
    r, w = 3 * N + j, math.sqrt(weights[1])
    G[r, j] = w
    if j > 0:
        G[r, j - 1] = -w
    else:
        for i in range(2):
            g[r, i] = -w * start[2, i]


def _weigh_step(horizon: Horizon, weight: float, k: int, out: tuple[Matrix, Matrix]) -> None:
    """Write the row of a footstep from its nominal place relative to the other foot."""
    (G, g), N = out, len(horizon.blocks)
    r, a, w = 4 * N + k, horizon.stance[k], math.sqrt(weight)
    G[r, 2 * N + k] = w
    if a >= 2:
        G[r, 2 * N + a - 2] -= w
    for i in range(2):
        g[r, i] = -w * horizon.steps[k, i] - (w * horizon.feet[a, i] if a < 2 else 0.0)


def fill_rows(
    horizon: Horizon,
    limits: tuple[float, float, float],
    moves: tuple[Matrix, Matrix, Matrix],
    out: tuple[Matrix, Vector, Vector],
) -> int:
    """Write the rows; the first two are equations.  Return how many there are.

    Args:
        horizon: What is planned.
        limits: Largest offset of the CMP [m], largest slope of the force of contact [-] and height of the centre of mass [m].
        moves: P, V and free of ``predict``.
        out: A (m, 2 n1), lower and upper (m,); overwritten.
    """
    blocks, feet, start = horizon.blocks, horizon.feet, horizon.start
    P, V, free = moves
    A, low, high = out
    N, K = len(blocks), len(horizon.steps)
    n1 = 2 * N + K + 2
    A[:] = 0.0
    w = math.sqrt(blocks[N - 1, 1])
    for i in range(2):  # terminal constraint
        o = i * n1
        for k in range(N):
            A[i, o + k] = P[N, k] + V[N, k] / w
        A[i, o + n1 - 2], A[i, o + n1 - 1] = 1.0, -1.0
        b = horizon.terminal[i]
        b -= (free[N, 0] + free[N, 2] / w) * start[0, i] + (free[N, 1] + free[N, 3] / w) * start[
            1, i
        ]
        if K > 0:
            A[i, o + n1 - 3] = -1.0
        else:
            b += 0.5 * (feet[0, i] + feet[1, i])
        low[i] = high[i] = b
    r = 2
    for j in range(N):
        r = _hold_pressure(horizon, j, r, out)
    for j in range(N):
        for i in range(2):
            o = i * n1
            A[r, o + N + j], low[r], high[r] = 1.0, -limits[0], limits[0]
            r += 1
            for k in range(j):
                A[r, o + k] = P[j, k]
            A[r, o + j] -= 1.0
            c = free[j, 0] * start[0, i] + free[j, 1] * start[1, i]
            low[r], high[r] = -limits[1] * limits[2] - c, limits[1] * limits[2] - c
            r += 1
    for k in range(K):
        r = _bound_step(horizon, k, r, out)
    for i in range(2):
        for s in range(2):
            A[r, i * n1 + n1 - 2 + s], low[r], high[r] = 1.0, 0.0, math.inf
            r += 1
    return r


def _bound_step(horizon: Horizon, k: int, r: int, out: tuple[Matrix, Vector, Vector]) -> int:
    """Write the rows that bound the way of a footstep from the other foot; return the next row."""
    feet, (A, low, high) = horizon.feet, out
    N, a = len(horizon.blocks), horizon.stance[k]
    n1 = 2 * N + len(horizon.steps) + 2
    for i in range(2):
        x, y = (feet[a, 2], feet[a, 3]) if i == 0 else (-feet[a, 3], feet[a, 2])
        A[r, 2 * N + k], A[r, n1 + 2 * N + k] = x, y
        c = 0.0
        if a >= 2:
            A[r, 2 * N + a - 2], A[r, n1 + 2 * N + a - 2] = -x, -y
        else:
            c = x * feet[a, 0] + y * feet[a, 1]
        low[r], high[r] = horizon.steps[k, 2 + 2 * i] + c, horizon.steps[k, 3 + 2 * i] + c
        r += 1
    return r


def _hold_pressure(horizon: Horizon, j: int, r: int, out: tuple[Matrix, Vector, Vector]) -> int:
    """Write the rows that keep the centre of pressure of a block inside what stands; return the next row."""
    blocks, kinds, feet, hull = horizon.blocks, horizon.kinds, horizon.feet, horizon.hull
    A, low, high = out
    N, K = len(blocks), len(horizon.steps)
    n1 = 2 * N + K + 2
    ex, ey = blocks[j, 4], blocks[j, 5]
    if kinds[j, 0] == HULL:
        for k in range(len(hull)):
            x, y = hull[k, 0], hull[k, 1]
            A[r, j], A[r, N + j], A[r, n1 + j], A[r, n1 + N + j] = x, x, y, y
            low[r], high[r] = -math.inf, hull[k, 2] - x * ex - y * ey
            r += 1
        return r
    a, b, share = kinds[j, 1], kinds[j, 2], blocks[j, 3]
    main = b if kinds[j, 0] == BLEND else a
    for i in range(2):
        x, y = (feet[main, 2], feet[main, 3]) if i == 0 else (-feet[main, 3], feet[main, 2])
        A[r, j], A[r, N + j], A[r, n1 + j], A[r, n1 + N + j] = x, x, y, y
        c = -x * ex - y * ey
        for foot, part in ((a, 1.0 - share), (b, share)):
            if foot >= 2:
                A[r, 2 * N + foot - 2] -= part * x
                A[r, n1 + 2 * N + foot - 2] -= part * y
            else:
                c += part * (x * feet[foot, 0] + y * feet[foot, 1])
        size = feet[main, 4 + i]
        low[r], high[r] = c - size, c + size
        r += 1
    return r


def follow_path(blocks: Matrix, cmp: Matrix, start: Matrix, time: float, out: Matrix) -> int:
    """Write place, velocity and acceleration of the centre of mass at a time of a plan; return its block.

    Args:
        blocks: (N, 6) blocks.
        cmp: (N, 2) CMP of each [m].
        start: (2, 2) place and velocity at the start.
        time: Time since then [s].
        out: (3, 2) overwritten.
    """
    x, y, u, v, left = start[0, 0], start[0, 1], start[1, 0], start[1, 1], time
    j = 0
    for j in range(len(blocks)):
        last = j == len(blocks) - 1 or left <= blocks[j, 0]
        d = left if last else blocks[j, 0]
        w = math.sqrt(blocks[j, 1])
        c, s = math.cosh(w * d), math.sinh(w * d)
        p, q = cmp[j, 0], cmp[j, 1]
        x, u = p + c * (x - p) + s / w * u, w * s * (x - p) + c * u
        y, v = q + c * (y - q) + s / w * v, w * s * (y - q) + c * v
        left -= d
        if last:
            break
    out[0, 0], out[0, 1], out[1, 0], out[1, 1] = x, y, u, v
    out[2, 0], out[2, 1] = blocks[j, 1] * (x - cmp[j, 0]), blocks[j, 1] * (y - cmp[j, 1])
    return j
