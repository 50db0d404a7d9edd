# SPDX-License-Identifier: Apache-2.0
"""Loops of the door of the stream against pinocchio, numpy and what they stand for."""

import math

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.conditioning.intake_kernels import (
    add_changes,
    count_fast,
    find_way,
    let_in,
    measure_sample,
    see_step,
)
from humanoid_dynamics.filtering.conditioning.leash import PACE, Leash
from humanoid_dynamics.filtering.conditioning.leash_kernels import common_way, hold_soles
from humanoid_dynamics.filtering.conditioning.posture_bound import PostureBound
from humanoid_dynamics.filtering.conditioning.posture_kernels import HIGH, NEAR
from humanoid_dynamics.filtering.conditioning.sample_faults import FaultFinder
from humanoid_dynamics.filtering.measured import NORMAL
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.spatial.compiling import compile_kernel

UNITS = np.array([(3, 7), (7, 9)], dtype=np.intp)


@pytest.fixture(scope="module")
def robot():
    return hd.load_robot("human28")


def postures(robot, count, size=0.4):
    """Return postures all around the resting one."""
    rng = np.random.default_rng(11)
    return [
        pin.integrate(robot.model, robot.posture, size * rng.normal(size=robot.nv))
        for _ in range(count)
    ]


def soles_of(robot, q):
    """Return the poses of both soles, and their middles."""
    data, p = robot.data(), measure_proportions(robot)
    pin.framesForwardKinematics(robot.model, data, q)
    poses = [data.oMf[sole] for sole in p.soles]
    return poses, np.array(
        [pose.act(middle) for pose, middle in zip(poses, p.centres, strict=True)]
    )


def test_samples_are_let_in_inside_their_limits_and_fast_joints_are_counted():
    rng = np.random.default_rng(8)
    q, most = rng.normal(size=12), np.full(12, 0.5)
    most[:7] = np.inf
    sample = q.copy()
    compile_kernel(let_in)(sample, -most, most)
    np.testing.assert_allclose(sample[3:7], q[3:7] / np.linalg.norm(q[3:7]))
    np.testing.assert_array_equal(sample[7:], np.clip(q[7:], -0.5, 0.5))
    speed, other = rng.uniform(1.0, 5.0, size=12), rng.normal(size=12)
    longest, fast = compile_kernel(count_fast)(q, 6, speed, 0.2)
    assert (longest, fast) == (
        np.abs(q[6:]).max(),
        np.count_nonzero(np.abs(q[6:]) > 0.2 * speed[6:]),
    )
    assert compile_kernel(add_changes)(q, other) == pytest.approx(np.abs(q - other).sum())


@pytest.mark.parametrize("compiled", [True, False])
def test_step_is_seen_at_once(compiled):
    see = compile_kernel(see_step) if compiled else see_step
    rng = np.random.default_rng(9)
    way, last, speed = rng.normal(size=12), rng.normal(size=12), rng.uniform(1.0, 5.0, size=12)
    rates, joints = last.copy(), np.abs(way)
    many, far, changes = see(way, rates, speed, 0.2, (1.5, 1.0))
    at_once = np.minimum(joints / 0.2, np.abs(way / 0.2 - last))
    assert np.any(1.5 * speed < 5.0)
    assert (many, far) == (
        np.count_nonzero(joints > 0.2 * speed),
        np.count_nonzero(at_once > np.minimum(1.5 * speed, 5.0)),
    )
    assert changes == pytest.approx(np.abs(way / 0.2 - last).sum())
    np.testing.assert_allclose(rates, way / 0.2)


def test_sample_is_measured():
    q = np.random.default_rng(12).normal(size=12)
    off = max(abs(np.linalg.norm(q[3:7]) - 1.0), abs(np.linalg.norm(q[7:9]) - 1.0))
    wanted = np.abs(q[:7]).max(), np.abs(q[7:]).max(), off, q[3:7] @ q[3:7]
    assert compile_kernel(measure_sample)(q, UNITS) == pytest.approx(wanted)


