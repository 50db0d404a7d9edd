# SPDX-License-Identifier: Apache-2.0
"""The patch a shape touches flat ground with: a face, an edge or a point, from its lowest points."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from humanoid_dynamics.model.reading.meshes import find_mesh
from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.model.standing.mesh_points import NO_POINTS, read_mesh_points
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

SLAB = 0.005  # what lies this far above the lowest point touches too [m]
POINT_SHARE = 0.08  # a patch smaller than this share of the leg is a point
EDGE_SHARE = 0.03  # and one narrower than this share is an edge
MOST_CORNERS = 8
RING = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
CORNERS = read_only([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def shape_points(
    shape: Geometry,
    up: Vector,
    folder: Path | None,
    *,
    shadow: bool = False,
    turn_y_up: bool = False,
) -> Matrix:
    """Return the points a shape could touch the ground with.

    Args:
        shape: The shape.
        up: (3,) direction away from the ground, in the link.
        folder: Folder of the URDF, where meshes are looked for.
        shadow: Whether a round shape stands for a flat one, and touches with all of its shadow.
        turn_y_up: Whether COLLADA meshes with y up are turned.

    Returns:
        (n, 3) points [m] in the link; none for a mesh that cannot be read.
    """
    R, centre = shape.X_LG.rotation, shape.X_LG.translation
    if shape.kind == "mesh":
        path = find_mesh(shape.filename, folder)
        points = NO_POINTS if path is None else read_mesh_points(path, turn_y_up=turn_y_up)
        return np.asarray((points * np.array(shape.size)) @ R.T + centre)
    if shape.kind == "box":
        return np.asarray((CORNERS * np.array(shape.size)) @ R.T + centre)
    points = _round_points(shape, up, shadow=shadow) + centre
    if shadow:
        heights = points @ up
        points = points - np.outer(heights - heights.min(), up)
    return np.asarray(points)


def convex_hull(points: Iterable[Vector]) -> Matrix:
    """Return the corners of the convex hull of points in a plane, counter-clockwise (Andrew's monotone chain).

    Args:
        points: (n, 2) points.

    Returns:
        (k, 2) corners; one or two where the points coincide or lie on a line.
    """
    ordered = sorted({(float(x), float(y)) for x, y in points})
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)
    chains = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for point in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 1e-12:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def polygon_area(corners: Matrix) -> float:
    """Return the area of a polygon whose (k, 2) corners are counter-clockwise [m²]."""
    if len(corners) < 3:
        return 0.0
    x, y = corners.T
    return float(0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def simplify_polygon(corners: Matrix, most: int = MOST_CORNERS) -> Matrix:
    """Drop corners of a convex polygon, the least area first; what is left lies inside, so it promises no support that is not there.

    Args:
        corners: (k, 2) corners, counter-clockwise [m].
        most: Corners to keep.

    Returns:
        (at most ``most``, 2) corners; fewer where a corner holds less than a thousandth of the area.
    """
    whole = polygon_area(corners)
    while len(corners) > 3:
        before, after = (
            np.roll(corners, 1, axis=0) - corners,
            np.roll(corners, -1, axis=0) - corners,
        )
        lost = 0.5 * np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
        least = int(np.argmin(lost))
        if len(corners) <= most and lost[least] > 1e-3 * whole:
            break
        corners = np.delete(corners, least, axis=0)
    return corners


def patch_of(points: Matrix, length: float) -> Matrix:
    """Return the corners of the patch that touches the ground.

    Args:
        points: (n, 3) points, z up [m].
        length: Length of the leg, which tells a face from an edge and a point [m].

    Returns:
        (k, 2) corners: one for a point, two for an edge along x or y, more for a face.
    """
    low = points[:, 2].min()
    flat = points[points[:, 2] <= low + SLAB][:, :2]
    minima, maxima = flat.min(axis=0), flat.max(axis=0)
    extent, middle = maxima - minima, 0.5 * (minima + maxima)
    if extent.max() < POINT_SHARE * length:
        return np.asarray(middle[None])
    if extent.min() < EDGE_SHARE * length:
        along = int(np.argmax(extent))
        edge = np.array([middle, middle])
        edge[:, along] = minima[along], maxima[along]
        return edge
    return simplify_polygon(convex_hull(flat))


def _round_points(shape: Geometry, up: Vector, *, shadow: bool) -> Matrix:
    """Return points of a round shape about its centre: the rims of a cylinder, the lowest points or the outline of the others."""
    axis = shape.X_LG.rotation[:, 2]
    radius, half = shape.size[0], 0.5 * shape.size[1] if len(shape.size) > 1 else 0.0
    if shape.kind == "cylinder" or shadow:
        normal, towards = (axis, up) if shape.kind == "cylinder" else (up, axis)
        across = _across(normal, towards)
        around = radius * (
            np.outer(np.cos(RING), across) + np.outer(np.sin(RING), np.cross(normal, across))
        )
        around = around if shape.kind == "cylinder" else around - radius * up
    else:
        around = -radius * up[None]
    return np.asarray(
        np.vstack((around + half * axis, around - half * axis)) if half > 0.0 else around
    )


def _across(axis: Vector, towards: Vector) -> Vector:
    """Return the unit vector across an axis that is nearest to a direction."""
    vector = towards - (towards @ axis) * axis
    if np.linalg.norm(vector) < 1e-6:
        vector = np.eye(3)[int(np.argmin(np.abs(axis)))]
        vector = vector - (vector @ axis) * axis
    return np.asarray(vector / np.linalg.norm(vector))


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
