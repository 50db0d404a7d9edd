# SPDX-License-Identifier: Apache-2.0
"""The O(n) form of the equations: the chain unfolded, the bias matrix never built.

The recursion of the paper [SN, eqs. 6-7] maps (V_i, h_i w_i) to (V_i+1, h_i+1 w_i+1) by the reflection [[C, S], [S, -C]].  Mirror every
second link and the reflections become rotations, which add up:

    (V_i, s_i h_i w_i) = R(A_i) (u_1, h_1 u_2),    s_i = (-1)^(i-1),    A_1 = 0,    A_i+1 = A_i - s_i phi_i

so V_i^2 + (h_i w_i)^2 is the same for every link, no shape is singular, and every partial derivative is a component of R(A_i).  With
J_i = I_i / h_i^2, d_i = J_i - m_i, c_i = cos A_i, z_i = sin A_i, and a_i the rate of A_i, equation (8) is, in the
coordinates (u_1, w = h_1 u_2),

    M = [[sum m + P, R], [R, sum J - P]],           P = sum d z^2,  R = sum d c z
    N w = (u_1 X - w Y, u_1 Z - w X),               X = sum a d c z,  Y = sum a (m + d z^2),  Z = sum a (J - d z^2)
    F = sum_i s_i (T_i-1 - T_i) / h_i (z_i, c_i)

Everything below is written once: the same lines run interpreted in any precision, compiled by numba, and, behind the cosines, on counting
numbers.  Up to ``forward`` they hold no literal numbers, which would widen single precision; none checks its arguments.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from humanoid_dynamics.papers.snake.passes import add_up, press, turn, weigh
from humanoid_dynamics.spatial.arrays import Matrix, Vector

Numbers: TypeAlias = Any
"""An array or a scalar of float64, float32 or counting numbers: kernels do not care."""

LOST = 1e-6
"""Ratio of the two singular values of the torque map below which the weaker direction counts as lost."""


class ChainRows(NamedTuple):
    """Names of the rows of the first table, constants of links 2..n.

    Attributes:
        mirror: (n-1,) sign with which joint angle i enters A_i+1, -s_i [-].
        lever: (n-1,) s_i / h_i [1/m].
        mass: (n-1,) m_i [kg].
        scaled: (n-1,) J_i [kg].
        excess: (n-1,) d_i [kg].
    """

    mirror: Vector
    lever: Vector
    mass: Vector
    scaled: Vector
    excess: Vector


class ChainSums(NamedTuple):
    """Names of the entries of the second table, constants of the whole chain.

    Attributes:
        mass: Sum of all m_i [kg].
        scaled: Sum of all J_i [kg].
        half_length: h_1 [m].
        first_lever: 1 / h_1 [1/m].
    """

    mass: float
    scaled: float
    half_length: float
    first_lever: float


def build_tables(masses: Vector, inertias: Vector, half_lengths: Vector) -> tuple[Matrix, Vector]:
    """Return the constants of a snake as two arrays, which enter compiled code faster than a record.

    Args:
        masses: (n,) [kg].
        inertias: (n,) about the centres of mass [kg·m²].
        half_lengths: (n,) [m].

    Returns:
        (5, n-1) the rows of ``ChainRows`` and (4,) the entries of ``ChainSums``.
    """
    scaled = inertias / half_lengths**2
    sign = np.where(np.arange(masses.size) % 2 == 0, 1.0, -1.0)
    rows = ChainRows(
        -sign[:-1], sign[1:] / half_lengths[1:], masses[1:], scaled[1:], (scaled - masses)[1:]
    )
    return np.array(rows), np.array(
        ChainSums(masses.sum(), scaled.sum(), half_lengths[0], 1.0 / half_lengths[0])
    )


def unfold(theta: Numbers, mirror: Numbers) -> tuple[Numbers, Numbers]:
    """Cosine and sine of A_i of links 2..n."""
    return turn(add_up(mirror, theta))


def link_rates(c: Numbers, z: Numbers, v: Numbers, w: Numbers, lever: Numbers) -> Numbers:
    """Angular velocities of links 2..n, equations (6)-(7) in closed form, v = u_1, w = h_1 u_2."""
    return lever * (z * v + c * w)


def angle_rates(omega: Numbers, mirror: Numbers) -> Numbers:
    """Rates a_i of A_i of links 2..n, from the angular velocities of all links; that of link 1 is zero."""
    return add_up(mirror, omega)


def equation_terms(
    c: Numbers,
    z: Numbers,
    u: Numbers,
    torques: Numbers,
    tables: tuple[Numbers, Numbers],
    omega: Numbers,
) -> tuple[Numbers, ...]:
    """M_11, M_12, M_22, N w and F of equation (8) in the coordinates (u_1, w), from the cosines and sines of A_i.

    Fills in the angular velocities of all links.
    """
    rows, sums = tables
    mirror, lever = rows[0], rows[1]
    mass_sum, scaled_sum, half_length, first_lever = sums[0], sums[1], sums[2], sums[3]
    v, w = u[0], half_length * u[1]
    omega[0] = u[1]
    omega[1:] = link_rates(c, z, v, w, lever)
    P, R, X, Y, Z = weigh(c, z, angle_rates(omega, mirror), rows)
    F_1, F_2 = press(c, z, torques, lever, first_lever)
    return mass_sum + P, R, scaled_sum - P, v * X - w * Y, v * Z - w * X, F_1, F_2


def solve_two(
    M_11: Numbers, M_12: Numbers, M_22: Numbers, b_1: Numbers, b_2: Numbers
) -> tuple[Numbers, Numbers]:
    """Solve the symmetric 2 x 2 system by elimination; M_11 is positive in every shape."""
    factor = M_12 / M_11
    x_2 = (b_2 - factor * b_1) / (M_22 - factor * M_12)
    return (b_1 - M_12 * x_2) / M_11, x_2


def accelerate(
    c: Numbers,
    z: Numbers,
    u: Numbers,
    torques: Numbers,
    tables: tuple[Numbers, Numbers],
    omega: Numbers,
) -> tuple[Numbers, Numbers]:
    """u_dot_1 and u_dot_2, equation (8) solved; fills in the angular velocities of all links."""
    M_11, M_12, M_22, n_1, n_2, F_1, F_2 = equation_terms(c, z, u, torques, tables, omega)
    x_1, x_2 = solve_two(M_11, M_12, M_22, F_1 - n_1, F_2 - n_2)
    return x_1, tables[1][3] * x_2


def write_rates(rates: Numbers, theta: Numbers, u: Numbers, u_dot: tuple[Numbers, Numbers]) -> None:
    """Write the last four rates, of x, y and u, behind the angular velocities.

    What is not finite anywhere makes the last number not finite: to it is added what is zero, or no number where another rate is none.
    """
    n = theta.size
    x_dot, y_dot = u[0] * np.cos(theta[0]), u[0] * np.sin(theta[0])
    rates[n], rates[n + 1] = x_dot, y_dot
    rates[n + 2], rates[n + 3] = u_dot[0], u_dot[1] + ((x_dot - x_dot) + (u_dot[0] - u_dot[0]))


def forward(theta: Numbers, u: Numbers, torques: Numbers, rows: Numbers, sums: Numbers) -> Numbers:
    """Rates of (theta, x, y, u), (n+4,), under joint torques, in the order integrators hold the state."""
    n = theta.size
    rates = np.empty(n + 4, theta.dtype)
    c, z = unfold(theta, rows[0])
    write_rates(rates, theta, u, accelerate(c, z, u, torques, (rows, sums), rates[:n]))
    return rates


def torque_map(c: Numbers, z: Numbers, tables: tuple[Numbers, Numbers]) -> tuple[Numbers, Numbers]:
    """Rows of F as a linear map of the torques, (n-1,) each: rates of the joint angles for unit speeds."""
    rows, sums = tables
    first, second = np.zeros(c.size + 1, c.dtype), np.empty(c.size + 1, c.dtype)
    first[1:], second[1:] = rows[1] * z, rows[1] * c
    second[0] = sums[3]
    return first[1:] - first[:-1], second[1:] - second[:-1]


def divide_within_rank(p: Numbers, square: Numbers, largest: Numbers, damping: Numbers) -> Numbers:
    """Force over the square of a singular value, damped; nothing in a direction that is lost."""
    return p / (square + damping * damping) if square > LOST * LOST * largest else p * 0.0


def invert(
    theta: Numbers, u: Numbers, u_dot: Numbers, tables: tuple[Numbers, Numbers], damping: Numbers
) -> Numbers:
    """Torques of least norm for wanted rates of u (n-1,), then the force they do not give (2,), then what was wanted [N], then the rank.

    The two rows of the torque map are turned until they are orthogonal (Jacobi): then each gives its own part of the force.
    """
    n = theta.size
    c, z = unfold(theta, tables[0][0])
    M_11, M_12, M_22, n_1, n_2, _, _ = equation_terms(c, z, u, np.zeros(n - 1), tables, np.empty(n))
    x_1, x_2 = u_dot[0], tables[1][2] * u_dot[1]
    f_1, f_2 = M_11 * x_1 + M_12 * x_2 + n_1, M_12 * x_1 + M_22 * x_2 + n_2
    G_1, G_2 = torque_map(c, z, tables)
    H_1, H_2, p_1, p_2 = G_1, G_2, f_1, f_2
    for _ in range(2):  # the second turn takes away what rounding left of the first
        turned = 0.5 * np.arctan2(2.0 * np.dot(H_1, H_2), np.dot(H_1, H_1) - np.dot(H_2, H_2))
        C, S = np.cos(turned), np.sin(turned)
        H_1, H_2, p_1, p_2 = (
            C * H_1 + S * H_2,
            C * H_2 - S * H_1,
            C * p_1 + S * p_2,
            C * p_2 - S * p_1,
        )
    large, small = np.dot(H_1, H_1), np.dot(H_2, H_2)
    answer = np.empty(n + 3)
    answer[: n - 1] = (
        divide_within_rank(p_1, large, large, damping) * H_1
        + divide_within_rank(p_2, small, large, damping) * H_2
    )
    answer[n - 1] = f_1 - np.dot(G_1, answer[: n - 1])
    answer[n] = f_2 - np.dot(G_2, answer[: n - 1])
    answer[n + 1] = np.hypot(f_1, f_2)
    answer[n + 2] = int(large > 0.0) + int(small > LOST * LOST * large)
    return answer
