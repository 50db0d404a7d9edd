# SPDX-License-Identifier: Apache-2.0
"""Motions of an operator that are brought to where a limb reaches all of them."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.poses.placing import enclose, find_shift
from humanoid_dynamics.filtering.poses.replay import largest_scale, move_to_robot
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation
from humanoid_dynamics.motion.poses import PoseStream

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
        needed = (
            np.linalg.norm(places - SHOULDER, axis=1).max() - REACH
        )  # no shorter way brings the farthest one there
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


@pytest.mark.parametrize(
    "points",
    [np.zeros((1, 3)), np.eye(3), np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.3, 0.0]])],
)
def test_ball_holds_all_and_is_hardly_larger_than_the_smallest(points):
    """Of one place nothing, of three at equal distances their circle, of a flat triangle its longest side."""
    middle, radius = enclose(points)
    assert np.linalg.norm(points - middle, axis=1).max() <= radius + 1e-12
    exact = {1: 0.0}.get(len(points), np.sqrt(2.0 / 3.0) if np.allclose(points, np.eye(3)) else 1.0)
    assert exact - 1e-12 <= radius <= 1.01 * exact + 1e-12


def test_poses_that_jump_for_a_moment_do_not_tell_where_a_motion_begins():
    tele, times = Teleoperation(hd.load_robot("human28"), ("left_hand",)), np.arange(0.0, 2.0, 0.01)
    poses = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(times), 1))
    poses[:, 2] = 0.1 * np.sin(3.0 * times)
    smooth, spoilt, bad = PoseStream("left_hand", times, poses), poses.copy(), slice(100, 103)
    spoilt[bad, :3] += 5.0
    jumping = PoseStream("left_hand", times, spoilt)
    good = np.delete(np.arange(len(times)), bad)
    expected = move_to_robot(tele, smooth, "left_hand").poses[good]
    np.testing.assert_allclose(
        move_to_robot(tele, jumping, "left_hand").poses[good], expected, atol=1e-3
    )
    assert largest_scale(tele, jumping, "left_hand") == pytest.approx(
        largest_scale(tele, smooth, "left_hand"), rel=0.02
    )
