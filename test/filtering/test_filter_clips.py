# SPDX-License-Identifier: Apache-2.0
"""Recorded motions through the filter, sample by sample, with a look-ahead of 0.8 s and one set of settings."""

from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest
from recordings import find_recording, load_recorded

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter, Settings, TickSettings, filter_clip
from humanoid_dynamics.filtering.clip_filter import LADDER
from humanoid_dynamics.filtering.scoring import false_alarms, score_motion
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.schedule import runs

G1 = {
    "g1_asap/squat_level1.npz": 6.0,
    "g1_asap/walk_level1.npz": 6.0,
    "g1_asap/walk_level4.npz": 10.0,
    "g1_asap/kick_level1.npz": 6.0,
    "g1_asap/single_foot_balance_level1.npz": 6.5,
    "g1_asap/step_forward_back_level1.npz": 6.0,
    "g1_asap/side_jump_level1.npz": 8.0,
    "g1_karate/B_HandsUp.csv": 6.0,
    "g1_karate/J_ShortDance16_JazzWalk.csv": 6.5,
    "g1_karate/M_ShortMove12.csv": 10.0,
    "g1_karate/M_Move18.csv": 12.0,
}
FIRST = LADDER[:1]


def load(name, robot, seconds=None):
    clip = load_recorded(find_recording(name), robot)
    if seconds is None:
        return clip
    rows = clip.times <= clip.times[0] + seconds
    return clip.change(times=clip.times[rows], q=clip.q[rows], v=None, a=None)


def assert_consistent(verdict):
    assert verdict.finished, verdict
    assert verdict.residual <= 1e-8
    assert verdict.all_limits == 1.0, verdict
    assert verdict.slip <= 0.005


def test_standing_stays_exactly():
    robot = hd.load_robot("g1")
    times = np.arange(0.0, 1.0, 1.0 / 30.0)
    found = filter_clip(
        robot, Clip(robot, times, np.tile(robot.posture, (len(times), 1))), ladder=FIRST
    )
    assert_consistent(found.report)
    errors = [pin.difference(robot.model, robot.posture, frame.q) for frame in found.frames]
    assert np.max(np.abs(errors)) <= 1e-9


@pytest.mark.parametrize("name", ["g1_asap/squat_level1.npz", "g1_asap/walk_level1.npz"])
def test_squat_and_walk(name):
    robot = hd.load_robot("g1")
    found = filter_clip(robot, load(name, robot), ladder=FIRST)
    assert_consistent(found.report)
    assert np.rad2deg(found.report.joint_rms) <= 6.0
    assert found.report.com_rms <= 0.05
    velocity = np.array([frame.v for frame in found.frames])
    acceleration = np.array([frame.vdot for frame in found.frames])
    np.testing.assert_allclose(np.diff(velocity, axis=0), 0.005 * acceleration[:-1], atol=1e-12)


def test_frames_before_a_fall_are_inside_all_limits_too():
    robot = hd.load_robot("g1")
    found = filter_clip(
        robot,
        load("g1_asap/walk_level4.npz", robot),
        ladder=FIRST,
        settings=Settings(lookahead=0.02, gate=False),
    )
    assert (
        not found.report.finished
    )  # accelerations are large there, and soles bear a few newtons or less
    assert found.report.all_limits == 1.0
    assert max(frame.certificate.friction for frame in found.frames) <= 1.0


@pytest.mark.parametrize(
    ("name", "lookahead", "longer"),
    [
        ("step_forward_back_level1", 0.02, 1.3),
        ("single_foot_balance_level1", 0.02, 1.3),
        ("kick_level1", 0.02, 1.3),
        (
            "walk_level4",
            0.02,
            1.5,
        ),  # feet come down later than they should, and nobody leaves the other one before
        ("walk_level1", 0.1, 1.6),
        ("kick_level1", 0.2, 1.2),
    ],
)
def test_steps_are_finished_with_a_short_look_ahead_and_waiting(name, lookahead, longer):
    robot = hd.load_robot("g1")
    clip = load(f"g1_asap/{name}.npz", robot)
    found = filter_clip(robot, clip, ladder=FIRST, settings=Settings(lookahead=lookahead))
    assert_consistent(found.report)
    assert found.frames[-1].time - found.frames[0].time <= longer * (
        clip.times[-1] - clip.times[0] + 2.0
    )


