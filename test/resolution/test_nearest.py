# SPDX-License-Identifier: Apache-2.0
"""The path for systems of any rank has an answer where contacts may bear nothing."""

from dataclasses import replace

import numpy as np
import pytest

import humanoid_dynamics as hd
from benchmarks.limits import build_sway
from benchmarks.stand import build_stand

RULES = ("minimum_torque_limited", "transition_limited")
STATES = 12


def sway(robot, rule, scale=1.0):
    """Answers of the path for systems of any rank."""
    solver = hd.InverseDynamics(robot, rule=rule)
    general, found = replace(solver.rule, name="any rank"), []
    for motion in build_sway(robot, STATES):
        solver.solve(motion.q, motion.v, scale * motion.a)
        found.append(solver.resolve_with(general))
    return found


@pytest.mark.parametrize("rule", RULES)
def test_a_foot_that_may_bear_nothing_leaves_the_other_one(rule):
    robot = build_stand("legs12").robot
    loads = {"left_foot": 0.0, "right_foot": 30.0}
    surfaces = {
        name: replace(surface, normal_force_limit=loads.get(name, np.inf))
        for name, surface in robot.surfaces.items()
    }
    for answer in sway(replace(robot, surfaces=surfaces), rule):
        assert answer.certificate.path == "qp_soft"
        assert answer.wrenches["right_foot"].normal_force == pytest.approx(30.0, rel=1e-5)
        assert answer.wrenches["left_foot"].normal_force == pytest.approx(0.0, abs=1e-4)
