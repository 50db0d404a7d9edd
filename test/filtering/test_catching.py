# SPDX-License-Identifier: Apache-2.0
"""Steps that catch the robot: the footprint moves by what the robot falls away until touch-down."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.conditioning.catching import BORNE, DURATION, LOST, Catcher
from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.conditioning.swing import Print
from humanoid_dynamics.filtering.conditioning.window import FootState
from humanoid_dynamics.filtering.proportions import measure_proportions

DT = 0.005


@pytest.fixture
def proportions():
    return measure_proportions(hd.load_robot("human28"))


@pytest.fixture
def catcher(proportions):
    return Catcher(proportions, DT)


def feet(left=True, right=True):
    return [
        FootState(stands, Print(np.array([0.0, y, 0.0]), 0.0))
        for stands, y in ((left, 0.1), (right, -0.1))
    ]


def rows(left, right):
    return np.column_stack((left, right)).astype(bool)


def area():
    return SupportArea(np.array([[x, y] for x in (-0.05, 0.1) for y in (-0.13, 0.13)]), 0.7)


def test_footprint_meets_the_pendulum_that_falls(proportions, catcher):
    """The point of falling of a pendulum that stands on one point goes away from it as exp(w t)."""
    swings = feet(right=False)
    left = 40
    catcher.missed = np.array([0.04, -0.01])
    catcher.move_prints(swings, rows(np.ones(80), np.arange(80) >= left))
    size = np.hypot(0.04, 0.01)
    steps = 20000
    off = catcher.missed * (size - BORNE) / size
    for _ in range(steps):  # the same by small steps in time
        off = off + left * DT / steps * proportions.pendulum * off
    np.testing.assert_allclose(swings[1].shift, off, rtol=1e-3)
    assert not swings[0].shift.any()


def test_small_miss_and_late_swing_move_nothing(catcher):
    catcher.missed = np.array([0.5 * BORNE, 0.0])
    swings = feet(right=False)
    catcher.move_prints(swings, rows(np.ones(80), np.arange(80) >= 40))
    assert not swings[1].shift.any()
    catcher.missed = np.array([2.0 * LOST, 0.0])
    catcher.move_prints(swings, rows(np.ones(80), np.arange(80) >= 5))
    assert not swings[1].shift.any()


def test_foot_comes_down_where_the_robot_is_lost(catcher):
    swings, labels = feet(right=False), rows(np.ones(160), np.zeros(160))
    catcher.missed = np.array([0.5 * LOST, 0.0])
    catcher.hurry(swings, labels, 1000)
    assert not labels[:, 1].any()
    catcher.missed = np.array([1.5 * LOST, 0.0])
    catcher.hurry(swings, labels, 1000)
    assert int(np.argmax(labels[:, 1])) == round(DURATION / DT)
    later = rows(np.ones(160), np.zeros(160))
    catcher.missed = np.zeros(2)
    catcher.hurry(swings, later, 1010)  # what was decided stays
    assert int(np.argmax(later[:, 1])) == round(DURATION / DT) - 10


@pytest.mark.parametrize(
    ("fall", "steps"),
    [((0.0, 0.0), False), ((0.15, 0.02), True), ((-0.12, -0.02), True), ((0.0, 0.2), False)],
)
def test_step_is_made_forward_and_back_only(catcher, fall, steps):
    stand = feet()
    catcher.missed = np.array(fall)
    assert catcher.lift(stand, area(), (np.array([*fall, 0.9]), np.zeros(3)), 500) is steps
    lifted = [foot.slide is not None for foot in stand]
    assert lifted == (
        [False, False] if not steps else [fall[1] < 0.0, fall[1] > 0.0]
    )  # the farther foot is lifted
    assert (
        catcher.lift(stand, area(), (np.array([*fall, 0.9]), np.zeros(3)), 501) is False
    )  # one at a time


def test_no_step_where_all_goes_as_planned(catcher):
    catcher.missed = np.zeros(2)
    assert not catcher.lift(feet(), area(), (np.array([0.15, 0.0, 0.9]), np.zeros(3)), 500)


def test_push_since_the_last_plan_is_seen_before_the_next_one(proportions, catcher):
    """A pendulum that goes on as planned is on its plan; one that was pushed since is off it by its velocity over w."""
    w, times = proportions.pendulum, np.arange(9)[:, None] * DT
    place, rate = (
        np.array([[0.02, -0.01, 0.0]]) * shape(w * times) for shape in (np.cosh, np.sinh)
    )
    place[:, 2], rate = proportions.height, w * rate
    plan = place[:8], rate[:8], w * w * place[:8] * [1.0, 1.0, 0.0]
    push = 1.5 * LOST * w
    for speed, seen in ((0.0, 0.0), (push, push / w)):
        catcher.compare((place[0], rate[0]), plan)
        np.testing.assert_allclose(catcher.missed, 0.0, atol=1e-12)
        catcher.see((place[8], rate[8] + [speed, 0.0, 0.0]))
        np.testing.assert_allclose(catcher.missed, [seen, 0.0], atol=1e-5)
    catcher.see((place[8], rate[8]))  # no plan was made since
    np.testing.assert_allclose(catcher.missed, [push / w, 0.0], atol=1e-5)