def test_score_falls_to_its_false_alarm_rate():
    robot = hd.load_robot("g1")
    clip = load("g1_asap/walk_level1.npz", robot, 3.0)
    before = score_motion(clip)
    after = false_alarms(filter_clip(robot, clip, ladder=FIRST).clip, clip.rate)
    assert before.impossible > 0.2
    assert after.impossible < 0.3 * before.impossible


@pytest.mark.slow
@pytest.mark.parametrize("name", G1)
def test_recorded_motion_is_finished(name):
    robot = hd.load_robot("g1")
    found = filter_clip(robot, load(name, robot))
    assert_consistent(found.report)
    assert np.rad2deg(found.report.joint_rms) <= G1[name]


@pytest.mark.slow
@pytest.mark.parametrize("lookahead", [0.005, 0.1, 0.3])
def test_all_frames_are_inside_all_limits_however_short_the_look_ahead(lookahead):
    """Those before a fall too: kicks, spins and forms of karate among them."""
    robot = hd.load_robot("g1")
    clips = [*G1, "g1_karate/B_SpinKarate.csv", "g1_karate/M_Move3.csv"]
    clips += [
        f"deepmimic/humanoid3d_{name}.txt"
        for name in ("jog", "jump", "kick", "punch", "spin", "walk")
    ]
    for name in clips:
        frames = filter_clip(
            robot, load(name, robot), ladder=FIRST, settings=Settings(lookahead=lookahead)
        ).frames
        for frame in frames:
            assert frame.certificate.holds, (name, frame.rung, frame.time, frame.certificate)
            assert frame.certificate.residual <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("lookahead", [0.3, 0.1])
def test_who_kicks_does_not_lean_until_the_robot_lies(lookahead):
    """At most four of six kicks, punches and forms fall at the first attempt; where nothing keeps the base from leaning all do."""
    robot, fell = hd.load_robot("g1"), []
    recorded = [f"g1_karate/{name}.csv" for name in ("M_Move18", "M_Move3", "M_ShortMove12")]
    for name in (
        *recorded,
        *(f"deepmimic/humanoid3d_{name}.txt" for name in ("jog", "kick", "punch")),
    ):
        if not filter_clip(
            robot, load(name, robot), ladder=FIRST, settings=Settings(lookahead=lookahead)
        ).report.finished:
            fell.append(name)
    assert len(fell) <= 4, fell


@pytest.mark.slow
def test_nobody_waits_in_vain_for_a_foot_that_does_not_reach_the_ground():
    """In the jazz walk one hangs above its place while the gate holds time: the other one was lifted after 1.5 s, from under the robot."""
    robot = hd.load_robot("g1")
    found = filter_clip(
        robot,
        load("g1_karate/J_ShortDance16_JazzWalk.csv", robot),
        ladder=FIRST,
        settings=Settings(lookahead=0.1),
    )
    alone = [
        sum(frame.stands) == 1 and then.reference == frame.reference
        for frame, then in pairwise(found.frames)
    ]
    assert (
        max(after - first for first, after, waits in runs(np.array(alone)) if waits) * 0.005 < 1.2
    )
    assert found.report.finished
    assert found.report.all_limits == 1.0


