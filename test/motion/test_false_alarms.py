# SPDX-License-Identifier: Apache-2.0
"""How often the doctor of clips is wrong: kind by kind, on motion that is possible by construction."""

from dataclasses import replace

import numpy as np
import pytest
from clips import load_recorded, recorded

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import filter_clip
from humanoid_dynamics.filtering.matched_control import make_matched_control
from humanoid_dynamics.motion.checking.false_alarms import (
    SPEEDS,
    Control,
    measure_false_alarms,
    merge_alarms,
)
from humanoid_dynamics.motion.checking.findings import DYNAMIC, KINDS
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.clip_check import check_clip
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.motion.walking.footsteps import WalkStyle


def bare(clip, rate=None):
    known = clip.change(v=None, a=None, contacts={})
    return known if rate is None else resample(known, rate)


def swing(robot, rate, positions):
    """One elbow that moves by a function of time, for two seconds; all else stands."""
    times = np.arange(round(2.0 * rate) + 1) / rate
    q = np.tile(robot.posture, (len(times), 1))
    q[:, robot.joint("left_elbow").q.start] += positions(times)
    return Clip(robot, times, q)


@pytest.fixture(scope="module")
def walk():
    return plan_walk(hd.load_robot("human28"), WalkStyle(steps=1, rate=60.0)).clip


def test_every_kind_of_alarm_has_its_rate_beside_it(walk):
    report = check_clip(bare(walk), others={"the walk itself": walk})
    assert set(report.alarms) == {*SPEEDS, "the walk itself"}
    for shares in report.alarms.values():
        assert set(shares) == {"impossible", *report.shares}
    assert set(report.false_alarms) - {"impossible"} <= set(KINDS)
    assert max(report.false_alarms.values()) <= 0.02


def test_rates_are_those_of_the_worst_motion():
    assert merge_alarms({"walk": {"tip": 0.1, "jump": 0.0}, "run": {"tip": 0.0, "jump": 0.2}}) == {
        "tip": 0.1,
        "jump": 0.2,
    }


@pytest.mark.parametrize("given", [False, True])
def test_what_seems_wrong_is_counted_by_kind(walk, given):
    """A motion handed in as possible that is not: all that is found in it counts."""
    q = np.array(walk.q)
    q[30:60, 2] -= 0.1
    controls = {
        "walk": Control(walk),
        "faster": Control(walk, certain=False),
        "sunk": Control(walk.change(q=q)),
    }
    alarms = measure_false_alarms(controls, 60.0, 6.0, given=given)
    assert set(alarms) == ({"walk", "sunk"} if given else {"walk", "faster", "sunk"})
    assert max(alarms["walk"].values()) == 0.0
    assert alarms["sunk"]["penetration"] == pytest.approx(30 / len(walk), abs=5 / len(walk))
    assert measure_false_alarms(controls, 0.5, 6.0, given=given) == {}


def test_a_foot_that_skims_the_ground_beside_one_that_bears_does_not_slide():
    walk = plan_walk(
        hd.load_robot("human28"), WalkStyle(steps=1, rate=60.0, step_height=0.002)
    ).clip
    assert check_clip(bare(walk), control=False).shares["slide"] == 0.0


def test_a_foot_slides_that_cannot_be_done_without():
    """Both legs bear the weight between them, and one swings out to the side by 5 cm and back."""
    robot = hd.load_robot("human28")
    times = np.arange(121) / 60.0
    q = np.tile(robot.posture, (121, 1))
    q[:, robot.joint("left_hip_roll").q.start] += 0.03 * (1.0 - np.cos(2.0 * np.pi * times))
    labels = {name: np.ones(121, dtype=bool) for name in robot.stance}
    report = check_clip(Clip(robot, times, q, contacts=labels), control=False)
    assert {finding.where for finding in report.findings if finding.kind == "slide"} == {
        "left_foot"
    }


