# SPDX-License-Identifier: Apache-2.0
"""The nearest push by least distance: an answer where the general solver has none, and the same where it has one."""

from dataclasses import replace

import numpy as np
import pytest

import humanoid_dynamics as hd
from benchmarks.limits import build_sway, make_slippery
from benchmarks.stand import build_stand
from humanoid_dynamics.resolution import limits
from humanoid_dynamics.solvers.qp import QpSolution, QpStatus, QpWorkspace

RULES = ("minimum_torque_limited", "transition_limited")
STATES = 12
SOLVE = QpWorkspace.solve


def solve_hard_only(workspace):
    """Give up programs without equations, which are the soft ones."""
    if workspace.lower[0] == workspace.upper[0]:
        return SOLVE(workspace)
    return QpSolution(
        np.zeros(len(workspace.f)), np.zeros(len(workspace.A)), QpStatus.INFEASIBLE, 0, np.inf
    )


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
    """The general solver takes many of these for infeasible, to which no push at all is an answer."""
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


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_it_is_the_answer_of_the_general_solver(monkeypatch, strength):
    robot = make_slippery(build_stand("legs12").robot)
    robot = replace(robot, limits=replace(robot.limits, effort=strength * robot.limits.effort))
    known, seen = sway(robot, RULES[0], 4.0), []
    choose = limits.solve_from_zero
    monkeypatch.setattr(
        limits, "solve_from_zero", lambda *given: seen.append(choose(*given)) or seen[-1]
    )
    monkeypatch.setattr(QpWorkspace, "solve", solve_hard_only)
    weight = hd.InverseDynamics(robot).problem.unit_force
    for one, other in zip(known, sway(robot, RULES[0], 4.0), strict=True):
        assert one.certificate.path == other.certificate.path
        assert np.abs(one.missing - other.missing).max() < 1e-7 * weight
        assert np.abs(one.tau - other.tau).max() < 1e-6 * weight
    assert len(seen) > STATES // 2
