# SPDX-License-Identifier: Apache-2.0
"""What the ladder commands where the first rung has no answer: as possible as what the first rung does."""

import numpy as np
import pinocchio as pin
import pytest
from recordings import find_recording
from test_filter_tick import DT, judged, standing

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter, Settings
from humanoid_dynamics.filtering.certificate import FrameJudge
from humanoid_dynamics.filtering.clip_feed import feed_clip
from humanoid_dynamics.filtering.filter import SUNK
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.ticks.step import RUNGS
from humanoid_dynamics.filtering.ticks.tick import BalancedTick
from humanoid_dynamics.motion.load import load_clip


@pytest.mark.parametrize("name", ["human28", "romeo"])
def test_a_sole_that_hardly_bears_load_uses_no_more_friction_than_it_has(name):
    """Rounding is small beside the weight, and not beside what a sole bears that comes down."""
    robot = hd.load_robot(name)
    tick, judge = BalancedTick(robot), FrameJudge(robot, measure_proportions(robot))
    rng, light = np.random.default_rng(1), 0
    for k in range(300):
        tick.restart()
        target = standing(robot, tick)
        target.touches = (True, False)
        tick.step(target, np.array(robot.posture), np.zeros(robot.nv), DT)
        target, size = standing(robot, tick), (1.0, 10.0)[k % 2]
        q = pin.integrate(robot.model, robot.posture, 0.002 * size * rng.normal(size=robot.nv))
        v = 0.3 * size * rng.normal(size=robot.nv)
        target.com = target.com + 0.05 * size * rng.normal(size=3)
        step = tick.step(target, q, v, DT)
        certificate = judged(robot, judge, q, v, step)
        assert certificate.forces_hold, certificate
        assert certificate.soles_rest, certificate
        assert certificate.torque <= 1.0 + 1e-6
        light += 0.0 < step.wrenches[1, 2] < 0.006 * robot.mass * 9.81
    assert light > 10


@pytest.mark.parametrize(
    ("name", "clip", "lower"), [("romeo", "kick", 0.0), ("romeo", "punch", 0.015)]
)
def test_soles_that_bear_load_do_not_slide_on_any_rung(name, clip, lower):
    robot = hd.load_robot(name)
    flow = DynamicsFilter(robot, settings=Settings(extra_lower=lower, flights=True))
    frames = feed_clip(
        flow, load_clip(find_recording(f"deepmimic/humanoid3d_{clip}.txt"), robot)
    ).frames
    assert sum(frame.rung > 0 for frame in frames) > 5
    for frame in frames:
        assert frame.certificate.forces_hold, (frame.rung, frame.certificate)
        assert frame.certificate.soles_rest, (frame.rung, frame.certificate)
        assert frame.certificate.limits_hold, (frame.rung, frame.certificate)
        assert frame.certificate.contacts_hold or frame.rung >= RUNGS.index("soles_give_way"), (
            frame.rung,
            frame.certificate,
        )
    assert (
        max(frame.certificate.height for frame in frames) < SUNK
    )  # soles that sink into the ground end the motion


def whirling(robot, tick, size, seed):
    """Return a velocity with which limbs whirl and both soles are at rest."""
    tick.terms.update(robot.posture, np.zeros(robot.nv))
    J = np.vstack(tick.terms.J)
    v = size * np.random.default_rng(seed).normal(size=robot.nv)
    return v - np.linalg.pinv(J) @ (J @ v)


@pytest.mark.parametrize("name", ["human28", "g1"])
@pytest.mark.parametrize("touches", [(True, True), (True, False)])
def test_a_standing_sole_stays_over_the_whole_tick(name, touches):
    """It stays where it is over a tick, to the second order of time; one that only does not accelerate is carried along."""
    robot = hd.load_robot(name)
    tick, proportions = BalancedTick(robot), measure_proportions(robot)
    data, dt, held = robot.data(), 0.04 * DT, 0
    for seed in range(10):
        tick.restart()
        target, q = standing(robot, tick), np.array(robot.posture)
        target.touches = touches
        v = whirling(robot, tick, 2.0, seed)
        step = tick.step(target, q, v, dt)
        drift = np.linalg.norm(tick.terms.drift[0, :3])
        pin.framesForwardKinematics(robot.model, data, q)
        before = data.oMf[proportions.soles[0]].translation.copy()
        pin.framesForwardKinematics(
            robot.model, data, pin.integrate(robot.model, q, dt * (v + dt * step.vdot))
        )
        way = np.linalg.norm(data.oMf[proportions.soles[0]].translation - before)
        if step.rung < RUNGS.index("soles_give_way"):
            held += 1
            assert way < 0.2 * 0.5 * dt**2 * drift, (seed, way / (0.5 * dt**2 * drift))
    assert held > 2


@pytest.mark.parametrize("size", [2.0, 5.0, 10.0])
def test_soles_that_limbs_carry_along_bear_no_load(size):
    """At rest at both ends of a tick they go on between, as far as the certificate sees, which looks along the velocity of the step."""
    robot = hd.load_robot("g1")
    tick, judge, whirled = BalancedTick(robot), FrameJudge(robot, measure_proportions(robot)), 0
    for seed in range(20):
        tick.restart()
        target, q = standing(robot, tick), np.array(robot.posture)
        v = whirling(robot, tick, size, seed)
        step = tick.step(target, q, v, DT)
        certificate = judged(robot, judge, q, v, step)
        whirled += DT * np.abs(tick.terms.drift).max() > 0.2
        assert certificate.forces_hold, certificate
        assert certificate.soles_rest, (step.rung, certificate)
    assert whirled > 0 or size < 5.0


def test_a_sole_far_from_where_it_stands_is_drawn_back_slowly():
    """However far it is, it stands, bears load, and does not slide."""
    robot = hd.load_robot("g1")
    tick, judge = (
        BalancedTick(robot),
        FrameJudge(robot, measure_proportions(robot)),
    )
    for off in (0.01, 0.04, 0.1):
        tick.restart()
        q, v = np.array(robot.posture), np.zeros(robot.nv)
        tick.step(standing(robot, tick), q, v, DT)
        target = standing(robot, tick)
        q[0] += off
        target.com[0] += off
        step = tick.step(target, q, v, DT)
        assert step.rung == 0
        assert judged(robot, judge, q, v, step).holds
        back = -(tick.terms.twist + DT * (tick.terms.J @ step.vdot))[:, 0]
        assert np.all(back > 0.03)