def test_no_forces_are_looked_for_at_the_ends():
    """A body that is shaken all the time tips all the time; at the ends differences know nothing of what was before and comes after."""
    robot = hd.load_robot("human28")
    times = np.arange(121) / 60.0
    q = np.tile(robot.posture, (121, 1))
    q[:, 0] += 0.06 * np.sin(4.0 * np.pi * times)
    found = [
        finding
        for finding in check_clip(Clip(robot, times, q), control=False).findings
        if finding.kind in DYNAMIC
    ]
    assert found
    assert min(finding.start for finding in found) > 0.05
    assert max(finding.end for finding in found) < 1.95


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
def test_a_lively_joint_does_not_jump(rate):
    """Five swings of 0.29 rad each second: 230 rad/s^2, as fast as arms of the filtered dances are."""
    lively = swing(
        hd.load_robot("human28"),
        rate,
        lambda t: 230.0 / (8.0 * np.pi) ** 2 * np.cos(8.0 * np.pi * t),
    )
    assert check_clip(lively, control=False).shares["jump"] == 0.0


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
def test_a_joint_that_leaps_jumps(rate):
    leap = swing(hd.load_robot("human28"), rate, lambda t: np.where(t < 1.0, 0.0, 0.4))
    found = [
        finding for finding in check_clip(leap, control=False).findings if finding.kind == "jump"
    ]
    assert [finding.where for finding in found] == ["left_elbow"]
    assert found[0].start == pytest.approx(1.0, abs=1.5 / rate)
    assert found[0].value == pytest.approx(0.4 * rate, rel=0.01)


@pytest.mark.parametrize(("share", "found"), [(1.0, False), (1.05, True)])
def test_a_joint_at_its_speed_limit_is_not_too_fast(share, found):
    """It speeds up and slows down in a twentieth of a second, and goes at its limit between; samples fall beside the corners."""
    robot = hd.load_robot("human28")
    fine, fastest = (
        np.arange(0.0, 2.0, 1e-4),
        share * robot.limits.velocity[robot.joint("left_elbow").v.start],
    )
    way = (
        np.cumsum(
            np.clip(
                np.clip(300.0 * (fine - 0.5), 0.0, fastest),
                0.0,
                np.maximum(300.0 * (0.8 - fine), 0.0),
            )
        )
        * 1e-4
    )
    ramp = swing(robot, 200.0, lambda t: 0.1 * np.interp(t, fine, way))
    slow = replace(robot, limits=replace(robot.limits, velocity=0.1 * robot.limits.velocity))
    seen = bare(ramp.change(robot=slow), 60.0)
    assert (check_clip(seen, control=False).shares["velocity"] > 0.0) == found


def test_straight_lines_between_few_samples_jump():
    """As recordings at 20 Hz are that somebody filled up to 60 Hz."""
    few = np.arange(41) / 20.0
    lines = swing(
        hd.load_robot("human28"), 60.0, lambda t: np.interp(t, few, 0.5 * np.cos(8.0 * np.pi * few))
    )
    found = [
        finding for finding in check_clip(lines, control=False).findings if finding.kind == "jump"
    ]
    assert {finding.where for finding in found} == {"left_elbow"}


def test_a_matched_control_is_certified_and_as_long_as_the_clip(walk):
    made = make_matched_control(bare(walk))
    assert made is not None
    assert made.a is not None
    assert made.duration == pytest.approx(walk.duration, abs=0.01)
    assert max(check_clip(made, control=False).shares.values()) == 0.0
    assert (
        make_matched_control(walk.change(q=np.where(np.arange(walk.robot.nq) == 2, 1e6, walk.q)))
        is None
    )


@pytest.mark.slow
@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
@pytest.mark.parametrize(
    "name",
    [
        "g1_asap/walk_level4.npz",
        "g1_karate/J_ShortDance16_JazzWalk.csv",
        "g1_asap/squat_level1.npz",
    ],
)
def test_motion_the_filter_made_raises_few_alarms(name, rate):
    robot = hd.load_robot("g1")
    recording = load_recorded(recorded(name), robot)
    made = bare(filter_clip(robot, recording).clip, rate)
    before, after = (check_clip(clip, control=False).impossible for clip in (recording, made))
    assert after <= 0.02
    assert before > 3.0 * after


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["g1_asap/side_jump_level1.npz", "g1_karate/M_ShortMove12.csv", "g1_karate/M_Move18.csv"],
)
def test_lively_motion_of_the_filter_neither_jumps_nor_slides(name):
    made = make_matched_control(load_recorded(recorded(name), hd.load_robot("g1")))
    assert made is not None
    for rate in (30.0, 60.0, 120.0):
        shares = check_clip(bare(made, rate), control=False).shares
        assert {kind: share for kind, share in shares.items() if share > 0.005} == {}
        assert (shares["jump"], shares["slide"]) == (0.0, 0.0)
