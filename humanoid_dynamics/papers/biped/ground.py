# SPDX-License-Identifier: Apache-2.0
"""What the ground must give: total wrench, zero moment point, and how two feet share it [BP, eq. 28-29]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.papers.biped.body import BipedBody
from humanoid_dynamics.papers.biped.chain import (
    ChainMotion,
    build_com_offsets,
    compute_links,
    link_masses,
)
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.records import Sealed


@dataclass(frozen=True, eq=False)
class GroundWrench(Sealed):
    """The whole wrench of the ground on the biped, base foot included.

    Attributes:
        force: (2,) F = m (c'' + g) [N].
        moment: About the point of the ground below the ankle of the base [N·m].
        zmp: Zero moment point, ahead of the ankle of the base [m]; nan where nothing presses.
    """

    force: Vector
    moment: float
    zmp: float


def compute_link_accelerations(body: BipedBody, chain: ChainMotion) -> tuple[Vector, Vector]:
    """Return positions [m] and accelerations [m/s²] of the six centres of mass, (6, 2) each, the ankle of the base at the origin.

    Args:
        body: The biped.
        chain: Its motion seen from the base.
    """
    along, across = compute_links(chain.q, build_com_offsets(body))
    acceleration = np.einsum("kix,i->kx", across, chain.ddq) - np.einsum(
        "kix,i->kx", along, chain.dq**2
    )
    return along.sum(axis=1), acceleration


def compute_ground_wrench(body: BipedBody, chain: ChainMotion) -> GroundWrench:
    """Compute the wrench of the ground from the motion of all seven links.

    Args:
        body: The biped.
        chain: Its motion seen from the base, whose foot is flat and still.

    Returns:
        Force, moment and zero moment point.
    """
    m, moments = link_masses(body)
    position, acceleration = compute_link_accelerations(body, chain)
    position = np.vstack((position, body.com_foot)) + np.array([0.0, body.ankle_height])
    needed = np.append(m, body.m_foot)[:, None] * (
        np.vstack((acceleration, np.zeros(2))) + np.array([0.0, body.gravity])
    )
    moment = float(
        np.sum(position[:, 0] * needed[:, 1] - position[:, 1] * needed[:, 0]) + moments @ chain.ddq
    )
    force = needed.sum(axis=0)
    return GroundWrench(force, moment, moment / force[1] if force[1] > 0.0 else np.nan)


def compute_flat_cop(zmp: float, share: float, x_tip: float) -> float:
    """Return where the flat foot presses while the other one carries a share of the force on its tip [m].

    The tip is a point and gives no moment, so the flat foot is left with (z - s x_tip) / (1 - s), where s is the share of the tip.

    Args:
        zmp: Zero moment point [m].
        share: Of the force the tip carries, below 1 [-].
        x_tip: Where the tip touches [m].
    """
    return (zmp - share * x_tip) / (1.0 - share)


def compute_moment_left(
    force_y: float, zmp: float, share: float, x_toe_rear: float, x_heel_front: float
) -> float:
    """Return the couple that changes feet between the two parts of double support, F_y ((z - x_toe) - s (x_heel - x_toe)) [N·m].

    All six torques jump by minus this much where the force alone is handed over; it is zero at one share only.

    Args:
        force_y: Whole vertical force [N].
        zmp: Zero moment point [m].
        share: Of the force the front foot carries at that instant [-].
        x_toe_rear: Toe of the rear foot [m].
        x_heel_front: Heel of the front foot [m].
    """
    return force_y * ((zmp - x_toe_rear) - share * (x_heel_front - x_toe_rear))
