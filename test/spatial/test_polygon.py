# SPDX-License-Identifier: Apache-2.0
"""How far inside a patch a point lies: faces, edges, points."""

import numpy as np
import pytest

from humanoid_dynamics.spatial.polygon import half_planes, margin_inside

SQUARE = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
EDGE = np.array([[0.0, -1.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("vertices", "p", "margin"),
    [
        (SQUARE, (0.0, 0.0), 1.0),
        (SQUARE, (0.7, 0.0), 0.3),
        (SQUARE, (0.7, -0.9), 0.1),
        (SQUARE, (1.0, 0.3), 0.0),
        (SQUARE, (1.5, 0.0), -0.5),
        (SQUARE, (0.0, -3.0), -2.0),
        (EDGE, (0.0, 0.0), 1.0),
        (EDGE, (0.0, 0.8), 0.2),
        (EDGE, (0.0, 1.5), -0.5),
        (EDGE, (0.25, 0.0), -0.25),
        (EDGE, (-0.25, 0.9), -0.25),
        (EDGE, (0.3, 1.4), -0.5),
        (EDGE, (1e-15, 0.4), 0.6),
        (np.array([[0.5, 0.0]]), (0.5, 0.0), 0.0),
        (np.array([[0.5, 0.0]]), (0.5, 0.2), -0.2),
        (np.repeat(SQUARE, 2, axis=0), (0.7, 0.0), 0.3),
        (np.array([[0.5, 0.0]] * 2), (0.5, 0.2), -0.2),
        (np.array([[0.5, 0.0]] * 4), (0.5, 0.2), -0.2),
    ],
)
def test_by_hand(vertices, p, margin):
    assert margin_inside(vertices, np.array(p)) == pytest.approx(margin, abs=1e-12)


def test_turning_and_shifting_changes_nothing():
    rng = np.random.default_rng(1)
    for vertices in (SQUARE, EDGE, SQUARE[:3]):
        for _ in range(20):
            p, shift, angle = (
                rng.uniform(-2, 2, 2),
                rng.uniform(-5, 5, 2),
                rng.uniform(-np.pi, np.pi),
            )
            R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            moved = margin_inside(vertices @ R.T + shift, R @ p + shift)
            assert moved == pytest.approx(margin_inside(vertices, p), abs=1e-12)


def test_sign_tells_inside_from_outside():
    """Against the winding of triangles, an independent test."""
    rng = np.random.default_rng(2)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 7))
    polygon = np.column_stack((np.cos(angles), np.sin(angles)))
    for p in rng.uniform(-1.2, 1.2, (200, 2)):
        edges, to_p = np.roll(polygon, -1, axis=0) - polygon, p - polygon
        inside = np.all(edges[:, 0] * to_p[:, 1] - edges[:, 1] * to_p[:, 0] > 0)
        assert (margin_inside(polygon, p) > 0) == inside


def test_half_planes_touch_the_corners():
    A, b = half_planes(SQUARE)
    np.testing.assert_allclose(np.linalg.norm(A, axis=1), 1.0)
    slack = b[:, None] - A @ SQUARE.T
    assert slack.min() == pytest.approx(0.0, abs=1e-15)
    assert np.sum(np.isclose(slack, 0.0)) == 8
