# SPDX-License-Identifier: Apache-2.0
"""The causal differentiator: exact on straight motion, late by what it says, never wrong-footed by a bad sample."""

import numpy as np
import pinocchio as pin
import pytest
from clips import distance, smooth_motion

import humanoid_dynamics as hd
from humanoid_dynamics.papers.dynamics_filter.differentiator import Differentiator

ROBOT = hd.load_robot("human40")
D = np.random.default_rng(5).normal(scale=0.3, size=ROBOT.nv)


def along(s):
    return pin.integrate(ROBOT.model, ROBOT.posture, s * D)


@pytest.mark.parametrize("rate", [20.0, 60.0, 500.0])
def test_constant_velocity_is_found_exactly_and_late_by_the_delay(rate):
    follower = Differentiator(ROBOT, bandwidth=6.0)
    times = np.arange(0.0, 1.5, 1.0 / rate)
    for t in times:
        estimate = follower.update(t, along(t))
    np.testing.assert_allclose(estimate.v, D, atol=1e-9)
    np.testing.assert_allclose(estimate.a, 0.0, atol=1e-7)
    assert distance(ROBOT, [estimate.q], [along(times[-1] - follower.delay)]) < 1e-9
    assert follower.delay == pytest.approx(1.0 / (np.pi * 6.0))


def test_smooth_motion_is_followed_by_the_delay():
    follower = Differentiator(ROBOT, bandwidth=5.0)
    times = np.arange(0.0, 2.0, 0.004)
    q, _, _ = smooth_motion(ROBOT, times)
    found = [follower.update(t, row) for t, row in zip(times, q, strict=True)]
    _, v, a = smooth_motion(ROBOT, times - follower.delay)
    late = slice(250, None)
    np.testing.assert_allclose([e.v for e in found[late]], v[late], atol=0.03)
    np.testing.assert_allclose([e.a for e in found[late]], a[late], atol=0.15)
    promptly = np.abs(
        np.array([e.v for e in found[late]]) - smooth_motion(ROBOT, times)[1][late]
    ).max()
    assert promptly > 0.1, "the delay is real"


def test_velocity_is_the_derivative_of_the_estimate():
    follower = Differentiator(ROBOT, bandwidth=8.0)
    rng = np.random.default_rng(2)
    before = [follower.update(0.01 * k, along(0.1 * rng.normal())) for k in range(30)][-1]
    after = follower.update(0.29 + 1e-5, along(0.3))
    step = pin.difference(ROBOT.model, before.q, after.q) / 1e-5
    np.testing.assert_allclose(step, 0.5 * (before.v + after.v), atol=1e-4 * np.abs(before.a).max())


def test_bad_samples_are_said_and_change_nothing():
    follower = Differentiator(ROBOT)
    assert follower.update(0.0, along(0.0)).status == "STARTED"
    good = follower.update(0.01, along(0.01))
    assert good.status == "OK"
    nan = along(0.02)
    nan[4] = np.nan
    crooked = along(0.02)
    crooked[3:7] *= 1.1
    for time, q, status in [
        (0.02, nan, "NOT_FINITE"),
        (0.02, crooked, "NOT_UNIT"),
        (0.01, along(0.2), "STAMP_IN_PAST"),
        (np.nan, along(0.2), "STAMP_IN_PAST"),
    ]:
        held = follower.update(time, q)
        assert held.status == status
        np.testing.assert_array_equal(held.q, good.q)
        np.testing.assert_array_equal(held.v, good.v)
    assert follower.update(0.02, np.zeros(3)).status == "NOT_FINITE"
    assert follower.update(0.03, along(0.03)).status == "OK"
    assert follower.update(5.0, along(1.0)).status == "STARTED", "after a silence it starts anew"


def test_flipped_signs_and_jumps_stay_finite():
    follower = Differentiator(ROBOT)
    rng = np.random.default_rng(7)
    for k in range(200):
        q = along(rng.normal())
        q[3:7] *= rng.choice([-1.0, 1.0])
        estimate = follower.update(0.005 * k, q)
        assert np.isfinite(np.concatenate((estimate.q, estimate.v, estimate.a))).all()
        assert pin.isNormalized(ROBOT.model, estimate.q, 1e-9)


def test_senseless_bandwidth_is_refused():
    for bandwidth in (0.0, -1.0, np.nan):
        with pytest.raises(hd.ShapeError, match="a positive frequency"):
            Differentiator(ROBOT, bandwidth)
