# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler recursion of the planar biped, cut at the hip: two legs that hold one trunk [BP, eq. 48-54].

Wrenches are [f_x, f_y, m] in axes of the world about a named point.  With T1 the wrench of the rear thigh on the trunk and T2 that of the
front thigh, f4* = T1 + T2; every torque and the wrench on the moving foot are linear in T1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.papers.biped.body import BipedBody
from humanoid_dynamics.papers.biped.chain import (
    ChainMotion,
    build_joint_offsets,
    build_tip_offsets,
    compute_links,
    link_masses,
)
from humanoid_dynamics.papers.biped.ground import compute_link_accelerations
from humanoid_dynamics.papers.biped.linear import solve
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only
from humanoid_dynamics.spatial.records import Sealed

FRONT_SIGN = read_only([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
"""From the sign of the recursion, where every torque acts on the link nearer the trunk's cut, to serial sign, and back."""


@dataclass(frozen=True, eq=False)
class Legs(Sealed):
    """Both legs at one instant, as functions of the hip wrench T1 of the leg on the base.

    Attributes:
        B: (6, 3) torques of the recursion: tau = B T1 + b, serial sign times ``FRONT_SIGN``.
        b: (6,) [N·m].
        B_tip: (3, 3) wrench of the ground on the moving foot about its tip: f7 = B_tip T1 + b_tip; its determinant is -1 always.
        b_tip: (3,) [N, N·m].
        f4: (3,) net wrench f4* of the trunk about the hip [N, N·m].
    """

    B: Matrix
    b: Vector
    B_tip: Matrix
    b_tip: Vector
    f4: Vector


def shift(p: Vector, r: Vector) -> Matrix:
    """Return the matrix that takes a wrench about r to the same wrench about p, (3, 3).

    Args:
        p: (2,) new point [m].
        r: (2,) old point [m].
    """
    x, y = r - p
    return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-y, x, 1.0]])


def compute_net_wrenches(body: BipedBody, chain: ChainMotion) -> tuple[Matrix, Matrix]:
    """Compute f* of the six links, gravity included [BP, eq. 38-41].

    Args:
        body: The biped.
        chain: Its motion seen from the base.

    Returns:
        net: (6, 3) wrenches about the centres of mass [N, N·m].
        coms: (6, 2) these centres [m].
    """
    m, moments = link_masses(body)
    coms, acceleration = compute_link_accelerations(body, chain)
    force = m[:, None] * (acceleration + np.array([0.0, body.gravity]))
    return np.column_stack((force, moments * chain.ddq)), coms


def compute_joint_centres(body: BipedBody, q: Vector) -> Matrix:
    """Return the centres of the six joints, ankle of the base first; the third and fourth are the hip, (6, 2) [m].

    Args:
        body: The biped.
        q: (6,) absolute angles [rad].
    """
    along, _ = compute_links(q, build_joint_offsets(body))
    return np.asarray(along.sum(axis=1))


def build_legs(body: BipedBody, chain: ChainMotion, tip: str, tau_f: Vector | None = None) -> Legs:
    """Build both legs.

    Args:
        body: The biped.
        chain: Its motion seen from the base.
        tip: ``heel`` or ``toe`` of the moving foot, about which its ground wrench is taken.
        tau_f: (6,) friction the motors overcome, chain order, serial sign [N·m]; none where None.

    Returns:
        Torques and tip wrench as functions of the hip wrench.
    """
    net, coms = compute_net_wrenches(body, chain)
    joints = compute_joint_centres(body, chain.q)
    p_tip = compute_links(chain.q, build_tip_offsets(body, tip))[0].sum(axis=0)
    hip = joints[2]
    f4 = shift(hip, coms[2]) @ net[2]
    beyond = [(0, 1), (1,), (), (), (3,), (3, 4)]  # links between each joint and the hip
    B, b = np.empty((6, 3)), np.empty(6)
    for j, links in enumerate(beyond):
        rho = shift(joints[j], hip)[2]
        own = sum((shift(joints[j], coms[k]) @ net[k] for k in links), start=np.zeros(3))[2]
        B[j], b[j] = (rho, own) if j < 3 else (-rho, rho @ f4 + own)
    if tau_f is not None:
        b += FRONT_SIGN * tau_f
    X = shift(p_tip, hip)
    carried = sum((shift(p_tip, coms[k]) @ net[k] for k in (3, 4, 5)), start=np.zeros(3))
    return Legs(B, b, -X, X @ f4 + carried, f4)


def solve_hip_wrench(legs: Legs, f7: Vector) -> Vector:
    """Return T1 from the wrench on the moving foot, zero in single support: inward from that foot, across the trunk [BP, eq. 48-54].

    Args:
        legs: Both legs.
        f7: (3,) wrench of the ground on the moving foot about its tip [N, N·m].
    """
    return solve(legs.B_tip, f7 - legs.b_tip)


def compute_serial_torques(legs: Legs, T1: Vector) -> Vector:
    """Return the torques that go with a hip wrench, chain order, serial sign, (6,) [N·m].

    Args:
        legs: Both legs.
        T1: (3,) wrench of the thigh on the side of the base on the trunk [N, N·m].
    """
    return FRONT_SIGN * (legs.B @ T1 + legs.b)
