# SPDX-License-Identifier: Apache-2.0
"""Clips that end in motion end in a stand."""

import numpy as np
import pytest
from recordings import find_recording

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import filter_clip
from humanoid_dynamics.filtering.clip_feed import LAST, run_out
from humanoid_dynamics.filtering.clip_filter import LADDER
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.load import load_clip


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


def glide(robot, speed, seconds=2.0):
    times = np.arange(0.0, seconds, 0.02)
    q = np.tile(robot.posture, (len(times), 1))
    q[:, 0] += speed * times
    return Clip(robot, times, q)


def test_the_last_part_takes_twice_as_long_and_ends_without_pace(robot):
    clip = glide(robot, 1.3)
    out = run_out(clip, measure_proportions(robot))
    assert out.duration == pytest.approx(clip.duration + LAST)
    np.testing.assert_array_equal(out.q, clip.q)
    before = clip.times <= clip.times[-1] - LAST
    np.testing.assert_array_equal(out.times[before], clip.times[before])
    pace = np.diff(clip.times) / np.diff(out.times)
    assert np.all(np.diff(pace[before[1:].sum() :]) < 0.0)
    assert pace[before[1:].sum()] > 0.95
    assert pace[-1] < 0.1
    assert "ends at 1.3 m/s" in out.notices[-1]


def test_what_ends_slowly_or_is_short_stays(robot):
    for clip in (glide(robot, 0.4), glide(robot, 1.3, 0.5)):
        assert run_out(clip, measure_proportions(robot)) is clip


def test_a_walk_that_is_cut_off_in_the_middle_of_a_fast_stride_ends_in_a_stand(robot):
    clip = load_clip(find_recording("cmu/35_05.bvh"), robot)
    found = filter_clip(robot, clip, ladder=LADDER[:1])
    assert found.report.finished
    assert found.report.all_limits == 1.0
    assert np.max(np.abs(found.frames[-1].v)) < 0.1  # at rest; on one foot, as the recording ends
    assert found.frames[-1].reference > clip.duration + LAST + 1.9
