# SPDX-License-Identifier: Apache-2.0
"""Torques and ground force at once, the least of both together [BP, eq. 26-27]."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.papers.biped.lagrange import TORQUE_MAP, LagrangeTerms, TipConstraint
from humanoid_dynamics.papers.biped.linear import solve_least_norm
from humanoid_dynamics.spatial.arrays import Vector


def solve_pseudo_inverse(
    terms: LagrangeTerms,
    constraint: TipConstraint,
    tau_weight: Vector | None = None,
    force_weight: Vector | None = None,
) -> tuple[Vector, Vector]:
    """Minimise the weighted squares of torques and forces with A tau + J' lam = M q'' + C q' + g + A tau_f.

    Torques and forces have different units: the answer depends on their weights.  With forces free (weight near 0) it is the least torque;
    with forces dear it is single support.  Nothing keeps the ground from pulling, and torques jump when contacts change.

    Args:
        terms: The equations.
        constraint: Of the tip on the ground.
        tau_weight: (6,) weights of the squares of the torques; 1 where None.
        force_weight: (2,) the same of the forces; 1 where None, 1/c² where the columns of J' are scaled by c.

    Returns:
        tau: (6,) torques, chain order and sign [N·m].
        lam: (2,) force of the ground on the tip [N].
    """
    weights = np.concatenate(
        (
            np.ones(6) if tau_weight is None else tau_weight,
            np.ones(2) if force_weight is None else force_weight,
        )
    )
    scale = 1.0 / np.sqrt(weights)
    x = solve_least_norm(np.hstack((TORQUE_MAP, constraint.J.T)) * scale, terms.left)
    return scale[:6] * x[:6], scale[6:] * x[6:]
