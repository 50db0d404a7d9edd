# SPDX-License-Identifier: Apache-2.0
"""Teleoperation with one foot lifted: balance is kept whatever hands and feet are asked for, and where it is not nothing jumps."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.filtering.poses.answer import TeleoperationFrame
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation

RATE, EVERY = 200.0, 2  # ticks per second, and how many pass from pose to pose
UPRIGHT = np.cos(0.25)
Move = Callable[[float], tuple[list[float], np.ndarray]]


@functools.cache
def load(name: str) -> hd.RobotModel:
    return hd.load_robot(name)


def lead(foot: Move, hand: Move, seconds: float, name: str = "g1") -> list[TeleoperationFrame]:
    """Lead the left foot and the right hand away from where they start."""
    tele = Teleoperation(load(name), ("left_foot", "right_hand"), rate=RATE)
    start, frames = {led: tele.pose(led) for led in tele.names}, []
    for tick in range(round(seconds * RATE)):
        now = tick / RATE
        for led, move in zip(tele.names, (foot, hand), strict=True) if tick % EVERY == 0 else ():
            way, turn = move(now)
            tele.update(
                led,
                now + 1.0,
                pin.SE3(turn @ start[led].rotation, start[led].translation + way),
                now,
            )
        frames.append(tele.step(now))
    return frames


def check_smooth(frames: list[TeleoperationFrame], name: str = "g1") -> None:
    """No configuration and no velocity jumps, and joints are no faster than they can be."""
    robot, dt = load(name), 1.0 / RATE
    for before, after in itertools.pairwise(frames):
        assert np.abs(pin.difference(robot.model, before.q, after.q) - dt * after.v).max() < 1e-9
        assert np.abs(after.v - before.v - dt * before.vdot).max() < 1e-9
        assert (np.abs(after.v[6:]) <= robot.limits.velocity[6:] + 1e-6).all()


def uprightness(frame: TeleoperationFrame) -> float:
    return float(pin.Quaternion(frame.q[3:7]).matrix()[2, 2])


@pytest.mark.parametrize("frequency", [0.6, 1.0])
def test_a_waving_hand_does_not_throw_a_robot_on_one_foot(frequency: float) -> None:
    def wave(now: float) -> tuple[list[float], np.ndarray]:
        return [0.0, -0.3 * np.sin(2.0 * np.pi * frequency * now), 0.3], np.eye(3)

    frames = lead(lambda _: ([0.0, 0.0, 0.1], np.eye(3)), wave, 4.0)
    check_smooth(frames)
    assert {frame.status for frame in frames} == {"OK"}
    assert min(uprightness(frame) for frame in frames) > UPRIGHT
    assert sum(frame.stands == (False, True) for frame in frames) > 3.0 * RATE


def test_a_foot_asked_for_upside_down_and_a_hand_that_thrashes_do_not_throw_it() -> None:
    turned = pin.utils.rotate("x", 3.0)
    frames = lead(
        lambda _: ([0.0, 0.5, 0.6], turned),
        lambda now: ([2.0 * np.sin(9.0 * now), 2.0, 2.0], np.eye(3)),
        4.0,
    )
    check_smooth(frames)
    assert min(uprightness(frame) for frame in frames) > UPRIGHT
    assert all(frame.certificate.holds for frame in frames)


def test_a_foot_is_put_down_where_the_robot_tilts() -> None:
    def wave(now: float) -> tuple[list[float], np.ndarray]:
        return [0.4 * np.sin(2.0 * np.pi * now), 0.0, 0.3], np.eye(3)

    frames = lead(lambda _: ([0.0, 0.0, 0.2], np.eye(3)), wave, 2.0, "human28")
    check_smooth(frames, "human28")
    first = next(k for k, frame in enumerate(frames) if frame.status == "FOOT_COMES_DOWN")
    foot = frames[first].streams["left_foot"]
    assert (foot.status, foot.reason) == (
        "REFUSED",
        "the robot was about to fall, so the foot was put down",
    )
    assert frames[-1].stands == (True, True)
    assert min(uprightness(frame) for frame in frames) > np.cos(0.35)
    assert all(frame.certificate.holds for frame in frames)


def test_a_robot_that_fell_comes_back_without_a_jump() -> None:
    robot = load("g1")
    tele, frames = Teleoperation(robot, ("right_hand",), rate=RATE), []
    tele.q[3:7] = [np.sin(0.65), 0.0, 0.0, np.cos(0.65)]
    tele.v[:] = np.linspace(-3.0, 3.0, robot.nv)
    for tick in range(round(4.0 * RATE)):
        frames.append(tele.step(tick / RATE))
        if frames[-1].status == "RESTARTED":
            break
    frames.append(tele.step(4.0))
    assert [frame.status for frame in frames[-3:]] == ["FALLEN", "RESTARTED", "OK"]
    check_smooth(frames)
    assert np.abs(pin.difference(robot.model, frames[-1].q, robot.posture)).max() < 1e-9
    assert not frames[0].tau.any()
    assert not frames[0].certificate.holds


def test_a_robot_that_fell_stands_again_where_its_soles_stood_last() -> None:
    robot = load("g1")
    tele = Teleoperation(robot, ("right_hand",), rate=RATE)
    stood, turn = np.array(robot.posture), pin.Quaternion(pin.exp3(np.array([0.0, 0.0, 1.2])))
    stood[:3], stood[3:7] = (
        stood[:3] + np.array([5.0, -3.0, 0.2]),
        (turn * pin.Quaternion(stood[3:7])).coeffs(),
    )
    tele.restart(stood)
    frames = [tele.step(tick / RATE) for tick in range(20)]
    tele.q[3:7] = (turn * pin.Quaternion(pin.exp3(np.array([1.3, 0.0, 0.0])))).coeffs()
    for tick in range(20, round(2.0 * RATE)):
        frames.append(tele.step(tick / RATE))
        if frames[-1].status == "RESTARTED":
            break
    frames.append(tele.step(4.0))
    assert [frame.status for frame in frames[-3:]] == ["FALLEN", "RESTARTED", "OK"]
    check_smooth(frames[20:])
    assert np.abs(pin.difference(robot.model, frames[-1].q, stood)).max() < 1e-3


def test_a_measured_robot_that_lies_is_braked_and_led_again_when_somebody_lifts_it() -> None:
    robot, rng = load("g1"), np.random.default_rng(3)
    tele = Teleoperation(robot, ("right_hand",), rate=RATE)
    lying = np.array(robot.posture)
    lying[2:7] = (0.2, 0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
    for tick in range(30):
        v = 5.0 * rng.normal(size=robot.nv) * (1e4 if tick == 20 else 1.0)
        frame = tele.step(tick / RATE, (lying, v))
        assert frame.status == "FALLEN"
        assert np.isfinite(frame.vdot).all()
        assert np.all(np.abs(frame.tau) <= robot.limits.effort[6:])
        assert np.all(frame.tau * v[6:] <= 0.0)
    for tick in range(30, 60):
        frame = tele.step(tick / RATE, (np.array(robot.posture), np.zeros(robot.nv)))
        assert frame.status == "OK"
        assert np.abs(frame.vdot).max() < 1.0


def test_a_measured_state_that_runs_away_makes_no_jump_of_the_command() -> None:
    robot = load("g1")
    tele = Teleoperation(robot, ("right_hand",), rate=RATE)
    q, v = np.array(robot.posture), np.zeros(robot.nv)
    q[0] += 2.0
    for tick in range(40):
        frame = tele.step(tick / RATE, (q, v + 2e3 * (tick == 20)))
        assert np.all(np.abs(frame.tau) <= robot.limits.effort[6:] * (1.0 + 1e-9))
        assert frame.status == ("FALLEN" if tick == 20 else "OK")
        np.testing.assert_array_equal(frame.q, q)
