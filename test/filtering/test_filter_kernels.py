# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels and arrays say the same: program, wishes, room of joints, certificate."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.certificate import LOADED, FrameJudge
from humanoid_dynamics.filtering.conditioning.window_kernels import smooth_table
from humanoid_dynamics.filtering.conditioning.windows import (
    flat_kernel,
    smooth_columns,
    smooth_line,
)
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.ticks.footing import PARTS
from humanoid_dynamics.filtering.ticks.stance_kernels import SETTLING_LOAD, follow_feet
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.filtering.ticks.terms import BodyTerms
from humanoid_dynamics.filtering.ticks.tick import BalancedTick, TickSettings
from humanoid_dynamics.filtering.ticks.wish_kernels import quaternion_of
from humanoid_dynamics.spatial.arrays import read_only
from humanoid_dynamics.spatial.compiling import compile_where_possible
from humanoid_dynamics.spatial.quadratic import QpStatus

numba = pytest.importorskip("numba", reason="numba is not installed")
DT = 0.005
STANDS = ((True, True), (True, False), (False, True))


@pytest.mark.parametrize("name", ["human28", "g1"])
def test_both_ways_answer_the_same(name):
    robot = hd.load_robot(name)
    proportions = measure_proportions(robot)
    ticks = [BalancedTick(robot, TickSettings(compiled=compiled)) for compiled in (False, True)]
    judges = [FrameJudge(robot, proportions, compiled=compiled) for compiled in (False, True)]
    rng = np.random.default_rng(3)
    seen = set()
    for k in range(24):
        q = pin.integrate(
            robot.model, robot.posture, 0.02 * (k % 3 > 0) * rng.normal(size=robot.nv)
        )
        v, shift = 0.1 * rng.normal(size=robot.nv), 0.02 * rng.normal(size=3)
        answers = []
        for tick in ticks:
            tick.restart()
            tick.terms.update(robot.posture, 0.0 * v)
            terms = tick.terms
            target = stand_still(
                np.array(robot.posture),
                robot.nv,
                terms.com + shift,
                terms.place.copy(),
                terms.turn.copy(),
            )
            target.sole_rate[:], target.sole_acceleration[:] = 0.1, 0.5
            target.touches = STANDS[k % 3]
            tick.step(
                target, np.array(robot.posture), 0.0 * v, DT
            )  # soles stand before they are a little off
            answers.append(tick.step(target, q, v, DT))
        one, other = answers
        assert one.rung == other.rung
        seen.add((one.stands, one.rung))
        for part in ("vdot", "tau", "wrenches"):
            np.testing.assert_allclose(
                getattr(other, part),
                getattr(one, part),
                atol=1e-7 * (1.0 + np.max(np.abs(getattr(one, part)))),
            )
        after = v + DT * one.vdot
        found = [
            judge.judge(q, v, (pin.integrate(robot.model, q, DT * after), after), one)
            for judge in judges
        ]
        for part in (
            "cop",
            "friction",
            "pull",
            "slip",
            "torque",
            "joint",
            "speed",
            "height",
            "tilt",
            "undeclared",
        ):
            assert getattr(found[1], part) == pytest.approx(getattr(found[0], part), abs=1e-9), part
        assert abs(found[1].residual - found[0].residual) < 1e-13
    assert {stands for stands, rung in seen if rung == 0} >= set(STANDS)


@pytest.mark.parametrize("name", ["human28", "g1"])
def test_a_sole_that_settles_bears_less_than_counts_as_load(name):
    """What rounding adds is small beside the accelerations of whirling limbs, and not beside the largest load of such a sole."""
    robot = hd.load_robot(name)
    tick = BalancedTick(robot, TickSettings(compiled=True))
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
def test_terms_are_the_same(name):
    robot = hd.load_robot(name)
    proportions = measure_proportions(robot)
    one, other = (BodyTerms(robot, proportions, compiled=compiled) for compiled in (False, True))
    rng = np.random.default_rng(5)
    for _ in range(4):
        q, v = (
            pin.integrate(robot.model, robot.posture, 0.4 * rng.normal(size=robot.nv)),
            rng.normal(size=robot.nv),
        )
        assert one.update(q, v)
        assert other.update(q, v)
        for part in (
            "M",
            "h",
            "J",
            "drift",
            "twist",
            "to_base",
            "place",
            "turn",
            "R_WB",
            "com",
            "com_rate",
            "J_com",
            "com_drift",
        ):
            expected = getattr(one, part)
            np.testing.assert_allclose(
                getattr(other, part),
                expected,
                atol=1e-12 * (1.0 + np.abs(expected).max()),
                err_msg=part,
            )
    assert not other.update(q, np.nan * v)


