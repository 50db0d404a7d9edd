# SPDX-License-Identifier: Apache-2.0
"""The compiled tick of the paper's filter: what the arrays answer, and left to them where it should be."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from benchmarks.paper_filter import record_moments
from humanoid_dynamics.model.state import State
from humanoid_dynamics.papers.dynamics_filter import quick_tick as paper_quick_tick
from humanoid_dynamics.papers.dynamics_filter.feedback import Gains, PaperReference
from humanoid_dynamics.papers.dynamics_filter.filter import PaperFilter
from humanoid_dynamics.papers.dynamics_filter.ground import Slope
from humanoid_dynamics.papers.dynamics_filter.kernel_wish import find_turn, turn
from humanoid_dynamics.papers.dynamics_filter.solution import Units
from humanoid_dynamics.papers.dynamics_filter.style import PaperStyle
from humanoid_dynamics.spatial.arrays import read_only

FIGURES = ("residual", "normal_margin", "cop_margin", "friction_margin", "torque_margin", "depth")


@pytest.fixture(scope="module")
def human():
    return hd.load_robot("human28")


def pair(robot, style=None, **options):
    """A compiled filter that counts what it answers by its kernel, and one in arrays."""
    one, other = (
        PaperFilter(robot, style=style, compiled=compiled, **options) for compiled in (True, False)
    )
    count = []
    ask = one._quick.ask

    def counted(*arguments, **pushes):
        found = ask(*arguments, **pushes)
        count.append(found is not None)
        return found

    one._quick.ask = counted
    return one, other, count


def follow(one, other, count, references):
    """Tick both from the same states; return the worst difference as a share of the largest; who answers is as it should be."""
    worst = 0.0
    for reference in references:
        other.q, other.v = one.q, one.v
        for sole, copy in zip(one._soles, other._soles, strict=True):
            copy.touching = sole.touching
        frame, asked = one.step(reference), other.step(reference)
        assert frame.held == asked.held
        assert frame.certificate.status == asked.certificate.status
        assert frame.certificate.way == asked.certificate.way
        plain = (
            asked.certificate.way == "held"
            and asked.certificate.solves == 1
            and asked.certificate.energy == 0.0
        )
        assert count[-1] == (plain and set(asked.states) <= {"face", "free"})
        for name in ("a", "tau", "wrenches", "orientations"):
            x, y = getattr(frame, name), getattr(asked, name)
            worst = max(worst, np.abs(x - y).max() / max(1.0, np.abs(y).max()))
        for name in FIGURES:
            x, y = getattr(frame.certificate, name), getattr(asked.certificate, name)
            assert x == pytest.approx(y, rel=1e-9, abs=1e-8), name
        assert [sole.touching for sole in one._soles] == [sole.touching for sole in other._soles]
    return worst


def sway(robot):
    return [moment.reference for moment in record_moments(robot)]


@pytest.mark.parametrize("k", [1e-8, 1e-6, 1e-4])
def test_in_motion_both_agree(human, k):
    one, other, count = pair(human, PaperStyle(units=Units(k=k)))
    assert follow(one, other, count, sway(human)) < 1e-9
    assert sum(count) > 8


def test_it_is_compiled_when_it_is_made(human):
    """A reference may be arrays that nobody may write to."""
    one, _, count = pair(human)
    made, rest = len(one._quick._kernel.signatures), np.zeros(human.nv)
    for rates in (rest, read_only(rest)):
        one.v = rates
        one.step(PaperReference(human.posture, rates, rates))
    assert all(count)
    assert len(one._quick._kernel.signatures) == made


def test_pushed_over_edges_both_agree_and_the_kernel_knows_when_not_to_answer(human):
    one, other, count = pair(human)
    rest = np.zeros(human.nv)
    still = [PaperReference(human.posture, rest, rest)]
    for row in range(40):
        if row == 5:
            for tool in (one, other):
                tool.push(human.control_points["chest"].link, (200.0, 40.0, 0.0), 0.1)
        assert follow(one, other, count, still) < 1e-8
    assert any(count)
    assert not all(count)


def test_in_flight_and_without_control_point_both_agree(human):
    q = np.array(human.posture)
    q[2] += 0.2
    one, other, count = pair(
        human, PaperStyle(gains=Gains(share=0.0)), state=State(q, np.zeros(human.nv))
    )
    assert follow(one, other, count, sway(human)[:3]) < 1e-9
    assert all(count)


def test_on_a_slope_and_with_flags_both_agree(human):
    angle = 0.1
    q = np.array(human.posture)
    q[:7] = pin.SE3ToXYZQUAT(
        pin.SE3(pin.utils.rotate("y", -angle), np.zeros(3)) * pin.XYZQUATToSE3(q[:7])
    )
    one, other, count = pair(human, state=State(q, np.zeros(human.nv)), ground=Slope(angle))
    rest = np.zeros(human.nv)
    reference = PaperReference(q, rest, rest)
    flags = replace(reference, contacts={"left_foot": True, "right_foot": False})
    assert follow(one, other, count, [reference, reference, flags]) < 1e-9
    assert count[:2] == [True, True]


def test_a_base_turned_far_from_its_reference(human):
    one, other, count = pair(human)
    q = np.array(human.posture)
    for angle in (0.5, 2.0, 3.1):
        q[3:7] = pin.Quaternion(pin.utils.rotate("z", angle)).coeffs()
        rate = np.linspace(-1.0, 1.0, human.nv)
        assert follow(one, other, count, [PaperReference(q, rate, rate)]) < 1e-8


def test_soles_that_come_down_collide_as_before(human):
    v = np.zeros(human.nv)
    v[2] = -0.5
    one, other, count = pair(human, state=State(human.posture, v))
    rest = np.zeros(human.nv)
    frame, asked = (tool.step(PaperReference(human.posture, rest, rest)) for tool in (one, other))
    assert count == [False]
    assert frame.certificate.energy == asked.certificate.energy < -0.1


@pytest.mark.parametrize("style", [PaperStyle(torques="kept"), PaperStyle(friction="cones")])
def test_what_the_style_does_not_allow_is_left_to_the_arrays(human, style):
    slippery = replace(
        human,
        surfaces={
            name: replace(surface, friction=0.01) for name, surface in human.surfaces.items()
        },
    )
    weak = replace(slippery, limits=replace(human.limits, effort=0.1 * human.limits.effort))
    one, other, count = pair(weak, style)
    hurry = np.zeros(human.nv)
    hurry[human.joint("left_knee").v] = hurry[human.joint("right_knee").v] = 30.0
    ask = PaperReference(human.posture, np.zeros(human.nv), hurry)
    np.testing.assert_array_equal(one.step(ask).a, other.step(ask).a)
    assert count == [False]


def test_loops_numbers_that_are_none_and_other_styles(human):
    rest = np.zeros(human.nv)
    frame = PaperFilter(human, compiled=True).step(
        PaperReference(np.full(human.nq, np.nan), rest, rest)
    )
    assert frame.certificate.status == "INVALID_INPUT"
    assert PaperFilter(human, style=PaperStyle(solver="literal"), compiled=True)._quick is None
    assert PaperFilter(human, style=PaperStyle(unilateral=False), compiled=True)._quick is None


def test_loops_of_the_kernel_are_what_is_compiled(human, monkeypatch):
    """The same lines without a compiler."""
    monkeypatch.setattr(paper_quick_tick, "compile_kernel", lambda kernel, parts: kernel)
    monkeypatch.setattr("humanoid_dynamics.papers.dynamics_filter.filter.choose_compiler", bool)
    one, other, count = pair(human)
    assert follow(one, other, count, sway(human)[:2]) < 1e-9
    assert count == [True, True]


def test_rotations_of_the_kernels_are_those_of_pinocchio():
    rng = np.random.default_rng(0)
    R, w = np.empty((3, 3)), np.empty(3)
    for angle in (0.0, 1e-13, 1e-9, 1e-5, 0.3, 2.9):
        axis = rng.normal(size=3)
        v = angle * axis / np.linalg.norm(axis)
        if turn(v, R):
            np.testing.assert_allclose(R, pin.exp3(v), atol=1e-14)
        base = pin.exp3(rng.normal(size=3))
        assert find_turn(pin.exp3(v) @ base, base, w)
        np.testing.assert_allclose(w, v, atol=1e-13)
    assert not find_turn(pin.exp3(np.array([0.0, 0.0, 3.1])), np.eye(3), w)
