"""Motions of an operator that are brought to where a limb reaches all of them."""

import numpy as np
import pytest

from humanoid_dynamics.filtering.poses.placing import enclose, find_shift

SHOULDER, REACH = np.array([0.1, -0.2, 1.3]), 0.5


def draw_places(rng, size):
    """Return places within a ball of some size, that begin somewhere near the shoulder."""
    places = rng.normal(size=(40, 3))
    places *= (size * rng.random(40) ** (1 / 3) / np.linalg.norm(places, axis=1))[:, None]
    return SHOULDER + rng.uniform(-0.8, 0.8, size=3) + places


def test_what_is_in_reach_stays_and_what_is_not_comes_there_by_about_the_shortest_way():
    rng, moved = np.random.default_rng(0), 0
    for _ in range(50):
        places = draw_places(rng, rng.uniform(0.05, 0.45))
        shift = find_shift(places, SHOULDER, REACH)
        assert np.linalg.norm(places + shift - SHOULDER, axis=1).max() <= REACH + 2e-6
        needed = np.linalg.norm(places - SHOULDER, axis=1).max() - REACH  # no shorter way brings the farthest one there
        if needed <= 0.0:
            assert not shift.any()
            continue
        moved += 1
        middle, _ = enclose(places)
        assert needed - 2e-6 <= np.linalg.norm(shift) <= np.linalg.norm(middle - SHOULDER) + 2e-6
    assert moved > 20


def test_what_is_too_wide_is_left_around_the_shoulder():
    places = draw_places(np.random.default_rng(1), 2.0)
    middle, radius = enclose(places)
    assert radius > REACH
    np.testing.assert_allclose(find_shift(places, SHOULDER, REACH), SHOULDER - middle)


@pytest.mark.parametrize("points", [np.zeros((1, 3)), np.eye(3), np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.3, 0.0]])])
def test_ball_holds_all_and_is_hardly_larger_than_the_smallest(points):
    """Of one place nothing, of three at equal distances their circle, of a flat triangle its longest side."""
    middle, radius = enclose(points)
    assert np.linalg.norm(points - middle, axis=1).max() <= radius + 1e-12
    exact = {1: 0.0}.get(len(points), np.sqrt(2.0 / 3.0) if np.allclose(points, np.eye(3)) else 1.0)
    assert exact - 1e-12 <= radius <= 1.01 * exact + 1e-12
