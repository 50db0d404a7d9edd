"""The O(n) form of the equations: the chain unfolded, the bias matrix never built.

The recursion of the paper [SN, eqs. 6-7] maps (V_i, h_i w_i) to (V_i+1, h_i+1 w_i+1) by the reflection [[C, S], [S, -C]].  Mirror every
second link and the reflections become rotations, which add up:

    (V_i, s_i h_i w_i) = R(A_i) (u_1, h_1 u_2),    s_i = (-1)^(i-1),    A_1 = 0,    A_i+1 = A_i - s_i phi_i

so V_i^2 + (h_i w_i)^2 is the same for every link, no shape is singular, and every partial derivative is a component of R(A_i).  With
J_i = I_i / h_i^2, d_i = J_i - m_i, c_i = cos A_i, z_i = sin A_i, p_i = d_i z_i^2, r_i = d_i c_i z_i, and a_i the rate of A_i, equation (8)
in the coordinates (u_1, w = h_1 u_2) is

    M = [[sum m + sum p, sum r], [sum r, sum J - sum p]]
    N w = (u_1 X - w Y, u_1 Z - w X),   X = sum a r,   Y = sum a (m + p),   Z = sum a (J - p)
    F = sum_i s_i (T_i-1 - T_i) / h_i (z_i, c_i)

Everything below is written once, in the language of arrays: the same lines run in numpy in any precision, compiled by numba, and on arrays
of counting numbers.  They hold no literal numbers, which would widen single precision, and no check.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from humanoid_dynamics.spatial.arrays import Vector, read_only

Numbers: TypeAlias = Any
"""An array or a scalar of float64, float32 or counting numbers: kernels do not care."""


class UnfoldedChain(NamedTuple):
    """Constants of a snake as the O(n) equations read them; link 1 is the reference and has its own entries.

    Attributes:
        mirror: (n-1,) sign with which joint angle i enters A_i+1, -s_i [-].
        lever: (n-1,) s_i / h_i of links 2..n [1/m].
        mass: (n-1,) masses of links 2..n [kg].
        excess: (n-1,) J_i - m_i of links 2..n [kg].
        total: (n-1,) J_i + m_i of links 2..n [kg].
        mass_sum: Sum of all masses [kg].
        inertia_sum: Sum of all J_i [kg].
        half_length: h_1 [m].
        first_lever: 1 / h_1 [1/m].
    """

    mirror: Numbers
    lever: Numbers
    mass: Numbers
    excess: Numbers
    total: Numbers
    mass_sum: Numbers
    inertia_sum: Numbers
    half_length: Numbers
    first_lever: Numbers


def build_unfolded_chain(masses: Vector, inertias: Vector, half_lengths: Vector) -> UnfoldedChain:
    """Return the constants of a snake.

    Args:
        masses: (n,) [kg].
        inertias: (n,) about the centres of mass [kg·m²].
        half_lengths: (n,) [m].

    Returns:
        The constants, arrays read-only.
    """
    scaled = inertias / half_lengths**2
    sign = np.where(np.arange(masses.size) % 2 == 0, 1.0, -1.0)
    return UnfoldedChain(
        mirror=read_only(-sign[:-1]),
        lever=read_only(sign[1:] / half_lengths[1:]),
        mass=read_only(masses[1:]),
        excess=read_only((scaled - masses)[1:]),
        total=read_only((scaled + masses)[1:]),
        mass_sum=masses.sum(),
        inertia_sum=scaled.sum(),
        half_length=half_lengths[0],
        first_lever=1.0 / half_lengths[0],
    )


def turn(angle: Numbers) -> tuple[Numbers, Numbers]:
    """Cosine and sine; compiled, one pass makes both (see ``compiled.py``)."""
    return np.cos(angle), np.sin(angle)


def unfold(theta: Numbers, chain: UnfoldedChain) -> tuple[Numbers, Numbers]:
    """Cosine and sine of A_i of links 2..n."""
    return turn(np.cumsum(chain.mirror * (theta[1:] - theta[:-1])))


def link_rates(c: Numbers, z: Numbers, u: Numbers, theta: Numbers, chain: UnfoldedChain) -> Numbers:
    """Angular velocities of all links, equations (6)-(7) in closed form."""
    omega = np.empty_like(theta)
    omega[0] = u[1]
    omega[1:] = chain.lever * (z * u[0] + c * (chain.half_length * u[1]))
    return omega


def angle_rates(omega: Numbers, chain: UnfoldedChain) -> Numbers:
    """Rates a_i of A_i of links 2..n; that of link 1 is zero."""
    return np.cumsum(chain.mirror * (omega[1:] - omega[:-1]))


def inertia_terms(c: Numbers, z: Numbers, chain: UnfoldedChain) -> tuple[Numbers, Numbers]:
    """p_i and r_i of links 2..n."""
    e = chain.excess * z
    return e * z, e * c


def mass_matrix(p: Numbers, r: Numbers, chain: UnfoldedChain) -> tuple[Numbers, Numbers, Numbers]:
    """M_11, M_12, M_22, equation (9)."""
    P = np.sum(p)
    return chain.mass_sum + P, np.sum(r), chain.inertia_sum - P


def bias_force(p: Numbers, r: Numbers, a: Numbers, u: Numbers, chain: UnfoldedChain) -> tuple[Numbers, Numbers]:
    """N w, without N."""
    w = chain.half_length * u[1]
    X = np.dot(a, r)
    Y = np.dot(a, chain.mass + p)
    Z = np.dot(a, chain.total) - Y
    return u[0] * X - w * Y, u[0] * Z - w * X


def torque_force(c: Numbers, z: Numbers, torques: Numbers, chain: UnfoldedChain) -> tuple[Numbers, Numbers]:
    """F, equation (11).  The sum over one entry is that entry, or nothing for a single link, which has no joint."""
    net = torques.copy()
    net[:-1] -= torques[1:]
    net = chain.lever * net
    return np.dot(z, net), np.dot(c, net) - chain.first_lever * np.sum(torques[:1])


def solve_two(M: tuple[Numbers, Numbers, Numbers], b_1: Numbers, b_2: Numbers) -> tuple[Numbers, Numbers]:
    """Solve the symmetric 2 x 2 system by elimination; M_11 is positive in every shape."""
    factor = M[1] / M[0]
    x_2 = (b_2 - factor * b_1) / (M[2] - factor * M[1])
    return (b_1 - M[1] * x_2) / M[0], x_2


def motion_terms(c: Numbers, z: Numbers, theta: Numbers, u: Numbers, chain: UnfoldedChain) -> tuple[Numbers, Numbers, Numbers]:
    """M as its three entries, N w as its two, and w: the left side of equation (8)."""
    omega = link_rates(c, z, u, theta, chain)
    p, r = inertia_terms(c, z, chain)
    return mass_matrix(p, r, chain), bias_force(p, r, angle_rates(omega, chain), u, chain), omega


def forward(theta: Numbers, u: Numbers, torques: Numbers, chain: UnfoldedChain) -> tuple[Numbers, Numbers, Numbers]:
    """u_dot_1, u_dot_2 and the angular velocities of all links, equation (8) solved."""
    c, z = unfold(theta, chain)
    M, n, omega = motion_terms(c, z, theta, u, chain)
    f_1, f_2 = torque_force(c, z, torques, chain)
    x_1, x_2 = solve_two(M, f_1 - n[0], f_2 - n[1])
    return x_1, chain.first_lever * x_2, omega


PARTS = (unfold, link_rates, angle_rates, inertia_terms, mass_matrix, bias_force, torque_force, solve_two, motion_terms)
"""What ``forward`` calls; the compiler has to know them."""
