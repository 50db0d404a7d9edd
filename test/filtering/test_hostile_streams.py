# SPDX-License-Identifier: Apache-2.0
"""A hundred and thirty bad streams into the filter: every frame inside all limits, and soon back on the reference."""

from dataclasses import replace

import numpy as np
import pytest
from recordings import find_recording

from benchmarks.motion import streams

RECOVERY = 0.5  # s
MOST = 6  # of ten streams of a kind are as soon where they are without the fault
STEPPING = (
    1.5  # s; where feet stand elsewhere than without the fault, and step back one after the other
)
TOLD = {
    "teleport": {"BASE_JUMP"},
    "flip": {"LEANING"},
    "about_face": {"BASE_JUMP"},
    "frozen": {"POSTURE_JUMP", "BASE_JUMP"},
    "noisy": {"NOISY"},
    "loud": {"POSTURE_JUMP"},
    "jerk": {"POSTURE_JUMP"},
    "nan": {"NOT_FINITE"},
    "backwards": {"STAMP_IN_PAST"},
}


def check(kind, seed):
    """Follow a stream, which soon is back on its reference; return how long it takes to where it is without the fault."""
    fault = streams.draw_fault(kind, seed)
    if fault.motion in streams.RECORDED:
        find_recording(streams.RECORDED[fault.motion])  # skips where the recordings are absent
    flow, frames, said = streams.follow(fault)
    assert all(frame.certificate.holds for frame in frames), fault
    assert all(np.isfinite(frame.q).all() and np.isfinite(frame.tau).all() for frame in frames)
    assert len(frames) * flow.settings.dt > fault.ends + streams.AFTER - 0.3
    assert not TOLD.get(kind) or said & TOLD[kind], (fault, said)
    assert streams.recovery(fault, frames) <= RECOVERY, fault
    return streams.time_home(fault, frames)


@pytest.mark.parametrize(
    "kind", ["frozen", "jerk", "loud", "noisy", "about_face", "swapped", "slow"]
)
def test_bad_stream_is_survived_and_left_behind(kind):
    assert check(kind, 0) <= RECOVERY


@pytest.mark.parametrize("kind", ["jerk", "frozen"])
def test_recorded_squat_goes_on_after_random_postures_and_after_none(kind):
    """Its soles slide, which is stepped: a step that the fault swallowed is made later."""
    assert check(kind, 1) <= STEPPING


@pytest.mark.slow
def test_steps_after_an_about_face_are_those_of_the_reference():
    """How feet slid while the body faced backward tells nothing about how still they stand afterwards."""
    fault = replace(streams.draw_fault("about_face", 6), motion="gait")
    _, frames, _ = streams.follow(fault)
    swings = [frame for frame in frames if fault.ends + 0.2 < frame.reference < fault.ends + 0.7]
    expected = {
        round(frame.reference, 3): frame.target.touches
        for frame in streams.undisturbed(fault.motion)
    }
    assert all(
        frame.target.touches == expected[round(frame.reference, 3)] == (True, False)
        for frame in swings
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(streams.KINDS))
def test_ten_bad_streams_of_each_kind(kind):
    """No frame of any leaves the limits, all are back on their reference, and where they are without the fault once feet have stepped."""
    taken = {seed: check(kind, seed) for seed in range(streams.SEEDS)}
    assert sum(time <= RECOVERY for time in taken.values()) >= MOST, taken
    assert all(time <= STEPPING for time in taken.values()), taken
