# SPDX-License-Identifier: Apache-2.0
"""Newton and Euler link by link, the paper's second comparator: a serial chain x, y, theta_1, phi_1..n-1 after Walker and Orin.

The bias vector comes from one outward and one inward pass with zero joint accelerations, the inertia matrix from composite rigid bodies,
the wheels enter as in ``lagrange.py`` [SN, sec. V].  Vectors are in world axes; joint 1 sits at the centre of link 1, joint i at the near
end of link i.  Runs interpreted, compiled, and on counting numbers, in any precision.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.papers.snake.kane import Links, link_speeds, shape_cosines, state_rates
from humanoid_dynamics.papers.snake.lagrange import allowed_rates, saddle_system
from humanoid_dynamics.papers.snake.triangular import solve_symmetric
from humanoid_dynamics.papers.snake.unfolded import Numbers


def link_vectors(theta: Numbers, h: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Vectors e (n, 2) along the links, r (n, 2) from joint to centre, d (n, 2) from joint to next joint."""
    e, r, d = (
        np.zeros((h.size, 2), h.dtype),
        np.zeros((h.size, 2), h.dtype),
        np.zeros((h.size, 2), h.dtype),
    )
    e[:, 0], e[:, 1] = np.cos(theta), np.sin(theta)
    for i in range(h.size):
        for axis in range(2):
            half = h[i] * e[i, axis]
            d[i, axis] = half
            if i > 0:
                r[i, axis] = half
                d[i, axis] = half + half
    return e, r, d


def composite_inertia(r: Numbers, d: Numbers, m: Numbers, inertia: Numbers) -> Numbers:
    """M, (n+2, n+2): joint k accelerates the composite of links k..n, its force and moment are carried down to joint 1."""
    n = m.size
    M = np.zeros((n + 2, n + 2), m.dtype)
    mass, s_x, s_y, J = M[0, 0], M[0, 0], M[0, 0], M[0, 0]
    for k in range(n - 1, -1, -1):
        J = J + inertia[k] + m[k] * (r[k, 0] * r[k, 0] + r[k, 1] * r[k, 1])
        if k < n - 1:
            carried = d[k, 0] * s_x + d[k, 1] * s_y
            J = J + carried + carried + mass * (d[k, 0] * d[k, 0] + d[k, 1] * d[k, 1])
            s_x, s_y = s_x + mass * d[k, 0], s_y + mass * d[k, 1]
        s_x, s_y = s_x + m[k] * r[k, 0], s_y + m[k] * r[k, 1]
        mass = mass + m[k]
        M[k + 2, 0] = M[0, k + 2] = -s_y
        M[k + 2, 1] = M[1, k + 2] = s_x
        M[k + 2, k + 2] = moment = J
        for j in range(k - 1, -1, -1):
            moment = moment + d[j, 0] * s_x + d[j, 1] * s_y
            M[j + 2, k + 2] = M[k + 2, j + 2] = moment
    M[0, 0] = M[1, 1] = mass
    return M


def bias_forces(r: Numbers, d: Numbers, w: Numbers, m: Numbers) -> Numbers:
    """Forces of the joints, (n+2,), at zero joint accelerations: accelerations outward, forces and moments inward."""
    n = m.size
    a, bias = np.zeros((n, 2), m.dtype), np.zeros(n + 2, m.dtype)
    j_x, j_y = bias[0], bias[1]
    for k in range(n):
        square = w[k] * w[k]
        a[k, 0], a[k, 1] = j_x - square * r[k, 0], j_y - square * r[k, 1]
        j_x, j_y = j_x - square * d[k, 0], j_y - square * d[k, 1]
    f_x, f_y, moment = bias[0], bias[1], bias[2]
    for k in range(n - 1, -1, -1):
        g_x, g_y = m[k] * a[k, 0], m[k] * a[k, 1]
        moment = moment + r[k, 0] * g_y - r[k, 1] * g_x + d[k, 0] * f_y - d[k, 1] * f_x
        f_x, f_y = f_x + g_x, f_y + g_y
        bias[k + 2] = moment
    bias[0], bias[1] = f_x, f_y
    return bias


def wheel_rows(e: Numbers, r: Numbers, d: Numbers) -> Numbers:
    """A, (n, n+2): the velocity of each centre along the left normal of its link."""
    n = e.shape[0]
    A = np.zeros((n, n + 2), e.dtype)
    for i in range(n):
        A[i, 0], A[i, 1] = -e[i, 1], e[i, 0]
        x, y = r[i, 0], r[i, 1]
        for k in range(i, -1, -1):
            A[i, k + 2] = e[i, 0] * x + e[i, 1] * y
            if k > 0:
                x, y = x + d[k - 1, 0], y + d[k - 1, 1]
    return A


def wheel_row_rates(e: Numbers, r: Numbers, d: Numbers, w: Numbers) -> Numbers:
    """Time derivative of A, (n, n+2): the axes of link i turn, and its centre moves away from joint k."""
    n = e.shape[0]
    A_dot = np.zeros((n, n + 2), e.dtype)
    for i in range(n):
        A_dot[i, 0], A_dot[i, 1] = -w[i] * e[i, 0], -w[i] * e[i, 1]
        x, y = r[i, 0], r[i, 1]
        v_x, v_y = -w[i] * y, w[i] * x
        for k in range(i, -1, -1):
            A_dot[i, k + 2] = w[i] * (e[i, 0] * y - e[i, 1] * x) + e[i, 0] * v_x + e[i, 1] * v_y
            if k > 0:
                x, y = x + d[k - 1, 0], y + d[k - 1, 1]
                v_x, v_y = v_x - w[k - 1] * d[k - 1, 1], v_y + w[k - 1] * d[k - 1, 0]
    return A_dot


def accelerations(theta: Numbers, q_dot: Numbers, torques: Numbers, links: Links) -> Numbers:
    """Accelerations of x, y, theta_1, phi_1..n-1 and multipliers, (2n+2,); q_dot as in ``lagrange.py`` is (theta_1..n, x, y)."""
    m, inertia, h = links
    n = m.size
    w = q_dot[:n]
    rates = q_dot.copy()
    rates[0], rates[1], rates[2] = q_dot[n], q_dot[n + 1], w[0]
    rates[3:] = w[1:] - w[:-1]
    e, r, d = link_vectors(theta, h)
    rest = -bias_forces(r, d, w, m)
    rest[3:] += torques
    K, right = saddle_system(
        composite_inertia(r, d, m, inertia),
        wheel_rows(e, r, d),
        rest,
        wheel_row_rates(e, r, d, w),
        rates,
    )
    return solve_symmetric(K, right)


def forward(theta: Numbers, u: Numbers, torques: Numbers, links: Links) -> Numbers:
    """Rates of (theta, x, y, u) under joint torques, for a state the wheels allow."""
    C, S = shape_cosines(theta)
    w = link_speeds(C, S, links.h, u)[1]
    q_ddot = accelerations(theta, allowed_rates(theta, u, w), torques, links)
    u_dot_1 = np.cos(theta[0]) * q_ddot[0] + np.sin(theta[0]) * q_ddot[1]
    return state_rates(theta, u, (u_dot_1, q_ddot[2], w))
