# SPDX-License-Identifier: Apache-2.0
"""Euler-Lagrange equations in absolute angles: M q'' + C q' + g + A tau_f = A tau + J' lam [BP, eq. 2, 3, 6]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.papers.biped.body import BipedBody
from humanoid_dynamics.papers.biped.chain import (
    ChainMotion,
    build_com_offsets,
    build_tip_offsets,
    compute_links,
    link_masses,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.records import Sealed

TORQUE_MAP = read_only(np.eye(6) - np.eye(6, k=1))
"""A: the torque of a joint acts on the link farther from the base and, reversed, on the one before; det A = 1."""


@dataclass(frozen=True, eq=False)
class LagrangeTerms(Sealed):
    """The equations at one instant.

    Attributes:
        M: (6, 6) mass matrix, symmetric and positive definite [kg·m²].
        C: (6, 6) matrix of centrifugal torques from Christoffel symbols: dM/dt - 2C is skew [kg·m²/s].
        g: (6,) gravity [N·m].
        left: (6,) M q'' + C q' + g + A tau_f [N·m].
    """

    M: Matrix
    C: Matrix
    g: Vector
    left: Vector


@dataclass(frozen=True, eq=False)
class TipConstraint(Sealed):
    """The heel or toe of the moving foot, held by the ground [BP, eq. 7-9].

    Attributes:
        p: (2,) its position relative to the ankle of the base [m].
        J: (2, 6) its Jacobian [m].
        J_rate: (2, 6) derivative of the Jacobian by time [m/s].
        drift: (2,) J_rate q' [m/s²].
    """

    p: Vector
    J: Matrix
    J_rate: Matrix
    drift: Vector


def build_mass_matrix(body: BipedBody, q: Vector) -> Matrix:
    """Build M, the sum of m_k J_k' J_k and the moments of inertia (property 1).

    Args:
        body: The biped.
        q: (6,) absolute angles [rad].

    Returns:
        (6, 6) mass matrix [kg·m²].
    """
    m, moments = link_masses(body)
    _, J = compute_links(q, build_com_offsets(body))
    return np.asarray(np.einsum("k,kix,kjx->ij", m, J, J) + np.diag(moments))


def build_coriolis_matrix(body: BipedBody, q: Vector, dq: Vector) -> Matrix:
    """Build C by Christoffel symbols, in absolute angles C_ij = sum of m_k J_ki' (-R(q_j) a_kj) q'_j (property 2).

    Args:
        body: The biped.
        q: (6,) absolute angles [rad].
        dq: (6,) their rates [rad/s].

    Returns:
        (6, 6) matrix [kg·m²/s].
    """
    m, _ = link_masses(body)
    along, J = compute_links(q, build_com_offsets(body))
    return -np.asarray(np.einsum("k,kix,kjx->ij", m, J, along) * dq)


def build_gravity_vector(body: BipedBody, q: Vector) -> Vector:
    """Build g, the derivative of the potential energy.

    Args:
        body: The biped.
        q: (6,) absolute angles [rad].

    Returns:
        (6,) torques [N·m].
    """
    m, _ = link_masses(body)
    _, J = compute_links(q, build_com_offsets(body))
    return np.asarray(body.gravity * np.einsum("k,ki->i", m, J[..., 1]))


def compute_energy(body: BipedBody, q: Vector, dq: Vector) -> tuple[float, float]:
    """Return kinetic and potential energy, height counted from the ankle of the base [J].

    Args:
        body: The biped.
        q: (6,) absolute angles [rad].
        dq: (6,) their rates [rad/s].
    """
    m, _ = link_masses(body)
    along, _ = compute_links(q, build_com_offsets(body))
    return float(0.5 * dq @ build_mass_matrix(body, q) @ dq), float(
        body.gravity * m @ along[..., 1].sum(axis=1)
    )


def build_terms(body: BipedBody, chain: ChainMotion, tau_f: Vector | None = None) -> LagrangeTerms:
    """Build all terms of the equations of motion.

    Args:
        body: The biped.
        chain: Its motion seen from the base.
        tau_f: (6,) friction of the joints, chain order and sign [N·m]; none where None.

    Returns:
        The terms.
    """
    M, C, g = (
        build_mass_matrix(body, chain.q),
        build_coriolis_matrix(body, chain.q, chain.dq),
        build_gravity_vector(body, chain.q),
    )
    left = M @ chain.ddq + C @ chain.dq + g
    return LagrangeTerms(M, C, g, left if tau_f is None else left + TORQUE_MAP @ tau_f)


def build_tip_constraint(body: BipedBody, chain: ChainMotion, tip: str) -> TipConstraint:
    """Build the constraint of the heel or toe that touches the ground.

    Args:
        body: The biped.
        chain: Its motion seen from the base.
        tip: ``heel`` or ``toe`` of the moving foot.

    Returns:
        Position, Jacobian and drift.
    """
    along, across = compute_links(chain.q, build_tip_offsets(body, tip))
    J_rate = -(along * chain.dq[:, None]).T
    return TipConstraint(along.sum(axis=0), across.T, J_rate, J_rate @ chain.dq)


def compute_joint_rates(dq: Vector) -> Vector:
    """Return the rates of the joints from those of the links, A' q' (6,) [rad/s].

    Args:
        dq: (6,) rates of the links [rad/s].
    """
    return np.asarray(TORQUE_MAP.T @ dq)


def solve_open_chain(terms: LagrangeTerms, outside: Vector | None = None) -> Vector:
    """Return the torques of a chain whose contacts are known, A^-1 (left - outside): in single support there are no others.

    Args:
        terms: The equations.
        outside: (6,) J' lam of the moving foot [N·m]; nothing where None.

    Returns:
        (6,) torques, chain order and sign [N·m].
    """
    load = terms.left if outside is None else terms.left - outside
    return np.asarray(np.cumsum(load[::-1])[::-1])
