# SPDX-License-Identifier: Apache-2.0
"""Lagrange's equations with multipliers, the paper's first comparator: n + 2 coordinates (theta_1..n, x, y), n constraints, O(n³).

The unconstrained chain gives M q_ddot + B = Q [SN, eqs. 22-25], the wheels give A q_dot = 0, and both together

    [[M, A'], [A, 0]] [q_ddot; mu] = [Q - B; -A_dot q_dot]

Equation (27) as printed has no B, mixes signs, and uses A both as n x (n+2) and as its transpose.  The force of wheel i on the chain is
-mu_i along the left normal of its link.  Runs interpreted, compiled, and on counting numbers, in any precision.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.papers.snake.kane import Links, link_speeds, shape_cosines, state_rates
from humanoid_dynamics.papers.snake.triangular import solve_symmetric
from humanoid_dynamics.papers.snake.unfolded import Numbers


def lever_arms(h: Numbers) -> Numbers:
    """b, (n, n): the centre of link k is that of link 1 plus the sum of b_kj e_j; constants of the chain, made by copies and doubling."""
    n = h.size
    b = np.zeros((n, n), h.dtype)
    for k in range(1, n):
        b[k, 0] = h[0]
        b[k, k] = h[k]
        for j in range(1, k):
            b[k, j] = h[j] + h[j]
    return b


def inertia_matrix(c: Numbers, s: Numbers, m: Numbers, inertia: Numbers, b: Numbers) -> Numbers:
    """M, (n+2, n+2), equation (25), the sum over all links written out."""
    n = m.size
    M = np.zeros((n + 2, n + 2), m.dtype)
    for i in range(n):
        moment = M[i, n]
        for k in range(i, n):
            moment = moment + m[k] * b[k, i]
        M[i, n] = M[n, i] = -moment * s[i]
        M[i, n + 1] = M[n + 1, i] = moment * c[i]
        for j in range(i + 1):
            total = M[i, j]
            for k in range(i, n):
                total = total + m[k] * b[k, i] * b[k, j]
            M[i, j] = M[j, i] = total * (c[i] * c[j] + s[i] * s[j])
        M[i, i] = M[i, i] + inertia[i]
    mass = m[0]
    for k in range(1, n):
        mass = mass + m[k]
    M[n, n] = M[n + 1, n + 1] = mass
    return M


def bias_vector(c: Numbers, s: Numbers, w: Numbers, m: Numbers, h: Numbers) -> Numbers:
    """B, (n+2,): accelerate the chain with q_ddot = 0 from link 1 on, sum the forces from the end back [SN, sec. IV]."""
    n = m.size
    a_x, a_y, B = np.zeros(n, m.dtype), np.zeros(n, m.dtype), np.zeros(n + 2, m.dtype)
    for k in range(n - 1):
        near, far = h[k] * w[k] * w[k], h[k + 1] * w[k + 1] * w[k + 1]
        a_x[k + 1] = a_x[k] - near * c[k] - far * c[k + 1]
        a_y[k + 1] = a_y[k] - near * s[k] - far * s[k + 1]
    f_x, f_y = B[n], B[n + 1]
    for k in range(n - 1, 0, -1):
        g_x, g_y = f_x + m[k] * a_x[k], f_y + m[k] * a_y[k]
        B[k] = h[k] * (c[k] * (f_y + g_y) - s[k] * (f_x + g_x))
        f_x, f_y = g_x, g_y
    B[0] = h[0] * (c[0] * f_y - s[0] * f_x)
    B[n], B[n + 1] = f_x, f_y
    return B


def wheel_rows(c: Numbers, s: Numbers, b: Numbers) -> Numbers:
    """A, (n, n+2): the velocity of each centre along the left normal of its link."""
    n = c.size
    A = np.zeros((n, n + 2), b.dtype)
    for i in range(n):
        for j in range(i):
            A[i, j] = (c[i] * c[j] + s[i] * s[j]) * b[i, j]
        A[i, i] = b[i, i]
        A[i, n] = -s[i]
        A[i, n + 1] = c[i]
    return A


def wheel_row_rates(c: Numbers, s: Numbers, w: Numbers, b: Numbers) -> Numbers:
    """Time derivative of A, (n, n+2)."""
    n = c.size
    A_dot = np.zeros((n, n + 2), b.dtype)
    for i in range(n):
        for j in range(i):
            A_dot[i, j] = (c[i] * s[j] - s[i] * c[j]) * (w[i] - w[j]) * b[i, j]
        A_dot[i, n] = -c[i] * w[i]
        A_dot[i, n + 1] = -s[i] * w[i]
    return A_dot


def saddle_system(
    M: Numbers, A: Numbers, rest: Numbers, A_dot: Numbers, q_dot: Numbers
) -> tuple[Numbers, Numbers]:
    """The matrix and the right-hand side of the equations of motion and of the wheels together."""
    k, nv = A.shape
    K, right = np.zeros((nv + k, nv + k), M.dtype), np.zeros(nv + k, M.dtype)
    K[:nv, :nv] = M
    K[nv:, :nv] = A
    right[:nv] = rest
    for i in range(k):
        for j in range(nv):
            K[j, nv + i] = A[i, j]
            right[nv + i] = right[nv + i] - A_dot[i, j] * q_dot[j]
    return K, right


def allowed_rates(theta: Numbers, u: Numbers, w: Numbers) -> Numbers:
    """q_dot, (n+2,), from the generalized speeds and the angular velocities they imply."""
    n = w.size
    q_dot = np.empty(n + 2, w.dtype)
    q_dot[:n] = w
    q_dot[n], q_dot[n + 1] = u[0] * np.cos(theta[0]), u[0] * np.sin(theta[0])
    return q_dot


def accelerations(theta: Numbers, q_dot: Numbers, torques: Numbers, links: Links) -> Numbers:
    """q_ddot and multipliers, (2n+2,), of a snake moving with any q_dot, allowed by the wheels or not."""
    m, inertia, h = links
    n = m.size
    c, s, b = np.cos(theta), np.sin(theta), lever_arms(h)
    rest = -bias_vector(c, s, q_dot[:n], m, h)
    rest[1:n] += torques
    rest[: n - 1] -= torques
    K, right = saddle_system(
        inertia_matrix(c, s, m, inertia, b),
        wheel_rows(c, s, b),
        rest,
        wheel_row_rates(c, s, q_dot[:n], b),
        q_dot,
    )
    return solve_symmetric(K, right)


def forward(theta: Numbers, u: Numbers, torques: Numbers, links: Links) -> Numbers:
    """Rates of (theta, x, y, u) under joint torques, for a state the wheels allow."""
    C, S = shape_cosines(theta)
    w = link_speeds(C, S, links.h, u)[1]
    q_ddot = accelerations(theta, allowed_rates(theta, u, w), torques, links)
    n = w.size
    u_dot_1 = np.cos(theta[0]) * q_ddot[n] + np.sin(theta[0]) * q_ddot[n + 1]
    return state_rates(theta, u, (u_dot_1, q_ddot[0], w))
