# SPDX-License-Identifier: Apache-2.0
"""Where a robot may touch the world: convex faces, edges and points in a link frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

DEFAULT_FRICTION = 0.7
MOST_CORNERS = 32  # the rows of what a patch can carry grow with the square of its corners


@dataclass(frozen=True, eq=False)
class ContactSurface:
    """A convex patch of a link that can carry a contact wrench.

    The surface frame C has its origin in the patch and its z axis along the inward normal: the direction in which the environment can
    push on the robot.  For a sole this is up, x forward, y left, as REP-120 wants it.

    Attributes:
        name: Name of the surface, such as ``left_foot``.
        link: Link it belongs to.
        frame: Index of frame C in the pinocchio model.
        X_LC: Pose of C in the frame of the link.
        vertices: Corners of the patch, counter-clockwise about z, (k, 3) [m] in C; one for a point, two for an edge.
            Of more than 32 those are left out that cut off least: all that is known of the patch is then of the polygon inside.
        friction: Coulomb coefficient of the patch against the ground [-].
        normal_force_limit: Largest normal force the patch may carry [N].
        assumed: Why this patch is a guess, or an empty string where it was given.
    """

    name: str
    link: str
    frame: int
    X_LC: pin.SE3
    vertices: Vector
    friction: float = DEFAULT_FRICTION
    normal_force_limit: float = np.inf
    assumed: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "vertices", read_only(_fewer(np.asarray(self.vertices), MOST_CORNERS))
        )

    @property
    def kind(self) -> str:
        """``point``, ``edge`` or ``face``, by the number of vertices."""
        return {1: "point", 2: "edge"}.get(len(self.vertices), "face")

    @property
    def size(self) -> tuple[float, float]:
        """Extent along x and y of the surface frame [m]."""
        extent = np.ptp(self.vertices, axis=0)
        return float(extent[0]), float(extent[1])


def _fewer(corners: Matrix, most: int) -> Matrix:
    """Take away the corners that cut off least, so that what is left lies inside."""
    while len(corners) > most:
        before, after = (
            np.roll(corners, 1, axis=0) - corners,
            np.roll(corners, -1, axis=0) - corners,
        )
        corners = np.delete(
            corners, np.argmin(np.linalg.norm(np.cross(before, after), axis=1)), axis=0
        )
    return corners
