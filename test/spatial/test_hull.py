# SPDX-License-Identifier: Apache-2.0
"""Convex hull of a few points: an independent oracle, and points that lie on lines."""

import numpy as np
from scipy.spatial import ConvexHull

from humanoid_dynamics.spatial.polygon import half_planes, hull_of


def test_hull_is_that_of_qhull():
    rng = np.random.default_rng(0)
    for _ in range(50):
        points = rng.normal(size=(rng.integers(4, 12), 2))
        found, known = hull_of(points), points[ConvexHull(points).vertices]
        first = int(np.argmin(np.linalg.norm(known - found[0], axis=1)))
        np.testing.assert_array_equal(found, np.roll(known, -first, axis=0))


def test_points_on_edges_and_twice_are_left_out():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    more = np.vstack((square, square, [[0.5, 0.0], [1.0, 0.5], [0.5, 0.5]]))
    found = hull_of(more)
    np.testing.assert_array_equal(found, square)
    A, b = half_planes(found)
    assert np.all(b > A @ [0.5, 0.5])


def test_line_keeps_its_ends():
    np.testing.assert_array_equal(
        hull_of(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])), [[0.0, 0.0], [2.0, 2.0]]
    )
