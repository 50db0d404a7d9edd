# SPDX-License-Identifier: Apache-2.0
"""The way inward: wrenches at all cutting points, from the tips to the base [BP, eq. 34-35, 48-54]."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.vdc.decomposition import WORLD, Decomposition
from humanoid_dynamics.papers.vdc.link import build_link_coriolis, build_link_gravity
from humanoid_dynamics.papers.vdc.motion import Frames, LinkMotion
from humanoid_dynamics.papers.vdc.transform import build_wrench_transform
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector

AS_LINK = "link:"  # before the name of a link that a surface or a control point has too


def compute_net_wrenches(
    decomposition: Decomposition, frames: Frames, motion: LinkMotion
) -> Matrix:
    """Compute what each link needs to move as it does, gravity included: M_B dV/dt + C_B V + g_B [BP, eq. 45].

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        motion: How they move.

    Returns:
        (n, 6) net wrenches f*, at the origin and in axes of each link [N, N·m].
    """
    body = decomposition
    C = build_link_coriolis(body.m, body.r, body.I_com, motion.V[:, 3:])
    g = build_link_gravity(body.m, body.r, compute_up(body, frames))
    return np.asarray((body.M @ motion.A[..., None] + C @ motion.V[..., None])[..., 0] + g)


def compute_up(decomposition: Decomposition, frames: Frames) -> Matrix:
    """Return minus the acceleration of gravity in axes of every link, (n, 3) [m/s²].

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
    """
    return np.asarray(np.einsum("nji,j->ni", frames.R_WB, decomposition.up))


def shift_contacts(
    decomposition: Decomposition, frames: Frames, contacts: Mapping[str, ArrayLike]
) -> Matrix:
    """Bring contact wrenches to the origins of the links they act on.

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        contacts: Contact surface, control point, link or alias, the first of these that has the name -> (6,) wrench of the environment on
            the robot about the origin of that frame, axes of the world [N, N·m].  ``link:NAME`` is the link or alias, whatever else has
            its name.

    Returns:
        (n, 6) wrenches on the links, their own axes; wrenches on links fixed to the world are dropped.

    Raises:
        UnknownNameError: If there is no such frame.
        ShapeError: If a wrench does not have six finite numbers.
    """
    outside = np.zeros((len(decomposition.links), 6))
    for name, values in contacts.items():
        F_C_W = check_vector(f"contacts[{name!r}]", values, 6)
        frame = decomposition.robot.model.frames[_find_frame(decomposition, name)]
        link = int(frame.parentJoint) - 1
        if link == WORLD:
            continue
        outside[link] += (
            build_wrench_transform(frames.R_WB[link].T, frame.placement.translation) @ F_C_W
        )
    return outside


def _find_frame(decomposition: Decomposition, name: str) -> int:
    robot = decomposition.robot
    for named in (robot.surfaces, robot.control_points):
        if name in named:
            return named[name].frame
    link = name.removeprefix(AS_LINK)
    if link in robot.links or link in robot.aliases:
        return robot.link_frame(link)
    raise UnknownNameError(
        "frame", name, (*robot.surfaces, *robot.control_points, *robot.links, *robot.aliases)
    )


def compute_cut_wrenches(
    decomposition: Decomposition, frames: Frames, net: Matrix, outside: Matrix | None = None
) -> Matrix:
    """Compute the wrench each link is driven with, inward: f = f* + sum of U f of the links it drives, less what touches it.

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        net: (n, 6) net wrenches f* [N, N·m].
        outside: (n, 6) contact wrenches on the links [N, N·m]; none where None.

    Returns:
        (n, 6) wrenches at the driven cutting points, axes of each link [N, N·m].
    """
    f = np.array(net) if outside is None else net - outside
    for i in range(len(f) - 1, -1, -1):
        driving = decomposition.parent[i]
        if driving != WORLD:
            f[driving] += frames.U[i] @ f[i]
    return f


def compute_loads(decomposition: Decomposition, frames: Frames, cut_wrenches: Matrix) -> Vector:
    """Return what the wrenches at the cuts ask of the joints, z' f [BP, eq. 47].

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        cut_wrenches: (n, 6) wrenches at the driven cutting points [N, N·m].

    Returns:
        (nv,) generalized forces; those of a free base are what nothing carries [N, N·m].
    """
    loads = np.zeros(decomposition.robot.nv)
    for i, cut in enumerate(decomposition.cuts):
        loads[cut.coordinates] += frames.S[i].T @ cut_wrenches[i]
    return loads
