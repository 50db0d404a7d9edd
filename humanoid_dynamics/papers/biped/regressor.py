# SPDX-License-Identifier: Apache-2.0
"""Euler-Lagrange equations as a matrix times masses, first moments and moments of inertia [BP, eq. 4, properties 3 and 6]."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.papers.biped.body import BipedBody
from humanoid_dynamics.papers.biped.chain import (
    ChainMotion,
    build_com_offsets,
    build_joint_offsets,
    compute_links,
    link_masses,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector

PLANAR_PARAMETERS = ("m", "mx", "my", "I")


def build_lagrange_regressor(body: BipedBody, chain: ChainMotion) -> Matrix:
    """Build Y with M q'' + C q' + g = Y alpha.

    Only lengths of the body are read.  Without multipliers it is F'Y that multiplies the same alpha.

    Args:
        body: The biped.
        chain: Its motion seen from the base.

    Returns:
        (6, 24) matrix; four columns for each link, in the order of ``PLANAR_PARAMETERS``, moments about the joint nearer the base.
    """
    along, across = compute_links(chain.q, build_joint_offsets(body))
    lift = (
        np.einsum("kix,i->kx", across, chain.ddq)
        - np.einsum("kix,i->kx", along, chain.dq**2)
        + np.array([0.0, body.gravity])
    )
    c, s = np.cos(chain.q), np.sin(chain.q)
    axes = np.array([[c, s], [-s, c]]).transpose(2, 0, 1)
    Y = np.zeros((6, 24))
    for k in range(6):
        Y[:, 4 * k] = across[k] @ lift[k]
        for i, axis in enumerate(axes[k]):
            turned = np.array([-axis[1], axis[0]])
            Y[:, 4 * k + 1 + i] = across[k] @ (turned * chain.ddq[k] - axis * chain.dq[k] ** 2)
            Y[k, 4 * k + 1 + i] += turned @ lift[k]
        Y[k, 4 * k + 3] = chain.ddq[k]
    return Y


def stack_lagrange_parameters(body: BipedBody) -> Vector:
    """Return the parameters that belong to the columns of ``build_lagrange_regressor``, (24,).

    Args:
        body: The biped.
    """
    m, moments = link_masses(body)
    own = build_com_offsets(body)[np.arange(6), np.arange(6)]
    return np.column_stack((m, m[:, None] * own, moments + m * np.sum(own**2, axis=1))).ravel()
