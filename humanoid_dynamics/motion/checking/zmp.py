# SPDX-License-Identifier: Apache-2.0
"""The zero-moment point of a motion by its full dynamics, and how far inside the feet it lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.model.standing.footprint import convex_hull
from humanoid_dynamics.motion.clip import Clip, Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import margin_inside

GRAIN = 9  # decimals of a metre; corners of two soles side by side are on one line, not nearly


@dataclass(frozen=True, eq=False)
class GroundReaction:
    """What the ground must do to a motion, if nothing else touches it.

    Attributes:
        zmp: (n, 2) point of the ground plane where the reaction has no moment along the plane [m], in axes of the plane.
        force: (n, 3) reaction [N], in axes of the plane; the third entry pushes.
        yaw_moment: (n,) moment about the normal through the zero-moment point [N·m].
    """

    zmp: Matrix
    force: Matrix = field(repr=False)
    yaw_moment: Vector = field(repr=False)


def compute_reaction(clip: Clip, X_WP: pin.SE3 | None = None) -> GroundReaction:
    """Compute the reaction of the ground by inverse dynamics of the whole robot.

    Args:
        clip: A clip of a robot with a free base, with velocities and accelerations.
        X_WP: The ground plane: its x and y axes lie in it, z points out of it; z = 0 of the world where None.

    Returns:
        The reaction.

    Raises:
        ClipError: If velocities or accelerations are missing, or the base is not free.
    """
    if clip.v is None or clip.a is None:
        raise ClipError(clip.origin, "has no velocities and accelerations; differentiate it first")
    if clip.robot.root != "free_flyer":
        raise ClipError(
            clip.origin, f"needs a robot with a free base, this root is {clip.robot.root}"
        )
    X_PW = (X_WP or pin.SE3.Identity()).inverse()
    model, data = clip.robot.model, clip.robot.data()
    wrenches = np.empty((len(clip), 6))
    for row, (q, v, a) in enumerate(zip(clip.q, clip.v, clip.a, strict=True)):
        on_base = pin.Force(pin.rnea(model, data, q, v, a)[:6])
        wrenches[row] = (X_PW * pin.XYZQUATToSE3(np.array(q[:7]))).act(on_base).vector
    force, moment = wrenches[:, :3], wrenches[:, 3:]
    zmp = np.column_stack((-moment[:, 1], moment[:, 0])) / force[:, 2:]
    yaw = moment[:, 2] - (zmp[:, 0] * force[:, 1] - zmp[:, 1] * force[:, 0])
    return GroundReaction(zmp, force, yaw)


def support_margins(
    clip: Clip, contacts: Mapping[str, Labels], points: Matrix, X_WP: pin.SE3 | None = None
) -> Vector:
    """Return how far points lie inside the convex hull of what touches the ground.

    Args:
        clip: The clip.
        contacts: Surface -> (n,) whether it touches.
        points: (n, 2) points of the ground plane [m].
        X_WP: The ground plane; z = 0 of the world where None.

    Returns:
        (n,) distances to the nearest edge [m]; negative outside, minus infinity in flight.
    """
    X_PW = (X_WP or pin.SE3.Identity()).inverse()
    model, data = clip.robot.model, clip.robot.data()
    margins = np.full(len(clip), -np.inf)
    for row, q in enumerate(clip.q):
        touching = [clip.robot.surface(name) for name, labels in contacts.items() if labels[row]]
        if not touching:
            continue
        pin.framesForwardKinematics(model, data, q)
        corners = [
            (X_PW * data.oMf[surface.frame]).act(corner)[:2]
            for surface in touching
            for corner in surface.vertices
        ]
        margins[row] = margin_inside(convex_hull(np.round(corners, GRAIN)), points[row])
    return margins
