# SPDX-License-Identifier: Apache-2.0
"""Virtual power flow: what one subsystem gives, its neighbour takes.

At a cut the flow is (V_r - V)' (f_r - f), the same seen from the driving and from the driven side.  Summed over a robot the flows cancel,
so that each subsystem may be controlled by itself and the whole is still stable [BP, remark 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.papers.vdc.decomposition import WORLD, Decomposition
from humanoid_dynamics.papers.vdc.motion import Frames
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.records import Sealed


@dataclass(frozen=True, eq=False)
class PowerFlows(Sealed):
    """Virtual power at every cut [W].

    Attributes:
        driven: (n,) flow into each link through the cut that drives it.
        driving: (n,) the flow at the same cut, seen from the link that drives: the joint's own part is not in it.
        joints: (n,) what the joint adds between the two sides, (v_r - v)' (z' f_r - z' f).
        links: (n,) flow into each link less what it passes on: (V_r - V)' (f*_r - f*).
    """

    driven: Vector
    driving: Vector
    joints: Vector
    links: Vector


def compute_power_flows(
    decomposition: Decomposition,
    frames: Frames,
    velocity_error: Matrix,
    wrench_error: Matrix,
    rate_error: Vector,
) -> PowerFlows:
    """Compute the virtual power flows of a robot without contacts, or with contact wrenches as required.

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        velocity_error: (n, 6) V_r - V of every link.
        wrench_error: (n, 6) f_r - f at every driven cutting point [N, N·m].
        rate_error: (nv,) v_r - v.

    Returns:
        The flows; ``driven`` is ``driving`` plus ``joints``, and the sum of ``links`` is the sum of ``joints``.
    """
    count = len(decomposition.links)
    driven = np.einsum("ni,ni->n", velocity_error, wrench_error)
    driving, joints = np.zeros(count), np.zeros(count)
    links = driven.copy()
    for i, cut in enumerate(decomposition.cuts):
        joints[i] = rate_error[cut.coordinates] @ (frames.S[i].T @ wrench_error[i])
        if cut.driving != WORLD:
            driving[i] = velocity_error[cut.driving] @ (frames.U[i] @ wrench_error[i])
            links[cut.driving] -= driving[i]
    return PowerFlows(driven, driving, joints, links)
