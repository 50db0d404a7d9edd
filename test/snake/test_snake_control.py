# SPDX-License-Identifier: Apache-2.0
"""Torques for a wanted motion, side forces against friction, and driving toward a heading."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake import (
    SerpentineGait,
    SnakeModel,
    SnakeState,
    compute_link_speeds,
    compute_side_forces,
    compute_slip_margins,
    compute_steering_torques,
    forward_dynamics,
    inverse_dynamics,
    lagrange,
    simulate_snake,
)
from humanoid_dynamics.papers.snake.inverse import compute_torque_map, solve_torques

SHAPES = {
    "straight": np.zeros(8),
    "arc": 0.4 * np.arange(8.0),
    "ring": np.pi / 4.0 * np.arange(8.0),
}


def draw(n, seed=0):
    rng = np.random.default_rng([n, seed])
    model = SnakeModel(
        rng.uniform(0.5, 2.0, n), rng.uniform(0.002, 0.02, n), rng.uniform(0.05, 0.2, n)
    )
    return model, SnakeState(rng.uniform(-3.0, 3.0, n), rng.normal(size=2)), rng.normal(size=n - 1)


@pytest.mark.parametrize("n", [3, 4, 12, 40])
@pytest.mark.parametrize("seed", range(3))
def test_forward_of_inverse_is_identity(n, seed):
    model, state, _ = draw(n, seed)
    wanted = np.array([0.7, -1.3])
    answer = inverse_dynamics(model, state, wanted)
    assert answer.status == "OK"
    assert_allclose(forward_dynamics(model, state, answer.torques).u_dot, wanted, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_torques_have_the_least_norm(seed):
    model, state, _ = draw(7, seed)
    torques = inverse_dynamics(model, state, [0.7, -1.3]).torques
    idle = np.linalg.svd(compute_torque_map(model, state.theta))[2][2:]  # torques that move nothing
    assert_allclose(
        forward_dynamics(model, state, torques + 3.0 * idle[0]).u_dot, [0.7, -1.3], rtol=1e-9
    )
    assert_allclose(idle @ torques, 0.0, atol=1e-10 * np.abs(torques).max())


def test_power_of_the_torque_map_is_the_power_of_the_joints():
    model, state, torques = draw(9)
    u = state.u * [1.0, model.half_lengths[0]]
    assert_allclose(
        u @ compute_torque_map(model, state.theta) @ torques,
        torques @ np.diff(compute_link_speeds(model, state)[1]),
    )


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_straight_and_circular_shapes_cannot_be_pushed_and_say_so(shape):
    model = SnakeModel.uniform(8)
    turning = (
        2.0 * np.tan((shape[1] - shape[0]) / 2.0) / 0.2
    )  # of the motion that keeps the shape, per speed
    state = SnakeState(shape, [0.3, 0.3 * turning])
    assert_allclose(np.diff(compute_link_speeds(model, state)[1]), 0.0, atol=1e-12)
    answer = inverse_dynamics(model, state, [1.0, turning])
    assert answer.status == "ACTUATION_SINGULAR"
    assert "straight or circular shape" in answer.reason
    assert np.isfinite(answer.torques).all()
    assert np.abs(answer.missing).max() > 0.1


def test_near_a_singular_shape_damping_bounds_the_torques():
    model = SnakeModel.uniform(6)
    state = SnakeState(1e-4 * np.sin(np.arange(6)), [0.3, 0.0])
    exact, damped = (inverse_dynamics(model, state, [0.5, 0.0], damping) for damping in (0.0, 0.1))
    assert exact.status == "OK"
    assert np.abs(exact.torques).max() > 100.0
    assert np.abs(damped.torques).max() < 10.0
    assert damped.reason == "near a straight or circular shape, damped"


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_joints_are_told(n):
    model, state, _ = draw(n)
    answer = inverse_dynamics(model, state, [1.0, 1.0])
    assert answer.status == "ACTUATION_SINGULAR"
    assert f"{n} link(s) have {n - 1} joint torque(s)" in answer.reason


def test_inverse_in_a_loop_gets_a_status():
    model = SnakeModel.uniform(4)
    answer = solve_torques(model, np.full(4, np.nan), np.zeros(2), np.ones(2))
    assert answer.status == "INVALID_INPUT"
    assert_allclose(answer.torques, 0.0)


# side forces


@pytest.mark.parametrize("n", [1, 2, 5, 30])
@pytest.mark.parametrize("seed", range(3))
def test_side_forces_are_the_multipliers_of_lagrange(n, seed):
    model, state, torques = draw(n, seed)
    rates = forward_dynamics(model, state, torques)
    mu = lagrange.accelerations(
        state.theta, np.append(rates.theta_dot, rates.position_dot), torques, model.links
    )[n + 2 :]
    side = compute_side_forces(model, state, torques, rates.u_dot)
    assert_allclose(side.lam, -mu, rtol=1e-9, atol=1e-10 * (1.0 + np.abs(mu).max()))


def test_wrong_accelerations_leave_a_force_behind_the_last_link():
    model, state, torques = draw(6)
    u_dot = forward_dynamics(model, state, torques).u_dot
    assert compute_side_forces(model, state, torques, u_dot).residual < 1e-12
    assert compute_side_forces(model, state, torques, u_dot + np.array([0.0, 1.0])).residual > 1e-2


def test_a_rolling_ring_pulls_inward():
    """Eight links on a circle, rolling around it: each wheel carries its centripetal force, and slips where friction is too little."""
    model = SnakeModel.uniform(8)
    omega = 2.0 * np.tan(np.pi / 8.0) / 0.2 * 0.5
    state = SnakeState(SHAPES["ring"], [0.5, omega])
    lam = compute_side_forces(model, state, np.zeros(7), np.zeros(2)).lam
    assert_allclose(lam, 0.5 * omega, rtol=1e-12)
    assert (compute_slip_margins(model, lam, friction=0.3) > 0.0).all()
    assert (compute_slip_margins(model, lam, friction=0.1) < 0.0).all()
    assert_allclose(compute_slip_margins(model, lam, 0.3), 0.3 * 9.81 - 0.5 * omega)


# steering


def drive(model, start, heading, duration, gait=None, dt=5e-3):
    gait = gait or SerpentineGait()
    records = []

    def law(t, theta, u):
        answer = compute_steering_torques(
            model, gait, t, heading(t) if callable(heading) else heading, (theta, u)
        )
        records.append(answer)
        return answer.torques

    run = simulate_snake(model, start, law, duration=duration, dt=dt, compiled=False)
    assert run.status == "OK"
    assert max(np.abs(record.torques).max() for record in records) <= gait.largest_torque * (
        1.0 + 1e-12
    )
    last = run.t > duration - gait.period - 0.5 * dt
    head = np.unwrap(run.theta[:, -1])[last][:-1].mean()
    return run, float(np.angle(np.exp(1j * head))), records


@pytest.mark.parametrize(
    "heading",
    [pytest.param(0.0, marks=pytest.mark.slow), pytest.param(1.0, marks=pytest.mark.slow), -2.5],
)
def test_head_settles_on_the_heading_from_rest_and_straight(heading):
    model = SnakeModel.uniform(6)
    run, head, records = drive(model, SnakeState(np.zeros(6), np.zeros(2)), heading, 14.0)
    assert head == pytest.approx(heading, abs=0.05)
    travelled = run.position[-1] - run.position[np.searchsorted(run.t, 12.0 - 1e-9)]
    assert np.linalg.norm(travelled) / 2.0 > 0.2
    assert np.angle(
        np.exp(1j * (np.arctan2(travelled[1], travelled[0]) - heading))
    ) == pytest.approx(0.0, abs=0.1)
    assert (
        {"SATURATED"}
        <= {record.status for record in records}
        <= {"OK", "SATURATED", "ACTUATION_SINGULAR"}
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arc", "ring"])
def test_head_settles_from_circular_shapes(name):
    model = SnakeModel.uniform(8)
    _, head, _ = drive(model, SnakeState(SHAPES[name], [0.2, 0.3]), 0.5, 14.0)
    assert head == pytest.approx(0.5, abs=0.05)


@pytest.mark.slow
def test_head_follows_a_turning_heading():
    model = SnakeModel.uniform(6)
    _, head, _ = drive(model, SnakeState(np.zeros(6), np.zeros(2)), lambda t: 0.2 * t, 14.0)
    assert head == pytest.approx(0.2 * 13.0, abs=0.15)


def test_without_torques_the_heading_is_not_found():
    model = SnakeModel.uniform(6)
    _, head, _ = drive(
        model, SnakeState(np.zeros(6), [0.3, 0.0]), 1.0, 4.0, SerpentineGait(largest_torque=1e-9)
    )
    assert head == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_steering_in_a_loop_gets_a_status(value):
    model, gait = SnakeModel.uniform(5), SerpentineGait()
    for heading, theta, u in ((value, 0.0, 0.0), (0.0, value, 0.0), (0.0, 0.0, value)):
        answer = compute_steering_torques(
            model, gait, 0.0, heading, (np.full(5, theta), np.full(2, u))
        )
        assert answer.status == "INVALID_INPUT"
        assert_allclose(answer.torques, 0.0)


def test_short_snakes_cannot_be_steered():
    with pytest.raises(ShapeError, match=r"model\.n: received 2, expected at least three links"):
        compute_steering_torques(
            SnakeModel.uniform(2), SerpentineGait(), 0.0, 0.0, (np.zeros(2), np.zeros(2))
        )


def test_impossible_gaits_are_refused():
    with pytest.raises(ShapeError, match=r"period: received 0\.0, expected a positive number"):
        SerpentineGait(period=0.0)
