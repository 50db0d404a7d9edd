# SPDX-License-Identifier: Apache-2.0
"""References that nobody can balance: they are held back, said to be, and do not fell the robot."""

import functools

import numpy as np
import pinocchio as pin
import pytest
from recordings import find_recording, load_recorded

import humanoid_dynamics as hd
from benchmarks.motion import streams
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.clip_feed import samples_with_holds
from humanoid_dynamics.filtering.conditioning.intake import InputStage
from humanoid_dynamics.filtering.conditioning.leash import Leash
from humanoid_dynamics.filtering.conditioning.posture_bound import (
    FARTHEST,
    LOWEST,
    STEEPEST,
    TILTED,
    PostureBound,
)
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.motion.quintic import quintic

RATE = 50.0  # Hz
WAYS = {
    "forward": (0.0, 1.0, 0.0),
    "back": (0.0, -1.0, 0.0),
    "left": (-1.0, 0.0, 0.0),
    "right": (1.0, 0.0, 0.0),
}
RECORDED = [
    *(
        f"g1_asap/{name}_level1.npz"
        for name in (
            "squat",
            "walk",
            "kick",
            "single_foot_balance",
            "step_forward_back",
            "side_jump",
        )
    ),
    *(
        "g1_asap/walk_level4.npz",
        "g1_karate/B_HandsUp.csv",
        "g1_karate/B_SpinKarate.csv",
        "g1_karate/J_ShortDance16_JazzWalk.csv",
    ),
    *("g1_karate/M_Move18.csv", "g1_karate/M_Move3.csv", "g1_karate/M_ShortMove12.csv"),
]


@functools.cache
def robot_of(name):
    return hd.load_robot(name)


def lean(robot, way, degrees):
    """Return the resting posture leaning as a whole, feet and all."""
    q = np.array(robot.posture)
    q[3:7] = (
        pin.Quaternion(q[3:7]) * pin.Quaternion(pin.exp3(np.deg2rad(degrees) * np.array(WAYS[way])))
    ).coeffs()
    return q


def fold(robot, degrees, *, balanced):
    """Return the resting posture with bent knees, on flat soles where it is balanced."""
    q = np.array(robot.posture)
    for joint in robot.joints:
        if "knee" in joint.name:
            q[joint.q] += np.deg2rad(degrees)
        elif (
            balanced
            and ("ankle" in joint.name or "hip" in joint.name)
            and ("pitch" in joint.name or joint.name.endswith("_y"))
        ):
            q[joint.q] -= 0.5 * np.deg2rad(degrees)
    return q


def posture(robot, kind, size):
    """Return a posture of a kind."""
    return lean(robot, kind, size) if kind in WAYS else fold(robot, size, balanced=kind == "sink")


def go_there_and_back(robot, goal, lasts, held=0.8):
    """Yield a stream that goes from the resting posture somewhere, stays, and comes back."""
    way, after = pin.difference(robot.model, robot.posture, goal), 1.0 + lasts + held
    for t in np.arange(0.0, after + lasts + 1.5, 1.0 / RATE):
        share = quintic(np.clip((t - 1.0) / lasts, 0.0, 1.0)) - quintic(
            np.clip((t - after) / lasts, 0.0, 1.0)
        )
        yield t, pin.integrate(robot.model, robot.posture, float(share) * way)


def check(name, kind, size, lasts):
    """Follow a stream; return the robot, all frames, and what became of samples."""
    robot = robot_of(name)
    frames, said = streams.run(
        DynamicsFilter(robot), go_there_and_back(robot, posture(robot, kind, size), lasts)
    )
    assert all(frame.certificate.holds and frame.rung == 0 for frame in frames), (kind, size, lasts)
    assert (
        np.max(np.abs(np.diff([frame.v for frame in frames], axis=0))) <= 3.0
    )  # of 600 rad/s^2, the hardest a joint is ever asked for
    assert np.max(np.abs(pin.difference(robot.model, robot.posture, frames[-1].q)[6:])) < 0.1
    return said


