# SPDX-License-Identifier: Apache-2.0
"""The doctor of clips finds what was done to a consistent motion, and nothing in the motion itself."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from clips import recorded

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ClipError
from humanoid_dynamics.motion.checking.findings import group
from humanoid_dynamics.motion.checking.forces import ForceNeeds, merge_needs
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.clip_check import check_clip
from humanoid_dynamics.motion.editing import warp_time
from humanoid_dynamics.motion.gait import plan_walk, step_period
from humanoid_dynamics.motion.load import load_clip
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.motion.walking.footsteps import WalkStyle
from humanoid_dynamics.motion.walking.schedule_phases import name_phases


@pytest.fixture(scope="module")
def walk():
    return plan_walk(hd.load_robot("human28"), WalkStyle(steps=3, rate=60.0))


@pytest.fixture(scope="module")
def clip(walk):
    return walk.clip.change(v=None, a=None, contacts={})


def kinds(report):
    return {finding.kind for finding in report.findings}


def shifted(clip, rows, **changes):
    """The same motion with something done to the base or to joints in some rows."""
    q = np.array(clip.q)
    for name, amount in changes.items():
        column = {"x": 0, "z": 2}.get(name)
        column = clip.robot.joint(name).q.start if column is None else column
        q[rows, column] += amount
    return clip.change(q=q)


def test_a_consistent_walk_is_possible(walk, clip):
    for motion in (walk.clip, clip):
        report = check_clip(motion, control=False)
        assert report.impossible == 0.0
        assert kinds(report) == set()
        assert report.level == pytest.approx(0.0, abs=1e-4)


def test_played_too_fast_it_tips(clip):
    fast = warp_time(clip, [0.0, clip.duration], [0.0, clip.duration / 2.5])
    report = check_clip(fast, cutoff=12.0, control=False)
    assert "tip" in kinds(report)
    assert report.impossible > 0.1
    finding = next(finding for finding in report.findings if finding.kind == "tip")
    assert "cm outside the feet" in finding.text
    assert finding.start <= finding.worst <= finding.end


def test_a_foot_that_would_slip_is_named_with_the_friction_it_needs():
    robot = hd.load_robot("human28")
    times = np.arange(201) / 100.0
    q = np.tile(robot.posture, (201, 1))
    v, a = np.zeros((2, 201, robot.nv))
    a[80:120, 0] = 0.9  # nothing moves: what forces it takes is all that is asked
    slippery = replace(
        robot, surfaces={n: replace(s, friction=0.05) for n, s in robot.surfaces.items()}
    )
    labels = {name: np.ones(201, dtype=bool) for name in robot.stance}
    report = check_clip(Clip(slippery, times, q, v, a, labels), control=False)
    finding = next(finding for finding in report.findings if finding.kind == "friction")
    assert finding.where in robot.stance
    assert finding.value == pytest.approx(0.9 / 9.81, abs=0.06)
    assert (
        finding.text
        == f"{finding.worst:.2f} s: {finding.where} would need friction {finding.value:.1f}"
    )
    assert (finding.start, finding.end) == pytest.approx((0.8, 1.19))


def test_a_fall_faster_than_gravity_needs_a_ground_that_pulls():
    robot = hd.load_robot("human28")
    times = np.arange(50) / 100.0
    v, a = np.zeros((2, 50, robot.nv))
    a[20:30, 2] = -1.5 * 9.81
    labels = {name: np.ones(50, dtype=bool) for name in robot.stance}
    report = check_clip(
        Clip(robot, times, np.tile(robot.posture, (50, 1)), v, a, labels), control=False
    )
    pull = next(finding for finding in report.findings if finding.kind == "pull")
    assert pull.value == pytest.approx(0.5, abs=1e-6)
    assert report.shares["pull"] == pytest.approx(0.2)


def test_weak_motors_are_named(clip):
    weak = replace(
        clip.robot, limits=replace(clip.robot.limits, effort=0.1 * clip.robot.limits.effort)
    )
    report = check_clip(Clip(weak, clip.times, clip.q), control=False)
    named = {finding.where for finding in report.findings if finding.kind == "torque"}
    assert named & {"left_knee", "right_knee"}


def test_motors_that_differ_between_left_and_right_are_not_judged(walk):
    """As the filter doubts them: such limits belong to other joints."""
    robot, clip = walk.clip.robot, walk.clip
    effort = 0.1 * robot.limits.effort
    assert (
        "torque"
        in check_clip(
            clip.change(robot=replace(robot, limits=replace(robot.limits, effort=effort))),
            control=False,
        ).shares
    )
    for name in ("left_knee", "left_hip_pitch"):
        effort[robot.joint(name).v] *= 3.0
    odd = replace(
        robot, limits=replace(robot.limits, effort=effort, upper=robot.limits.upper - 0.5)
    )
    report = check_clip(clip.change(robot=odd), control=False)
    assert set(report.doubtful) == {"left_knee", "left_hip_pitch"}
    assert report.impossible == 0.0
    assert not {"torque", "position", "velocity"} & set(report.shares) | kinds(report)


def test_motors_at_their_limits_are_no_alarm_where_accelerations_are_guessed(walk, clip):
    """Differences say up to 1.04 times the torque of motion that uses all of a motor; of exact accelerations nothing is forgiven."""
    robot = clip.robot
    torques = [
        pin.rnea(robot.model, robot.data(), q, v, a)[6:]
        for q, v, a in zip(walk.clip.q, walk.clip.v, walk.clip.a, strict=True)
    ]
    arm = robot.joint("left_elbow").v.start
    for share, found in ((0.97, False), (0.9, True)):
        effort = np.full(robot.nv, np.inf)
        effort[arm] = share * np.abs(torques)[:, arm - 6].max()
        weak = replace(robot, limits=replace(robot.limits, effort=effort))
        assert ("torque" in kinds(check_clip(clip.change(robot=weak), control=False))) == found
        assert "torque" in kinds(check_clip(walk.clip.change(robot=weak), control=False))


def test_geometry_is_seen_without_forces(clip):
    middle = slice(len(clip) // 2 - 10, len(clip) // 2 + 10)
    report = check_clip(shifted(clip, middle, z=-0.08), control=False)
    assert {"penetration", "jump"} <= kinds(report)
    deep = max(f.value for f in report.findings if f.kind == "penetration")
    assert deep == pytest.approx(0.08, abs=0.005)
    report = check_clip(shifted(clip, slice(None), left_elbow=-3.0), control=False)
    assert any(f.kind == "position" and f.where == "left_elbow" for f in report.findings)
    drift = np.array(clip.q)
    drift[:, 0] += 0.4 * clip.times
    report = check_clip(clip.change(q=drift), control=False)
    assert "slide" in kinds(report)


def test_stretches_near_to_each_other_are_one():
    times = np.arange(10) / 10.0
    excess = np.array([0, 1, 2, 0, 0, 0, 3, 0, 1, 0.0])
    assert group(times, excess) == [(1, 2, 2), (6, 6, 6), (8, 8, 8)]
    assert group(times / 10.0, excess) == [(1, 8, 6)]


def test_recorded_walks():
    robot = hd.load_robot("talos_reduced")
    talos = load_clip(recorded("talos_walk/one_step_20cm_ssp900_dsp400.npz"), robot)
    assert check_clip(resample(talos.change(v=None, a=None), 60.0), control=False).impossible < 0.01
    karate = check_clip(
        load_clip(recorded("g1_asap/walk_level1.npz"), hd.load_robot("g1")), control=False
    )
    assert 0.2 < karate.impossible < 0.7


def test_other_roots_are_refused():
    robot = hd.load_robot("biped7")
    clip = Clip(robot, np.arange(5) / 10.0, np.tile(robot.posture, (5, 1)))
    with pytest.raises(hd.UnsupportedRobotError, match="free base"):
        check_clip(clip)


def test_times_that_are_no_seconds_are_refused_and_few_samples_are_no_alarm(clip):
    """What is wrong is the clip, and not the walk it would be compared with."""
    with pytest.raises(
        ClipError,
        match=r"column .time.: lasts .* more than a day: its times or its rate \(fps\) are wrong",
    ):
        check_clip(clip.change(times=1e9 * np.arange(len(clip))))
    report = check_clip(clip.change(times=10.0 * np.arange(len(clip))))
    assert report.alarms == {}
    assert report.false_alarms == {}


def test_phases_of_a_walk_have_names(walk):
    names = [name for name, _ in name_phases(walk.schedule)]
    assert names == [
        "start",
        "single support",
        "double support 1",
        "single support",
        "double support 2",
        "single support",
        "stop",
    ]
    period = walk.plan.steps[1].leaves - walk.plan.steps[0].leaves
    assert step_period(walk.clip.robot, WalkStyle(steps=3, rate=60.0)) == pytest.approx(period)


def test_soles_that_land_and_motors_at_their_limits_are_no_alarms():
    """What only one of two low-passes says, and what is near to a touch-down, is not told."""
    one, other = (
        ForceNeeds(
            *np.tile(miss, (4, 1)),
            np.full(3, -1.0),
            np.array(torque)[:, None],
            np.zeros(3, dtype=bool),
            np.array(firm),
        )
        for miss, torque, firm in (
            ((0.1, 0.0, 0.1), (1.1, 1.5, 0.9), (0.0, 0.5, 0.0)),
            ((0.0, 0.1, 0.2), (1.0, 1.4, -1.2), (0.0, 0.3, 0.2)),
        )
    )
    both = merge_needs((one, other))
    np.testing.assert_allclose(both.miss, (0.0, 0.0, 0.1))
    np.testing.assert_allclose(both.torque[:, 0], (1.0, 1.3, 0.9))
    np.testing.assert_allclose(both.firm, (0.0, 0.3, 0.0))
