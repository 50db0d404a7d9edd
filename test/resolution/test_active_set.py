# SPDX-License-Identifier: Apache-2.0
"""Where no push meets a motion: forces at corners and rows of contacts have one answer, uncompiled."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.limits import build_sway, make_slippery
from benchmarks.stand import build_stand
from humanoid_dynamics.resolution import active_set, compiled, kernels, limit_kernels
from humanoid_dynamics.resolution.inverse import InverseDynamics

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


def build_solver(monkeypatch, strength):
    monkeypatch.setattr(compiled, "compile_kernel", lambda kernel: kernel)
    robot = make_slippery(build_stand("human28").robot)
    weak = replace(robot, limits=replace(robot.limits, effort=strength * robot.limits.effort))
    return InverseDynamics(weak, rule="minimum_torque_limited")


def answers(solver):
    motions = [
        replace(motion, a=4.0 * motion.a) for motion in build_sway(solver.problem.robot, STATES)
    ]
    return [solver.solve(motion.q, motion.v, motion.a) for motion in motions]


def test_forces_at_corners_are_the_answer_of_rows(monkeypatch):
    """Where contacts alone keep a motion from being met, rows are not asked, and have nothing else to say."""
    solver, count, ended = build_solver(monkeypatch, 1.0), Count(monkeypatch), []
    press_corners = limit_kernels.press_corners

    def told(*arguments):
        ended.append(press_corners(*arguments))
        return ended[-1]

    monkeypatch.setattr(limit_kernels, "press_corners", told)
    by_corners = answers(solver)
    steps, count.calls = count.calls, 0
    monkeypatch.setattr(limit_kernels, "press_corners", lambda *_: active_set.LOST)
    by_rows = answers(solver)
    paths = [answer.certificate.path for answer in by_corners]
    assert ended == [active_set.FOUND] * paths.count("qp_soft")
    assert len(ended) > STATES // 4
    assert paths == [answer.certificate.path for answer in by_rows]
    weight = solver.problem.unit_force
    for one, other in zip(by_corners, by_rows, strict=True):
        assert np.abs(one.missing - other.missing).max() < 1e-9 * weight
        assert np.abs(one.tau - other.tau).max() < 1e-7 * weight
        assert one.certificate.cop_margin > -1e-6
    assert steps < 0.6 * count.calls


def test_motors_at_their_limits_are_left_to_rows(monkeypatch):
    """Forces at corners know nothing of motors: an answer that asks too much of one is not taken."""
    solver, taken = build_solver(monkeypatch, 0.2), []
    press_corners = limit_kernels.press_corners
    monkeypatch.setattr(
        limit_kernels,
        "press_corners",
        lambda *arguments: taken.append(press_corners(*arguments)) or taken[-1],
    )
    found = answers(solver)
    monkeypatch.setattr(limit_kernels, "press_corners", lambda *_: active_set.LOST)
    weight, limited = solver.problem.unit_force, 0
    for one, other in zip(found, answers(solver), strict=True):
        limited += one.certificate.torque_margin < 1e-6
        assert one.certificate.torque_margin > -1e-9
        assert np.abs(one.tau - other.tau).max() < 1e-7 * weight
    assert limited > STATES // 2
    assert len(taken) < STATES


def test_a_push_that_is_no_number_is_not_taken(monkeypatch):
    """It breaks no row, for nothing is larger than it: arrays answer in its place."""
    solver, seen = build_solver(monkeypatch, 1.0), []

    def lose(question, _):
        question[3][:] = np.nan
        seen.append(limit_kernels.SOFT)
        return limit_kernels.SOFT

    monkeypatch.setattr(kernels, "choose_inside", lose)
    assert all(
        np.isfinite(answer.tau).all() and np.isfinite(answer.missing).all()
        for answer in answers(solver)
    )
    assert seen


def test_what_an_answer_lacks_is_worked_out_when_asked_for(monkeypatch):
    """A tick that misses the motion calls as much as one that meets it, but for what finds its push and the status."""
    solver, called = build_solver(monkeypatch, 1.0), []
    told = {"answer.py", "certificate.py", "certify.py", "inverse.py", "any_rank.py"}

    def count(frame, event, _):
        called[-1] += event == "call" and Path(frame.f_code.co_filename).name in told

    calls = {}
    for motion in build_sway(solver.problem.robot, STATES):
        called.append(0)
        sys.setprofile(count)
        try:
            answer = solver.solve(motion.q, motion.v, 4.0 * motion.a)
        finally:
            sys.setprofile(None)
        calls.setdefault(answer.certificate.status, set()).add(called[-1])
    assert {
        "INCONSISTENT_CONTACT",
        "UNSUPPORTED",
    } <= calls.keys()  # four times the acceleration moves the soles
    counts = set.union(*calls.values())
    assert max(counts) - min(counts) <= 3  # which surfaces move
