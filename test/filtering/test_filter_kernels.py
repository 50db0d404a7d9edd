# SPDX-License-Identifier: Apache-2.0
"""Kernels of the tick against independent oracles: terms by pinocchio, program as a dense one over all unknowns, certificate in arrays."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.certificate import LOADED, FrameJudge
from humanoid_dynamics.filtering.conditioning.windows import (
    flat_kernel,
    smooth_columns,
)
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.ticks.cascade import build_cones, read_efforts
from humanoid_dynamics.filtering.ticks.nearest_kernels import LOST
from humanoid_dynamics.filtering.ticks.program import ExtraRows, ReducedQp, Weights
from humanoid_dynamics.filtering.ticks.stance_kernels import SETTLING_LOAD
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.filtering.ticks.terms import DynamicsTerms
from humanoid_dynamics.filtering.ticks.tick import BalancedTick
from humanoid_dynamics.filtering.ticks.wish_kernels import quaternion_of
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import read_only
from humanoid_dynamics.spatial.polygon import margin_inside

DT = 0.005
STANDS = ((), (0,), (1,), (0, 1))


def solve_dense(feet, cones, effort, weight, extra, seen):
    """Return accelerations, wrenches and torques of the same program over all accelerations and wrenches; equal weights, one matrix."""
    (terms, wishes, room), w = seen, Weights()
    M, h, J, nv, m = terms.M, terms.h, terms.J, len(terms.h), 6 * len(feet)
    units = np.tile(w.unit * weight * np.array([1.0] * 3 + [w.lever] * 3), len(feet))
    soft, equal, rows = [], [], []  # (rows on vdot, rows on wrenches, values, weights or bounds)
    none = lambda k: np.zeros((k, m))  # noqa: E731 - shorter than what it says
    height = [w.com, w.com, w.height]
    soft.append((terms.J_com, none(3), wishes.com - terms.com_drift, height))
    soft.append((np.eye(nv)[3:6], none(3), wishes.base, [w.base * wishes.upright[0]] * 3))
    soft.append((np.eye(nv)[6:], none(nv - 6), wishes.joints, [w.joints] * (nv - 6)))
    soft.append((extra.G, none(len(extra.g)), extra.g, extra.W))
    for foot in (0, 1):
        right = wishes.soles[foot] - terms.drift[foot]
        if foot in feet:
            equal.append((J[foot], none(6), right))
            continue
        near = w.swing * (1.0 + (w.landing - 1.0) * max(0.0, 1.0 - wishes.height[foot] / 0.06))
        soft.append((J[foot], none(6), right, near * np.repeat([1.0, w.swing_turn], 3)))
        up = wishes.up[foot]
        rows.append((up @ J[foot], none(4), wishes.rise[foot] - up @ terms.drift[foot], np.inf))
    both = np.vstack([np.zeros((0, nv)), *(J[foot] for foot in feet)])
    equal.append((M[:6], -both[:, :6].T, -h[:6]))
    rows.append((M[6:], -both[:, 6:].T, -effort - h[6:], effort - h[6:]))
    rows.append((np.eye(nv)[6:], none(nv - 6), *room.bounds))
    rows.append((extra.rows, none(len(extra.lower)), extra.lower, np.inf))
    for k, foot in enumerate(feet):
        on = np.zeros((len(cones[foot]) + 1, m))
        on[:-1, 6 * k : 6 * k + 6], on[-1, 6 * k + 2] = cones[foot], 1.0
        most = np.append(5e-7 * weight * cones[foot][:, 2], wishes.load[foot])
        rows.append((np.zeros((len(on), nv)), on, -np.inf, most))
    if len(feet) > 1:  # the least wrenches that the wished motion needs
        base = np.linalg.solve(J[feet[0]][:, :6], equal[0][2] - J[feet[0]][:, 6:] @ wishes.joints)
        needed = M[:6] @ np.concatenate((base, wishes.joints)) + h[:6]
        share = units * (np.linalg.pinv(both[:, :6].T * units) @ needed)
        soft.append((np.zeros((m, nv)), np.eye(m), share, w.force / units**2))
    scale = np.concatenate((np.ones(nv), units))
    qp = QpWorkspace(nv + m, 6 + m, 6 + m + sum(len(row[0]) for row in rows), 10.0)
    G, g, W = (
        np.concatenate(part)
        for part in zip(*((np.hstack(s[:2]) * scale, *s[2:]) for s in soft), strict=True)
    )
    qp.H[:], qp.f[:] = G.T @ (W[:, None] * G) + 1e-7 * np.eye(nv + m), -(G.T @ (W * g))
    qp.A[:] = np.vstack([np.hstack(row[:2]) for row in (*equal, *rows)]) * scale
    right = np.concatenate([row[2] for row in equal])
    qp.lower[:] = np.concatenate((right, *(row[2] * np.ones(len(row[0])) for row in rows)))
    qp.upper[:] = np.concatenate((right, *(row[3] * np.ones(len(row[0])) for row in rows)))
    solution = qp.solve()
    vdot, pushes = solution.x[:nv], units * solution.x[nv:]
    wrenches = np.zeros((2, 6))
    wrenches[list(feet)] = pushes.reshape(-1, 6)
    return vdot, wrenches, M[6:] @ vdot + h[6:] - both[:, 6:].T @ pushes, solution.status


@pytest.mark.parametrize("name", ["human28", "g1"])
@pytest.mark.parametrize("feet", STANDS)
def test_program_answers_as_a_dense_one_over_all_unknowns(name, feet):
    robot = hd.load_robot(name)
    proportions, tick, rng = (
        measure_proportions(robot),
        BalancedTick(robot),
        np.random.default_rng(3),
    )
    weight, nv = proportions.mass * proportions.gravity, robot.nv
    limits = build_cones(robot, 0.001), read_efforts(robot)
    terms, wishes, room = seen = tick.terms, tick._wishes, tick._room
    extra = ExtraRows(
        rng.normal(size=(3, nv)), rng.normal(size=3), np.array([1.0, 0.0, 30.0]),
        rng.normal(size=(2, nv)), np.array([-5.0, 30.0]), lambda: 1,
    )  # fmt: skip
    counted = ExtraRows(extra.G, extra.g, extra.W, extra.rows[:1], extra.lower[:1], lambda: 1)
    program = ReducedQp(feet, *limits, Weights(), weight, extra=extra)
    kernel, answered = program._kernel, 0
    for k in range(12):
        q = pin.integrate(robot.model, robot.posture, 0.02 * (k % 3) * rng.normal(size=nv))
        v = 0.1 * (k % 4) * rng.normal(size=nv)
        terms.update(q, v)
        com = terms.com + 0.01 * k * rng.normal(size=3)
        target = stand_still(
            np.array(robot.posture), nv, com, terms.place.copy(), terms.turn.copy()
        )
        target.touches = (0 in feet, 1 in feet)
        wishes.update(target, q, v, terms)
        wishes.joints[:] += 5.0 * k * rng.normal(size=nv - 6)
        wishes.load[:] = np.inf if k % 2 else 0.55 * weight
        room.update(q, v, DT)
        *wanted, status = solve_dense(feet, *limits, weight, counted, seen)
        for lost in (False, True):  # where the kernel gives up, another solver takes its rows
            program._kernel = (lambda *given: kernel(*given) * 0 + LOST) if lost else kernel
            choice = program.solve(*seen)
            assert (choice.status is QpStatus.OPTIMAL) == (status is QpStatus.OPTIMAL)
            if status is not QpStatus.OPTIMAL:
                continue
            answered += 1
            for one, other in zip((choice.vdot, choice.wrenches, choice.tau), wanted, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5 * (1.0 + np.abs(other).max()))
    assert answered > 12


@pytest.mark.parametrize("name", ["human28", "g1"])
def test_certificate_measures_what_arrays_say(name):
    robot, rng = hd.load_robot(name), np.random.default_rng(4)
    proportions, tick = measure_proportions(robot), BalancedTick(robot)
    judge, terms = FrameJudge(robot, proportions), tick.terms
    soles, weight = find_soles(robot), proportions.mass * proportions.gravity
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    for _ in range(10):
        terms.update(q, v)
        target = stand_still(
            np.array(q), robot.nv, terms.com.copy(), terms.place.copy(), terms.turn.copy()
        )
        step = tick.step(target, q, v, DT)
        step.wrenches[:, :3] += 0.002 * weight * rng.normal(size=(2, 3))
        step.tau[:] += 0.01 * rng.normal(size=robot.nv - 6)
        after = 0.01 * rng.normal(size=robot.nv)
        found = judge.judge(q, v, (q, after), step)
        missed = terms.M @ step.vdot + terms.h - np.append(np.zeros(6), step.tau)
        missed -= step.wrenches[0] @ terms.J[0] + step.wrenches[1] @ terms.J[1]
        assert found.residual == pytest.approx(np.abs(missed).max() / weight, abs=1e-13)
        w, twist = step.wrenches, terms.J @ after
        cop = min(
            margin_inside(soles[k].vertices[:, :2], np.array([-w[k, 4], w[k, 3]]) / w[k, 2])
            for k in (0, 1)
        )
        assert found.cop == pytest.approx(cop, abs=1e-9)
        used = max(np.hypot(*w[k, :2]) / (soles[k].friction * w[k, 2]) for k in (0, 1))
        assert found.friction == pytest.approx(used)
        middles = [corners.mean(axis=0) for corners in proportions.corners]
        moving = [twist[k, :3] + np.cross(twist[k, 3:], middles[k]) for k in (0, 1)]
        assert found.slip == pytest.approx(max(np.hypot(*each[:2]) for each in moving))
        share = np.abs(step.tau) / robot.limits.effort[6:]
        assert found.torque == pytest.approx(share.max())
        assert found.speed == pytest.approx((np.abs(after) / robot.limits.velocity)[6:].max())


@pytest.mark.parametrize("name", ["human28", "g1"])
def test_a_sole_that_settles_bears_less_than_counts_as_load(name):
    """What rounding adds is small beside the accelerations of whirling limbs, and not beside the largest load of such a sole."""
    robot = hd.load_robot(name)
    tick = BalancedTick(robot)
    terms, wishes, room = seen = tick.terms, tick._wishes, tick._room
    solve, weight, rng, bears = (
        tick._ladder._programs.solve_first,
        robot.mass * 9.81,
        np.random.default_rng(3),
        [],
    )
    for k in range(5000):
        size, foot = (0.3, 1.0, 3.0, 10.0)[k % 4], k // 4 % 2
        q = pin.integrate(robot.model, robot.posture, 0.02 * rng.normal(size=robot.nv))
        v = 0.1 * size * rng.normal(size=robot.nv)
        terms.update(q, v)
        com = terms.com + 0.02 * size * rng.normal(size=3)
        target = stand_still(
            np.array(robot.posture), robot.nv, com, terms.place.copy(), terms.turn.copy()
        )
        wishes.update(target, q, v, terms)
        wishes.joints[:] += 30.0 * size * rng.normal(size=robot.nv - 6)
        wishes.load[foot], wishes.load[1 - foot] = SETTLING_LOAD * weight, np.inf
        room.update(q, v, DT)
        choice = solve((0, 1), seen)
        if choice.status is QpStatus.OPTIMAL:
            bears.append(np.abs(choice.wrenches[foot]).max() / weight)
    assert len(bears) > 2500
    assert max(bears) <= LOADED


@pytest.mark.parametrize("name", ["human28", "g1", "icub"])
def test_terms_are_those_of_pinocchio(name):
    robot = hd.load_robot(name)
    proportions, rng = measure_proportions(robot), np.random.default_rng(5)
    terms, model, data = DynamicsTerms(robot, proportions), robot.model, robot.data()
    for _ in range(4):
        q = pin.integrate(model, robot.posture, 0.4 * rng.normal(size=robot.nv))
        v = rng.normal(size=robot.nv)
        assert terms.update(q, v)
        M = np.triu(pin.crba(model, data, q))
        expected = {"M": M + np.triu(M, 1).T, "h": pin.nonLinearEffects(model, data, q, v)}
        pin.forwardKinematics(model, data, q, v, 0.0 * v)
        pin.computeJointJacobians(model, data, q)
        base, soles = data.oMi[1], proportions.soles
        poses = [pin.updateFramePlacement(model, data, sole) for sole in soles]
        J = [pin.getFrameJacobian(model, data, sole, pin.LOCAL) for sole in soles]
        drift = [pin.getFrameAcceleration(model, data, sole, pin.LOCAL).vector for sole in soles]
        expected |= {"J": J, "drift": drift, "twist": np.array(J) @ v, "R_WB": base.rotation}
        expected |= {"place": [X.translation for X in poses], "turn": [X.rotation for X in poses]}
        expected["to_base"] = [base.actInv(X).toActionMatrix() for X in poses]
        expected["com"] = pin.centerOfMass(model, data, q, v, 0.0 * v)
        expected |= {"com_rate": data.vcom[0], "com_drift": data.acom[0]}
        expected["J_com"] = pin.jacobianCenterOfMass(model, data, q)
        for part, numbers in expected.items():
            size = 1.0 + np.abs(numbers).max()
            np.testing.assert_allclose(
                getattr(terms, part), numbers, atol=1e-12 * size, err_msg=part
            )
    assert not terms.update(q, np.nan * v)


def test_all_is_compiled_before_the_first_tick():
    """States may be arrays that nobody may write to; a robot does not wait for kernels that take these."""
    robot = hd.load_robot("human28")
    tick, judge = BalancedTick(robot), FrameJudge(robot, measure_proportions(robot))
    q, v = robot.posture, read_only(np.zeros(robot.nv))
    kernels = tick.terms._read, judge._judge_forces
    made = [len(kernel.signatures) for kernel in kernels]
    tick.terms.update(q, v)
    target = stand_still(
        np.array(q), robot.nv, tick.terms.com, tick.terms.place.copy(), tick.terms.turn.copy()
    )
    step = tick.step(target, np.array(q), np.array(v), DT)
    judge.judge(np.array(q), np.array(v), (np.array(q), np.array(v)), step)
    assert not q.flags.writeable
    assert [len(kernel.signatures) for kernel in kernels] == made == [1, 1]


@pytest.mark.parametrize(("rows", "half"), [(1, 3), (40, 3), (200, 60), (20, 60)])
def test_means_are_the_same(rows, half):
    table, kernel = np.random.default_rng(6).normal(size=(rows, 5)), flat_kernel(half)
    longer = np.pad(table, ((half, half), (0, 0)), mode="edge")
    expected = np.column_stack([np.convolve(line, kernel, mode="valid") for line in longer.T])
    for given, wanted in ((table, expected), (table[:, 1:3], expected[:, 1:3])):
        np.testing.assert_allclose(smooth_columns(given, kernel), wanted, atol=1e-13)


def test_quaternion_of_any_rotation():
    rng = np.random.default_rng(4)
    for k in range(200):
        axis = rng.normal(size=3)
        angle = np.pi - 1e-7 if k % 4 == 0 else rng.uniform(0.0, np.pi)
        R = pin.exp3(angle * axis / np.linalg.norm(axis))
        w, x, y, z = quaternion_of(tuple(R.ravel()))
        assert w >= 0.0
        np.testing.assert_allclose(pin.Quaternion(w, x, y, z).matrix(), R, atol=1e-9)
