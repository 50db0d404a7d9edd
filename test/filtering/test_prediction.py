# SPDX-License-Identifier: Apache-2.0
"""States of a robot that are late: led on by what it was asked for since."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.prediction import LONGEST, Prediction
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

DT = 0.005  # s


@pytest.fixture(scope="module")
def walk():
    """Frames of a filter that goes on from its own state, as far as the first step."""
    robot = hd.load_robot("human28")
    flow, clip, frames = DynamicsFilter(robot), plan_walk(robot, WalkStyle(steps=1)).clip, []
    for time, q in zip(clip.times, clip.q, strict=True):
        flow.update(time, q)
        while flow.ready:
            frames.append(flow.step())
    return robot, frames


def asked(robot, frames):
    prediction = Prediction(robot.model, DT)
    for frame in frames:
        prediction.note(frame.vdot)
    return prediction


@pytest.mark.parametrize("late", [0, 1, 2, 7])
def test_late_state_is_led_on_to_where_the_robot_is_that_does_as_it_is_asked(walk, late):
    robot, frames = walk
    for k in range(20, len(frames), 50):
        then, now = frames[k - late], frames[k]
        q, v = asked(robot, frames[:k]).lead_on(then.q, then.v, late * DT)
        np.testing.assert_allclose(pin.difference(robot.model, now.q, q), 0.0, atol=1e-12)
        np.testing.assert_allclose(v, now.v, atol=1e-12)


def test_age_between_two_ticks_leads_to_between_them(walk):
    robot, frames = walk
    prediction, state = asked(robot, frames[:200]), (frames[190].q, frames[190].v)
    (q_1, v_1), (q_2, v_2), (q_3, v_3) = (
        prediction.lead_on(*state, age) for age in (2.0 * DT, 2.4 * DT, 3.0 * DT)
    )
    oldest, second, last = (frame.vdot for frame in frames[197:200])
    np.testing.assert_allclose(v_1 - state[1], DT * (second + last), atol=1e-12)
    np.testing.assert_allclose(v_2 - v_1, 0.4 * DT * oldest, atol=1e-12)
    np.testing.assert_allclose(v_3 - v_2, 0.6 * DT * oldest, atol=1e-12)
    assert np.linalg.norm(pin.difference(robot.model, q_1, q_2)) < np.linalg.norm(
        pin.difference(robot.model, q_1, q_3)
    )


def test_age_that_is_none_leads_nowhere_and_a_long_one_not_far(walk):
    robot, frames = walk
    prediction, (q, v) = asked(robot, frames[:200]), (frames[190].q, frames[190].v)
    for age in (0.0, -1.0, np.nan):
        assert prediction.lead_on(q, v, age) == (q, v)
    np.testing.assert_array_equal(
        prediction.lead_on(q, v, np.inf)[1], prediction.lead_on(q, v, LONGEST)[1]
    )
    prediction.restart()
    assert prediction.lead_on(q, v, 1.0) == (q, v)


def test_filter_begins_its_tick_where_the_robot_is_now():
    robot = hd.load_robot("human28")
    flow, clip, states = DynamicsFilter(robot), plan_walk(robot, WalkStyle(steps=1)).clip, []
    for time, q in zip(clip.times, clip.q, strict=True):
        flow.update(time, q)
        while flow.ready:
            frame = flow.step(states[-2], 2.0 * DT) if len(states) > 1 else flow.step()
            if len(states) > 1:
                np.testing.assert_allclose(
                    pin.difference(robot.model, states[-1][0], frame.q), DT * frame.v, atol=1e-9
                )
            states.append((frame.q, frame.v))
            assert frame.rung == 0
    assert max(np.abs(v).max() for _, v in states) > 0.5


@pytest.mark.parametrize("age", ["soon", None, [1.0], 1j])
def test_age_that_is_no_number_is_none(age):
    robot = hd.load_robot("human28")
    flow = DynamicsFilter(robot)
    for k in range(100):
        flow.update(k / 50.0, robot.posture)
    first = flow.step()
    frame = flow.step((first.q, first.v), age)
    np.testing.assert_array_equal(frame.q, first.q)
    assert flow.status == "OK"
