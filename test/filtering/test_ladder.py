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
from humanoid_dynamics.filtering.proportions import measure_proportions
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


@pytest.mark.parametrize(("name", "clip", "lower"), [("romeo", "kick", 0.0), ("romeo", "punch", 0.015)])
def test_soles_that_bear_load_do_not_slide_on_any_rung(name, clip, lower):
    robot = hd.load_robot(name)
    flow = DynamicsFilter(robot, settings=Settings(extra_lower=lower, flights=True))
    frames = feed_clip(flow, load_clip(find_recording(f"deepmimic/humanoid3d_{clip}.txt"), robot)).frames
    assert sum(frame.rung > 0 for frame in frames) > 5
    for frame in frames:
        assert frame.certificate.holds, (frame.rung, frame.certificate)
