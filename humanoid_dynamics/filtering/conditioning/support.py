"""Stage A6: where the zero-moment point may be, and the one of the reference moved there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import half_planes, hull_of

MOST = 0.8  # share of the area that a trusted reference may use
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
        hull = hull_of(np.round(corners / GRAIN) * GRAIN)
        self.centre: Vector = hull.mean(axis=0)
        A, b = half_planes(hull)
        self.A: Matrix = A
        self.b: Vector = np.maximum(b - A @ self.centre, 1e-4)
        self.share = share

    def reach(self, points: Matrix) -> Vector:
        """Return how far out points are: one on the edge, zero in the middle.

        Args:
            points: (n, 2) points [m].
        """
        return np.asarray(np.max(((points - self.centre) @ self.A.T) / self.b, axis=1))

    def clamp(self, points: Matrix, share: float) -> Matrix:
        """Move points towards the middle until they are inside.

        Args:
            points: (n, 2) points [m].
            share: Share of the area they may be in.

        Returns:
            (n, 2) points [m].
        """
        out = self.reach(points)
        scale = np.minimum(1.0, share / np.maximum(out, 1e-9))
        return self.centre + scale[:, None] * (points - self.centre)


def clamp_rows(points: Matrix, supports: Sequence[Support], rows: Sequence[int], trust: float) -> Matrix:
    """Move the zero-moment point of each row into its support.

    Args:
        points: (n, 2) points [m].
        supports: Supports in the order they come.
        rows: Row at which each begins.
        trust: How consistent the reference is: 0 keeps to the inner share of the area, 1 to all of it.

    Returns:
        (n, 2) points [m].
    """
    moved = np.array(points)
    ends = [*rows[1:], len(points)]
    for support, first, after in zip(supports, rows, ends, strict=True):
        share = support.share + trust * (MOST - support.share)
        moved[first:after] = support.clamp(points[first:after], share)
    return moved


def phases_of(labels: Labels) -> list[tuple[int, tuple[bool, bool]]]:
    """Return at which row which feet begin to stand.

    Args:
        labels: (n, 2) labels.

    Returns:
        (first row, labels) of each phase, in order.
    """
    code = labels[:, 0] + 2 * labels[:, 1]
    edges = [0, *(np.flatnonzero(np.diff(code)) + 1).tolist()]
    return [(row, (bool(labels[row, 0]), bool(labels[row, 1]))) for row in edges]


def stance_runs(labels: Labels) -> list[tuple[int, int]]:
    """Return the stretches in which one foot stands.

    Args:
        labels: (n,) labels of the foot.

    Returns:
        (first row, row after the last) of each.
    """
    return [(first, after) for first, after, touches in runs(labels) if touches]
