# SPDX-License-Identifier: Apache-2.0
"""The report of a filtered clip: what was not followed is not finished, what is lost is not preserved."""

import json
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from recordings import find_recording

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import filter_clip
from humanoid_dynamics.filtering.clip_filter import LADDER
from humanoid_dynamics.filtering.clip_report import PerturbedRun
from humanoid_dynamics.filtering.filtered_recording import build_filtered_recording
from humanoid_dynamics.filtering.slope import GroundSlope, normal_of
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.formats.mapping import build_clip
from humanoid_dynamics.motion.formats.npz_file import read_npz, write_npz
from humanoid_dynamics.motion.load import load_clip

RATE = 30.0


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


def gesture(robot, seconds=2.0):
    """Bend both elbows and straighten them, on feet that stand."""
    times = np.arange(0.0, seconds, 1.0 / RATE)
    q = np.tile(robot.posture, (len(times), 1))
    for side in ("left", "right"):
        q[:, robot.joint(f"{side}_elbow").q.start] += 0.3 * np.sin(np.pi * times / times[-1]) ** 2
    return Clip(robot, times, q)


@pytest.fixture(scope="module")
def kept(robot):
    return filter_clip(robot, gesture(robot), sensitivity=True)


def leaned(robot, peak, seconds=4.0, axis="x"):
    """Turn the whole body about an axis and back, hands and feet wherever that brings them."""
    clip = gesture(robot, seconds)
    q = np.array(clip.q)
    for row, angle in enumerate(
        peak * np.clip(3.0 * np.sin(np.pi * clip.times / clip.times[-1]), 0.0, 1.0)
    ):
        X = pin.SE3(pin.utils.rotate(axis, angle), np.zeros(3)) * pin.XYZQUATToSE3(q[row, :7])
        q[row, 3:7] = pin.SE3ToXYZQUAT(X)[3:]
    return clip.change(q=q)


def test_gesture_is_preserved_under_perturbations(kept):
    report = kept.report
    assert report.preserved
    assert report.finished
    assert report.broken == ()
    assert [run.name for run in report.perturbed] == [
        "speed",
        "foot_height",
        "mass",
        "rate",
        "start",
    ]
    assert report.headline == "preserved (5 of 5 perturbed runs)"
    assert replace(report, perturbed=()).headline == "preserved (nominal run only)"
    assert report.stride is report.measures.stride is None  # it makes no steps
    assert 0.0 <= report.torque_saturated <= 1.0
    assert report.torque_step < 1.0
    assert np.isfinite(report.jerk)


def test_clip_is_preserved_where_the_nominal_and_four_of_five_runs_are(kept):
    bad = PerturbedRun("mass", ("stride", "path"))
    four = replace(kept.report, perturbed=(*kept.report.perturbed[:4], bad))
    assert four.preserved
    assert four.headline == "preserved (4 of 5 perturbed runs; worst under mass: stride, path)"
    three = replace(four, perturbed=(*four.perturbed[:3], bad, bad))
    assert not three.preserved
    assert three.headline.startswith("not preserved: sensitive (3 of 5")
    assert not replace(four, measures=replace(four.measures, path=0.5)).preserved


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"finished": False}, "finished"),
        ({"all_limits": 0.9999}, "all_limits"),
        ({"all_limits": None}, "all_limits"),
        ({"first_attempt": False}, "first_attempt"),
        ({"measures": None}, "contact_f1"),
    ],
)
def test_what_is_missing_or_broken_is_not_preserved(kept, change, broken):
    report = replace(kept.report, perturbed=(), **change)
    assert broken in report.broken
    assert not report.preserved
    assert report.headline.startswith("not preserved: ")


def test_report_is_plain_data_and_goes_into_the_file(kept, robot, tmp_path):
    told = kept.report.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == json.loads(json.dumps(told))
    assert told["preserved"] is True
    assert told["measures"]["followed"] == 1.0
    write_npz(build_filtered_recording(kept), tmp_path / "kept.npz")
    with np.load(tmp_path / "kept.npz") as written:
        assert bool(written["finished"])
        assert bool(written["preserved"])
        assert json.loads(str(written["report"]))["headline"] == kept.report.headline
    assert len(build_clip(read_npz(tmp_path / "kept.npz"), robot)) == len(kept.frames)


@pytest.mark.parametrize(("peak", "axis"), [(1.5, "y"), (1.2, "x")])
def test_body_that_lies_down_or_cartwheels_is_not_followed_and_not_finished(robot, peak, axis):
    """A robot that stands through it keeps all limits, and its feet."""
    report = filter_clip(robot, leaned(robot, peak, axis=axis), ladder=LADDER[:1]).report
    assert report.measures.followed < 0.6
    assert not report.finished
    assert not report.preserved
    if report.fell is None:
        assert "not finished" in report.notices[-1]


def test_jog_without_flight_is_not_finished():
    robot = hd.load_robot("g1")
    report = filter_clip(
        robot, load_clip(find_recording("deepmimic/humanoid3d_jog.txt"), robot), ladder=LADDER[:1]
    ).report
    assert not report.finished
    assert report.measures.flight == 0.0
    assert report.measures.flight_lost > 0.1
    assert {"finished", "path", "stride", "flight", "contact_f1"} <= set(report.broken)


def test_slower_attempts_stretch_time(robot):
    report = filter_clip(robot, gesture(robot), ladder=LADDER[4:5]).report
    assert report.measures.time_factor == pytest.approx(1.25, abs=0.02)
    assert "time_factor" in report.broken


def test_gesture_on_a_slope_is_preserved_in_axes_of_the_ground(robot):
    slope = GroundSlope(robot, normal_of(0.1))
    clip = gesture(robot, 1.0)
    aslant = clip.change(q=np.array([slope.to_world(q) for q in clip.q]))
    report = filter_clip(robot, aslant, normal=normal_of(0.1)).report
    assert report.preserved, report.headline
    assert report.measures.foot_penetration < 1e-3