def test_all_is_compiled_before_the_first_tick():
    """States may be arrays that nobody may write to; a robot does not wait for kernels that take these."""
    robot = hd.load_robot("human28")
    proportions = measure_proportions(robot)
    tick, judge = (
        BalancedTick(robot, TickSettings(compiled=True)),
        FrameJudge(robot, proportions, compiled=True),
    )
    q, v = robot.posture, read_only(np.zeros(robot.nv))
    tick.terms.update(np.array(q), np.array(v))
    made = [len(kernel.signatures) for kernel in (tick.terms._kernel, judge._kernel)]
    tick.terms.update(q, v)
    target = stand_still(
        np.array(q), robot.nv, tick.terms.com, tick.terms.place.copy(), tick.terms.turn.copy()
    )
    judge.judge(
        np.array(q),
        np.array(v),
        (np.array(q), np.array(v)),
        tick.step(target, np.array(q), np.array(v), DT),
    )
    assert not q.flags.writeable
    assert [len(kernel.signatures) for kernel in (tick.terms._kernel, judge._kernel)] == made


@pytest.mark.parametrize(("rows", "half"), [(1, 3), (40, 3), (200, 60), (20, 60)])
def test_means_are_the_same(rows, half):
    table, kernel = np.random.default_rng(6).normal(size=(rows, 5)), flat_kernel(half)
    expected = np.column_stack([smooth_line(column, kernel) for column in table.T])
    for given, wanted in ((table, expected), (table[:, 1:3], expected[:, 1:3])):
        np.testing.assert_allclose(smooth_columns(given, kernel), wanted, atol=1e-13)
    assert len(compile_where_possible(smooth_table).signatures) <= 1  # of no use for a row alone


def test_quaternion_of_any_rotation():
    rng = np.random.default_rng(4)
    for k in range(200):
        axis = rng.normal(size=3)
        angle = np.pi - 1e-7 if k % 4 == 0 else rng.uniform(0.0, np.pi)
        R = pin.exp3(angle * axis / np.linalg.norm(axis))
        w, x, y, z = quaternion_of(tuple(R.ravel()))
        assert w >= 0.0
        np.testing.assert_allclose(pin.Quaternion(w, x, y, z).matrix(), R, atol=1e-9)


def test_standing_is_decided_the_same_way_with_and_without_a_compiler():
    rng = np.random.default_rng(3)
    both = follow_feet, compile_where_possible(follow_feet, PARTS)
    corners = 0.1 * np.array(
        [[-1.0, -0.3, 0.0], [1.0, -0.3, 0.0], [1.0, 0.3, 0.0], [-1.0, 0.3, 0.0]]
    )
    soles = (corners, corners), np.array([[[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]]] * 2)
    stands = 0
    for _ in range(200):
        place, turn = (
            rng.normal(scale=0.003, size=(2, 3)),
            np.array([pin.exp3(0.02 * rng.normal(size=3)) for _ in range(2)]),
        )
        normal, until = np.tile((0.0, 0.0, 1.0), (2, 1)), rng.uniform(0.0, 0.1, size=2)
        wanted = (
            until,
            np.ones(2),
            np.zeros(2),
            normal,
            place.copy(),
            turn.copy(),
            *rng.normal(size=(2, 2, 6)),
        )
        marks, times = rng.integers(0, 2, size=(5, 2)), rng.uniform(0.0, 0.2, size=(2, 2))
        held = marks, times, rng.normal(scale=0.003, size=(2, 3)), turn.copy()
        asked = (
            tuple((rng.uniform(size=2) < 0.8).tolist()),
            tuple(rng.integers(-1, 2, size=2).tolist()),
        )
        found = []
        for decide in both:
            mine = tuple(x.copy() for x in wanted), tuple(x.copy() for x in held)
            decide(
                asked,
                mine[0],
                (place, turn, np.zeros((2, 6))),
                soles,
                mine[1],
                (0.005, bool(marks[1, 0])),
            )
            found.append((*mine[0], *mine[1]))
        stands += int(found[0][8][0].sum())
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-14)
    assert 0 < stands < 400
