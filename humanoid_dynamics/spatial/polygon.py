# SPDX-License-Identifier: Apache-2.0
"""Convex polygons in a plane: how far inside a point lies."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector

ON_THE_EDGE = 1e-9  # m; what rounding leaves beside an edge


def half_planes(vertices: Matrix) -> tuple[Matrix, Vector]:
    """Describe a convex polygon by its edges: the points p with A p <= b.

    Args:
        vertices: (k, 2) corners, counter-clockwise, k >= 3 [m].

    Returns:
        A: (k, 2) outward unit normals of the edges [-]; those of corners that coincide are left out.
        b: (k,) distances of the edges from the origin along them [m].
    """
    edges = np.roll(vertices, -1, axis=0) - vertices
    lengths = np.linalg.norm(edges, axis=1)
    long = lengths > 0.0
    A = np.column_stack((edges[long, 1], -edges[long, 0])) / lengths[long, None]
    return A, np.einsum("ij,ij->i", A, vertices[long])


def hull_of(points: Matrix) -> Matrix:
    """Return the corners of the convex hull of points, by Andrew's monotone chain.

    Args:
        points: (n, 2) points, n >= 1 [m].

    Returns:
        (k, 2) corners, counter-clockwise; the ends alone where all points are on a line.
    """
    ordered = sorted({(x, y) for x, y in points.tolist()})
    if len(ordered) < 3:
        return np.array(ordered)
    chain = _chain(ordered)[:-1] + _chain(ordered[::-1])[:-1]
    return np.array(chain)


def _chain(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the part of a hull that turns left all the way from the first of ordered points to the last."""
    kept: list[tuple[float, float]] = []
    for x, y in points:
        while len(kept) > 1:
            (ax, ay), (bx, by) = kept[-2], kept[-1]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            kept.pop()
        kept.append((x, y))
    return kept


def margin_inside(vertices: Matrix, p: Vector) -> float:
    """Return how far a point lies inside a patch [m]; negative outside.

    In a face what counts is the nearest edge, on an edge the nearer end.  Beside an edge and beside a point there is no inside.

    Args:
        vertices: (k, 2) corners, counter-clockwise [m].
        p: (2,) the point [m].
    """
    if len(vertices) >= 3:
        A, b = half_planes(vertices)
        return float(np.min(b - A @ p)) if len(b) else -float(np.linalg.norm(p - vertices[0]))
    if len(vertices) == 1 or not (vertices[1] - vertices[0]).any():
        return -float(np.linalg.norm(p - vertices[0]))
    along = vertices[1] - vertices[0]
    length = float(np.linalg.norm(along))
    direction = along / length
    s = float(direction @ (p - vertices[0]))
    beside = abs(float(direction[0] * (p - vertices[0])[1] - direction[1] * (p - vertices[0])[0]))
    within = min(s, length - s)
    return within if beside <= ON_THE_EDGE else -float(np.hypot(beside, min(within, 0.0)))
