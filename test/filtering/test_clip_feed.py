# SPDX-License-Identifier: Apache-2.0
"""Whole clips that are wrong in part or as a whole: what became of samples is told, and why nothing came of it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from recordings import find_recording, load_recorded

import humanoid_dynamics as hd
from humanoid_dynamics.errors import ClipError, ShapeError
from humanoid_dynamics.filtering import DynamicsFilter, filter_clip
from humanoid_dynamics.filtering.clip_feed import LONGEST_STEP, Feed, feed_clip, samples_with_holds
from humanoid_dynamics.filtering.clip_filter import LADDER
from humanoid_dynamics.filtering.clip_report import measure_slip
from humanoid_dynamics.filtering.conditioning.sample_clock import SampleStatus
from humanoid_dynamics.filtering.filtered_recording import build_filtered_recording
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.mapping import build_clip
from humanoid_dynamics.motion.formats.npz_file import load_arrays, read_npz, write_npz

RATE = 30.0  # Hz
FIRST = LADDER[:1]


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


def standing(robot, count=12):
    return Clip(
        robot, np.arange(count) / RATE, np.tile(robot.posture, (count, 1)), origin="stand.npz"
    )


def spoilt(clip, change, rows=slice(None)):
    q = np.array(clip.q)
    change(q[rows])
    return clip.change(q=q)


def turn_over(q):
    q[:, 3:7] = 1.0, 0.0, 0.0, 0.0


def lean(q):
    q[:, 3:7] = 0.0, np.sin(0.7), 0.0, np.cos(0.7)


def test_clip_that_is_refused_as_a_whole_names_file_row_and_reason(robot):
    with pytest.raises(
        ClipError,
        match=r"stand.npz: row 0: LEANING: the base leans by more than 75 deg.*x y z w.*12 LEANING",
    ):
        filter_clip(robot, spoilt(standing(robot), turn_over))


def test_a_step_that_the_end_cuts_short_is_left_out(robot):
    """What moves before the end of the clip stays, and so does an end on one foot."""
    whole = feed_clip(DynamicsFilter(robot), standing(robot))
    count = len(whole.frames)
    for moving, kept in ((30, count - 30), (0, count), (count, count)):
        feed = Feed(whole.clip, list(whole.frames), spent=list(whole.spent))
        for k in range(count - moving, count):
            feed.frames[k] = replace(feed.frames[k], v=np.full(robot.nv, 0.1), stands=(False, True))
        feed.end_at_rest()
        assert (len(feed.frames), len(feed.spent)) == (kept, kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["g1_karate/J_ShortDance16_JazzWalk.csv", "g1_karate/M_Move18.csv"]
)
def test_recorded_clips_end_at_rest_on_both_feet(name):
    g1 = hd.load_robot("g1")
    found = filter_clip(g1, load_recorded(find_recording(name), g1), ladder=FIRST)
    last = found.frames[-1]
    assert found.report.finished
    assert all(last.stands)
    assert np.abs(last.v).max() < 0.02


def test_clip_that_falls_at_once_says_so(robot):
    feed = Feed(
        standing(robot).change(
            notices=("knee turns as far as 57 rad; if the file holds degrees, convert them",)
        )
    )
    feed.told[SampleStatus.VELOCITY_LIMITED], feed.rows[SampleStatus.VELOCITY_LIMITED] = 3, 1
    with pytest.raises(
        ClipError,
        match=r"stand.npz: row 0: the robot falls at once: 0 frames.*3 of 12 samples VELOCITY_LIMITED.*degrees",
    ):
        feed.check()


def test_clip_that_falls_before_three_of_its_samples_says_so(robot):
    """What could not be judged at the rate of the clip is refused with all that is known of the clip, degrees too."""
    feed = Feed(standing(robot).change(notices=("if the file holds degrees, convert them",)))
    feed.frames.extend(SimpleNamespace(time=0.005 * k) for k in range(round(1.8 / RATE / 0.005)))
    with pytest.raises(
        ClipError,
        match=r"stand.npz: row 0: the robot falls at once: \d+ frames, shorter than 3 samples.*degrees",
    ):
        feed.check()
    feed.frames.extend(SimpleNamespace(time=0.005 * k) for k in range(20, 60))
    feed.check()


def test_attempt_nothing_comes_of_is_followed_by_the_next(robot, monkeypatch):
    fed = []

    def feed_after_the_first(flow, clip, watch):
        fed.append(clip)
        return Feed(clip) if len(fed) == 1 else feed_clip(flow, clip, watch)

    monkeypatch.setattr("humanoid_dynamics.filtering.clip_filter.feed_clip", feed_after_the_first)
    assert filter_clip(robot, standing(robot), ladder=LADDER[:2]).attempt is LADDER[1]


def test_samples_that_are_refused_or_changed_are_counted(robot):
    def leave(q):
        q[:, 0] += 5.0

    clip = spoilt(spoilt(standing(robot), lean, slice(4, 6)), leave, slice(8, 12))
    notices = feed_clip(DynamicsFilter(robot), clip).notices
    assert notices == (
        "2 of 12 samples refused, LEANING, the first in row 4: the base leans by more than 75 deg, "
        "or its quaternion is not in the order x y z w",
        "1 of 12 samples BASE_JUMP, the first in row 8: the reference jumped to another position or heading",
    )


def test_notices_and_delay_are_in_the_verdict_and_what_is_written_can_be_judged_again(
    robot, tmp_path
):
    found = filter_clip(robot, spoilt(standing(robot), lean, slice(4, 6)), ladder=FIRST)
    assert "2 of 12 samples refused, LEANING" in found.report.notices[0]
    assert found.report.delay == pytest.approx(0.895 + 2.0 / RATE)
    path = tmp_path / "written.npz"
    write_npz(build_filtered_recording(found), path)
    written, arrays = build_clip(read_npz(path), robot), load_arrays(path)
    data = robot.data()
    for k in range(0, len(written), 20):
        pushed = pin.rnea(robot.model, data, written.q[k], written.v[k], written.a[k])
        pin.computeJointJacobians(robot.model, data, written.q[k])
        for sole in find_soles(robot):
            pushed -= (
                pin.getFrameJacobian(robot.model, data, sole.frame, pin.LOCAL).T
                @ arrays[f"wrench_{sole.name}"][k]
            )
        np.testing.assert_allclose(pushed[6:], arrays["tau"][k], atol=1e-6)
        np.testing.assert_allclose(pushed[:6], 0.0, atol=1e-6)
    assert not arrays["rung"].any()
    np.testing.assert_array_equal(
        arrays["certificate_torque"], [frame.certificate.torque for frame in found.frames]
    )
    assert len(arrays["tau_names"]) == arrays["tau"].shape[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate", 0.0),
        ("rate", -1.0),
        ("rate", np.nan),
        ("lookahead", "a"),
        ("lookahead", np.inf),
        ("lookahead", 0.002),
        ("inside_one", 2.0),
    ],
)
def test_settings_that_mean_nothing_are_refused(name, value):
    with pytest.raises(ShapeError, match=f"{name}: received"):
        Settings(**{name: value})


@pytest.mark.parametrize("rate", [-1.0, 0.0, np.nan, np.inf, "fast"])
def test_delay_at_a_rate_that_is_none_is_refused(robot, rate):
    with pytest.raises(ShapeError, match="rate: received"):
        DynamicsFilter(robot).delay_at(rate)


def test_lateness_that_is_no_number_changes_nothing(robot):
    flow = DynamicsFilter(robot, lookahead=0.3)
    for k in range(60):
        flow.keep_time(np.nan, np.nan)
        assert flow.update(k / 200, robot.posture) == "OK"
        flow.step()


def test_shortest_look_ahead_stands(robot):
    flow = DynamicsFilter(robot, lookahead=0.01)
    for k in range(60):
        flow.update(k / 200, robot.posture)
    frames = [flow.step() for _ in range(20)]
    assert all(frame.certificate.holds for frame in frames)


@pytest.mark.parametrize(
    ("rate", "ticks"), [(200.0, 200.0), (100.0, 200.0), (50.0, 200.0), (30.0, 200.0), (50.0, 500.0)]
)
def test_one_tick_of_look_ahead_follows_samples_of_every_rate(robot, rate, ticks):
    """Never silent, never later than what it says, but for the tick in which a sample comes too late."""
    flow = DynamicsFilter(robot, settings=Settings(lookahead=1.0 / ticks, rate=ticks))
    arms, sent, said = [joint.q.start for joint in robot.joints if "elbow" in joint.name], 0, set()
    for tick in range(round(2.0 * ticks)):
        while sent / rate <= tick / ticks + 1e-9:
            q = np.array(robot.posture)
            q[arms] += 0.2 * np.sin(2.0 * sent / rate)
            flow.update(sent / rate, q)
            sent += 1
        frame = flow.step()
        if frame is not None:
            said.add(flow.status)
            assert frame.certificate.holds
            assert tick / ticks - frame.reference <= flow.delay_at(rate) + 1.0 / ticks
    assert said == {"OK"}


def test_clip_of_more_than_a_day_is_refused(robot):
    with pytest.raises(ClipError, match=r"stand.npz: .*lasts 1.1e\+10 s, more than a day"):
        filter_clip(robot, standing(robot).change(times=1e9 * np.arange(12)))


def test_soles_that_slide_are_measured_and_told(robot):
    found = filter_clip(robot, standing(robot), ladder=FIRST)
    proportions, shift = measure_proportions(robot), 0.007 * np.eye(robot.nq)[0]
    half = len(found.frames) // 2
    slid = [
        *found.frames[:half],
        *(replace(frame, q=frame.q + shift) for frame in found.frames[half:]),
    ]
    assert measure_slip(robot, proportions, found.frames) == pytest.approx(0.0, abs=1e-9)
    assert measure_slip(robot, proportions, slid) == pytest.approx(0.007, abs=1e-6)
    certificate = found.frames[0].certificate
    assert replace(certificate, slip=0.15).holds
    assert not replace(certificate, slip=0.25).holds


def test_long_steps_are_filled(robot):
    clip = standing(robot, 4).change(times=np.array([0.0, 0.1, 0.1 + 4.0 * LONGEST_STEP, 5.0]))
    times = np.array([time for time, _ in samples_with_holds(clip)])
    assert np.diff(times).min() > 0.0
    assert np.diff(times).max() <= LONGEST_STEP


def test_frames_in_which_something_is_compiled_do_not_count(robot):
    feed = Feed(standing(robot), spent=[1e-4] * 1000 + [5.0])
    assert feed.microseconds == pytest.approx(100.0)


def test_limits_that_cannot_be_meant_are_not_judged(robot):
    found = filter_clip(robot, standing(robot), ladder=FIRST)
    verdict = found.report.without_limits()
    assert verdict.all_limits is verdict.torque is verdict.joints is None
    assert verdict.cop == 1.0


def test_rates_a_clip_brings_change_nothing(robot):
    """They are taken anew from configurations, which the conditioning moves: rates that disagree with them fool nobody."""
    bare, rng = standing(robot), np.random.default_rng(0)
    v, a = rng.normal(size=(2, len(bare), robot.nv))
    one, other = (
        filter_clip(robot, clip, ladder=FIRST).clip for clip in (bare, bare.change(v=v, a=a))
    )
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.a, other.a)
