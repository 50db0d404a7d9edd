# SPDX-License-Identifier: Apache-2.0
"""Stage A6: where the zero-moment point may be, and the one of the reference moved there."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning import outline_kernel
from humanoid_dynamics.filtering.conditioning.centre_kernels import clamp_points, find_reach
from humanoid_dynamics.filtering.conditioning.outline_kernel import outline
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel, functions_of

PARTS = tuple(part for part in functions_of(outline_kernel) if part is not outline)
GRAIN = 1e-6  # m; corners nearer than this are one


class Support:
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
        points = np.rint(corners / GRAIN) * GRAIN
        A, b, centre = np.empty((2 * len(points), 2)), np.empty(2 * len(points)), np.empty(2)
        count = compile_kernel(outline, PARTS, order_is_free=False)(points, centre, A, b)
        self.centre: Vector = centre
        self.A: Matrix = A[:count]
        self.b: Vector = b[:count]
        self.share = share

    def reach(self, points: Matrix) -> Vector:
        """Return how far out points are: one on the edge, zero in the middle.

        Args:
            points: (n, 2) points [m].
        """
        out = np.empty(len(points))
        compile_kernel(find_reach)(points, self.centre, self.A, self.b, out)
        return out

    def clamp(self, points: Matrix, share: float) -> Matrix:
        """Move points towards the middle until they are inside.

        Args:
            points: (n, 2) points [m].
            share: Share of the area they may be in.

        Returns:
            (n, 2) points [m].
        """
        out = np.empty((len(points), 2))
        compile_kernel(clamp_points)(points, self.centre, self.A, self.b, share, out)
        return out
