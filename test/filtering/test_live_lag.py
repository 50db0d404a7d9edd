# SPDX-License-Identifier: Apache-2.0
"""The filter along with the world is late by its delay, whatever kept it from running: soon again, and never by more than a second."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.live.motion import LONGEST, LiveMotion

DT = 0.005  # s
DELAY = 1.0  # s
LEFT = 1.1  # s; what is known and planned before a pause comes out first


def lags(seconds, *, runs=lambda now: True, state=None):
    """Return when frames came and by how much later than they were asked for; all that was told of it must agree."""
    robot = hd.load_robot("human28")
    live, found, began = LiveMotion(robot, delay=DELAY, measures=state is not None), [], 0.0
    joints = [joint for joint in robot.joints if joint.kind != "free_flyer"]
    rest = np.array([robot.posture[joint.q.start] for joint in joints])
    span = [0, round(1e9 * seconds)]
    live.put_joints([joints[0].name], span, {"positions": np.full((2, 1), rest[0])}, 0.0)
    live.put_base(span, np.tile([*robot.posture[:7], *np.zeros(6)], (2, 1)), 0.0)
    for tick in range(round(seconds / DT)):
        now = tick * DT
        if state is not None and state(now):
            live.state.observe_joints(
                [joint.name for joint in joints], rest, np.zeros(len(rest)), now, now
            )
            live.state.observe_base(np.array(robot.posture[:7]), np.zeros(6), now, now)
        for command in live.advance(now) if runs(now) else ():
            assert command.frame.certificate.holds
            began = command.stamp - command.frame.reference - live.lag if not found else began
            assert command.stamp - command.frame.reference - began == pytest.approx(
                live.lag, abs=1e-9
            )
            found.append((now, live.lag))
    return np.array(found)


def test_short_stall_is_caught_up_with_by_a_tenth():
    found = lags(6.0, runs=lambda now: not 1.5 < now < 2.05)
    assert found[:, 1].max() > DELAY + 0.25
    assert found[-1, 1] < DELAY + 0.2


def test_long_stall_is_left_out():
    found = lags(6.0, runs=lambda now: not 2.0 < now < 4.0)
    assert np.abs(found[found[:, 0] > 4.0 + LEFT, 1] - DELAY).max() < 0.05
    assert found[-1, 0] > 5.9


def test_stalls_that_come_again_and_again_cost_a_second_at_most():
    found = lags(10.0, runs=lambda now: now % 2.0 < 1.4)
    assert (
        found[found[:, 0] % 2.0 > 1.3, 1].max() < DELAY + LONGEST + 0.5
    )  # what was planned before a stall has come out by then


@pytest.mark.parametrize(
    ("known", "since"),
    [(lambda now: now > 3.0, 0.0), (lambda now: not 2.0 < now < 4.0, 4.0 + LEFT)],
)
def test_what_passed_before_a_state_came_is_left_out(known, since):
    found = lags(6.0, state=known)
    assert np.abs(found[found[:, 0] > since, 1] - DELAY).max() < 0.05
    assert found[-1, 0] > 5.9
