# SPDX-License-Identifier: Apache-2.0
"""Front and rear edge of a sole: what it stands on while the heel rises, or before the toes come down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import half_planes

FLAT, TOE, HEEL = 0, 1, -1  # on the whole sole; on its front edge; on its rear edge
BROAD = 0.7  # share of the width of the sole that an edge is wide
GRAIN = 0.001  # m


@dataclass(frozen=True, eq=False)
class SoleEdges:
    """Front and rear edge of a sole, along the y axis of its frame.

    Attributes:
        points: (2, 3) their middles, front and rear [m].
        halves: (2,) half their widths [m].
    """

    points: Matrix
    halves: Vector

    def middle(self, kind: int) -> Vector:
        """Return the middle of an edge.

        Args:
            kind: ``TOE`` or ``HEEL``.
        """
        return np.asarray(self.points[int(kind == HEEL)])

    def ends(self, kind: int) -> Matrix:
        """Return the ends of an edge, (2, 3) [m].

        Args:
            kind: ``TOE`` or ``HEEL``.
        """
        return np.asarray(
            self.middle(kind) + self.half(kind) * np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
        )

    def half(self, kind: int) -> float:
        """Return half the width of an edge.

        Args:
            kind: ``TOE`` or ``HEEL``.
        """
        return float(self.halves[int(kind == HEEL)])


def find_edges(vertices: Matrix, inside: float = 0.001) -> SoleEdges:
    """Find the edges a sole can turn about: as far out as the sole is nearly as wide as anywhere.

    Args:
        vertices: (k, 3) corners of the sole, counter-clockwise [m].
        inside: How far inside the sole they end to the sides [m].

    Returns:
        The edges.
    """
    A, b = half_planes(vertices[:, :2])
    low, high = vertices[:, 0].min(), vertices[:, 0].max()
    places = np.linspace(low, high, round((high - low) / GRAIN) + 1)
    spans = np.array([_span(A, b + 1e-9, x) for x in places])
    width = spans[:, 1] - spans[:, 0]
    broad = np.flatnonzero(width >= BROAD * width.max())
    ends = (broad[-1], broad[0])
    level = float(np.mean(vertices[:, 2]))
    points = np.array([[places[k], 0.5 * (spans[k, 0] + spans[k, 1]), level] for k in ends])
    return SoleEdges(points, np.array([0.5 * width[k] - inside for k in ends]))


def _span(A: Matrix, b: Vector, x: float) -> tuple[float, float]:
    """Return the interval of y that is inside at a place x."""
    rest, slope = b - A[:, 0] * x, A[:, 1]
    up, down = slope > 1e-9, slope < -1e-9
    if np.any(rest[~(up | down)] < 0.0):
        return 0.0, 0.0
    return float(np.max(rest[down] / slope[down])), float(np.min(rest[up] / slope[up]))
