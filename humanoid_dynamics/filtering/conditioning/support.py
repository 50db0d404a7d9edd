# SPDX-License-Identifier: Apache-2.0
"""Stage A6: where the zero-moment point may be, and the one of the reference moved there."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning.centre_kernels import LEAST
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import half_planes, hull_of

NARROWEST = 1e-4  # m from the middle to an edge, at least
GRAIN = 1e-6  # m; corners nearer than this are one


class SupportArea:
    """A convex area to stand on, seen from above.

    Attributes:
        centre: (2,) its middle [m].
        A: (k, 2) outward normals of its edges.
        b: (k,) distances of the edges from the middle [m].
        share: Share of the area that is used.
    """

    __slots__ = ("A", "b", "centre", "share")

    def __init__(self, corners: Matrix, share: float) -> None:
        """Build it.

        Args:
            corners: (n, 2) points whose hull it is [m].
            share: Share of the area that is used.
        """
        hull = hull_of(np.rint(corners / GRAIN) * GRAIN)
        A, b = half_planes(hull)
        self.centre: Vector = hull.mean(axis=0)
        self.A: Matrix = A
        self.b: Vector = np.maximum(b - A @ self.centre, NARROWEST)
        self.share = share

    def reach(self, points: Matrix) -> Vector:
        """Return how far out points are: one on the edge, zero in the middle.

        Args:
            points: (n, 2) points [m].
        """
        out: Vector = ((points - self.centre) @ (self.A / self.b[:, None]).T).max(
            axis=1, initial=-np.inf
        )
        return out

    def clamp(self, points: Matrix, share: float) -> Matrix:
        """Move points towards the middle until they are inside.

        Args:
            points: (n, 2) points [m].
            share: Share of the area they may be in.

        Returns:
            (n, 2) points [m].
        """
        kept = np.minimum(1.0, share / np.maximum(self.reach(points), LEAST))
        return self.centre + kept[:, None] * (points - self.centre)