def test_way_of_a_base_is_seen_from_above(robot):
    for q, other in zip(postures(robot, 20), postures(robot, 40)[20:], strict=True):
        way, turn = compile_kernel(find_way)(q, other)
        assert way == pytest.approx(math.dist(q[:3], other[:3]))
        R = (pin.Quaternion(other[3:7]) * pin.Quaternion(q[3:7]).inverse()).matrix()
        swing = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), R[:, 2]).matrix()
        assert turn == pytest.approx(abs(pin.log3(swing.T @ R)[2]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", range(12))
def test_number_that_is_none_is_seen_wherever_it_is(bad, place):
    q = np.full(12, 0.5)
    q[place] = bad
    found = compile_kernel(measure_sample)(q, UNITS)
    assert math.isinf(found[place >= 7])
    assert math.isfinite(found[place < 7])


def test_posture_is_seen_as_pinocchio_has_it(robot):
    p, bound = measure_proportions(robot), PostureBound(robot, measure_proportions(robot))
    kinds = set()
    for q in postures(robot, 200):
        seen, (poses, middles) = bound.see(q), soles_of(robot, q)
        com = pin.centerOfMass(robot.model, robot.data(), q)[:2] + p.lean
        up = pin.Quaternion(q[3:7]).matrix()[2]
        lower = int(middles[1, 2] < middles[0, 2])
        over = abs(middles[1, 2] - middles[0, 2]) / p.leg
        kinds.add((lower, over < NEAR, over > HIGH[0]))
        assert seen.lean == pytest.approx(np.arccos(np.clip(up @ p.up, -1.0, 1.0)), abs=1e-9)
        assert seen.height == pytest.approx(q[2] - middles[lower, 2])
        np.testing.assert_allclose(seen.up, up, atol=1e-12)
        np.testing.assert_allclose(seen.bears, com, atol=1e-12)
        np.testing.assert_allclose(seen.soles, middles[:, :2], atol=1e-12)
        upright = [pose.rotation[2, 2] for k, pose in enumerate(poses) if k == lower or over < NEAR]
        assert seen.tilt == pytest.approx(np.arccos(min(upright)), abs=1e-7)
        bears = np.clip((HIGH[1] - over) / (HIGH[1] - HIGH[0]), 0.0, 1.0)
        line = (
            middles[lower, :2]
            + np.linspace(0.0, bears, 2001)[:, None] * (middles[1 - lower] - middles[lower])[:2]
        )
        assert seen.far == pytest.approx(np.min(np.linalg.norm(line - com, axis=1)), abs=1e-4)
    assert len(kinds) == 6


def test_what_two_ways_have_in_common_is_the_shortest_between_them():
    rng = np.random.default_rng(13)
    for a, b in rng.normal(size=(50, 2, 2)):
        between = a + np.linspace(0.0, 1.0, 5001)[:, None] * (b - a)
        assert np.hypot(*common_way(*a, *b)) == pytest.approx(
            np.min(np.linalg.norm(between, axis=1)), abs=1e-3
        )


def test_leash_is_the_same_compiled_and_as_it_is(robot):
    one, other = (Leash(robot, measure_proportions(robot)) for _ in range(2))
    other._hold, held = hold_soles, 0
    way = 0.03 * np.random.default_rng(14).normal(size=robot.nv)
    q = np.array(robot.posture)
    for k in range(200):
        way[[0, 1, 5]] = (
            0.02 * np.cos(0.07 * k),
            0.01,
            0.05 * np.sin(0.05 * k),
        )  # both soles slide and turn, to and fro
        q = pin.integrate(
            robot.model, robot.posture if k % 50 == 0 else q, way * (1.0 if k % 7 else 0.1)
        )
        np.testing.assert_allclose(one.hold(q, 0.02), other.hold(q, 0.02), atol=1e-12)
        held += one.holds
        assert one.holds == other.holds
    assert 50 < held < 200


@pytest.mark.parametrize("kind", ["slide", "turn"])
def test_soles_that_slide_or_turn_go_as_fast_as_they_may(robot, kind):
    """What is spare is used up first, then both soles go or turn at their pace, and joints stay."""
    p, gap, last = measure_proportions(robot), 0.02, None
    leash, q, way = Leash(robot, p), np.array(robot.posture), np.zeros(robot.nv)
    way[0 if kind == "slide" else 5] = (
        0.03 if kind == "slide" else 0.04
    )  # per sample; faster than its pace
    for k in range(100):
        held = leash.hold(q, gap)
        np.testing.assert_array_equal(held[7:], q[7:])
        poses, middles = soles_of(robot, held)
        turn = math.atan2(poses[0].rotation[1, 0], poses[0].rotation[0, 0])
        if last is not None and k > 60:  # past what was spare
            ways = middles[:, :2] - last[0][:, :2]
            if kind == "slide":
                assert np.hypot(*common_way(*ways[0], *ways[1])) == pytest.approx(
                    PACE[0] * math.sqrt(p.gravity * p.height) * gap
                )
            else:
                assert math.remainder(turn - last[1], math.tau) == pytest.approx(PACE[1] * gap)
        last, q = (middles, turn), pin.integrate(robot.model, q, way)
    assert leash.holds


def test_fault_is_found_as_pinocchio_finds_it(robot):
    finder, rng, told = FaultFinder(robot), np.random.default_rng(15), set()
    for scale in rng.uniform(0.9, 1.1, size=100):
        q = np.array(robot.posture)
        q[3:7] *= scale
        fault = finder.find(q)
        assert (fault == "NOT_UNIT") is not pin.isNormalized(robot.model, q, NORMAL)
        told.add(fault)
    assert told == {None, "NOT_UNIT"}