@pytest.mark.slow
def test_eleven_of_eleven_at_the_first_attempt():
    robot = hd.load_robot("g1")
    times = np.arange(0.0, 2.0, 1.0 / 30.0)
    clips = {"standing": Clip(robot, times, np.tile(robot.posture, (len(times), 1)))}
    clips |= {
        name: load(name, robot) for name in G1 if "jump" not in name
    }  # a jump without flight is another matter
    assert len(clips) == 11
    finished = {
        name: filter_clip(robot, clip, ladder=FIRST).report.finished for name, clip in clips.items()
    }
    assert all(finished.values()), finished


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "robot", "most", "limits"),
    [
        ("talos_walk/one_step_20cm_ssp900_dsp400.npz", "talos_reduced", 0.06, 1.0),
        (
            "sr1_walk/SR1WalkPattern1.npz",
            "sr1",
            0.1,
            None,
        ),  # its limits cannot be meant, and are not judged
    ],
)
def test_consistent_walk_passes_through(name, robot, most, limits):
    robot = hd.load_robot(robot)
    verdict = filter_clip(robot, load(name, robot), ladder=FIRST).report
    assert verdict.finished
    assert verdict.residual <= 1e-8
    assert verdict.cop == verdict.friction == 1.0
    assert verdict.all_limits == limits
    assert verdict.slip <= 0.0004
    assert np.rad2deg(verdict.joint_rms) <= most


def test_centre_of_mass_of_the_recording_makes_it_fall():
    """Negative control: without the bounded path of the centre of mass the same filter falls."""
    robot = hd.load_robot("g1")
    found = filter_clip(
        robot,
        load("g1_asap/walk_level1.npz", robot),
        settings=Settings(balance=False),
        ladder=FIRST,
    )
    assert not found.report.finished
    assert found.report.residual <= 1e-8  # consistent, and on the floor


def test_pull_of_the_ground_is_reported():
    """Negative control: without the limits of contacts the centre of pressure leaves the feet, far and for most of the time."""
    robot = hd.load_robot("g1")
    loose = TickSettings(unilateral=False)
    clip = load("g1_asap/walk_level1.npz", robot, 4.0)
    verdict = filter_clip(
        robot, clip, tick=loose, settings=Settings(balance=False), ladder=FIRST
    ).report
    assert verdict.cop < 0.25
    assert verdict.all_limits <= verdict.cop
    assert verdict.cop_margin < -0.05
    kept = filter_clip(robot, clip, settings=Settings(balance=False), ladder=FIRST).report
    assert kept.cop == 1.0
    assert kept.cop_margin >= 0.0


def test_feet_that_float_are_put_on_the_ground():
    """Without that a robot stretches its legs to reach the ground, or stands lower than the reference."""
    robot = hd.load_robot("human28")
    times = np.arange(0.0, 1.0, 0.02)
    q = np.tile(robot.posture, (len(times), 1))
    q[:, 2] += 0.06
    settings = Settings(), Settings(repair_height=False)
    repaired, floats = (
        filter_clip(robot, Clip(robot, times, q), settings=how, ladder=FIRST).report
        for how in settings
    )
    assert repaired.joint_rms < 1e-9
    assert np.rad2deg(floats.joint_rms) > 2.0
    assert floats.base_max > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["squat_level1", "step_forward_back_level1", "kick_level1"])
def test_without_repair_of_heights_joints_are_farther_off(name):
    robot = hd.load_robot("g1")
    clip = load(f"g1_asap/{name}.npz", robot)
    settings = Settings(), Settings(repair_height=False)
    repaired, floats = (
        filter_clip(robot, clip, settings=how, ladder=FIRST).report.joint_rms for how in settings
    )
    assert floats > 1.5 * repaired


@pytest.mark.slow
def test_joints_beyond_their_limits_are_reported():
    robot = hd.load_robot("g1")
    found = filter_clip(
        robot,
        load("g1_karate/M_ShortMove12.csv", robot),
        tick=TickSettings(joint_limits=False),
        ladder=FIRST,
    )
    assert np.rad2deg(found.report.joint_margin) < -30.0
    assert found.report.all_limits < 1.0


