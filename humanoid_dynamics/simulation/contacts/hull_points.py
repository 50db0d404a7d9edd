# SPDX-License-Identifier: Apache-2.0
"""Few corners that stand for a mesh: their convex hull is nearly that of all its vertices."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from humanoid_dynamics.model.standing.mesh_points import list_once
from humanoid_dynamics.spatial.arrays import Indices, Matrix, read_only

FAITHFUL = 1e-3  # by how much vertices may stick out of the hull of those that stand for them [m]
HALVES = 0.5  # in each round, facets are lifted over which vertices stick out by this share of the farthest
THIN = 1e-5  # what lies in a plane or in a line is taken to be so thick [m]
TOGETHER = 12  # points that lie together and follow one another
AROUND = read_only(
    np.vstack(
        (np.eye(3), -np.eye(3), [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    )
)


def choose_corners(vertices: Matrix, others: Matrix) -> Indices:
    """Return which vertices of a mesh stand for all of it: beside some other points that touch too, no vertex sticks out of their hull.

    Begins with the vertices that lie farthest out in fourteen directions, and adds the farthest one over each facet of the hull, as
    long as one sticks out by more than ``FAITHFUL``.

    Args:
        vertices: (n, 3) vertices [m].
        others: (k, 3) other points [m].

    Returns:
        (m,) places of these vertices, in an order in which neighbours follow one another.
    """
    if not len(vertices):
        return np.zeros(0, dtype=np.intp)
    chosen, left = np.unique(np.argmax(vertices @ AROUND.T, axis=0)), np.arange(len(vertices))
    rows = np.column_stack((vertices, np.ones(len(vertices))))
    flat = bool(np.linalg.eigvalsh(np.cov(vertices.T, bias=True))[0] < FAITHFUL**2)
    while len(left):
        beyond = rows[left] @ _find_facets(np.vstack((vertices[chosen], others)), flat=flat).T
        over = np.argmax(beyond, axis=0)
        height = beyond[over, np.arange(len(over))]
        farthest, left = left[over], left[beyond.max(axis=1) > FAITHFUL]
        lifted = height > max(FAITHFUL, HALVES * float(height.max()))
        before, chosen = len(chosen), np.unique(np.concatenate((chosen, farthest[lifted])))
        if len(chosen) == before:
            break  # all of what sticks out is round-off
    return np.asarray(chosen[order_nearby(vertices[chosen])])


def order_nearby(points: Matrix) -> Indices:
    """Return an order of points in which those that follow one another lie together: every ``TOGETHER`` of them are far from the others.

    Args:
        points: (n, 3) points [m].

    Returns:
        (n,) their places in that order.
    """
    if len(points) <= TOGETHER:
        return np.arange(len(points))
    order = np.argsort(points[:, int(np.argmax(np.ptp(points, axis=0)))], kind="stable")
    half = TOGETHER * (-(-len(points) // (2 * TOGETHER)))
    return np.concatenate(
        [part[order_nearby(points[part])] for part in (order[:half], order[half:])]
    )


def _find_facets(points: Matrix, *, flat: bool) -> Matrix:
    """Return (f, 4) normals of the facets of the convex hull of points, and by how much the origin is beyond each."""
    if not flat:
        try:
            return list_once(ConvexHull(points).equations.round(9))
        except QhullError:  # they lie in a plane
            pass
    return list_once(
        ConvexHull(np.vstack([points + THIN * axis for axis in AROUND[:6]])).equations.round(9)
    )
