# SPDX-License-Identifier: Apache-2.0
"""Derivatives of torques on contacts against central differences."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.resolution import differentiate_inverse_dynamics

STEP = 1e-6


@pytest.mark.parametrize("seed", [0, 1])
def test_on_one_sole_they_are_central_differences(seed):
    robot, rng = hd.load_robot("human28"), np.random.default_rng(seed)
    inverse = hd.InverseDynamics(robot, "left_foot", "minimum_torque", joint_friction=False)
    q = pin.integrate(robot.model, robot.posture, 0.1 * rng.standard_normal(robot.nv))
    v, a = rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    found = differentiate_inverse_dynamics(inverse, hd.State(q, v), a)

    def solve(dq, dv, da):
        return inverse.solve(pin.integrate(robot.model, q, dq), v + dv, a + da).tau

    zero = np.zeros(robot.nv)
    for place, derivative in enumerate((found.by_q, found.by_v, found.by_a)):
        for _ in range(4):
            way = rng.standard_normal(robot.nv)
            steps = [zero, zero, zero]
            ends = []
            for sign in (1.0, -1.0):
                steps[place] = sign * STEP * way
                ends.append(solve(*steps))
            difference = (ends[0] - ends[1]) / (2.0 * STEP)
            scale = np.abs(difference).max()
            np.testing.assert_allclose(derivative @ way, difference, atol=1e-5 * scale)


def test_on_two_soles_the_base_stays_balanced():
    """Rows without motor are fulfilled to first order: what they miss falls with the square of the step."""
    robot, rng = hd.load_robot("human28"), np.random.default_rng(2)
    inverse = hd.InverseDynamics(robot, rule="minimum_torque", joint_friction=False)
    state = hd.State(robot.posture, np.zeros(robot.nv))
    found = differentiate_inverse_dynamics(inverse, state, np.zeros(robot.nv))
    way = rng.standard_normal(robot.nv)
    tau = found.tau + 1e-3 * found.by_a @ way
    J = inverse.problem.J
    free = pin.rnea(robot.model, robot.data(), robot.posture, state.v, 1e-3 * way)
    free[robot.actuated_v] -= tau
    f = np.linalg.lstsq(J.T, free, rcond=None)[0]
    assert np.abs(free - J.T @ f).max() < 1e-9