@pytest.mark.parametrize(
    ("name", "kind", "size", "lasts"),
    [
        ("human28", "forward", 45.0, 0.2),
        ("human28", "back", 60.0, 0.4),
        ("g1", "left", 60.0, 0.8),
        ("g1", "fold", 100.0, 0.2),
    ],
)
def test_posture_that_nobody_can_balance_does_not_fell_the_robot(name, kind, size, lasts):
    assert "CLAMPED_POSTURE" in check(name, kind, size, lasts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human28", "g1"])
@pytest.mark.parametrize("kind", [*WAYS, "sink", "fold"])
def test_leans_and_sinks_of_every_size_and_pace(name, kind):
    said = set()
    for size in (30.0, 45.0, 60.0, 74.0) if kind in WAYS else (30.0, 60.0, 90.0, 120.0):
        for lasts in (0.1, 0.2, 0.4, 0.8):
            said |= check(name, kind, size, lasts)
    assert "CLAMPED_POSTURE" in said


def swing(robot, way, degrees, lasts):
    """Yield a stream that leans to and fro twice a second, faster than anybody can, then stands."""
    for t in np.arange(0.0, 1.0 + lasts + 1.5, 1.0 / RATE):
        yield (
            t,
            lean(
                robot,
                way,
                degrees * np.sin(4.0 * np.pi * (t - 1.0)) if 1.0 <= t < 1.0 + lasts else 0.0,
            ),
        )


@pytest.mark.parametrize("name", ["g1", "human28"])
@pytest.mark.parametrize("way", ["forward", "left"])
def test_leans_to_and_fro_do_not_add_up(name, way):
    """The stream turns round and is slow there, or passes where it is held: it must not be followed away from there."""
    robot = robot_of(name)
    proportions = measure_proportions(robot)
    intake = InputStage(
        robot, bound=PostureBound(robot, proportions), leash=Leash(robot, proportions)
    )
    leans = []
    for t, q in swing(robot, way, 35.0, 1.5):
        intake.take(t, q)
        x, y = intake.q[3:5]
        leans.append(np.rad2deg(np.arccos(1.0 - 2.0 * (x * x + y * y))))
    assert max(leans) < 15.0
    assert leans[-1] < 0.1


def test_lean_to_the_side_at_two_hertz_does_not_fell_the_robot():
    frames, said = streams.run(
        DynamicsFilter(robot_of("g1")), swing(robot_of("g1"), "left", 35.0, 1.5)
    )
    assert all(frame.certificate.holds and frame.rung == 0 for frame in frames)
    assert "CLAMPED_POSTURE" in said


@pytest.mark.parametrize("lasts", [0.3, 1.0])
def test_noise_from_the_first_sample_on_does_not_fell_the_robot(lasts):
    """Until samples agree the robot rests; then it goes after them."""
    robot, rng = robot_of("g1"), np.random.default_rng(3)
    goal, samples = np.array(robot.posture), []
    goal[next(joint.q for joint in robot.joints if "left_elbow" in joint.name)] += 0.2
    for t in np.arange(0.0, 3.5, 1.0 / RATE):
        q = np.array(goal)
        q[7:] += 0.3 * rng.standard_normal(len(q) - 7) * (t < lasts)
        samples.append((t, q))
    frames, said = streams.run(DynamicsFilter(robot), samples)
    assert "POSTURE_JUMP" in said
    assert all(frame.certificate.holds and frame.rung == 0 for frame in frames)
    np.testing.assert_allclose(frames[0].q[7:], robot.posture[7:], atol=0.1)
    np.testing.assert_allclose(frames[-1].q[7:], goal[7:], atol=0.05)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_motion_is_left_alone(name):
    robot = robot_of("g1")
    clip = load_recorded(find_recording(name), robot)
    p = measure_proportions(robot)
    free, bound = (
        InputStage(robot),
        InputStage(robot, bound=PostureBound(robot, p), leash=Leash(robot, p)),
    )
    for time, q in samples_with_holds(clip):
        assert bound.take(time, q) == free.take(time, q)
        np.testing.assert_array_equal(bound.q, free.q)


@pytest.mark.parametrize("kind", [*WAYS, "sink", "fold"])
def test_bounded_posture_is_possible_and_a_possible_one_stays(kind):
    robot = robot_of("human28")
    p = measure_proportions(robot)
    bound = PostureBound(robot, p)
    last = None
    for size in np.linspace(0.0, 110.0 if kind not in WAYS else 74.0, 30):
        asked = posture(robot, kind, size)
        found, changed = bound.lead(asked)
        seen, wanted = bound.see(found), bound.see(asked)
        possible = (
            wanted.lean <= STEEPEST
            and wanted.height >= LOWEST * p.pelvis
            and wanted.far <= FARTHEST * p.height
        )
        possible = possible and wanted.tilt <= TILTED
        assert changed is not possible
        assert seen.lean <= STEEPEST + 1e-12
        assert seen.height >= LOWEST * p.pelvis - 1e-12
        assert seen.far <= FARTHEST * p.height + 1e-12
        if last is not None:  # what is led is as smooth as what is asked
            assert np.max(np.abs(pin.difference(robot.model, last, found))) < 0.2
        last = found


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_legs_at_their_limits_bear_nobody(end):
    """One sole of G1 is a metre over the other and the weight beside that, or both soles are near the ground on their heads."""
    robot = robot_of("g1")
    p = measure_proportions(robot)
    bound = PostureBound(robot, p)
    asked = np.array(robot.posture)
    asked[7:] = getattr(robot.limits, end)[7:]
    found, changed = bound.lead(asked)
    seen = bound.see(found)
    assert changed
    assert seen.tilt <= TILTED + 1e-12
    assert seen.far <= FARTHEST * p.height + 1e-12


def test_legs_at_their_limits_for_a_second_do_not_fell_the_robot():
    robot = robot_of("g1")
    lower = np.array(robot.posture)
    lower[7:] = robot.limits.lower[7:]
    samples = [
        (t, lower if 1.5 <= t < 2.5 else robot.posture) for t in np.arange(0.0, 5.0, 1.0 / RATE)
    ]
    frames, said = streams.run(DynamicsFilter(robot), samples)
    assert said & {"CLAMPED_POSTURE", "POSTURE_JUMP"}
    assert all(frame.certificate.holds and frame.rung == 0 for frame in frames)


def test_place_and_heading_do_not_count():
    robot = robot_of("human28")
    bound = PostureBound(robot, measure_proportions(robot))
    asked, other = lean(robot, "forward", 60.0), lean(robot, "forward", 60.0)
    turn = pin.Quaternion(pin.utils.rotate("z", 2.0))
    other[:3] = turn.matrix() @ asked[:3] + [3.0, -1.0, 0.0]
    other[3:7] = (turn * pin.Quaternion(asked[3:7])).coeffs()
    found, moved = bound.lead(asked)[0], bound.lead(other)[0]
    np.testing.assert_allclose(moved[7:], found[7:], atol=1e-12)
    np.testing.assert_allclose(bound.see(moved).up, bound.see(found).up, atol=1e-12)
