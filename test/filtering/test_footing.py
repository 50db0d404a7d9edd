# SPDX-License-Identifier: Apache-2.0
"""Which soles bear load where a robot tells its state: what the ground has stopped, and not what noise has brought near to it."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.ticks.footing import SLIPPED, ContactTracker
from humanoid_dynamics.filtering.ticks.stance_kernels import (
    DEEPER,
    FIRST_LOAD,
    RAMP,
    RESTS,
    SLIDING_LOAD,
)
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.filtering.ticks.terms import DynamicsTerms
from humanoid_dynamics.filtering.ticks.tick import BalancedTick
from humanoid_dynamics.motion.body_points import find_soles

DT = 0.005  # s
LEFT_ALONE, BOTH, RIGHT_ALONE = (True, False), (True, True), (False, True)


class Steps:
    """A robot on its left sole, whose right one comes down."""

    def __init__(self):
        robot = hd.load_robot("human28")
        proportions = measure_proportions(robot)
        self.footing, self.terms = ContactTracker(proportions), DynamicsTerms(robot, proportions)
        self.terms.update(robot.posture, np.zeros(robot.nv))
        self.robot, self.flat = robot, self.terms.place.copy()
        self.place([0.0, 0.05], 0.0)
        self.ask(LEFT_ALONE)

    def place(self, heights, sinks):
        """Put soles so high over the ground, the right one on its way down."""
        self.terms.place[:] = self.flat
        self.terms.place[:, 2] += heights
        self.terms.twist[1, :3] = self.terms.turn[1].T @ (0.0, 0.0, -sinks)

    def ask(self, touches, *, measured=True, plan=None, lift=np.inf):
        """Return which soles stand, and the target that is left."""
        target = stand_still(
            self.robot.posture,
            self.robot.nv,
            self.terms.com.copy(),
            self.flat.copy(),
            self.terms.turn.copy(),
        )
        target.touches, target.until[0], target.normal[:] = touches, lift, (0.0, 0.0, 1.0)
        if plan is not None:
            target.sole_place[1, 2] += plan
            target.sole_rate[1, 2] = -0.2
        self.footing.update(target, self.terms, DT, measured=measured)
        return self.footing.stands, target


@pytest.mark.parametrize(
    ("height", "sinks", "stands"),
    [
        (
            0.0003,
            0.12,
            False,
        ),  # noise of a millimetre has brought it there, and it is still in the air
        (0.0003, 0.02, True),  # the ground has stopped it
        (-0.004, 0.12, True),  # so deep it is on the ground whatever its speed
        (0.002, 0.0, False),  # stopped above the ground
    ],
)
def test_measured_sole_stands_where_the_ground_stopped_it(height, sinks, stands):
    steps = Steps()
    steps.place([0.0, height], sinks)
    assert steps.ask(BOTH)[0] == (True, stands)


def test_sole_of_the_filter_itself_bears_nothing_until_it_lies_on_the_ground():
    """Above 2 mm or tilted it comes down further and is not declared to stand; the other sole does not leave meanwhile."""
    steps = Steps()
    steps.ask(LEFT_ALONE, measured=False)
    for height, tilt, settles in ((0.0025, 0.0, True), (0.0, 0.1, True), (0.001, 0.01, False)):
        steps.footing.restart()
        steps.place([0.0, 0.05], 0.0)
        steps.ask(LEFT_ALONE, measured=False)
        steps.place([0.0, height], 0.0)
        steps.terms.turn[1] = pin.exp3(np.array([tilt, 0.0, 0.0]))
        steps.terms.place[1, 2] += (
            0.5 * np.ptp(find_soles(steps.robot)[1].vertices[:, 1]) * np.sin(tilt)
        )  # the lowest corner is there
        for touches in (BOTH, RIGHT_ALONE):
            stands, target = steps.ask(touches, measured=False)
            assert stands[0]
            assert steps.footing.settled == (True, not settles)
            assert (target.load[1] < 1e-6) == settles
            if not settles:
                break
        steps.terms.turn[1] = np.eye(3)


def test_sole_of_the_filter_itself_stands_where_it_is_near():
    steps = Steps()
    steps.place([0.0, 0.001], 0.12)
    assert steps.ask(BOTH, measured=False)[0] == BOTH


def test_sole_of_the_filter_itself_stands_where_it_came_to_rest():
    """It slides on while its speed is taken from it: who drew it back to where it touched down would let it slide under load."""
    steps = Steps()
    steps.ask(LEFT_ALONE, measured=False)
    steps.place([0.0, 0.001], 0.12)
    steps.ask(BOTH, measured=False)
    for _ in range(4):  # it goes on, forward and round
        steps.terms.place[1, 0] += 0.003
        steps.terms.twist[1] = (*steps.terms.turn[1].T @ (0.6, 0.0, 0.0), 0.0, 0.0, 2.0)
        steps.ask(BOTH, measured=False)
    steps.terms.twist[1] = 0.0
    rests, far = steps.terms.place[1, 0], 0.02
    _, target = steps.ask(BOTH, measured=False)
    assert target.sole_place[1, 0] == pytest.approx(rests, abs=1e-12)
    steps.ask(BOTH, measured=False)
    steps.terms.place[1, 0] += far  # a sole that rests stays
    assert steps.ask(BOTH, measured=False)[1].sole_place[1, 0] == pytest.approx(rests, abs=1e-12)


def test_measured_sole_is_drawn_below_the_ground_when_it_is_about_to_land_and_no_sooner():
    """Swinging low is not landing: a toe that is drawn into the ground there trips the robot."""
    steps = Steps()
    lowered = [
        steps.ask(LEFT_ALONE, plan=plan)[1].ground[1] - steps.flat[1, 2] for plan in (0.03, 0.005)
    ]
    np.testing.assert_allclose(lowered, (0.0, -DEEPER), atol=1e-12)
    assert steps.ask(LEFT_ALONE, measured=False, plan=0.005)[1].ground[1] == steps.flat[1, 2]


def test_nobody_leaves_before_the_sole_that_came_down_has_taken_its_load():
    steps = Steps()
    steps.place([0.0, -0.0005], 0.0)
    assert steps.ask(BOTH)[0] == BOTH
    waited = 0
    while steps.ask(RIGHT_ALONE)[0] == BOTH:
        waited += 1
        assert waited < 100
    assert waited * DT == pytest.approx(RAMP, abs=2 * DT)


def test_nobody_leaves_in_the_tick_in_which_the_other_sole_comes_down_late():
    """It would have to bear all load while it is as fast as it came."""
    steps = Steps()
    assert (
        steps.ask(RIGHT_ALONE, measured=False)[0] == LEFT_ALONE
    )  # the right one is still in the air
    steps.place([0.0, 0.001], 0.4)
    stands, target = steps.ask(RIGHT_ALONE, measured=False)
    assert stands == BOTH
    np.testing.assert_allclose(target.load, (np.inf, SLIDING_LOAD))
    steps.place([0.0, 0.0], 0.0)
    for _ in range(2):
        stands = steps.ask(RIGHT_ALONE, measured=False)[0]
    assert stands == RIGHT_ALONE


def test_sole_that_slides_bears_nothing_until_it_rests():
    """The filter stops its own soles; what bears load while it slides would be dragged over the ground."""
    steps, loads = Steps(), []
    steps.place([0.0, 0.001], 0.0)
    for speed in (0.2, 0.2, 0.2, *np.zeros(10)):
        steps.terms.twist[1, :3] = speed, 0.0, 0.0
        stands, target = steps.ask(BOTH, measured=False)
        assert stands == BOTH
        loads.append(target.load[1])
    np.testing.assert_allclose(loads[:3], SLIDING_LOAD)
    assert loads[3] > 0.1
    assert np.isinf(loads[-1])


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("late", [0.0, 0.02, 0.04, 0.055])
def test_soles_bear_the_whole_robot_together_however_late_one_comes_down(late, measured):
    """The one to be lifted bears what the other one, which has its part only from its touch-down on, does not bear yet."""
    steps, together = Steps(), 0.06
    for tick in range(round(together / DT)):
        if tick * DT >= late:
            steps.place([0.0, 0.0], 0.0)
        stands, target = steps.ask(BOTH, measured=measured, lift=together - tick * DT)
        assert stands[0]
        if stands[1]:
            assert target.load.sum() >= 1.0
            assert target.load[1] <= max(
                tick * DT - late, 0.0
            ) / RAMP + FIRST_LOAD + 1e-9 or np.isinf(target.load[1])
        else:
            assert np.isinf(target.load[0])


@pytest.mark.parametrize(("rises", "load"), [(0.05, np.inf), (0.12, FIRST_LOAD)])
def test_measured_sole_that_goes_up_is_given_no_load_that_nothing_bears(rises, load):
    """A push tears it off; with a load its ankle would spin in one tick."""
    steps = Steps()
    steps.place([0.0, 0.0], 0.0)
    for _ in range(70):
        steps.ask(BOTH)
    steps.place([0.0, 0.0], -rises)
    stands, target = steps.ask(BOTH)
    assert stands == BOTH
    np.testing.assert_allclose(target.load, (np.inf, load))


def test_sole_that_came_down_is_stopped_in_three_ticks():
    robot = hd.load_robot("human28")
    proportions = measure_proportions(robot)
    tick, v = BalancedTick(robot, None, proportions), np.zeros(robot.nv)
    q = np.array(robot.posture)
    tick.terms.update(q, v)
    places = tick.terms.com.copy(), tick.terms.place.copy(), tick.terms.turn.copy()
    right = find_soles(robot)[1].frame
    v[robot.joint("right_hip_pitch").v] = 0.4
    J = pin.computeFrameJacobian(robot.model, robot.data(), q, right, pin.ReferenceFrame.LOCAL)
    speed = np.linalg.norm((J @ v)[:3])
    assert speed > 0.2
    for touches in (LEFT_ALONE, *3 * (BOTH,)):
        target = stand_still(q, robot.nv, *places)
        target.touches = touches
        step = tick.step(target, q, v, DT)
        if touches == BOTH:
            assert step.rung == 0
            assert (
                step.wrenches[1, 2] < 0.01 * proportions.mass * proportions.gravity
                or speed < RESTS[0]
            )
            v = v + DT * step.vdot
            q = pin.integrate(robot.model, q, DT * v)
            J = pin.computeFrameJacobian(
                robot.model, robot.data(), q, right, pin.ReferenceFrame.LOCAL
            )
            speed = np.linalg.norm((J @ v)[:3])
    assert speed < RESTS[0]


def test_measured_sole_that_slipped_is_told_once_the_robot_is_calm():
    steps = Steps()
    steps.place([0.0, 0.0], 0.0)
    assert steps.ask(BOTH)[0] == BOTH
    steps.footing.landings()
    steps.terms.place[1, :2] += 0.004, -0.003
    steps.terms.com_rate[0] = 0.2
    for calm in (False, True):
        for _ in range(100):
            steps.ask(BOTH)
        told = steps.footing.landings()
        assert [foot for foot, _, _ in told] == [1] * calm
        steps.terms.com_rate[0] = 0.0
    np.testing.assert_allclose(told[0][1][:2], steps.terms.place[1, :2], atol=SLIPPED[0])
    assert told[0][1][2] == steps.flat[1, 2]
    for _ in range(100):
        steps.ask(BOTH)
    assert not steps.footing.landings()


def test_restart_forgets_where_soles_stood():
    steps = Steps()
    steps.place([0.0, 0.0], 0.0)
    for _ in range(100):
        steps.ask(BOTH)
    steps.footing.restart()
    steps.flat[:, 0] += 0.3  # the same robot elsewhere
    steps.place([0.0, 0.0], 0.0)
    steps.ask(BOTH)
    np.testing.assert_allclose(steps.footing.place, steps.flat, atol=1e-9)
