# SPDX-License-Identifier: Apache-2.0
"""Holes in recorded motions: nobody falls, all limits hold, and the robot is soon back on what it does without them."""

import functools

import numpy as np
import pinocchio as pin
import pytest
from recordings import find_recording, load_recorded

import humanoid_dynamics as hd
from benchmarks.motion import streams
from humanoid_dynamics.filtering import DynamicsFilter, Settings
from humanoid_dynamics.filtering.conditioning.bridging import GapInterpolator
from humanoid_dynamics.filtering.conditioning.doubts import OutlierDetector
from humanoid_dynamics.filtering.conditioning.intake import InputStage
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.motion.resampling import sample_configurations

RATE = 60.0  # Hz
RECOVERY, USUAL, HOME = 0.5, 1.0, 1.75  # s
CLIPS = {
    "walk 1": "g1_asap/walk_level1.npz",
    "walk 4": "g1_asap/walk_level4.npz",
    "kick": "g1_asap/kick_level1.npz",
    "balance": "g1_asap/single_foot_balance_level1.npz",
    "dance": "g1_karate/J_ShortDance16_JazzWalk.csv",
}


@functools.cache
def robot():
    return hd.load_robot("g1")


@functools.cache
def clip_of(name):
    return load_recorded(find_recording(CLIPS[name]), robot())


def silent(q):
    """Nothing comes."""


def no_number(q):
    return np.full_like(q, np.nan)


def off_by_a_joint(q):
    q[7] += 1.2
    return q


def run(name, spoil, begins, lasts, after=4.0):
    """Send a clip as time passes, spoilt for a while, with a tick every 5 ms; return all frames."""
    clip = clip_of(name)
    end = min(clip.duration, begins + lasts + after)
    times = np.arange(0.0, end, 1.0 / RATE)
    flow, frames, samples = (
        DynamicsFilter(robot()),
        [],
        sample_configurations(clip, clip.times[0] + times),
    )
    for now in np.arange(0.0, end + 0.9, 0.005):
        while len(times) and times[0] <= now:
            q = samples[0] if not begins <= times[0] < begins + lasts else spoil(samples[0].copy())
            if q is not None:
                flow.update(times[0], q)
            times, samples = times[1:], samples[1:]
        frame = flow.step()
        if frame is not None:
            frames.append(frame)
    return frames, end


@functools.cache
def undisturbed(name):
    """Return what is done without a hole: instants, joints, and by how much these are off the reference at most."""
    frames, _ = run(name, silent, np.inf, 0.0)
    times, joints = (
        np.array([frame.reference for frame in frames]),
        np.array([frame.q[7:] for frame in frames]),
    )
    return times, joints, np.max(off(joints, reference(name, times)))


def reference(name, times):
    clip = clip_of(name)
    return sample_configurations(clip, clip.times[0] + np.minimum(times, clip.duration))[:, 7:]


def off(joints, wanted):
    return np.sqrt(np.mean((joints - wanted) ** 2, axis=1))


def times_back(name, spoil, begins, lasts):
    """Return how long after a hole joints are as near the reference as usual, and how long where they are without it [s].

    No frame may leave its limits.
    """
    frames, end = run(name, spoil, begins, lasts)
    assert all(frame.certificate.holds for frame in frames), (name, begins, lasts)
    known, postures, usual = undisturbed(name)
    judged = [frame for frame in frames if begins + lasts <= frame.reference < end - streams.ENDING]
    times = np.array([frame.reference for frame in judged])
    joints = np.array([frame.q[7:] for frame in judged]).reshape(-1, postures.shape[1])
    astray = off(joints, reference(name, times).reshape(joints.shape)) > usual + streams.BAND
    wanted = np.array([np.interp(times, known, joint) for joint in postures.T]).T.reshape(
        joints.shape
    )
    return np.max(times[astray], initial=begins + lasts) - begins - lasts, streams.time_back(
        times, off(joints, wanted), begins + lasts
    )


@pytest.mark.parametrize(
    ("spoil", "begins", "lasts"),
    [(no_number, 1.6, 0.6), (silent, 1.7, 0.6), (no_number, 2.1, 1.0), (off_by_a_joint, 1.9, 0.6)],
)
def test_hole_in_the_midst_of_a_step_is_left_behind(spoil, begins, lasts):
    assert max(times_back("walk 1", spoil, begins, lasts)) <= RECOVERY


