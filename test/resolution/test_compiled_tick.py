# SPDX-License-Identifier: Apache-2.0
"""The compiled tick is compiled when it is made: no robot waits for it later."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.spatial.arrays import read_only

pytest.importorskip("numba", reason="numba is not installed")


@pytest.mark.parametrize("rule", ["transition", "minimum_torque"])
def test_one_form_takes_shares_of_any_kind(rule):
    robot = hd.load_robot("human28")
    solver = hd.InverseDynamics(robot, robot.stance, rule)
    kernel = solver._resolver._tick._tick
    made = len(kernel.signatures)
    q, still = np.array(robot.posture), np.zeros(robot.nv)
    answers = [
        solver.solve(q, still, still, shares).tau
        for shares in (None, np.full(2, 0.5), read_only((0.5, 0.5)))
    ]
    np.testing.assert_array_equal(answers, answers[:1] * 3)
    assert len(kernel.signatures) == made
