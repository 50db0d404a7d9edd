# SPDX-License-Identifier: Apache-2.0
"""Feet that are not where the reference has them step back there, once, when everything stands still."""

from itertools import pairwise

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.conditioning.returning import MOST, Returner
from humanoid_dynamics.filtering.conditioning.swing import Print
from humanoid_dynamics.filtering.conditioning.window import FootState, Window

DT, ROWS, KNOWN = 0.005, 260, 160
TURNED = np.deg2rad(12.0)
LIMITS = (1.0, 0.5, 1.0)


def follow_turn(name, seconds):
    """Let a robot follow a reference that turns by a little on the spot, and then stands still."""
    robot = hd.load_robot(name)
    flow, frames = DynamicsFilter(robot), []
    for t in np.arange(0.0, seconds, 1.0 / 30.0):
        share = np.clip(t - 0.2, 0.0, 1.0)
        angle = TURNED * share * share * (3.0 - 2.0 * share)
        q = np.array(robot.posture)
        q[3:7] = 0.0, 0.0, np.sin(0.5 * angle), np.cos(0.5 * angle)
        flow.update(t, q)
        while flow.ready:
            frames.append(flow.step())
    return robot, frames


def test_feet_that_are_turned_by_less_than_a_slide_step_back_one_after_the_other():
    robot, frames = follow_turn("talos_reduced", 6.5)
    last = frames[-1]
    assert max(frame.rung for frame in frames) == 0
    assert all(frame.certificate.limits_hold for frame in frames)
    headings = [np.arctan2(turn[1, 0], turn[0, 0]) for turn in last.target.sole_turn]
    np.testing.assert_allclose(headings, TURNED, atol=np.deg2rad(0.5))
    assert np.rad2deg(np.max(np.abs(last.q[7:] - robot.posture[7:]))) < 1.0
    lifted = sum(
        before.stands[foot] and not after.stands[foot]
        for before, after in pairwise(frames)
        for foot in (0, 1)
    )
    assert lifted == 2


def stand(*, off=(0.0, 0.0), moving=0.0):
    """Return a window of a reference that stands, or goes forward, and feet: the right one is off by a way [m] and an angle [rad]."""
    com = np.zeros((ROWS, 3))
    com[:, 0] = moving * DT * np.arange(ROWS)
    place = np.zeros((ROWS, 2, 3))
    place[:, :, 1] = 0.1, -0.1
    zero, turn = np.zeros((ROWS, 2)), np.tile(np.eye(3), (ROWS, 2, 1, 1))
    window = Window(
        ROWS - KNOWN,
        ROWS - KNOWN,
        com,
        place,
        turn,
        zero[:KNOWN],
        zero[:KNOWN],
        zero,
        zero,
        np.zeros((ROWS, 3)),
        zero[:, 0] > 0,
    )
    window.labels = np.ones((KNOWN, 2), dtype=bool)
    prints = Print(np.array([0.0, 0.1, 0.0]), 0.0), Print(np.array([off[0], -0.1, 0.0]), off[1])
    return window, [FootState(stands=True, at=at) for at in prints]


def due(window, feet, *, missed=0.0, seconds=1.0):
    """Return which foot steps back within some time, or None."""
    returner = Returner(DT)
    for now in range(0, round(seconds / DT), 8):
        returner.seek(window, feet, LIMITS, now, missed)
    return next((foot for foot in (0, 1) if feet[foot].slide), None)


@pytest.mark.parametrize(
    ("off", "foot"), [((0.0, 0.1), 1), ((0.03, 0.02), 0), ((0.01, 0.05), None)]
)
def test_foot_that_is_far_steps_back(off, foot):
    assert due(*stand(off=off)) == foot


def test_foot_that_slipped_steps_back_where_it_is_nearer():
    window, feet = stand(off=(0.01, 0.05))
    feet[1].meant = Print(np.array([0.0, -0.1, 0.0]), 0.0)
    assert due(window, feet) == 1


def test_nobody_steps_back_while_something_moves():
    assert due(*stand(off=(0.0, 0.1)), missed=0.01) is None
    assert due(*stand(off=(0.0, 0.1)), seconds=0.5) is None
    assert due(*stand(off=(0.0, 0.1), moving=0.1)) is None


def test_steps_that_do_not_help_end():
    window, feet = stand(off=(0.0, 0.1))
    returner, made = Returner(DT), 0
    for now in range(0, 20000, 8):
        returner.seek(window, feet, LIMITS, now, 0.0)
        made += feet[1].slide is not None
        feet[1].slide = None
    assert made == MOST
