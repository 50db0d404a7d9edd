# SPDX-License-Identifier: Apache-2.0
"""Parts of the door of the stream against pinocchio and what they stand for."""

import math

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.conditioning.leash import PACE, Leash, common_way
from humanoid_dynamics.filtering.conditioning.origin import heading_between
from humanoid_dynamics.filtering.conditioning.posture_bound import HIGH, NEAR, PostureBound
from humanoid_dynamics.filtering.conditioning.sight import FaultFinder
from humanoid_dynamics.filtering.measured import NORMAL
from humanoid_dynamics.filtering.proportions import measure_proportions


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


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_number_that_is_not_finite_is_a_fault_wherever_it_is(robot, bad):
    finder = FaultFinder(robot)
    for place in range(robot.nq):
        q = np.array(robot.posture)
        q[place] = bad
        assert finder.find(q) == "NOT_FINITE"


def test_heading_between_postures_is_the_turn_about_the_vertical(robot):
    for q, other in zip(postures(robot, 20), postures(robot, 40)[20:], strict=True):
        R = (pin.Quaternion(other[3:7]) * pin.Quaternion(q[3:7]).inverse()).matrix()
        swing = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), R[:, 2]).matrix()
        assert heading_between(q, other) == pytest.approx(pin.log3(swing.T @ R)[2])
