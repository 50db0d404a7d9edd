# SPDX-License-Identifier: Apache-2.0
"""Streams of poses, good and bad, without a robot: what is believed, what is said, how goals and followers move."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_dynamics.filtering.poses.follower import GoalPace, PoseFollowers
from humanoid_dynamics.filtering.poses.gate import PoseGate, PoseStreamStatus, StampClock
from humanoid_dynamics.filtering.poses.stream import COASTING, FASTEST, GoalStream

UNIT = np.array([0.0, 0.0, 0.0, 1.0])
RATES = (5.0, 30.0, 90.0, 500.0)


def pose(*place: float) -> np.ndarray:
    return np.concatenate((place, UNIT))


def feed(
    stream: GoalStream, start: float, end: float, rate: float, path, offset: float = 1e9
) -> str:
    said = "nothing came"
    for t in np.arange(start, end, 1.0 / rate):
        said = stream.observe(offset + t, path(t), t)
    return said


@pytest.mark.parametrize("rate", RATES)
def test_a_goal_of_constant_velocity_is_known_with_its_velocity_at_any_rate(rate: float) -> None:
    stream = GoalStream()
    feed(stream, 0.0, 3.0, rate, lambda t: pose(0.4 * t, 0.0, -0.2 * t))
    last = np.arange(0.0, 3.0, 1.0 / rate)[-1]
    goal = stream.goal(last)
    assert np.abs(goal.rate[:3] - [0.4, 0.0, -0.2]).max() < 1e-3
    assert np.abs(goal.p - [0.4 * last, 0.0, -0.2 * last]).max() < 1e-3
    assert stream.status(last) == "TRACKING"


def test_noise_does_not_become_velocity() -> None:
    rng = np.random.default_rng(3)
    stream, worst = GoalStream(), 0.0
    for t in np.arange(0.0, 3.0, 0.002):
        stream.observe(t + 1.0, pose(*(0.005 * rng.standard_normal(3))), t)
        worst = max(worst, float(np.linalg.norm(stream.goal(t).rate[:3]))) if t > 0.5 else worst
    assert worst < 0.3  # the differences of samples are 30 times that


@pytest.mark.parametrize("rate", RATES)
def test_a_silent_stream_coasts_to_a_stop(rate: float) -> None:
    stream = GoalStream()
    feed(stream, 0.0, 2.0, rate, lambda t: pose(0.5 * t, 0.0, 0.0))
    end = np.arange(0.0, 2.0, 1.0 / rate)[-1]
    later = stream.goal(end + 5.0)
    assert np.abs(later.rate).max() < 1e-6
    assert later.p[0] - 0.5 * end < 0.5 * COASTING[1] + 1e-6
    assert stream.status(end + 0.5) == "GAP"
    assert stream.status(end + 2.0) == "LOST"


BAD = {
    "NOT_FINITE": (1e9 + 1.2, np.array([np.nan, 0, 0, 0, 0, 0, 1])),
    "NOT_UNIT": (1e9 + 1.2, np.array([0, 0, 0, 0, 0, 0, 3.0])),
    "NOT_A_POSE": (1e9 + 1.2, np.zeros(6)),
    "STAMP_IN_PAST": (1e9 - 5.0, pose(0.0, 0.0, 0.0)),
    "OUTLIER": (1e9 + 1.2, pose(2.0, 0.0, 0.0)),
    "FLIPPED": (1e9 + 1.2, np.array([0, 0, 0, 1.0, 0, 0, 0])),
}


@pytest.mark.parametrize("kind", sorted(BAD))
def test_a_bad_pose_is_refused_and_said(kind: str) -> None:
    stream = GoalStream()
    rng = np.random.default_rng(1)
    feed(stream, 0.0, 1.2, 50.0, lambda t: pose(*(1e-4 * rng.standard_normal(3))))
    before = stream.goal(1.2).p
    stamp, bad = BAD[kind]
    assert stream.observe(stamp, bad, 1.2) == kind
    assert stream.status(1.2) == kind
    assert stream.gate.refused == 1
    assert np.abs(stream.goal(1.21).p - before).max() < 1e-3
    assert stream.observe(1e9 + 1.22, pose(0.0, 0.0, 0.0), 1.22) == "OK"


@pytest.mark.parametrize("rate", RATES)
def test_poses_that_agree_after_a_jump_are_believed_soon_but_not_at_once(rate: float) -> None:
    stream = GoalStream()
    rng = np.random.default_rng(1)
    feed(stream, 0.0, 1.0, rate, lambda t: pose(*(1e-4 * rng.standard_normal(3))))
    said = [
        stream.observe(1e9 + t, pose(3.0, 1e-4 * t, 0.0), t)
        for t in np.arange(1.0, 1.5, 1.0 / rate)
    ]
    assert said[0] == "OUTLIER"
    assert "POSE_JUMP" in said
    assert said.index("POSE_JUMP") / rate < 0.5
    assert np.abs(stream.goal(1.5).p[0] - 3.0) < 1e-2


def test_pair_that_is_swapped_is_refused_as_long_as_it_is() -> None:
    left, right = GoalStream(), GoalStream()
    places = (pose(0.0, 0.3, 0.0), pose(0.0, -0.3, 0.0))
    for t in np.arange(0.0, 3.0, 0.02):
        here, there = places[:: -1 if 1.0 <= t < 2.0 else 1]
        nudge = np.concatenate((1e-4 * np.sin([t, 2 * t, 3 * t]), np.zeros(4)))
        said = (
            left.observe(t + 5.0, here + nudge, t, right),
            right.observe(t + 5.0, there + nudge, t, left),
        )
        assert said == (("SWAPPED", "SWAPPED") if 1.0 <= t < 2.0 else said)
    assert left.goal(3.0).p[1] > 0.29
    assert (left.status(3.0), right.status(3.0)) == ("TRACKING", "TRACKING")


def test_a_frozen_pose_is_said_and_a_steady_hand_is_not() -> None:
    frozen, steady = GoalStream(), GoalStream()
    feed(frozen, 0.0, 1.0, 50.0, lambda t: pose(0.1, 0.0, 0.0))
    feed(steady, 0.0, 1.0, 50.0, lambda t: pose(0.1 + 1e-9 * t, 0.0, 0.0))
    assert (frozen.status(1.0), steady.status(1.0)) == ("FROZEN", "TRACKING")


def test_the_clock_of_the_sender_may_be_any_and_may_start_anew() -> None:
    clock = StampClock()
    delays = [0.02, 0.05, 0.02, 0.08, 0.02]
    read = [clock.read(500.0 + 0.1 * k, 0.1 * k + delay) for k, delay in enumerate(delays)]
    assert (
        np.abs(np.array(read, dtype=float) - 0.1 * np.arange(5) - 0.02).max() < 2e-3
    )  # as if all had come as quickly as the quickest
    said = [clock.read(3.0 + 0.1 * k, 1.0 + 0.1 * k) for k in range(4)]
    assert said[0] == "STAMP_IN_PAST"
    assert isinstance(said[-1], float)
    assert clock.read(0.0, 7.0) == 7.0  # no stamp: the time it came


@pytest.mark.parametrize("kind", ["gate", "stream"])
def test_garbage_never_raises_and_never_spoils_the_goal(kind: str) -> None:
    rng = np.random.default_rng(11)
    stream, gate = GoalStream(), PoseGate()
    now = 0.0
    for _ in range(3000):
        now += float(rng.exponential(0.01))
        bad = rng.standard_normal(rng.integers(5, 9)) * 10.0 ** rng.uniform(-300, 300)
        bad = (
            rng.choice([bad, pose(*rng.standard_normal(3))], p=[0.3, 0.7]) if len(bad) == 7 else bad
        )
        stamp = float(rng.choice([now, -1.0, np.nan, np.inf, 1e300, rng.normal()]))
        if kind == "gate":
            assert isinstance(gate.take(stamp, bad, now), str)
        else:
            stream.observe(stamp, bad, now)
            goal = stream.goal(now)
            assert np.isfinite(np.concatenate((goal.p, goal.R.ravel(), goal.rate))).all()
            assert np.linalg.norm(goal.rate[:3]) <= FASTEST * (1.0 + 1e-9)
            assert stream.status(now) in set(PoseStreamStatus)


def test_a_follower_keeps_its_bounds_whatever_its_goal_does_and_gets_there() -> None:
    rng = np.random.default_rng(7)
    pace = GoalPace()
    followers = PoseFollowers([pace, pace])
    p, R = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    before = followers.rate.copy()
    for tick in range(5000):
        if tick % 250 == 0 and tick < 4000:
            p = 5.0 * rng.standard_normal((2, 3))
            R = np.array([pin.exp3(rng.uniform(-2.0, 2.0, 3)) for _ in range(2)])
        followers.step(p, R, np.zeros((2, 6)), 0.002)
        change = (followers.rate - before).reshape(2, 2, 3) / 0.002
        assert (
            np.linalg.norm(change, axis=2)
            <= np.array([pace.acceleration, pace.turn_acceleration]) * (1.0 + 1e-9)
        ).all()
        speeds = np.linalg.norm(followers.rate.reshape(2, 2, 3), axis=2)
        assert (speeds <= np.array([pace.speed, pace.turn_speed]) * 1.001).all()
        before = followers.rate.copy()
    # The last goal is 1.9 s old, at most some 10 m away: what is left is the bound on speed.
    left = np.linalg.norm(p - followers.p, axis=1)
    assert np.linalg.norm(followers.rate) < 20.0
    for _ in range(4000):
        followers.step(p, R, np.zeros((2, 6)), 0.002)
    assert np.linalg.norm(p - followers.p, axis=1).max() < 1e-6 <= left.max() + 1e-6
    assert max(np.linalg.norm(pin.log3(R[k] @ followers.R[k].T)) for k in range(2)) < 1e-6


def test_a_follower_has_no_lag_behind_a_goal_of_constant_velocity() -> None:
    followers = PoseFollowers([GoalPace()])
    rate = np.array([[0.5, -0.3, 0.1, 0.0, 0.0, 0.4]])
    for tick in range(1000):
        t = 0.002 * tick
        followers.step(t * rate[:, :3], np.array([pin.exp3(t * rate[0, 3:])]), rate, 0.002)
    assert followers.left.max() < 2e-3
