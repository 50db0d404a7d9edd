# SPDX-License-Identifier: Apache-2.0
"""Streams that begin in the midst of a motion: the robot begins on its feet, however little is foreseen."""

import numpy as np
import pytest
from recordings import find_recording, load_recorded

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.conditioning.centre import CAPTURED
from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.fallen import FALLEN


def follow(name, begin, seconds, lookahead):
    """Return the filter and its frames for some seconds of a recording, without a hold before them."""
    robot = hd.load_robot("g1")
    clip = load_recorded(find_recording(name), robot)
    flow, frames = DynamicsFilter(robot, lookahead=lookahead), []
    times = clip.times - clip.times[0] - begin
    for k in np.flatnonzero((times >= 0.0) & (times < seconds)):
        flow.update(times[k], clip.q[k])
        while flow.ready and (frame := flow.step()) is not None:
            frames.append(frame)
    return flow, frames


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("g1_asap/squat_level1.npz", 0.0),
        ("g1_asap/squat_level1.npz", 1.2),
        ("g1_asap/single_foot_balance_level1.npz", 2.0),
        ("g1_asap/step_forward_back_level1.npz", 0.5),
        ("g1_karate/B_HandsUp.csv", 2.5),
    ],
)
@pytest.mark.parametrize("lookahead", [0.005, 0.1])
def test_who_begins_in_motion_begins_over_the_soles_and_stays_up(name, begin, lookahead):
    """What a reference was about before it began is not known: its pivot then is no guide to where the centre of mass is."""
    flow, frames = follow(name, begin, 2.0, lookahead)
    first, p = frames[0], flow.proportions
    assert first.stands == first.target.touches
    corners = [
        (first.target.sole_place[foot] + p.corners[foot] @ first.target.sole_turn[foot].T)[:, :2]
        for foot in (0, 1)
        if first.stands[foot]
    ]
    support = SupportArea(np.vstack(corners), CAPTURED)
    assert float(support.reach(first.target.com[None, :2] + p.lean)[0]) <= CAPTURED + 0.1
    assert len(frames) > 200
    assert all(frame.rung != FALLEN for frame in frames)
    assert all(frame.certificate.holds for frame in frames)
