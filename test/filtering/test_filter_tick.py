# SPDX-License-Identifier: Apache-2.0
"""One tick: whatever the state and the wish, the answer obeys the laws of motion, the contacts and the motors."""

import math

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.certificate import FrameJudge
from humanoid_dynamics.filtering.conditioning.posture_bound import STEEPEST
from humanoid_dynamics.filtering.fallen import LEAST_UPRIGHT
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.ticks.step import RUNGS
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.filtering.ticks.tick import BalancedTick, TickSettings
from humanoid_dynamics.filtering.ticks.wish_kernels import weigh_lean
from humanoid_dynamics.filtering.ticks.wishes import LEAN

DT = 0.005


def standing(robot, tick):
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    tick.terms.update(q, v)
    return stand_still(
        q, robot.nv, tick.terms.com.copy(), tick.terms.place.copy(), tick.terms.turn.copy()
    )


def judged(robot, judge, q, v, step):
    after = v + DT * step.vdot
    return judge.judge(q, v, (pin.integrate(robot.model, q, DT * after), after), step)


def test_standing_still_stays_exactly():
    robot = hd.load_robot("human28")
    tick = BalancedTick(robot)
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    step = tick.step(standing(robot, tick), q, v, DT)
    assert np.max(np.abs(step.vdot)) < 1e-9
    assert step.rung == 0
    assert step.stands == (True, True)
    weight = robot.mass * 9.81
    up = sum(tick.terms.turn[foot] @ step.wrenches[foot, :3] for foot in (0, 1))
    np.testing.assert_allclose(up, (0.0, 0.0, weight), atol=1e-7 * weight)


@pytest.mark.parametrize("size", [0.3, 2.0, 8.0])
def test_any_state_and_wish_gets_a_possible_answer(size):
    robot = hd.load_robot("human28")
    proportions = measure_proportions(robot)
    tick, judge = BalancedTick(robot), FrameJudge(robot, proportions)
    rng = np.random.default_rng(int(10 * size))
    rungs = np.zeros(len(RUNGS), dtype=int)
    for _ in range(60):
        tick.restart()
        target = standing(robot, tick)
        q = pin.integrate(robot.model, robot.posture, 0.02 * size * rng.normal(size=robot.nv))
        v = 0.3 * size * rng.normal(size=robot.nv)
        target.com = target.com + 0.05 * size * rng.normal(size=3)
        target.touches = tuple(bool(touch) for touch in rng.random(2) < 0.8)
        step = tick.step(target, q, v, DT)
        certificate = judged(robot, judge, q, v, step)
        rungs[step.rung] += 1
        assert np.isfinite(step.vdot).all()
        assert certificate.forces_hold, certificate
        assert certificate.torque <= 1.0 + 1e-6
    assert rungs[0] > 0
    if size > 1.0:
        assert rungs[1:].sum() > 0  # the ladder was needed


def test_numbers_that_are_none_are_answered_too():
    robot = hd.load_robot("human28")
    tick = BalancedTick(robot)
    target = standing(robot, tick)
    v = np.zeros(robot.nv)
    v[8] = np.nan
    step = tick.step(target, np.array(robot.posture), v, DT)
    assert np.isfinite(step.vdot).all()
    assert np.isfinite(step.tau).all()
    assert step.rung == RUNGS.index("free")


def test_without_limits_contacts_pull():
    """Negative control: the check that the ground only pushes is what keeps forces possible."""
    robot = hd.load_robot("human28")
    judge = FrameJudge(robot, measure_proportions(robot))
    tick = BalancedTick(robot, TickSettings(unilateral=False))
    target = standing(robot, tick)
    target.com = target.com + np.array([0.2, 0.0, 0.0])
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    certificate = judged(robot, judge, q, v, tick.step(target, q, v, DT))
    assert certificate.cop < -0.01
    assert not certificate.forces_hold


def test_sole_stays_above_the_ground():
    robot = hd.load_robot("human28")
    tick = BalancedTick(robot)
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    lowest = 0.0
    target = standing(robot, tick)
    for _ in range(80):
        target.touches = (True, False)
        target.sole_place[1, 2] = -0.1  # a swinging sole is asked to go below the ground
        tick.terms.update(q, v)
        target.com = tick.terms.com.copy()
        step = tick.step(target, q, v, DT)
        v = v + DT * step.vdot
        q = pin.integrate(robot.model, q, DT * v)
        lowest = min(lowest, float(tick.terms.place[1, 2]))
    assert lowest > -0.004


def test_the_base_counts_the_more_the_more_it_leans():
    """Twice as much at the lean that is left between what a reference may ask for and a fall; turning about the vertical is no lean."""
    assert pytest.approx(math.acos(LEAST_UPRIGHT) - STEEPEST) == LEAN
    robot, rng = hd.load_robot("g1"), np.random.default_rng(4)
    for _ in range(10):
        q = pin.integrate(
            robot.model,
            robot.posture,
            np.concatenate((np.zeros(3), rng.normal(size=3), np.zeros(robot.nv - 6))),
        )
        R = pin.Quaternion(q[3:7]).matrix()
        for turn, times in (
            (rng.normal() * np.array([0.0, 0.0, 1.0]), 1.0),
            (LEAN * np.array([0.6, 0.8, 0.0]), 2.0),
        ):
            error = np.concatenate((np.zeros(3), R.T @ turn))
            assert weigh_lean(error, R, LEAN) == pytest.approx(times)


def test_a_base_that_leans_is_brought_back_before_limbs_follow():
    """A leg that is swung up turns the trunk the other way: near a fall the trunk comes first, but where it is measured."""
    robot = hd.load_robot("g1")
    reached = {}
    for measured in (False, True):
        for lean in (0.05, 0.5):
            tick = BalancedTick(robot)
            target = standing(robot, tick)
            target.touches = (True, False)
            target.sole_place[1] += (0.0, -0.05, 0.1)
            q = np.array(robot.posture)
            tick.step(target, q, np.zeros(robot.nv), DT)
            tilt = pin.exp3(np.array([lean, 0.0, 0.0])) @ pin.Quaternion(target.q[3:7]).matrix()
            target.q[3:7] = pin.Quaternion(tilt).coeffs()
            target.sole_acceleration[1] = (0.0, -20.0, 10.0, 0.0, 0.0, 0.0)
            step = tick.step(target, q, np.zeros(robot.nv), DT, measured=measured)
            assert step.rung == 0
            reached[measured, lean] = step.vdot[3] / (80.0 * lean)
    assert reached[False, 0.5] > reached[True, 0.5] + 0.05
    assert reached[False, 0.05] == pytest.approx(reached[True, 0.05], abs=0.2)
