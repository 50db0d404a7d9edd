# SPDX-License-Identifier: Apache-2.0
"""The biped as a chain of six links on a flat foot, in absolute angles.

Both feet can be the base: seen from either, the links are shank, thigh, trunk, thigh, shank, foot, so one set of equations serves the
whole step, single and double support alike [BP, remark 2].  Positions are relative to the ankle of the base foot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.biped.body import BipedBody
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only
from humanoid_dynamics.spatial.records import Sealed

BASES = ("rear", "front")
TIPS = ("heel", "toe")


@dataclass(frozen=True, eq=False)
class BipedMotion:
    """How all seven links move at one instant, in the order of ``LINKS``.

    Attributes:
        theta: (7,) absolute angles, counter-clockwise from x; 0 for a flat foot [rad].
        rate: (7,) their rates [rad/s].
        acceleration: (7,) their accelerations [rad/s²].
    """

    theta: Vector
    rate: Vector
    acceleration: Vector

    def __post_init__(self) -> None:
        for name in ("theta", "rate", "acceleration"):
            object.__setattr__(self, name, read_only(check_vector(name, getattr(self, name), 7)))


@dataclass(frozen=True, eq=False)
class ChainMotion(Sealed):
    """The same seen from a base foot: the six links beyond it, q of the paper.

    Attributes:
        q: (6,) absolute angles, from the shank on the base to the other foot [rad].
        dq: (6,) their rates [rad/s].
        ddq: (6,) their accelerations [rad/s²].
    """

    q: Vector
    dq: Vector
    ddq: Vector


def view_from(motion: BipedMotion, base: str) -> ChainMotion:
    """Look at a motion from one foot.

    Args:
        motion: Of all links.
        base: ``rear`` or ``front``.

    Returns:
        The motion of the six links beyond that foot.

    Raises:
        UnknownNameError: If there is no such foot.
    """
    if base not in BASES:
        raise UnknownNameError("base", base, BASES)
    order = slice(1, None) if base == "rear" else slice(5, None, -1)
    return ChainMotion(motion.theta[order], motion.rate[order], motion.acceleration[order])


def order_from_rear(tau: ArrayLike, base: str) -> Vector:
    """Order torques from the rear foot, with serial sign: each acts on the link farther from the rear foot.

    Args:
        tau: (6,) torques in order of the chain, serial sign from its base [N·m].
        base: The base of the chain.

    Returns:
        (6,) torques in the order of ``JOINTS``; those of a chain on the front foot change order and sign.
    """
    tau = np.asarray(tau, dtype=np.float64)
    return tau if base == "rear" else -tau[::-1]


def rotation(angle: float) -> Matrix:
    """Return the (2, 2) rotation by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def compute_links(q: Vector, offsets: Matrix) -> tuple[Matrix, Matrix]:
    """Turn link vectors into space.

    Args:
        q: (6,) absolute angles [rad].
        offsets: (..., 6, 2) vectors in axes of the links [m].

    Returns:
        along: (..., 6, 2) the vectors R(q_i) a_i [m].
        across: (..., 6, 2) their derivatives by q_i, the vectors turned by a right angle [m].
    """
    c, s = np.cos(q), np.sin(q)
    x, y = offsets[..., 0], offsets[..., 1]
    along = np.stack((c * x - s * y, s * x + c * y), axis=-1)
    return along, np.stack((-along[..., 1], along[..., 0]), axis=-1)


def build_com_offsets(body: BipedBody) -> Matrix:
    """Return the link vectors a_kj of every centre of mass: r_k = sum of R(q_j) a_kj over j, (6, 6, 2) [m].

    Args:
        body: The biped.
    """
    a = np.zeros((6, 6, 2))
    joints = _joint_offsets(body)
    coms = (
        body.com_shank,
        body.com_thigh,
        body.com_trunk,
        body.com_thigh - body.thigh,
        body.com_shank - body.shank,
    )
    for k in range(6):
        a[k, :k] = joints[:k]
        a[k, k] = (coms[k], 0.0) if k < 5 else body.com_foot
    return a


def build_joint_offsets(body: BipedBody) -> Matrix:
    """Return the link vectors of the six joint centres, ankle of the base first, (6, 6, 2) [m].

    Args:
        body: The biped.
    """
    a = np.zeros((6, 6, 2))
    for k in range(6):
        a[k, :k] = _joint_offsets(body)[:k]
    return a


def build_tip_offsets(body: BipedBody, tip: str) -> Matrix:
    """Return the link vectors of the heel or toe of the moving foot, (6, 2) [m].

    Args:
        body: The biped.
        tip: ``heel`` or ``toe``.

    Raises:
        UnknownNameError: If there is no such tip.
    """
    if tip not in TIPS:
        raise UnknownNameError("tip", tip, TIPS)
    foot = (-body.heel if tip == "heel" else body.toe, -body.ankle_height)
    return np.vstack((_joint_offsets(body), foot))


def link_masses(body: BipedBody) -> tuple[Vector, Vector]:
    """Return masses [kg] and moments of inertia [kg·m²] of the six links of the chain, (6,) each.

    Args:
        body: The biped.
    """
    m = np.array(
        [body.m_shank, body.m_thigh, body.m_trunk, body.m_thigh, body.m_shank, body.m_foot]
    )
    moments = np.array(
        [body.I_shank, body.I_thigh, body.I_trunk, body.I_thigh, body.I_shank, body.I_foot]
    )
    return m, moments


def _joint_offsets(body: BipedBody) -> Matrix:
    """Return the vector each of the first five links adds on the way to the next joint, (5, 2); the trunk adds none."""
    return np.array(
        [(body.shank, 0.0), (body.thigh, 0.0), (0.0, 0.0), (-body.thigh, 0.0), (-body.shank, 0.0)]
    )