def test_hip_that_was_believed_off_its_place_is_no_fall():
    """It is back there before it could have been come to from where it was believed to be; feet that stand elsewhere step back."""
    assert max(times_back("dance", off_by_a_joint, 1.8, 0.6)) <= 2.0 * HOME


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CLIPS))
@pytest.mark.parametrize("spoil", [silent, no_number])
@pytest.mark.parametrize("lasts", [0.3, 0.6, 1.0])
def test_holes_at_any_instant_fell_nobody(name, spoil, lasts):
    """Most are soon where they are without the hole, and all on the reference; feet that stand elsewhere step back."""
    instants = np.arange(0.9, clip_of(name).duration - 0.5 - lasts, 0.45)
    usual, home = np.array([times_back(name, spoil, begins, lasts) for begins in instants]).T
    assert np.median(home) <= RECOVERY
    assert np.mean(usual <= RECOVERY) >= 0.75
    assert usual.max() <= USUAL, dict(zip(instants.tolist(), usual.tolist(), strict=True))
    assert home.max() <= HOME, dict(zip(instants.tolist(), home.tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("lasts", [0.3, 0.6])
@pytest.mark.parametrize("name", ["walk 1", "dance"])
def test_one_joint_that_is_off_for_a_while_fells_nobody(name, lasts):
    """It is not believed before it could have been come to."""
    instants = np.arange(0.9, clip_of(name).duration - 1.5 - lasts, 1.0)
    usual, _ = np.array([times_back(name, off_by_a_joint, begins, lasts) for begins in instants]).T
    assert np.mean(usual <= RECOVERY) >= 0.75
    assert usual.max() <= USUAL, dict(zip(instants.tolist(), usual.tolist(), strict=True))


def track_of(samples):
    track = ReferenceTrack(robot(), measure_proportions(robot()), Settings())
    for time, q in samples:
        track.add(time, q)
    return track


def wave(count):
    times, q = 0.02 * np.arange(count), np.tile(robot().posture, (count, 1))
    q[:, 10] += 0.3 * np.sin(3.0 * times)
    return list(zip(times, q, strict=True))


def test_rows_that_are_settled_stay_when_what_follows_is_taken_back():
    track = track_of(wave(60))
    before, settled = track.q.between(0, track.end).copy(), round(0.6 / 0.005) - track.half
    at, (_, q), late = track.take_back(0.6)
    assert (at, late) == (pytest.approx(0.6), 0.0)
    np.testing.assert_allclose(q[10], robot().posture[10] + 0.3 * np.sin(1.8), atol=1e-3)
    assert track.end == settled + 1
    for k in range(1, 60):
        track.add(0.6 + 0.02 * k, q)
    np.testing.assert_array_equal(track.q.between(0, settled + 1), before[: settled + 1])
    np.testing.assert_allclose(track.q.between(track.end - 1, track.end)[0], q, atol=1e-12)


def test_what_is_taken_back_ends_at_the_newest_row_where_it_ends_sooner():
    track = track_of(wave(30))
    at, (before, q), _ = track.take_back(9.0)
    assert at == pytest.approx(0.02 * 28)  # rows are two samples behind
    assert np.abs(before - q).max() > 0.0


def test_of_both_feet_the_one_that_moved_less_stays():
    """A step of the left foot, and the whole posture carried off: the right sole is put back to where it was."""
    bridge, step = GapInterpolator(robot(), measure_proportions(robot())), np.array(robot().posture)
    hip, knee, ankle = (
        robot().joint(f"left_{name}_joint").q.start for name in ("hip_pitch", "knee", "ankle_pitch")
    )
    step[[hip, knee, ankle]] += -0.5, 0.3, 0.2
    carry = pin.SE3(pin.utils.rotate("z", 0.1), np.array([0.05, 0.02, 0.0]))
    step[:7] = pin.SE3ToXYZQUAT(carry * pin.XYZQUATToSE3(step[:7]))
    moved = bridge.move(robot().posture, step)
    np.testing.assert_allclose((moved * carry).homogeneous, np.eye(4), atol=1e-6)


def test_way_across_goes_on_as_it_did_or_begins_at_rest():
    bridge, q = GapInterpolator(robot(), measure_proportions(robot())), np.array(robot().posture)
    goal, before = q.copy(), q.copy()
    goal[10], before[10] = q[10] + 0.4, q[10] - 0.01
    on, rest = bridge.go_on(before, q, goal, (0.01, 0.4)), bridge.lead(q, goal, 0.4)
    for way in (on, rest):
        assert way[0][0] == pytest.approx(0.02)
        assert way[-1][0] == pytest.approx(0.38)
        assert abs(way[-1][1][10] - goal[10]) < 0.03
    assert (on[0][1][10] - q[10]) / 0.02 == pytest.approx(1.0, rel=0.1)  # rad/s, as before
    assert (rest[0][1][10] - q[10]) / 0.02 < 0.05


def test_posture_that_jumps_is_believed_once_it_could_have_been_come_to():
    doubts, q = OutlierDetector(robot(), np.full(robot().nv, 10.0)), np.array(robot().posture)
    off = off_by_a_joint(q.copy())
    for k in range(5):
        q[10] += 0.001
        assert not doubts.look(0.02 * k, q.copy(), q)
    doubted = [doubts.look(0.1 + 0.02 * k, off, q) for k in range(50)]
    assert doubts.jumped
    assert 0.02 * sum(doubted) == pytest.approx(1.2 / 2.0, abs=0.03)  # rad over rad/s
    assert not any(doubted[sum(doubted) :])
    doubts.settle()
    assert not doubts.jumped


def test_stream_that_is_back_where_it_was_is_believed_as_soon_as_samples_agree():
    """Whatever was believed in between; where it stays elsewhere for longer, that is where it is."""
    for lasts, most in ((40, 3), (90, 31)):
        doubts, q = OutlierDetector(robot(), np.full(robot().nv, 10.0)), np.array(robot().posture)
        off, believed, doubted = off_by_a_joint(q.copy()), q.copy(), []
        for k in range(10 + lasts + 60):
            sample = off.copy() if 10 <= k < 10 + lasts else q.copy()
            sample[10] += 0.001 * k
            doubted.append(doubts.look(0.02 * k, sample, believed))
            if not doubted[-1]:
                doubts.settle()
                believed = sample
        assert sum(doubted[10 : 10 + lasts]) == pytest.approx(30, abs=2)
        assert sum(doubted[10 + lasts :]) == pytest.approx(most, abs=2)


def test_glitches_one_after_the_other_make_nothing_credible():
    """However long ago the first one was: a posture that stays jumped is not believed before it could have been come to."""
    doubts, q = OutlierDetector(robot(), np.full(robot().nv, 10.0)), np.array(robot().posture)
    off, believed, doubted = off_by_a_joint(q.copy()), q.copy(), []
    for k in range(400):
        sample = off.copy() if k >= 350 or k % 40 == 20 else q.copy()
        sample[10] += 0.001 * k
        doubted.append(doubts.look(0.02 * k, sample, believed))
        if not doubted[-1]:
            doubts.settle()
            believed = sample
    assert sum(doubted[350:]) >= 20


def test_stream_that_stood_still_is_believed_as_soon_as_it_could_have_been_followed():
    doubts, q = OutlierDetector(robot(), np.full(robot().nv, 10.0)), np.array(robot().posture)
    assert not any(doubts.look(0.02 * k, q, q) for k in range(50))
    doubted = [doubts.look(1.0 + 0.02 * k, off_by_a_joint(q.copy()), q) for k in range(5)]
    assert doubted == [True, True, False, False, False]


def test_single_sample_that_jumps_is_left_out():
    flow = DynamicsFilter(robot())
    said = [
        flow.update(t, off_by_a_joint(q.copy()) if k == 40 else q)
        for k, (t, q) in enumerate(wave(60))
    ]
    assert said[:40] == ["OK"] * 40
    assert "POSTURE_JUMP" in said[40:43]
    assert said[-10:] == ["OK"] * 10
    assert (
        np.abs(
            flow._stream._track.q.between(0, flow._stream._track.end)[:, 7] - robot().posture[7]
        ).max()
        < 1e-9
    )


def test_arms_that_jump_are_no_doubt():
    doubts, q = OutlierDetector(robot(), np.full(robot().nv, 10.0)), np.array(robot().posture)
    arms = q.copy()
    arms[[robot().joint(f"{side}_elbow_joint").q.start for side in ("left", "right")]] += 1.2
    arms[-1] += 1.2
    assert not any(doubts.look(0.02 * k, arms if 5 <= k < 20 else q, q) for k in range(30))


def lean(angle):
    q = np.array(robot().posture)
    q[3:7] = pin.Quaternion(pin.utils.rotate("y", angle)).coeffs()
    return q


def test_base_that_leans_too_far_step_by_step_leaves_no_hole_and_one_that_is_turned_over_does():
    intake = InputStage(robot())
    said = [
        (intake.take(0.02 * k, lean(angle)), intake.sight.leans)
        for k, angle in enumerate([*np.arange(0.0, 1.5, 0.1), *np.arange(1.4, 0.0, -0.1)])
    ]
    assert {status for status, _ in said} >= {"LEANING"}
    assert all(leans for _, leans in said)
    now = 0.02 * len(said)
    turned = [(intake.take(now + 0.02 * k, lean(3.0)), intake.sight.leans) for k in range(20)]
    assert turned == [("LEANING", False)] * 20
    intake.take(now + 0.4, lean(0.0))
    assert intake.sight.leans


@pytest.mark.parametrize(
    ("rate", "way", "doubtful"),
    [(30.0, 0.9, True), (30.0, 0.5, False), (120.0, 0.45, True), (120.0, 0.1, False)],
)
def test_single_joint_that_goes_far_at_once_jumped_though_it_may_be_as_fast(rate, way, doubtful):
    """At 30 Hz a joint that may run at 32 rad/s may go a radian from sample to sample; no motion does that from rest."""
    doubts, q = OutlierDetector(robot(), np.full(robot().nv, 32.0)), np.array(robot().posture)
    far = q.copy()
    far[7] += way
    said = [doubts.look(k / rate, far if k >= 5 else q, q) for k in range(7)]
    assert any(said) == doubtful