def hostile(robot, kind, rng):
    """Yield a stream of samples that goes wrong in one way between 1.5 s and 2.5 s."""
    base, rate = np.array(robot.posture), {"slow": 5.0, "fast": 500.0}.get(kind, 50.0)
    joint = next(j for j in robot.joints if "elbow" in j.name).q.start
    for k in range(round(4.0 * rate)):
        time, q = k / rate, np.array(base)
        q[joint] += 0.3 * np.sin(2.0 * time)
        if 1.5 <= time < 2.5:
            if kind == "missing":
                continue
            time, q = spoil(kind, time, q, rng)
        yield time, q


def spoil(kind, time, q, rng):
    """Return a sample that is wrong."""
    if kind == "nan":
        q[9] = np.nan
    elif kind == "teleport":
        q[:2] += 3.0
    elif kind == "flip":
        q[3:7] = (0.0, 1.0, 0.0, 0.0)
    elif kind == "noise":
        q[7:] += 0.05 * rng.normal(size=len(q) - 7)
    elif kind == "loud":
        q[7:] += 0.3 * rng.normal(size=len(q) - 7)
    return (3.0 - time if kind == "backwards" else time), q


@pytest.mark.parametrize(
    "kind", ["nan", "teleport", "flip", "noise", "loud", "backwards", "missing", "slow", "fast"]
)
def test_hostile_stream_is_survived(kind):
    robot = hd.load_robot("human28")
    flow = DynamicsFilter(robot)
    frames, statuses = [], set()
    for time, q in hostile(robot, kind, np.random.default_rng(0)):
        statuses.add(flow.update(time, q))
        while flow.ready and (frame := flow.step()) is not None:
            frames.append(frame)
    flow.finish()
    while flow.ready and (frame := flow.step()) is not None:
        frames.append(frame)
    assert all(frame.certificate.holds for frame in frames)
    assert len(frames) > 500
    recovered = [frame for frame in frames if frame.time > 3.2]
    last = recovered[-1]
    assert np.max(np.abs(pin.difference(robot.model, last.target.q, last.q)[6:])) < 0.1
    expected = {
        "nan": "NOT_FINITE",
        "teleport": "BASE_JUMP",
        "flip": "LEANING",
        "backwards": "STAMP_IN_PAST",
        "loud": "POSTURE_JUMP",
    }
    assert expected.get(kind, "OK") in statuses


def test_waiting_before_the_lookahead_is_there():
    robot = hd.load_robot("human28")
    flow = DynamicsFilter(robot, lookahead=0.4)
    assert flow.step() is None
    assert flow.status == "WAITING"
    assert 0.4 < flow.delay < 0.6
    for k in range(60):
        flow.update(k * 0.02, robot.posture)
    assert flow.step() is not None
    assert flow.status == "OK"


@pytest.mark.parametrize("lookahead", [0.02, 0.2])
def test_short_lookahead_holds_a_standing_motion(lookahead):
    robot = hd.load_robot("human28")
    flow = DynamicsFilter(robot, lookahead=lookahead)
    frames = []
    for time, q in hostile(robot, "none", np.random.default_rng(0)):
        flow.update(time, q)
        while flow.ready and (frame := flow.step()) is not None:
            frames.append(frame)
    assert all(frame.certificate.holds for frame in frames)
    assert len(frames) * 0.005 > 4.0 - lookahead - 0.2


def test_mode_of_the_paper_is_consistent_and_falls():
    """Negative control: the filter of the paper looks at forces only as they come, and a recorded walk makes it fall."""
    robot = hd.load_robot("g1")
    found = filter_clip(robot, load("g1_asap/walk_level1.npz", robot), "paper", ladder=FIRST)
    assert not found.report.finished
    assert found.report.residual <= 1e-8


def test_mode_of_the_paper_holds_what_is_consistent():
    robot = hd.load_robot("human28")
    times = np.arange(0.0, 0.5, 1.0 / 30.0)
    found = filter_clip(
        robot, Clip(robot, times, np.tile(robot.posture, (len(times), 1))), "paper", ladder=FIRST
    )
    assert found.report.finished
    assert found.report.cop == 1.0
    assert found.report.joint_max < 1e-6
