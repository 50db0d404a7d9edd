# SPDX-License-Identifier: Apache-2.0
"""After a fall: nothing grows, nothing leaves its limits, it is said, and the robot comes back where the reference stands."""

import itertools

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering import DynamicsFilter
from humanoid_dynamics.filtering.fallen import FALLEN
from humanoid_dynamics.filtering.frame import FilterStatus
from humanoid_dynamics.filtering.live.motion import LiveMotion
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.start import SEARCHED, Placer
from humanoid_dynamics.filtering.ticks.step import RUNGS
from humanoid_dynamics.filtering.ticks.target import stand_still
from humanoid_dynamics.motion.inverse_kinematics import InverseKinematics

DT = 0.005
THROWN = 1.0  # s
BACK = 0.75  # s from the fall on the spot until the way back is done


def stand_or_sway(robot, time, swaying):
    q = np.array(robot.posture)
    q[0] += swaying * 0.1 * np.sin(4.0 * time)
    return q


def run(robot, seconds, swaying=0.0, mode="balanced", thrown=(2.5, 0.0, 0.0, 0.0, 3.0, 0.0)):
    """Return frames and statuses of a stream in whose course the filter's own state is thrown over."""
    flow = DynamicsFilter(robot, mode)
    frames, statuses = [], []
    for k in range(round(50 * seconds)):
        flow.update(k / 50, stand_or_sway(robot, k / 50, swaying))
        while flow.ready:
            if len(frames) == round(THROWN / DT):
                flow.v = flow.v + np.concatenate((thrown, np.zeros(robot.nv - 6)))
            frame = flow.step()
            frames.append(frame)
            statuses.append(flow.status)
    return flow, frames, statuses


def assert_bounded(robot, frames):
    for frame in frames:
        assert all(
            np.isfinite(part).all()
            for part in (frame.q, frame.v, frame.vdot, frame.tau, frame.wrenches)
        )
        assert frame.certificate.limits_hold
        assert frame.certificate.forces_hold or frame.rung == FALLEN
        assert np.max(np.abs(frame.v[:6])) < 20.0
    speed = [pin.difference(robot.model, a.q, b.q)[6:] / DT for a, b in itertools.pairwise(frames)]
    assert np.max(np.abs(speed) - robot.limits.velocity[6:]) < 1e-6


@pytest.mark.parametrize("hair", [0.0, 1e-3, -1e-3])
def test_fall_is_said_and_the_robot_comes_back(hair):
    """How it falls changes with the last digits, so throws a hair apart are asked for the same."""
    robot = hd.load_robot("human28")
    _, frames, statuses = run(robot, 4.0, thrown=(2.5, hair, 0.0, 0.0, 3.0, hair))
    assert_bounded(robot, frames)
    fallen = [frame.time for frame in frames if frame.rung == FALLEN]
    assert len(fallen) > 0
    assert fallen[-1] - fallen[0] < BACK
    assert {"OK", "FALLEN"} <= set(statuses)
    assert statuses[-1] == "OK"
    assert frames[-1].certificate.holds
    np.testing.assert_allclose(frames[-1].q, robot.posture, atol=1e-6)
    assert all(status in set(FilterStatus) for status in statuses)


