# SPDX-License-Identifier: Apache-2.0
"""Blends, turns and warps: what they must keep, they keep."""

import numpy as np
import pinocchio as pin
import pytest
from clips import distance, smooth_clip

import humanoid_dynamics as hd
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.editing import blend, crop, move_clip, turn_heading, warp_time
from humanoid_dynamics.motion.quintic import bump, quintic, quintic_rate

ROBOT = hd.load_robot("human28")
STEP = 0.01


def test_quintic_is_at_rest_at_both_ends():
    s = np.linspace(-0.5, 1.5, 2001)
    np.testing.assert_allclose(quintic([-1.0, 0.0, 0.5, 1.0, 2.0]), [0.0, 0.0, 0.5, 1.0, 1.0])
    np.testing.assert_allclose(np.gradient(quintic(s), s), quintic_rate(s), atol=1e-4)
    assert (quintic_rate(0.0), quintic_rate(1.0), bump(0.5), bump(0.0)) == (0.0, 0.0, 1.0, 0.0)
    assert np.all(np.diff(quintic(s)) >= 0.0)


def walk(speed=1.0, n=201):
    """A body that goes straight ahead along x and nods."""
    times = STEP * np.arange(n)
    q = np.tile(ROBOT.posture, (n, 1))
    q[:, 0] += speed * times
    q[:, 8] += 0.2 * np.sin(5.0 * times)
    return Clip(ROBOT, times, q)


def test_turned_walk_goes_on_in_the_new_heading():
    angle = np.deg2rad(30.0)
    clip = turn_heading(walk(), angle, start=0.5, duration=0.8)
    early, late = clip.times < 0.5, clip.times > 1.3
    np.testing.assert_array_equal(clip.q[early], walk().q[early])
    R = pin.utils.rotate("z", angle)
    np.testing.assert_allclose(
        np.diff(clip.q[late, :3], axis=0),
        np.tile(R @ [STEP, 0.0, 0.0], (np.sum(late) - 1, 1)),
        atol=1e-12,
    )
    np.testing.assert_allclose(pin.Quaternion(*clip.q[-1, [6, 3, 4, 5]]).matrix(), R, atol=1e-12)
    np.testing.assert_array_equal(clip.q[:, 7:], walk().q[:, 7:])


def test_turned_walk_moves_seen_from_itself_as_before():
    here, there = differentiate(walk()), differentiate(turn_heading(walk(), 0.7, 0.5, 0.8))
    np.testing.assert_allclose(there.v[1:-1, :3], here.v[1:-1, :3], atol=2e-4)
    carried = turn_heading(here, 0.7, 0.5, 0.8)
    np.testing.assert_allclose(carried.v[1:-1], there.v[1:-1], atol=2e-3)


def test_turning_commutes_with_moving_the_world():
    X = pin.SE3(pin.utils.rotate("z", -0.8), np.array([1.0, 2.0, 0.0]))
    clip = smooth_clip(ROBOT)
    a, b = (
        move_clip(turn_heading(clip, 0.5, 0.4, 1.0), X),
        turn_heading(move_clip(clip, X), 0.5, 0.4, 1.0),
    )
    assert distance(ROBOT, a.q, b.q) < 1e-12


def test_warped_clip_passes_the_given_instants_when_it_should():
    clip = smooth_clip(ROBOT, n=201, rate=100.0)
    slow = warp_time(clip, [0.0, 0.5, 2.0], [0.0, 1.5, 3.0])
    assert slow.duration == pytest.approx(3.0)
    assert distance(ROBOT, slow.q[[0, 150, 300]], clip.q[[0, 50, 200]]) < 1e-9
    half = differentiate(warp_time(clip, [0.0, 2.0], [0.0, 4.0]))
    np.testing.assert_allclose(half.v[2:-2:2], 0.5 * differentiate(clip).v[1:-1], atol=2e-3)
    for old, new in (
        ([0.0, 1.0], [1.0, 1.0]),
        ([1.0, 0.0], [0.0, 1.0]),
        ([0.0], [0.0]),
        ([0.0, 1.0, 2.0], [0.0, 1.0]),
    ):
        with pytest.raises(hd.ClipError, match="instants"):
            warp_time(clip, old, new)


def test_blend_is_the_first_clip_then_the_second():
    first, second = (
        smooth_clip(ROBOT, n=201, rate=100.0),
        smooth_clip(ROBOT, n=151, rate=100.0, seed=1),
    )
    both = blend(first, second, 0.5, align=False)
    assert both.duration == pytest.approx(2.0 + 1.5 - 0.5)
    assert distance(ROBOT, both.q[:151], first.q[:151]) < 1e-12
    assert distance(ROBOT, both.q[200:], second.q[50:]) < 1e-12


def test_blend_of_a_clip_with_its_own_continuation_changes_nothing():
    clip = smooth_clip(ROBOT, n=301, rate=100.0)
    first, second = crop(clip, 0.0, 2.0), crop(clip, 1.5, 3.0)
    assert distance(ROBOT, blend(first, second, 0.5, align=False).q, clip.q) < 1e-12


def test_aligned_blend_goes_on_where_the_first_clip_is():
    walks = (
        walk(),
        move_clip(walk(), pin.SE3(pin.utils.rotate("z", 2.0), np.array([5.0, -4.0, 0.0]))),
    )
    both = blend(*walks, 0.6)
    np.testing.assert_allclose(np.diff(both.q[:, 0]), STEP, atol=1e-12)
    np.testing.assert_allclose(both.q[:, 1], ROBOT.posture[1], atol=1e-12)
    rates = differentiate(both)
    assert np.abs(np.diff(rates.v, axis=0)).max() < 0.1, "no jump of velocity"


def test_blend_keeps_labels_of_both_and_needs_time_and_one_robot():
    first = smooth_clip(ROBOT, contacts={"left_foot": np.ones(101)})
    second = smooth_clip(ROBOT, contacts={"left_foot": np.zeros(101)})
    labels = blend(first, second, 1.0).contacts["left_foot"]
    assert labels[0]
    assert not labels[-1]
    with pytest.raises(hd.ClipError, match="shorter than the blend of 5 s"):
        blend(first, second, 5.0)
    with pytest.raises(hd.ClipError, match="is a motion of"):
        blend(first, smooth_clip(hd.load_robot("human16")), 0.5)
    with pytest.raises(hd.ClipError, match="expected a positive time"):
        blend(first, second, -1.0)


def test_a_fixed_robot_has_no_heading():
    fixed = hd.load_robot("fourbar")
    clip = Clip(fixed, [0.0, 0.1, 0.2], np.tile(fixed.posture, (3, 1)))
    with pytest.raises(hd.UnsupportedRobotError, match="needs a free base"):
        turn_heading(clip, 1.0, 0.0, 0.1)
