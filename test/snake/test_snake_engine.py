# SPDX-License-Identifier: Apache-2.0
"""The same snake through the front door and the general engine, and its laws, for snakes and states nobody chose."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.description_file import read_description
from humanoid_dynamics.papers.snake import (
    PreparedInverse,
    PreparedSnake,
    SnakeModel,
    SnakeState,
    build_snake_description,
    build_snake_urdf,
    compute_equations,
    compute_link_speeds,
    compute_reference,
    compute_side_forces,
    forward_dynamics,
    inverse_dynamics,
    to_robot_state,
)
from humanoid_dynamics.papers.snake.robot import find_snake

SETTINGS = settings(max_examples=50, deadline=None, derandomize=True)
LENGTHS = st.integers(1, 30)
SEEDS = st.integers(0, 2**32 - 1)


def draw(n, seed):
    rng = np.random.default_rng([n, seed])
    model = SnakeModel(
        rng.uniform(0.5, 2.0, n), rng.uniform(0.002, 0.02, n), rng.uniform(0.05, 0.2, n)
    )
    return (
        model,
        SnakeState(rng.uniform(-3.0, 3.0, n), rng.normal(size=2), rng.normal(size=2)),
        rng.normal(size=n - 1),
    )


def load(model):
    description = build_snake_description(model)
    name = description.pop("name")
    return load_robot(
        build_snake_urdf(model, name), description=read_description(description, name)
    )


def solve_with_engine(robot, model, state, torques):
    """Accelerations of all coordinates, u_dot and wheel forces from rows in a ConstraintSet: nothing of the recursion."""
    mechanism = Mechanism(robot)
    answer = solve_forward(mechanism, *to_robot_state(model, state), torques)
    cos, sin = np.cos(state.theta[0]), np.sin(state.theta[0])
    return answer.a, np.array([cos * answer.a[0] + sin * answer.a[1], answer.a[2]]), answer.lam


@SETTINGS
@given(LENGTHS, SEEDS)
def test_sn9_the_general_engine_gives_the_same_accelerations_and_wheel_forces(n, seed):
    model, state, torques = draw(n, seed)
    u_dot = forward_dynamics(model, state, torques).u_dot
    a, theirs, lam = solve_with_engine(load(model), model, state, torques)
    assert_allclose(
        theirs, u_dot, rtol=0.0, atol=1e-12 * (1.0 + np.abs(a).max())
    )  # of accelerations that cancel in u_dot
    side = compute_side_forces(model, state, torques, u_dot)
    mechanism = Mechanism(load(model))
    mechanism.mobility(to_robot_state(model, state)[0])
    rounding = np.finfo(float).eps * np.linalg.cond(mechanism.J) ** 2  # of forces behind J M^-1 J'
    assert_allclose(lam, side.lam, rtol=0.0, atol=max(1e-10, rounding) * (1.0 + np.abs(lam).max()))


def test_sn9_the_engine_leaves_two_freedoms():
    robot = load(SnakeModel.uniform(30))
    assert (len(robot.wheels), Mechanism(robot).nu, len(robot.actuated)) == (30, 2, 29)


def test_sn9_a_wheel_less_is_another_snake():
    model, state, torques = draw(5, 0)
    description = build_snake_description(model)
    del description["wheels"]["wheel_3"], description["name"]
    robot = load_robot(build_snake_urdf(model), description=read_description(description, "snake"))
    theirs = solve_with_engine(robot, model, state, torques)[1]
    assert np.abs(theirs - forward_dynamics(model, state, torques).u_dot).max() > 1e-2


def test_sn9_motion_of_the_engine_is_the_motion_of_the_recursion():
    """Half a second of unequal links under torques that change, both integrated by themselves."""
    model, start, torques = draw(6, 7)
    start = SnakeState(start.theta, 0.3 * start.u, start.position)
    robot, end, dt = load(model), 0.5, 2e-3
    mechanism = Mechanism(robot)

    def accelerate(t, q, v):
        return solve_forward(mechanism, q, v, 0.05 * np.cos(3.0 * t) * torques).a

    q, v = to_robot_state(model, start)
    for k in range(round(end / dt)):
        t = k * dt
        k_1 = v, accelerate(t, q, v)
        k_2 = (
            v + 0.5 * dt * k_1[1],
            accelerate(
                t + 0.5 * dt,
                pin.integrate(robot.model, q, 0.5 * dt * k_1[0]),
                v + 0.5 * dt * k_1[1],
            ),
        )
        k_3 = (
            v + 0.5 * dt * k_2[1],
            accelerate(
                t + 0.5 * dt,
                pin.integrate(robot.model, q, 0.5 * dt * k_2[0]),
                v + 0.5 * dt * k_2[1],
            ),
        )
        k_4 = (
            v + dt * k_3[1],
            accelerate(t + dt, pin.integrate(robot.model, q, dt * k_3[0]), v + dt * k_3[1]),
        )
        mean = [
            (a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(k_1, k_2, k_3, k_4, strict=True)
        ]
        q, v = pin.integrate(robot.model, q, dt * mean[0]), v + dt * mean[1]
    theta, u, position = find_snake(robot).read(q, v, robot.data())
    run = compute_reference(
        model,
        start,
        lambda t, _theta, _u: 0.05 * np.cos(3.0 * t) * torques,
        np.array([0.0, end]),
        compiled=False,
    )
    assert np.abs(run.theta[-1] - start.theta).max() > 0.3
    assert_allclose(np.exp(1j * theta), np.exp(1j * run.theta[-1]), atol=1e-6)
    assert_allclose([*u, *position], [*run.u[-1], *run.position[-1]], atol=1e-6)


# laws, for any snake in any state


@SETTINGS
@given(st.integers(1, 200), SEEDS)
def test_sn1_the_invariant_holds_for_all_links(n, seed):
    model, state, _ = draw(n, seed)
    speeds, omega = compute_link_speeds(model, state)
    assert_allclose(
        speeds**2 + (model.half_lengths * omega) ** 2,
        state.u[0] ** 2 + (model.half_lengths[0] * state.u[1]) ** 2,
        rtol=1e-12,
    )


@SETTINGS
@given(st.integers(2, 60), SEEDS)
def test_sn1_each_link_reflects_the_speeds_of_the_one_before(n, seed):
    """(V, h w) of the next link is [[C, S], [S, -C]] times that of this one; twice the same reflection changes nothing."""
    model, state, _ = draw(n, seed)
    speeds, omega = compute_link_speeds(model, state)
    C, S = np.cos(state.phi), np.sin(state.phi)
    pair = np.array([speeds, model.half_lengths * omega])
    reflected = np.array([C * pair[0, :-1] + S * pair[1, :-1], S * pair[0, :-1] - C * pair[1, :-1]])
    assert_allclose(pair[:, 1:], reflected, atol=1e-12 * (1.0 + np.abs(pair).max()))


@SETTINGS
@given(st.integers(1, 60), SEEDS)
def test_sn3_the_mass_matrix_lies_between_its_bounds_in_any_shape(n, seed):
    model, state, torques = draw(n, seed)
    scale = np.array([1.0, 1.0 / model.half_lengths[0]])
    M = compute_equations(model, state, torques).M * np.outer(scale, scale)
    both = np.array([model.masses, model.inertias / model.half_lengths**2])
    low, high = np.linalg.eigvalsh(M)
    assert (
        both.min(axis=0).sum() * (1.0 - 1e-12)
        <= low
        <= high
        <= both.max(axis=0).sum() * (1.0 + 1e-12)
    )


@SETTINGS
@given(st.integers(2, 40), SEEDS)
def test_sn3_power_of_the_torques_is_the_rate_of_the_kinetic_energy(n, seed):
    """Along the motion the rate of the energy is the sum over the links of force times speed: no difference quotient."""
    model, state, torques = draw(n, seed)
    rates = forward_dynamics(model, state, torques)
    M = compute_equations(model, state, torques)
    power = torques @ np.diff(rates.theta_dot)
    gained = state.u @ (M.M @ rates.u_dot + M.bias)
    assert gained == pytest.approx(
        power, rel=1e-9, abs=1e-10 * (1.0 + np.abs(rates.theta_dot).max() ** 3)
    )


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(2, 8), SEEDS)
def test_sn11_the_energy_function_stays_whatever_the_snake(n, seed):
    model, state, torques = draw(n, seed)
    start = SnakeState(state.theta, 0.3 * state.u)
    run = compute_reference(
        model,
        start,
        lambda t, _theta, _u: 0.05 * np.cos(3.0 * t) * torques,
        np.array([0.0, 0.1, 0.3]),
        compiled=False,
    )
    assert np.abs(run.work).max() > 1e-6
    assert_allclose(run.energy, run.kinetic[0], rtol=1e-9)


@SETTINGS
@given(st.integers(3, 60), SEEDS)
def test_torques_for_a_wanted_acceleration_give_it(n, seed):
    model, state, _ = draw(n, seed)
    wanted = np.random.default_rng(seed).normal(size=2)
    answer = PreparedInverse(model, compiled=False).tick(state.theta, state.u, wanted)
    assert answer.status == "OK"
    back = PreparedSnake(model, compiled=False).tick(state.theta, state.u, answer.torques).u_dot
    scale = 1.0 + np.abs(compute_link_speeds(model, state)[1]).max() ** 2
    assert_allclose(back, wanted, atol=1e-9 * scale)
    assert_allclose(inverse_dynamics(model, state, wanted).torques, answer.torques)


# the snake in a robot


@pytest.mark.parametrize("n", [1, 2, 9])
def test_a_snake_is_found_again_in_its_urdf(n):
    model, state, _ = draw(n, 3)
    robot = load(model)
    found = find_snake(robot)
    assert_allclose(found.model.masses, model.masses)
    assert_allclose(found.model.inertias, model.inertias)
    if n > 1:
        assert_allclose(found.model.half_lengths, model.half_lengths)
    theta, u, position = found.read(*to_robot_state(model, state), robot.data())
    assert_allclose(np.exp(1j * theta), np.exp(1j * state.theta), atol=1e-14)
    assert_allclose([*u, *position], [*state.u, *state.position], atol=1e-13)


def test_the_snake_of_the_catalogue_is_the_one_of_the_paper():
    robot = load_robot("snake5")
    found, paper = find_snake(robot), SnakeModel.uniform(5)
    for name in ("masses", "inertias", "half_lengths"):
        assert_allclose(getattr(found.model, name), getattr(paper, name))
    assert_allclose(
        found.read(robot.posture, np.zeros(7), robot.data())[0],
        np.pi / 6 * np.array([-1, 1, -1, 1, -1]),
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("wheel_2", "xyz", [0.05, 0.0, 0.0]),
            "a wheel 0.15 m and 0.05 m from the joints, not halfway: link_2",
        ),
        (("wheel_4", "xyz", [0.05, 0.0, 0.0]), "requires the wheel at the centre of mass: link_4"),
        (("wheel_4", "xyz", [0.1, 0.01, 0.0]), "joints ahead of their wheel"),
        (("wheel_2", "rpy", [0.0, 0.0, 0.3]), "joints ahead of their wheel"),
        (("wheel_3", "link", "link_1"), "revolute joint between consecutive links"),
    ],
)
def test_wheels_that_make_no_snake_are_refused(change, message):
    model = SnakeModel.uniform(4)
    description = build_snake_description(model)
    wheel, key, value = change
    description["wheels"][wheel][key] = value
    del description["name"]
    with pytest.raises(UnsupportedRobotError, match=message):
        find_snake(
            load_robot(build_snake_urdf(model), description=read_description(description, "snake"))
        )


def test_a_robot_without_wheels_is_no_snake():
    with pytest.raises(UnsupportedRobotError, match="a robot without wheels: fourbar"):
        find_snake(load_robot("fourbar"))
