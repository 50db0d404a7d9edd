# SPDX-License-Identifier: Apache-2.0
"""The hip strategy of the balance law: what the soles cannot give, the spin of the body gives."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.control.whole_body import Wanted, WholeBodyLaw
from humanoid_dynamics.control.whole_body_kernels import GRAVITY
from humanoid_dynamics.resolution.problem import DynamicsProblem


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


def ask(robot, speed):
    """Return law, acceleration and the rates of momentum it means, for a body that moves ahead on soles that stand."""
    law = WholeBodyLaw(DynamicsProblem(robot))
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    data = robot.data()
    J = np.vstack(
        [
            pin.computeFrameJacobian(robot.model, data, q, robot.surface(name).frame)
            for name in robot.stance
        ]
    )
    pin.jacobianCenterOfMass(robot.model, data, q)
    rows = np.vstack((J, data.Jcom))
    v = np.linalg.lstsq(rows, np.concatenate((np.zeros(len(J)), [speed, 0.0, 0.0])), rcond=None)[0]
    a = law.accelerate(
        q, v, Wanted(robot.posture, np.zeros(robot.nv), np.zeros(robot.nv)), (True, True)
    )
    pin.computeCentroidalMomentumTimeVariation(robot.model, data, q, v, a)
    return (
        law,
        a,
        np.concatenate((data.dhg.linear, data.dhg.angular)) / robot.mass,
        data.com[0].copy(),
    )


def pressure_of(rates, com):
    """Return where the ground must push, forward: its moment about the com is the rate of spin."""
    up = rates[2] + GRAVITY
    return com[0] - (rates[0] * com[2] + rates[4]) / up


@pytest.mark.parametrize("speed", [0.35, 0.45])
def test_the_ground_is_asked_to_push_inside_the_soles(robot, speed):
    law, _, rates, com = ask(robot, speed)
    assert pressure_of(rates, com) == pytest.approx(law.pressure[0], abs=0.01)
    assert (
        rates[0] < -GRAVITY / com[2] * (law.pressure[0] - com[0]) - 0.05
    )  # slower than the soles alone could make it


def test_a_body_that_stands_is_not_turned(robot):
    _, a, rates, _ = ask(robot, 0.0)
    assert np.abs(a).max() < 1e-6
    assert np.abs(rates).max() < 1e-6
