# SPDX-License-Identifier: Apache-2.0
"""The outline of an area to stand on, as loops that numba compiles: hull by Andrew's monotone chain, and its edges."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector

NARROWEST = 1e-4  # m from the middle to an edge, at least
LEFT = 0.0  # twice the area of a corner that turns left is larger; sums must not be added in another order, else points on a line count


def outline(points: Matrix, centre: Vector, A: Matrix, b: Vector) -> int:
    """Write middle and edges of the convex hull of points; return how many edges.

    Args:
        points: (n, 2) points [m]; sorted in place.
        centre: (2,) mean of its corners [m]; overwritten.
        A: (2 n, 2) outward normals of its edges; the first are overwritten.
        b: (2 n,) their distances from the middle [m]; likewise.
    """
    count, hull = _sort(points), np.empty((2 * len(points), 2))
    size = _add_chain(points, 0, count, 1, hull, 0)
    size = max(_add_chain(points, count - 1, -1, -1, hull, size - 1) - 1, 1) if count > 2 else size
    centre[:] = 0.0
    for k in range(size):
        centre[0] += hull[k, 0] / size
        centre[1] += hull[k, 1] / size
    for k in range(size):
        x, y = hull[(k + 1) % size, 0] - hull[k, 0], hull[(k + 1) % size, 1] - hull[k, 1]
        length = math.sqrt(x * x + y * y)
        A[k, 0], A[k, 1] = y / length, -x / length
        b[k] = max(
            A[k, 0] * (hull[k, 0] - centre[0]) + A[k, 1] * (hull[k, 1] - centre[1]), NARROWEST
        )
    return size


def _sort(points: Matrix) -> int:
    """Sort points from left to right, in place, each once; return how many."""
    count = 0
    for i in range(len(points)):
        x, y, k = points[i, 0], points[i, 1], count
        while k > 0 and (points[k - 1, 0] > x or (points[k - 1, 0] == x and points[k - 1, 1] > y)):
            k -= 1
        if k > 0 and points[k - 1, 0] == x and points[k - 1, 1] == y:
            continue
        for m in range(count, k, -1):
            points[m, 0], points[m, 1] = points[m - 1, 0], points[m - 1, 1]
        points[k, 0], points[k, 1] = x, y
        count += 1
    return count


def _add_chain(points: Matrix, first: int, after: int, step: int, hull: Matrix, start: int) -> int:
    """Add the part of a hull that turns left all the way from one end to the other; return how many corners there are then."""
    size = start
    for i in range(first, after, step):
        x, y = points[i, 0], points[i, 1]
        while size - start > 1:
            ax, ay, bx, by = (
                hull[size - 2, 0],
                hull[size - 2, 1],
                hull[size - 1, 0],
                hull[size - 1, 1],
            )
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > LEFT:
                break
            size -= 1
        hull[size, 0], hull[size, 1] = x, y
        size += 1
    return size
