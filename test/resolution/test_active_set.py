"""The active-set method, uncompiled: what the hard program knew saves the soft one steps, and changes nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from humanoid_dynamics.benchmarks.limits import build_sway, make_slippery
from humanoid_dynamics.benchmarks.stand import build_stand
from humanoid_dynamics.resolution import active_set, compiled, inside
from humanoid_dynamics.resolution.inverse_dynamics import InverseDynamics

STATES = 24


class Count:
    """Calls of ``worst_row``, one for each step but those that let a row go."""

    def __init__(self, monkeypatch):
        self.calls = 0
        worst_row = active_set.worst_row

        def counted(*arguments):
            self.calls += 1
            return worst_row(*arguments)

        monkeypatch.setattr(active_set, "worst_row", counted)


@pytest.fixture
def solver(monkeypatch):
    monkeypatch.setattr(compiled, "compile_kernel", lambda kernel, parts: kernel)
    robot = make_slippery(build_stand("human28").robot)
    weak = replace(robot, limits=replace(robot.limits, effort=0.7 * robot.limits.effort))
    return InverseDynamics(weak, rule="minimum_torque_limited", compiled=True)


def answers(solver):
    motions = [replace(motion, a=4.0 * motion.a) for motion in build_sway(solver.dynamics.robot, STATES)]
    return [solver.tick(motion.q, motion.v, motion.a) for motion in motions]


def test_known_rows_save_steps_and_change_nothing(solver, monkeypatch):
    count = Count(monkeypatch)
    warm = answers(solver)
    steps, count.calls = count.calls, 0
    walk = inside.walk
    monkeypatch.setattr(inside, "walk", lambda *arguments: walk(*arguments[:-1], 0))
    cold = answers(solver)
    paths = [answer.certificate.path for answer in warm]
    assert paths.count("qp_soft") > STATES // 4
    assert paths == [answer.certificate.path for answer in cold]
    weight = solver.dynamics.unit_force
    for one, other in zip(warm, cold, strict=True):
        assert np.abs(one.missing - other.missing).max() < 1e-9 * weight
        assert np.abs(one.tau - other.tau).max() < 1e-7 * weight
    assert steps < 0.8 * count.calls


def test_rows_that_are_known_and_not_needed_are_let_go(solver, monkeypatch):
    """Begun with wrong rows the end is the same: those that would have to pull are taken out."""
    right = answers(solver)
    walk, rng = inside.walk, np.random.default_rng(5)

    def misled(*arguments):
        memory = arguments[1]
        wrong = rng.choice(memory.sizes.rows, 3, replace=False)
        memory.active[:3] = wrong
        return walk(*arguments[:-1], 3)

    monkeypatch.setattr(inside, "walk", misled)
    for one, other in zip(answers(solver), right, strict=True):
        assert np.abs(one.tau - other.tau).max() < 1e-7 * solver.dynamics.unit_force
