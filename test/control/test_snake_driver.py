# SPDX-License-Identifier: Apache-2.0
"""The driver of a snake inside a control loop: finds headings, keeps limits, tells what is wrong, never sends a bad number."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_dynamics.control.snake_driver import GAIT, SnakeDriver, SnakeDriverStatus
from humanoid_dynamics.errors import ShapeError, UnsupportedRobotError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.description_file import read_description
from humanoid_dynamics.papers.snake import (
    PreparedSnake,
    SnakeModel,
    SnakeState,
    build_snake_description,
    build_snake_urdf,
    compute_side_forces,
    forward_dynamics,
    to_robot_state,
)
from humanoid_dynamics.papers.snake.inverse import compute_torque_map
from humanoid_dynamics.papers.snake.steering import LEAST_PART, hold_grip, predict_side_forces

PERIOD = 5e-3


@pytest.fixture(scope="module")
def robots():
    return {n: load(SnakeModel.uniform(n)) for n in (2, 5, 10)}


def load(model):
    description = build_snake_description(model)
    del description["name"]
    return load_robot(build_snake_urdf(model), description=read_description(description, "snake"))


def drive(robot, n, start, heading, seconds, driver=None):
    """Run the loop a node runs, a tick every 5 ms on a snake that moves by the O(n) equations; return head angles and drives."""
    model, driver = SnakeModel.uniform(n), driver or SnakeDriver(robot)
    prepared = PreparedSnake(model, compiled=False)
    y, heads, drives = np.concatenate((start.theta, start.position, start.u)), [], []
    for k in range(round(seconds / PERIOD)):
        t = k * PERIOD
        q, v = to_robot_state(model, SnakeState(y[:n], y[n + 2 :], y[n : n + 2]))
        drives.append(driver.tick(t, q, v, heading(t)))
        for _ in range(2):  # midpoint steps, torques held
            middle = y + 0.25 * PERIOD * prepared.tick(y[:n], y[n + 2 :], drives[-1].tau).rates
            y = y + 0.5 * PERIOD * prepared.tick(middle[:n], middle[n + 2 :], drives[-1].tau).rates
        heads.append(y[n - 1])
    return np.array(heads), drives


@pytest.mark.parametrize(
    ("n", "heading"),
    [
        pytest.param(5, 0.7, marks=pytest.mark.slow),
        pytest.param(5, -2.5, marks=pytest.mark.slow),
        (10, 1.5),
    ],
)
def test_from_rest_and_straight_the_head_finds_its_heading(robots, n, heading):
    heads, drives = drive(
        robots[n], n, SnakeState(np.zeros(n), np.zeros(2)), lambda _t: heading, 14.0
    )
    period = round(GAIT.period / PERIOD)
    assert heads[-period:].mean() == pytest.approx(heading, abs=0.02)
    assert max(np.abs(d.tau).max() for d in drives) <= GAIT.largest_torque * (1.0 + 1e-12)
    assert {d.status for d in drives} <= {"DRIVING", "SINGULAR", "GRIPPING"}
    assert {d.status for d in drives[-period:]} == {"DRIVING"}
    assert min(d.slip_margin for d in drives) > 0.0


def test_held_back_torques_use_the_grip_to_the_last_and_no_less_than_a_part_is_given():
    model, motion = SnakeModel.uniform(6), (0.2 * np.sin(np.arange(6.0)), np.array([0.2, 0.1]))
    for size in (0.1, 1.0, 1e3):
        torques = size * np.array([1.0, -2.0, 0.5, 1.0, -1.0])
        part, lam = hold_grip(model, motion, torques, 0.6)
        assert_allclose(lam, predict_side_forces(model, motion, part * torques), atol=1e-9 * size)
        if part == 1.0:
            assert np.abs(lam).max() <= 0.6 * 9.81
        elif part > LEAST_PART:
            assert np.abs(lam).max() == pytest.approx(0.6 * 9.81)
        else:
            assert np.abs(lam).max() > 0.6 * 9.81
    assert [
        hold_grip(model, motion, size * np.ones(5), 0.6)[0] < 1.0 for size in (0.01, 100.0)
    ] == [False, True]


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(np.zeros(10), marks=pytest.mark.slow, id="straight"),
        pytest.param(0.4 * np.arange(10.0), marks=pytest.mark.slow, id="arc"),
        pytest.param(np.pi / 5.0 * np.arange(10.0), id="ring"),
    ],
)
def test_singular_shapes_are_crossed_without_a_bad_number(robots, shape):
    assert np.linalg.svd(compute_torque_map(SnakeModel.uniform(10), shape))[1][1] < 1e-9
    heads, drives = drive(
        robots[10], 10, SnakeState(shape, [0.2, 0.1]), lambda t: 0.3 if t < 3.0 else -0.8, 14.0
    )
    assert all(np.isfinite(d.tau).all() and np.isfinite(d.slip_margin) for d in drives)
    assert np.angle(np.exp(1j * heads[-400:].mean())) == pytest.approx(-0.8, abs=0.02)


def test_the_aim_follows_the_heading_the_short_way_and_no_faster_than_it_may(robots):
    driver = SnakeDriver(robots[5], turn_rate=0.5)
    q, v = to_robot_state(SnakeModel.uniform(5), SnakeState(np.full(5, 3.0), np.zeros(2)))
    aims = [driver.tick(0.1 * k, q, v, -3.0).aim for k in range(10)]
    assert_allclose(aims[:6], 3.0 + 0.05 * np.arange(6))
    assert_allclose(aims[-1], 2.0 * np.pi - 3.0)


def test_time_that_runs_backwards_begins_anew(robots):
    driver = SnakeDriver(robots[5])
    q, v = to_robot_state(
        SnakeModel.uniform(5), SnakeState(0.3 * np.sin(np.arange(5.0)), np.zeros(2))
    )
    first = driver.tick(0.0, q, v, 1.0)
    assert driver.tick(1.0, q, v).aim > first.aim
    again = driver.tick(0.0, q, v)
    assert again.aim == first.aim
    assert_allclose(again.tau, first.tau)


def test_waiting_until_a_heading_comes_and_holding_the_last_one(robots):
    driver = SnakeDriver(robots[5])
    q, v = to_robot_state(
        SnakeModel.uniform(5), SnakeState(0.3 * np.sin(np.arange(5.0)), [0.2, 0.0])
    )
    assert driver.tick(0.0, q, v).status == "WAITING"
    assert driver.tick(0.1, q, v, np.nan).status == "INVALID_INPUT"
    driven = driver.tick(0.2, q, v, 0.4)
    assert np.abs(driven.tau).max() > 0.0
    assert_allclose(driver.tick(0.2, q, v).tau, driven.tau)
    odd = driver.tick(0.2, q, v, np.inf)
    assert (odd.status, odd.reason) == (
        "INVALID_INPUT",
        "the heading is inf; the last good one is kept",
    )
    assert_allclose(odd.tau, driven.tau)


def test_a_stale_state_fades_and_a_fresh_one_eases_in(robots):
    driver = SnakeDriver(robots[5], timeout=0.1, fade_out_duration=0.5)
    q, v = to_robot_state(
        SnakeModel.uniform(5), SnakeState(0.3 * np.sin(np.arange(5.0)), [0.2, 0.0])
    )
    fresh = driver.tick(0.0, q, v, 1.0, age=0.1)
    assert fresh.status != "STALE"
    for age, left in (
        (0.1 + 1e-9, 1.0),
        (0.35, 0.5),
        (0.6, 0.0),
        (9.0, 0.0),
        (np.inf, 0.0),
        (np.nan, 0.0),
    ):
        stale = driver.tick(0.5, q, v, 1.0, age=age)
        assert stale.status == "STALE"
        assert_allclose(stale.tau, left * fresh.tau, atol=1e-8)
    assert driver.tick(1.0, q, v, 1.0).aim == pytest.approx(fresh.aim)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_bad_states_get_zero_torques_and_a_status(robots, value):
    driver = SnakeDriver(robots[5])
    q, v = to_robot_state(
        SnakeModel.uniform(5), SnakeState(0.3 * np.sin(np.arange(5.0)), [0.2, 0.0])
    )
    broken = v.copy()
    broken[2] = value
    answer = driver.tick(0.0, q, broken, 1.0)
    assert answer.status == "INVALID_INPUT"
    assert_allclose(answer.tau, 0.0)
    assert driver.tick(0.1, q, v).status in {"DRIVING", "SINGULAR"}


def test_all_torques_are_scaled_down_together_to_the_weakest_motor(robots):
    robot = robots[5]
    weak = replace(robot, limits=replace(robot.limits, effort=np.full(robot.nv, 1e-3)))
    q, v = to_robot_state(
        SnakeModel.uniform(5), SnakeState(0.4 * np.sin(2.0 * np.arange(5.0)), np.zeros(2))
    )
    drivers = [SnakeDriver(each, ease=0.5) for each in (robot, weak)]
    for driver in drivers:
        driver.tick(0.0, q, v, 2.0)
    full, limited = (driver.tick(1.0, q, v) for driver in drivers)
    assert limited.status == "SATURATED"
    assert "times what a motor gives" in limited.reason
    assert np.abs(limited.tau).max() == pytest.approx(1e-3)
    assert_allclose(limited.tau / 1e-3, full.tau / np.abs(full.tau).max())


def test_a_wheel_that_will_slip_is_named(robots):
    q, v = to_robot_state(
        SnakeModel.uniform(5), SnakeState(0.4 * np.sin(2.0 * np.arange(5.0)), [0.6, 1.0])
    )
    answer = SnakeDriver(robots[5], friction=0.02).tick(0.0, q, v, 0.0)
    assert answer.status == "SLIPPING"
    worst = int(np.argmax(np.abs(answer.side_forces)))
    assert answer.reason.startswith(f"wheel_{worst + 1} lacks ")
    assert answer.slip_margin == pytest.approx(0.02 * 9.81 - np.abs(answer.side_forces[worst]))


def test_predicted_side_forces_are_those_of_the_motion(robots):
    model, state = SnakeModel.uniform(5), SnakeState(0.4 * np.sin(2.0 * np.arange(5.0)), [0.5, 1.0])
    answer = SnakeDriver(robots[5]).tick(0.0, *to_robot_state(model, state), 0.0)
    u_dot = forward_dynamics(model, state, answer.tau).u_dot
    assert_allclose(
        answer.side_forces, compute_side_forces(model, state, answer.tau, u_dot).lam, atol=1e-12
    )


def test_what_cannot_be_driven_is_refused(robots):
    with pytest.raises(
        UnsupportedRobotError, match="requires two or more joints, each with a motor"
    ):
        SnakeDriver(robots[2])
    with pytest.raises(UnsupportedRobotError, match="a robot without wheels"):
        SnakeDriver(load_robot("biped7"))
    with pytest.raises(ShapeError, match="friction: received nan"):
        SnakeDriver(robots[5], friction=np.nan)
    with pytest.raises(ShapeError, match=r"q, v: received shapes \(3,\), \(7,\)"):
        SnakeDriver(robots[5]).tick(0.0, np.zeros(3), np.zeros(7))


def test_every_status_has_words():
    assert all(status.description for status in SnakeDriverStatus)
    assert {"DRIVING", "STALE", "INVALID_INPUT"} <= set(SnakeDriverStatus)
