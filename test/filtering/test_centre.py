# SPDX-License-Identifier: Apache-2.0
"""Where the centre of mass is aimed at: over what the soles can hold, whatever is asked."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from benchmarks.motion import streams
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.conditioning.intake import InputStage
from humanoid_dynamics.filtering.conditioning.leash import Leash
from humanoid_dynamics.filtering.conditioning.planner import Planner
from humanoid_dynamics.filtering.conditioning.posture_bound import PostureBound
from humanoid_dynamics.filtering.conditioning.support import SupportArea
from humanoid_dynamics.filtering.conditioning.track import ReferenceTrack
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.settings import Settings

RATE = 50.0  # Hz
LEAN = 0.4  # rad


def lean_to_and_fro(robot, lasts):
    """Yield a stream that leans to both sides once a second, about the ground."""
    for t in np.arange(0.0, 1.5 + lasts, 1.0 / RATE):
        R = pin.exp3(
            np.array([LEAN * np.sin(2.0 * np.pi * (t - 1.5)) if t >= 1.5 else 0.0, 0.0, 0.0])
        )
        q = np.array(robot.posture)
        q[:3] = R @ q[:3]
        q[3:7] = pin.Quaternion(R @ pin.Quaternion(q[3:7]).matrix()).coeffs()
        yield t, q


@pytest.mark.parametrize("name", ["g1", "human28"])
def test_pivot_stays_inside_the_soles_that_stand(name):
    """Heights that change and the smoothing of what it has to move by put it elsewhere otherwise, and the robot follows."""
    robot = hd.load_robot(name)
    p, settings = measure_proportions(robot), Settings()
    intake, track = (
        InputStage(robot, bound=PostureBound(robot, p), leash=Leash(robot, p)),
        ReferenceTrack(robot, p, settings),
    )
    for t, q in lean_to_and_fro(robot, 2.5):
        intake.take(t, q)
        track.add(intake.time, intake.q)
    planner = Planner(p, settings, track)
    while track.end - planner.now > round(settings.lookahead * settings.rate):
        for target in planner.plan(8):
            standing = [foot for foot in (0, 1) if target.touches[foot]]
            corners = [
                p.corners[foot] @ target.sole_turn[foot].T + target.sole_place[foot]
                for foot in standing
            ]
            pivot = target.com - target.com_acceleration / p.pendulum**2
            assert (
                SupportArea(np.vstack(corners)[:, :2], 1.0).reach(pivot[None, :2])[0] < 1.0 + 1e-3
            ), target.time


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g1", "human28"])
def test_lean_to_and_fro_for_long_does_not_fell_the_robot(name):
    robot = hd.load_robot(name)
    frames, _ = streams.run(DynamicsFilter(robot), lean_to_and_fro(robot, 10.0))
    assert all(frame.certificate.holds and frame.rung <= 1 for frame in frames)
