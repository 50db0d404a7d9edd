# SPDX-License-Identifier: Apache-2.0
"""Where a robot can push: the polygon of the soles it stands on, and the point in it nearest to a wanted one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.standing.footprint import convex_hull
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import half_planes


class Support:
    """The polygon of some soles, pulled in by a margin; empty where nothing stands.

    Attributes:
        corners: (k, 2) corners, counter-clockwise [m].
        middle: (2,) mean of the corners [m].
    """

    def __init__(self, points: Matrix, margin: float) -> None:
        """Make it.

        Args:
            points: (n, 2) where the corners of the soles are [m].
            margin: How far inside the polygon the nearest point stays; where the polygon is too narrow, on its middle [m].
        """
        self.corners = convex_hull(points)
        self.middle: Vector = self.corners.mean(axis=0) if len(self.corners) else np.zeros(2)
        self._A, self._b = (
            half_planes(self.corners) if len(self.corners) >= 3 else (np.zeros((0, 2)), np.zeros(0))
        )
        inside = self._b - self._A @ self.middle
        self._b = self._b - np.minimum(margin, 0.9 * inside)

    @property
    def half_planes(self) -> tuple[Matrix, Vector]:
        """Its inside: normals A (k, 2) and limits b (k,) [m] with A p <= b; none where it has no area."""
        return self._A, self._b

    def nearest(self, p: Vector) -> Vector:
        """Return the point inside nearest to a point, by a ray to the middle: (2,) [m].

        Args:
            p: (2,) the point [m].
        """
        if not len(self._b):
            return self.middle
        d = p - self.middle
        along, room = self._A @ d, self._b - self._A @ self.middle
        share = 1.0
        for a, r in zip(along.tolist(), room.tolist(), strict=True):
            if a > r:
                share = min(share, r / a)
        return self.middle + share * d


def place_corners(data: pin.Data, surfaces: Iterable[ContactSurface]) -> Matrix:
    """Return where the corners of surfaces are on the ground, (n, 2) [m].

    Args:
        data: With frames placed.
        surfaces: The surfaces.
    """
    placed = [
        surface.vertices @ data.oMf[surface.frame].rotation.T + data.oMf[surface.frame].translation
        for surface in surfaces
    ]
    return np.vstack(placed)[:, :2] if placed else np.zeros((0, 2))
