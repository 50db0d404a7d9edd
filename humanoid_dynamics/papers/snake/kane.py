# SPDX-License-Identifier: Apache-2.0
"""The paper's recursion, step by step and equation by equation: O(n²), with the bias matrix N written out.

Kept to be read beside the paper and to be counted; ``unfolded.py`` gives the same accelerations in O(n).  Indices start at 0 here, so that
``V[i]`` is the paper's V_i+1.  Deviations from the print:

* (10) holds for i = 1..2 and j = 1..n, not for 1 <= i, j <= n.
* (21) says that the derivatives of V_i and w_i by q_i vanish.  That is so for link 1 only; (15) and (16) give the others.  Used as printed
  in (17) and (18) it is right for two links and wrong from three on; ``literal=True`` does so, to show it.

The same lines run interpreted, compiled, and on counting numbers, in any precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_dynamics.papers.snake.unfolded import Numbers, solve_two, write_rates


class Links(NamedTuple):
    """Constants of a snake as the paper's equations read them.

    Attributes:
        m: (n,) masses [kg].
        inertia: (n,) about the centres of mass [kg·m²].
        h: (n,) half lengths [m].
    """

    m: Numbers
    inertia: Numbers
    h: Numbers


def shape_cosines(theta: Numbers) -> tuple[Numbers, Numbers]:
    """C_i and S_i, cosine and sine of the joint angles."""
    phi = theta[1:] - theta[:-1]
    return np.cos(phi), np.sin(phi)


def link_speeds(C: Numbers, S: Numbers, h: Numbers, u: Numbers) -> tuple[Numbers, Numbers]:
    """V_i and w_i of all links [SN, eqs. 2, 6, 7]."""
    V, w = np.empty_like(h), np.empty_like(h)
    V[0], w[0] = u[0], u[1]
    for i in range(h.size - 1):
        V[i + 1] = V[i] * C[i] + w[i] * h[i] * S[i]
        w[i + 1] = (V[i] * S[i] - w[i] * h[i] * C[i]) / h[i + 1]
    return V, w


def speed_partials(C: Numbers, S: Numbers, h: Numbers) -> tuple[Numbers, Numbers]:
    """Derivatives of V_k and w_k by u_j, (n, 2) each [SN, eqs. 12-14]."""
    V_u, w_u = np.zeros((h.size, 2), h.dtype), np.zeros((h.size, 2), h.dtype)
    V_u[0, 0] = w_u[0, 1] = 1
    for i in range(h.size - 1):
        for j in range(2):
            V_u[i + 1, j] = V_u[i, j] * C[i] + w_u[i, j] * S[i] * h[i]
            w_u[i + 1, j] = (V_u[i, j] * S[i] - w_u[i, j] * C[i] * h[i]) / h[i + 1]
    return V_u, w_u


def angle_partials(
    C: Numbers, S: Numbers, h: Numbers, speeds: tuple[Numbers, Numbers], literal: bool
) -> tuple[Numbers, Numbers]:
    """Derivatives of V_k and w_k by q_j, (n, n) each, zero for k < j [SN, eqs. 15-20]."""
    n = h.size
    V, w = speeds
    V_q, w_q = np.zeros((n, n), h.dtype), np.zeros((n, n), h.dtype)
    for j in range(1, n):
        V_q[j, j] = -V[j - 1] * S[j - 1] + w[j - 1] * C[j - 1] * h[j - 1]  # (15)
        w_q[j, j] = (V[j - 1] * C[j - 1] + w[j - 1] * S[j - 1] * h[j - 1]) / h[j]  # (16)
    for j in range(n - 1):
        own_V = V[j] * S[j] - w[j] * C[j] * h[j]
        own_w = (-V[j] * C[j] - w[j] * S[j] * h[j]) / h[j + 1]
        if j == 0 or literal:  # (21)
            V_q[j + 1, j], w_q[j + 1, j] = own_V, own_w
        else:
            V_q[j + 1, j] = V_q[j, j] * C[j] + w_q[j, j] * S[j] * h[j] + own_V  # (17)
            w_q[j + 1, j] = (V_q[j, j] * S[j] - w_q[j, j] * C[j] * h[j]) / h[j + 1] + own_w  # (18)
        for i in range(j + 1, n - 1):
            V_q[i + 1, j] = V_q[i, j] * C[i] + w_q[i, j] * S[i] * h[i]  # (19)
            w_q[i + 1, j] = (V_q[i, j] * S[i] - w_q[i, j] * C[i] * h[i]) / h[i + 1]  # (20)
    return V_q, w_q


def weighted_partials(V_u: Numbers, w_u: Numbers, links: Links) -> tuple[Numbers, Numbers]:
    """m_k dV_k/du_i and I_k dw_k/du_i, which [SN, eq. 9] and [SN, eq. 10] share."""
    mV_u, Iw_u = np.empty_like(V_u), np.empty_like(w_u)
    for k in range(links.m.size):
        for i in range(2):
            mV_u[k, i] = links.m[k] * V_u[k, i]
            Iw_u[k, i] = links.inertia[k] * w_u[k, i]
    return mV_u, Iw_u


def mass_matrix(V_u: Numbers, w_u: Numbers, mV_u: Numbers, Iw_u: Numbers) -> Numbers:
    """M, (2, 2) [SN, eq. 9]."""
    M = np.zeros((2, 2), V_u.dtype)
    for i in range(2):
        for j in range(i, 2):
            total = mV_u[0, i] * V_u[0, j] + Iw_u[0, i] * w_u[0, j]
            for k in range(1, V_u.shape[0]):
                total = total + mV_u[k, i] * V_u[k, j] + Iw_u[k, i] * w_u[k, j]
            M[i, j] = M[j, i] = total
    return M


def bias_matrix(V_q: Numbers, w_q: Numbers, mV_u: Numbers, Iw_u: Numbers) -> Numbers:
    """N, (2, n) [SN, eq. 10]; link k depends on the angles of links 1..k alone and link 1 on none."""
    n = V_q.shape[0]
    N = np.zeros((2, n), V_q.dtype)
    for i in range(2):
        for j in range(n):
            first = max(j, 1)
            if first < n:
                total = mV_u[first, i] * V_q[first, j] + Iw_u[first, i] * w_q[first, j]
                for k in range(first + 1, n):
                    total = total + mV_u[k, i] * V_q[k, j] + Iw_u[k, i] * w_q[k, j]
                N[i, j] = total
    return N


def generalized_force(w_u: Numbers, torques: Numbers) -> Numbers:
    """F, (2,) [SN, eq. 11]."""
    F = np.zeros(2, w_u.dtype)
    for i in range(2):
        if torques.size > 0:
            total = torques[0] * (w_u[1, i] - w_u[0, i])
            for k in range(1, torques.size):
                total = total + torques[k] * (w_u[k + 1, i] - w_u[k, i])
            F[i] = total
    return F


def bias_force(N: Numbers, w: Numbers) -> Numbers:
    """N w, (2,)."""
    product = np.zeros(2, w.dtype)
    for i in range(2):
        total = N[i, 0] * w[0]
        for j in range(1, w.size):
            total = total + N[i, j] * w[j]
        product[i] = total
    return product


def equations(
    theta: Numbers, u: Numbers, torques: Numbers, links: Links, literal: bool
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """M, N, F and w of [SN, eq. 8]."""
    C, S = shape_cosines(theta)
    V, w = link_speeds(C, S, links.h, u)
    V_u, w_u = speed_partials(C, S, links.h)
    V_q, w_q = angle_partials(C, S, links.h, (V, w), literal)
    mV_u, Iw_u = weighted_partials(V_u, w_u, links)
    return (
        mass_matrix(V_u, w_u, mV_u, Iw_u),
        bias_matrix(V_q, w_q, mV_u, Iw_u),
        generalized_force(w_u, torques),
        w,
    )


def accelerate(
    theta: Numbers, u: Numbers, torques: Numbers, links: Links, literal: bool
) -> tuple[Numbers, Numbers, Numbers]:
    """u_dot_1, u_dot_2 and the angular velocities of all links, from [SN, eq. 8]."""
    M, N, F, w = equations(theta, u, torques, links, literal)
    n = bias_force(N, w)
    x_1, x_2 = solve_two(M[0, 0], M[0, 1], M[1, 1], F[0] - n[0], F[1] - n[1])
    return x_1, x_2, w


def state_rates(
    theta: Numbers, u: Numbers, acceleration: tuple[Numbers, Numbers, Numbers]
) -> Numbers:
    """Rates of (theta, x, y, u), (n+4,), in the order integrators hold the state, from those of u and the angular velocities."""
    n = theta.size
    rates = np.empty(n + 4, theta.dtype)
    rates[:n] = acceleration[2]
    write_rates(rates, theta, u, (acceleration[0], acceleration[1]))
    return rates


def forward(theta: Numbers, u: Numbers, torques: Numbers, links: Links, literal: bool) -> Numbers:
    """Rates of (theta, x, y, u) under joint torques."""
    return state_rates(theta, u, accelerate(theta, u, torques, links, literal))
