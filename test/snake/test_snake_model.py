# SPDX-License-Identifier: Apache-2.0
"""What the door of the snake refuses, and what its values promise."""

import numpy as np
import pytest

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.papers.snake import (
    PreparedSnake,
    SnakeModel,
    SnakeState,
    compute_equations,
    compute_link_positions,
    forward_dynamics,
    simulate_snake,
)


def test_uniform_snake_is_the_paper_s():
    model = SnakeModel.uniform(3)
    assert model.n == 3
    np.testing.assert_array_equal(model.masses, 1.0)
    np.testing.assert_array_equal(model.inertias, 0.005)
    np.testing.assert_array_equal(model.half_lengths, 0.1)


@pytest.mark.parametrize(
    ("masses", "inertias", "half_lengths", "message"),
    [
        ([], [], [], "masses: received no link"),
        ([1.0, 1.0], [0.1], [0.1, 0.1], r"inertias: received shape \(1,\), expected \(2,\)"),
        (
            [1.0, -1.0],
            [0.1, 0.1],
            [0.1, 0.1],
            "masses: received -1.0 at index 1, expected positive numbers",
        ),
        ([1.0, 1.0], [0.1, 0.0], [0.1, 0.1], "inertias: received 0.0 at index 1"),
        (
            [1.0, 1.0],
            [0.1, 0.1],
            [np.nan, 0.1],
            "half_lengths: received nan at index 0, expected finite",
        ),
    ],
)
def test_impossible_links_are_refused(masses, inertias, half_lengths, message):
    with pytest.raises(ShapeError, match=message):
        SnakeModel(np.array(masses), np.array(inertias), np.array(half_lengths))


def test_impossible_numbers_of_links_are_refused():
    with pytest.raises(
        ShapeError, match="n: received 0, expected a whole number, at least one link"
    ):
        SnakeModel.uniform(0)
    with pytest.raises(ShapeError, match=r"n: received 2\.5, expected a whole number"):
        SnakeModel.uniform(2.5)


def test_values_are_read_only_copies():
    masses = np.ones(2)
    model = SnakeModel(masses, np.ones(2), np.ones(2))
    masses[0] = 7.0
    assert model.masses[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        model.masses[0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        SnakeState([0.0, 0.0], [0.0, 0.0]).theta[0] = 1.0


def test_a_state_of_another_snake_is_refused():
    with pytest.raises(ShapeError, match=r"state.theta: received shape \(2,\), expected \(3,\)"):
        forward_dynamics(SnakeModel.uniform(3), SnakeState([0.0, 0.0], [0.0, 0.0]), [0.0, 0.0])


def test_torques_that_do_not_fit_are_refused():
    model, state = SnakeModel.uniform(3), SnakeState(np.zeros(3), np.zeros(2))
    with pytest.raises(ShapeError, match="torques"):
        forward_dynamics(model, state, [0.0])
    with pytest.raises(ShapeError, match="torques: received nan"):
        forward_dynamics(model, state, [0.0, np.nan])


def test_unknown_modes_are_refused_with_the_known_ones():
    model, state = SnakeModel.uniform(2), SnakeState(np.zeros(2), np.zeros(2))
    with pytest.raises(UnknownNameError, match=r"no mode named 'liner'. Did you mean 'linear'\?"):
        PreparedSnake(model, "liner")
    with pytest.raises(UnknownNameError, match="no mode of Kane's equations named 'lagrange'"):
        compute_equations(model, state, [0.0], "lagrange")
    with pytest.raises(UnknownNameError, match="no mode named 'euler'"):
        simulate_snake(model, state, lambda _t, _theta, _u: np.zeros(1), duration=0.1, mode="euler")


def test_a_loop_gets_a_status_instead_of_an_exception():
    snake = PreparedSnake(SnakeModel.uniform(4), compiled=False)
    theta, u = np.zeros(4), np.zeros(2)
    rates = snake.tick(theta, u, np.array([0.0, np.nan, 0.0]))
    assert (rates.status, rates.reason) == ("INVALID_INPUT", "not finite: torques")
    np.testing.assert_array_equal(rates.rates, 0.0)
    assert (
        snake.tick(np.array([0.0, np.inf, 0.0, 0.0]), u, np.zeros(3)).reason == "not finite: theta"
    )
    assert (
        snake.tick(np.arange(4.0), np.array([1e200, 1e200]), np.zeros(3)).reason
        == "the accelerations overflow"
    )


def test_a_loop_still_refuses_wrong_shapes():
    with pytest.raises(
        ShapeError,
        match=r"theta, u, torques: received shapes .* expected \(\(4,\), \(2,\), \(3,\)\)",
    ):
        PreparedSnake(SnakeModel.uniform(4), compiled=False).tick(
            np.zeros(3), np.zeros(2), np.zeros(3)
        )


def test_links_hang_end_to_end():
    model = SnakeModel(np.ones(3), np.ones(3), np.array([0.1, 0.2, 0.3]))
    positions = compute_link_positions(
        model, SnakeState([0.0, np.pi / 2.0, 0.0], [0.0, 0.0], [1.0, 2.0])
    )
    np.testing.assert_allclose(positions, [[1.0, 2.0], [1.1, 2.2], [1.4, 2.4]], atol=1e-15)
