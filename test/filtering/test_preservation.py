# SPDX-License-Identifier: Apache-2.0
"""What a filtered motion keeps: measures that jitter, standing still and false declarations cannot raise."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.preservation import (
    BOUNDS,
    detect_reference_contacts,
    find_broken_bounds,
    measure_preservation,
    unmeasured,
)
from humanoid_dynamics.filtering.self_collision import SelfCollision
from humanoid_dynamics.filtering.sensitivity import MASS, SPEED, perturbations
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.gait import plan_walk
from humanoid_dynamics.motion.resampling import resample
from humanoid_dynamics.motion.walking.footsteps import WalkStyle

RATE = 50.0


@pytest.fixture(scope="module")
def walk():
    """A walk, and itself as the filtered motion: contacts as they are detected."""
    reference = plan_walk(hd.load_robot("human28"), WalkStyle(steps=4, rate=RATE)).clip.change(
        v=None, a=None, contacts={}
    )
    even = resample(reference, 200.0)
    return reference, declare(even, detect_reference_contacts(even))


def declare(clip, labels):
    return clip.change(
        contacts={f"{side}_foot": labels[:, foot] for foot, side in enumerate(("left", "right"))}
    )


def test_a_motion_keeps_all_of_itself(walk):
    reference, same = walk
    measures = measure_preservation(reference, same, same.times)
    assert find_broken_bounds(measures) == ()
    assert measures.path == pytest.approx(1.0, abs=0.02)
    assert measures.stride == pytest.approx(1.0, abs=0.03)
    assert measures.contact_f1 == 1.0
    assert measures.followed == 1.0
    assert measures.flight is None
    assert measures.time_factor == pytest.approx(1.0, abs=0.01)


def test_jitter_of_the_base_is_no_path(walk):
    reference, same = walk
    rng, q = np.random.default_rng(1), np.array(same.q)
    q[:, :2] = q[0, :2] + 0.02 * rng.standard_normal((len(q), 2))
    measures = measure_preservation(reference, same.change(q=q), same.times)
    assert np.sum(np.linalg.norm(np.diff(q[:, :2], axis=0), axis=1)) > 3.0 * np.ptp(
        reference.q[:, 0]
    )  # a length would be fooled
    assert measures.path < 0.3
    assert "path" in find_broken_bounds(measures)


def test_marching_in_place_keeps_contacts_and_no_stride(walk):
    reference, same = walk
    q = np.array(same.q)
    q[:, 0] = q[0, 0]
    measures = measure_preservation(reference, same.change(q=q), same.times)
    assert measures.contact_f1 == 1.0
    assert measures.stride < 0.5
    assert {"path", "stride"} <= set(find_broken_bounds(measures))


def test_standing_still_keeps_neither_steps_nor_stride(walk):
    reference, same = walk
    still = declare(
        same.change(q=np.tile(same.q[0], (len(same), 1))), np.ones((len(same), 2), dtype=bool)
    )
    measures = measure_preservation(reference, still, same.times)
    assert (measures.stride, measures.contact_f1) == (0.0, 0.0)
    assert measures.path == pytest.approx(0.0, abs=1e-9)


def test_contacts_declared_all_the_time_match_no_event(walk):
    reference, same = walk
    measures = measure_preservation(
        reference, declare(same, np.ones((len(same), 2), dtype=bool)), same.times
    )
    assert measures.contact_f1 == 0.0
    assert measure_preservation(reference, same.change(contacts={}), same.times).contact_f1 == 0.0


def test_labels_of_the_reference_are_not_read(walk):
    reference, same = walk
    labelled = declare(reference, np.ones((len(reference), 2), dtype=bool))
    still = declare(same, np.ones((len(same), 2), dtype=bool))
    assert measure_preservation(labelled, still, same.times).contact_f1 == 0.0


def test_time_is_measured_from_the_stamps(walk):
    reference, same = walk
    slow = same.change(times=1.2 * same.times)
    assert measure_preservation(reference, slow, same.times).time_factor == pytest.approx(
        1.2, abs=0.01
    )
    cut = len(same) // 2
    half = same.change(
        times=same.times[:cut],
        q=same.q[:cut],
        contacts={name: labels[:cut] for name, labels in same.contacts.items()},
    )
    measures = measure_preservation(reference, half, same.times[:cut])
    assert np.isnan(measures.time_factor)
    assert measures.followed < 0.6
    assert {"followed", "path", "time_factor"} <= set(find_broken_bounds(measures))


def test_nothing_measured_is_nothing_kept(walk):
    reference, same = walk
    every = tuple(bound.measure for bound in BOUNDS)
    assert find_broken_bounds(None) == find_broken_bounds(unmeasured()) == every
    assert (
        find_broken_bounds(measure_preservation(reference, same, np.full(len(same), np.nan)))
        == every
    )
    assert find_broken_bounds(measure_preservation(reference, same, same.times + 1e3)) == every


def test_turn_that_is_not_made_is_not_followed(walk):
    """Joints and contacts alone do not show it."""
    reference, same = walk
    q = np.array(reference.q)
    for row, angle in enumerate(np.linspace(0.0, np.pi, len(q))):
        q[row, :7] = pin.SE3ToXYZQUAT(
            pin.SE3(pin.utils.rotate("z", angle), np.zeros(3)) * pin.XYZQUATToSE3(q[row, :7])
        )
    measures = measure_preservation(reference.change(q=q), same, same.times)
    assert measures.joint_rms < 1e-2
    assert measures.followed < 0.3
    moved = pin.SE3(pin.utils.rotate("z", 1.0), np.array([1.0, 2.0, 0.0]))
    aside = np.array(
        [
            np.concatenate((pin.SE3ToXYZQUAT(moved * pin.XYZQUATToSE3(row[:7])), row[7:]))
            for row in reference.q
        ]
    )
    assert (
        measure_preservation(reference.change(q=aside), same, same.times).followed == 1.0
    )  # where it begins is no matter


def test_samples_that_were_refused_are_not_followed(walk):
    reference, same = walk
    taken = np.arange(len(reference)) < 0.7 * len(reference)
    assert measure_preservation(reference, same, same.times, taken=taken).followed == pytest.approx(
        np.mean(taken)
    )


def hop(robot, seconds):
    """Stand, fly for some time in free fall, stand."""
    times = np.arange(0.0, 2.0, 1.0 / 100.0)
    q = np.tile(robot.posture, (len(times), 1))
    since = times - 0.8
    q[:, 2] += np.maximum(0.5 * 9.81 * since * (seconds - since), 0.0)
    return Clip(robot, times, q)


def test_flight_that_is_lost_is_not_preserved():
    robot = hd.load_robot("human28")
    reference = hop(robot, 0.4)
    flies = ~detect_reference_contacts(reference).any(axis=1)
    measures = measure_preservation(
        reference, declare(reference, np.column_stack((~flies, ~flies))), reference.times
    )
    assert measures.flight_reference * reference.duration == pytest.approx(0.4, abs=0.12)
    assert measures.flight == pytest.approx(1.0, abs=0.05)
    assert measures.flight_lost == pytest.approx(0.0, abs=0.02)
    grounded = declare(reference, np.ones((len(reference), 2), dtype=bool))
    lost = measure_preservation(reference, grounded, reference.times)
    assert lost.flight == 0.0
    assert lost.flight_lost == pytest.approx(
        measures.flight_reference * reference.duration, abs=0.03
    )
    assert "flight" in find_broken_bounds(lost)


def test_running_may_differ_more_in_its_joints(walk):
    reference, same = walk
    measures = replace(measure_preservation(reference, same, same.times), joint_rms=np.deg2rad(9.0))
    assert find_broken_bounds(measures) == ("joint_rms",)
    assert find_broken_bounds(replace(measures, flight_reference=0.2, flight=0.9)) == ()


def test_legs_that_cross_collide_and_a_reference_that_crosses_may():
    robot = hd.load_robot("human28")
    crossed = np.array(robot.posture)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        crossed[robot.joint(f"{side}_hip_roll").q] += 0.25 * sign
    deepest = float(np.max(SelfCollision(robot).measure(crossed)))
    assert deepest > 0.02
    assert not np.any(SelfCollision(robot).measure(robot.posture))
    times = np.arange(0.0, 1.0, 1.0 / 50.0)
    stands, crosses = (
        Clip(robot, times, np.tile(q, (len(times), 1))) for q in (robot.posture, crossed)
    )
    assert measure_preservation(stands, crosses, times).self_collision == pytest.approx(deepest)
    assert measure_preservation(crosses, crosses, times).self_collision == 0.0


def test_feet_below_the_ground_are_found():
    robot = hd.load_robot("human28")
    times = np.arange(0.0, 1.0, 1.0 / 50.0)
    q = np.tile(robot.posture, (len(times), 1))
    sunk = np.array(q)
    sunk[:, 2] -= 0.02
    measures = measure_preservation(Clip(robot, times, q), Clip(robot, times, sunk), times)
    assert measures.foot_penetration == pytest.approx(0.02, abs=1e-6)
    assert "foot_penetration" in find_broken_bounds(measures)
    # A floor that is recorded 2 cm too low is no penetration of its own.
    assert measure_preservation(
        Clip(robot, times, sunk), Clip(robot, times, sunk), times
    ).foot_penetration == pytest.approx(0.02, abs=1e-6)


def test_five_perturbations_are_small_and_repeatable(walk):
    reference, _ = walk
    robot = reference.robot
    found = perturbations(reference, robot, seed=3)
    names, clips, robots = zip(*found, strict=True)
    assert names == ("speed", "foot_height", "mass", "rate", "start")
    by_name = dict(zip(names, clips, strict=True))
    assert abs(reference.duration / by_name["speed"].duration - 1.0) == pytest.approx(SPEED)
    assert np.abs(by_name["foot_height"].q - reference.q).max() == pytest.approx(0.01)
    assert by_name["rate"].rate == pytest.approx(30.0)
    assert 0.0 < by_name["start"].times[0] - reference.times[0] <= 0.2 + 1.0 / RATE
    heavier = dict(zip(names, robots, strict=True))["mass"]
    assert abs(heavier.mass / robot.mass - 1.0) == pytest.approx(MASS)
    assert pin.computeTotalMass(robot.model) == pytest.approx(
        robot.mass
    )  # the robot itself is unchanged
    again = perturbations(reference, robot, seed=3)
    assert all(
        np.array_equal(one.clip.q, other.clip.q) for one, other in zip(found, again, strict=True)
    )
    assert any(
        not np.array_equal(a.clip.times, b.clip.times)
        for a, b in zip(found, perturbations(reference, robot, 4), strict=True)
    )