def test_robot_that_was_thrown_far_sets_out_at_once():
    """Steps that were to catch it are forgotten with the fall, and it does not wait for them."""
    robot = hd.load_robot("human28")
    _, frames, statuses = run(robot, 4.0, thrown=(3.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert_bounded(robot, frames)
    fallen = [frame for frame in frames if frame.rung == FALLEN]
    held = [frame for frame in fallen if np.array_equal(frame.q, fallen[0].q)]
    assert len(held) * DT < 0.3
    assert statuses[-1] == "OK"


def test_nothing_holds_the_robot_while_it_has_fallen_and_the_certificate_says_so():
    robot = hd.load_robot("human28")
    _, frames, _ = run(robot, 2.5)
    fallen = [frame for frame in frames if frame.rung == FALLEN]
    assert not any(frame.certificate.forces_hold for frame in fallen)
    assert not any(frame.tau.any() or frame.wrenches.any() or any(frame.stands) for frame in fallen)


MOVING = 3.5  # s from the fall until the robot follows again, where the reference never stands


@pytest.mark.parametrize("mode", ["balanced", pytest.param("paper", marks=pytest.mark.slow)])
def test_robot_is_back_on_its_feet_although_the_reference_goes_on_moving(mode):
    """An operator who does not know that the robot fell would make it lie for ever: the reference is made to stand, then followed again."""
    robot = hd.load_robot("human28")
    flow, frames, statuses = run(robot, 7.0, swaying=1.0, mode=mode)
    fallen = [k for k, frame in enumerate(frames) if frame.rung == FALLEN]
    first = next(k for k in range(fallen[0], len(frames)) if frames[k].rung != FALLEN)
    assert (first - fallen[0]) * DT < MOVING
    assert_bounded(robot, frames[fallen[0] : first])
    held = frames[fallen[0] : fallen[0] + round(0.5 / DT)]
    np.testing.assert_array_equal(held[0].q, held[-1].q)
    assert all(status in set(FilterStatus) for status in statuses)
    if mode == "balanced":
        assert fallen[-1] == first - 1
        assert statuses[-1] == "OK"
        before, now = (
            np.ptp([frame.q[0] for frame in part]) for part in (frames[:200], frames[-200:])
        )
        assert now > 0.5 * before  # it sways again
    flow.restart()
    for k in range(100):
        flow.update(k / 50, robot.posture)
    assert flow.step().rung == 0
    assert flow.status == "OK"


def test_measured_robot_that_lies_is_braked_and_goes_on_when_somebody_lifts_it():
    robot = hd.load_robot("human28")
    flow = DynamicsFilter(robot)
    for k in range(200):
        flow.update(k / 50, robot.posture)
    lying, rng = np.array(robot.posture), np.random.default_rng(0)
    lying[2:7] = (0.2, 0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
    for _ in range(40):
        v = 5.0 * rng.normal(size=robot.nv)
        frame = flow.step((lying, v))
        assert (flow.status, frame.rung) == ("FALLEN", FALLEN)
        assert np.all(np.abs(frame.tau) <= robot.limits.effort[6:])
        assert np.all(frame.tau * v[6:] <= 0.0)  # motors take energy away
        assert frame.certificate.residual < 1e-8
    for _ in range(100):
        frame = flow.step((np.array(robot.posture), np.zeros(robot.nv)))
        assert (flow.status, frame.rung) == ("OK", 0)


def test_measured_state_that_is_none_is_left_out():
    robot = hd.load_robot("human28")
    flow = DynamicsFilter(robot)
    for k in range(100):
        flow.update(k / 50, robot.posture)
    good, bad = (
        (np.array(robot.posture), np.zeros(robot.nv)),
        (np.full(robot.nq, np.nan), np.zeros(robot.nv)),
    )
    for state, said in (
        (bad, "STATE_NOT_FINITE"),
        (good, "OK"),
        (bad, "STATE_NOT_FINITE"),
        ((good[1], good[0]), "STATE_WRONG_SHAPE"),
    ):
        frame = flow.step(state)
        assert flow.status == said
        assert np.isfinite(frame.q).all()
        assert frame.certificate.holds


def test_filter_that_runs_along_says_it():
    robot = hd.load_robot("human28")
    live = LiveMotion(robot, delay=1.0)
    live.put_joints([robot.joints[1].name], [0, 10**10], {"positions": np.zeros((2, 1))}, 0.0)
    said = set()
    for k in range(800):
        if k == 400:
            live.filter.v = live.filter.v + np.concatenate(
                ((2.5, 0.0, 0.0, 0.0, 3.0, 0.0), np.zeros(robot.nv - 6))
            )
        live.advance(k * DT)
        said.add(live.status)
    assert {"FALLEN", "FOLLOWING"} <= said
    assert "fallen" in RUNGS


def leaning(robot):
    """Return the resting posture leaning forward a little, so that soles have to be sought."""
    q = np.array(robot.posture)
    q[3:7] = (
        pin.Quaternion(q[3:7]) * pin.Quaternion(pin.exp3(np.array([0.0, 0.08, 0.0])))
    ).coeffs()
    return q


def test_no_push_and_no_tick_searches_for_long(monkeypatch):
    robot, searched = hd.load_robot("human28"), []
    solve = InverseKinematics.solve

    def count(self, *args, most=30, **rest):
        searched.append(most)
        return solve(self, *args, most=most, **rest)

    monkeypatch.setattr(InverseKinematics, "solve", count)
    flow, frames, asked = DynamicsFilter(robot), [], leaning(robot)
    for k in range(200):
        searched.clear()
        flow.update(k / 50, asked)
        assert sum(searched) <= SEARCHED
        while flow.ready:
            if len(frames) == round(THROWN / DT):
                flow.v = flow.v + np.array([2.5, 0.0, 0.0, 0.0, 3.0, 0.0, *np.zeros(robot.nv - 6)])
            searched.clear()
            frame = flow.step()
            assert sum(searched) <= SEARCHED
            frames.append(frame)
    assert any(frame.rung == FALLEN for frame in frames)
    assert frames[-1].rung == 0
    assert frames[-1].certificate.holds


def test_where_to_stand_is_known_when_the_first_frame_is_due():
    """It is looked for while the look-ahead comes, and at the end of a stream that was too short for that."""
    robot = hd.load_robot("human28")
    flow, asked, ticks, frame = DynamicsFilter(robot), leaning(robot), 0, None
    while frame is None:
        if ticks % 4 == 0:
            flow.update(ticks * DT, asked)
        ticks += 1
        frame = flow.step()
    assert ticks * DT <= flow.delay_at(50.0) + 0.02
    assert frame.certificate.holds
    short = DynamicsFilter(robot)
    for k in range(3):
        short.update(k / 50, asked)
    assert not short.ready
    short.finish()
    assert short.ready
    assert short.step().certificate.holds


@pytest.mark.parametrize("angle", [0.08, -0.05])
def test_search_in_pieces_finds_what_it_finds_at_once(angle):
    robot = hd.load_robot("human28")
    p, data = measure_proportions(robot), robot.data()
    q = leaning(robot)
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    soles = [data.oMf[frame] for frame in p.soles]
    com = pin.centerOfMass(robot.model, data, robot.posture) + np.array(
        [angle, 0.0, 0.03]
    )  # legs do not reach that
    pin.framesForwardKinematics(robot.model, data, robot.posture)
    places, turns = np.array([X.translation for X in soles]), np.array([X.rotation for X in soles])
    target = stand_still(q, robot.nv, com, places, turns)
    placer, other = Placer(robot), Placer(robot)
    whole = placer.place(target)
    other.begin(target)
    for _ in range(300):
        other.advance(2)
    assert other.done
    assert 0.0 < com[2] - pin.centerOfMass(robot.model, data, whole)[2] <= 0.12 + 1e-6
    for found in (whole, other.q):
        pin.framesForwardKinematics(robot.model, data, found)
        np.testing.assert_allclose(
            [data.oMf[frame].translation for frame in p.soles], places, atol=1e-7
        )
        np.testing.assert_allclose(
            pin.centerOfMass(robot.model, data, found)[:2], com[:2], atol=1e-7
        )
    np.testing.assert_allclose(other.q, whole, atol=0.05)
