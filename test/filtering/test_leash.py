# SPDX-License-Identifier: Apache-2.0
"""References whose feet slide or turn together: place and heading come later, the robot stays on its feet, and comes after."""

import functools

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from benchmarks.motion import streams
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.conditioning.intake import InputStage
from humanoid_dynamics.filtering.conditioning.leash import PACE, SLIPS, Leash
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.motion.quintic import quintic

RATE = 50.0  # Hz
BEGINS = 1.0  # s
GAP = 1.0 / RATE


@functools.cache
def robot_of(name):
    return hd.load_robot(name)


def moved(robot, yaw=0.0, way=(0.0, 0.0)):
    """Return the resting posture elsewhere on the ground."""
    q = np.array(robot.posture)
    q[:2] += way
    q[3:7] = (pin.Quaternion(pin.utils.rotate("z", yaw)) * pin.Quaternion(q[3:7])).coeffs()
    return q


def stream(robot, path, lasts):
    """Yield samples of a posture that goes over the ground for some time, then stays."""
    for t in np.arange(0.0, BEGINS + lasts + 2.5, GAP):
        yield t, moved(robot, *path(min(max(t - BEGINS, 0.0), lasts)))


def check(name, path, lasts):
    """Follow a stream: no frame leaves the limits, no rung is needed, samples are said to be held back."""
    robot = robot_of(name)
    frames, said = streams.run(DynamicsFilter(robot), stream(robot, path, lasts))
    assert all(frame.certificate.holds and frame.rung == 0 for frame in frames)
    assert said >= {"OK", "SLIDE_LIMITED"}


def turn(angle, lasts):
    return lambda t: (angle * float(quintic(t / lasts)),), lasts


def spin(speed, lasts=5.0):
    return lambda t: (speed * t,), lasts


def slide(speed, degrees, lasts=3.0):
    way = speed * np.array([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))])
    return lambda t: (0.0, t * way), lasts


@pytest.mark.parametrize(
    ("path", "lasts"), [turn(np.pi, 1.0), spin(3.0), slide(0.5, 90.0), slide(1.0, 90.0)]
)
def test_turn_and_slide_without_steps_do_not_fell_the_robot(path, lasts):
    check("g1", path, lasts)


def test_feet_that_turn_together_step_in_turns():
    check("human28", *spin(0.8))


@pytest.mark.parametrize(("name", "speed"), [("human28", 0.8), ("talos", 1.6)])
def test_a_foot_that_is_about_to_come_down_is_not_turned_elsewhere(name, speed):
    """However the reference goes on turning: in its last 40 ms no harder than in the rest of its swing, and no rung is needed."""
    robot = robot_of(name)
    frames, _ = streams.run(DynamicsFilter(robot), stream(robot, *spin(speed)))
    assert all(frame.rung == 0 for frame in frames)
    stands = np.array([frame.stands for frame in frames])
    turns = np.array([np.abs(frame.target.sole_acceleration[:, 5]) for frame in frames])
    ends = np.zeros_like(stands)
    for frame, foot in np.argwhere(~stands[:-1] & stands[1:]):
        ends[frame - 8 : frame + 1, foot] = True
    assert np.count_nonzero(ends) > 5 * 8
    assert turns[ends].max() < turns[~stands & ~ends].max()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g1", "human28", "talos"])
def test_turns_and_slides_of_every_pace(name):
    for lasts in (0.3, 0.5, 1.0, 2.0):
        check(name, *turn(np.pi, lasts))
    for speed in (0.8, -1.0, 1.6, -2.0, 3.0, 4.0, -6.0):
        check(name, *spin(speed))
    for speed in (0.5, 0.6, 0.7, 1.0, 2.0):
        for degrees in (0.0, 45.0, 90.0, 150.0, 180.0, -90.0):
            check(name, *slide(speed, degrees))


@pytest.fixture
def leash():
    return Leash(robot_of("human28"), measure_proportions(robot_of("human28")))


def heading(robot, q):
    return pin.log3(
        pin.Quaternion(q[3:7]).matrix() @ pin.Quaternion(robot.posture[3:7]).matrix().T
    )[2]


def test_what_is_slow_or_short_is_left_alone(leash):
    robot = robot_of("human28")
    for t in np.arange(0.0, 6.0, GAP):
        asked = moved(robot, 0.5 * t, (0.2 * t, 0.1 * t))
        assert leash.hold(asked, GAP) is asked
    leash.restart()
    assert leash.hold(moved(robot), GAP) is not None
    assert not leash.holds
    leash.hold(moved(robot, 0.9 * SLIPS[1]), GAP)
    assert not leash.holds


def test_heading_comes_later_at_its_pace_and_in_the_end_it_is_there(leash):
    robot, last, taken = robot_of("human28"), 0.0, 0
    leash.hold(moved(robot), GAP)
    goal = moved(robot, 2.0, (1.0, 0.5))
    while taken == 0 or leash.holds:
        held, taken = leash.hold(goal, GAP), taken + 1
        now = heading(robot, held)
        assert 0.0 <= now - last <= PACE[1] * GAP + (SLIPS[1] if taken == 1 else 0.0) + 1e-9
        np.testing.assert_array_equal(held[7:], goal[7:])
        last = now
    assert held is goal
    assert taken * GAP >= (2.0 - SLIPS[1]) / PACE[1] - 2.0 * GAP


def test_steps_are_not_held_back(leash):
    """Where one foot stays what the other one does is no slide."""
    robot = robot_of("human28")
    leg = next(joint for joint in robot.joints if "left_hip" in joint.name)
    leash.hold(moved(robot), GAP)
    for k in range(20):
        asked = moved(robot)
        asked[leg.q] += 0.05 * k
        assert leash.hold(asked, GAP) is asked


def test_another_place_is_gone_on_from_where_the_reference_is_held():
    robot = robot_of("human28")
    intake = InputStage(robot, leash=Leash(robot, measure_proportions(robot)))
    for k in range(51):
        status = intake.take(k * GAP, moved(robot, 4.0 * k * GAP))
    before = intake.q
    assert status == "SLIDE_LIMITED"
    assert intake.take(51 * GAP, moved(robot, 1.0, (5.0, 0.0))) == "BASE_JUMP"
    np.testing.assert_allclose(intake.q[:7], before[:7], atol=1e-9)
    assert intake.take(52 * GAP, moved(robot, 1.0, (5.0, 0.0))) != "SLIDE_LIMITED"
    np.testing.assert_allclose(intake.q[:7], before[:7], atol=1e-9)


def test_heading_stays_where_it_is_held_when_the_reference_is_suddenly_turned_back():
    """Not only in the sample that jumps: the ones after it are at the same place."""
    robot = robot_of("human28")
    intake = InputStage(robot, leash=Leash(robot, measure_proportions(robot)))
    for k in range(76):
        intake.take(k * GAP, moved(robot, 6.0 * k * GAP))
    before = heading(robot, intake.q)
    said = [intake.take(k * GAP, moved(robot)) for k in range(76, 126)]
    assert said[0] == "BASE_JUMP"
    assert set(said[1:]) == {"OK"}
    assert abs(heading(robot, intake.q) - before) < 1e-9
