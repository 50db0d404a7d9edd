# SPDX-License-Identifier: Apache-2.0
"""What is asked in a wrong way: other kinds of numbers, times that run back, laws that do not fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake import (
    PreparedInverse,
    PreparedSnake,
    SerpentineGait,
    SnakeModel,
    SnakeState,
    compute_reference,
    compute_slip_margins,
    inverse_dynamics,
    simulate_snake,
)

MODEL = SnakeModel.uniform(4)
STATE = SnakeState([0.0, 1.0, -1.0, 2.0], [1.0, -2.0])


def silent(_t, _theta, _u):
    return np.zeros(3)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", [np.int64, np.float32])
def test_whole_numbers_and_single_precision_give_the_answer_of_double_precision(kind, compiled):
    theta, u, torques = STATE.theta.copy(), STATE.u.copy(), np.array([1.0, -1.0, 2.0])
    snake, inverse = (
        PreparedSnake(MODEL, compiled=compiled),
        PreparedInverse(MODEL, compiled=compiled),
    )
    expected, wanted = snake.tick(theta, u, torques).rates, inverse.tick(theta, u, u).torques
    made = [len(getattr(tool._kernel, "signatures", ())) for tool in (snake, inverse)]
    assert np.abs(expected).max() > 1.0
    assert_allclose(
        snake.tick(theta.astype(kind), u.astype(kind), torques.astype(kind)).rates,
        expected,
        rtol=1e-12,
    )
    assert_allclose(
        inverse.tick(theta.astype(kind), u.astype(kind), u.astype(kind)).torques,
        wanted,
        rtol=1e-12,
        atol=1e-14,
    )
    assert [len(getattr(tool._kernel, "signatures", ())) for tool in (snake, inverse)] == made, (
        "no kernel was compiled for other numbers"
    )


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([], "times"),
        ([2.0, 1.0], "increasing"),
        ([-1.0, 1.0], "none before zero"),
        ([0.0], "above it"),
    ],
)
def test_times_that_do_not_increase_from_zero_are_refused(times, said):
    with pytest.raises(ShapeError, match=said):
        compute_reference(MODEL, STATE, silent, np.array(times))


def test_a_law_that_gives_no_numbers_ends_at_once_with_a_status():
    for run in (
        compute_reference(
            MODEL, STATE, lambda _t, _theta, _u: np.full(3, np.nan), [0.0, 1.0], compiled=False
        ),
        simulate_snake(
            MODEL, STATE, lambda _t, _theta, _u: np.full(3, np.nan), duration=0.01, compiled=False
        ),
    ):
        assert (run.status, run.t.tolist()) == ("DIVERGED", [0.0])
        assert_allclose(run.theta[0], STATE.theta)


@pytest.mark.parametrize(
    "law", [lambda _t, _theta, _u: np.zeros(2), lambda _t, _theta, _u: [0.0, 0.0, 0.0]]
)
def test_laws_that_do_not_fit_are_refused(law):
    for ask in (
        lambda: compute_reference(MODEL, STATE, law, [0.0, 1.0], compiled=False),
        lambda: simulate_snake(MODEL, STATE, law, duration=0.01, compiled=False),
    ):
        with pytest.raises(ShapeError, match=r"law: received .* expected array of shape \(3,\)"):
            ask()


def test_numbers_that_make_no_sense_are_refused():
    for name, ask in {
        "duration": lambda: simulate_snake(MODEL, STATE, silent, duration=np.nan),
        "dtype": lambda: simulate_snake(MODEL, STATE, silent, duration=0.01, dtype=np.int64),
        "damping": lambda: inverse_dynamics(MODEL, STATE, [0.0, 1.0], damping=-1.0),
        "friction": lambda: compute_slip_margins(MODEL, np.zeros(4), -0.1),
        "swing": lambda: SerpentineGait(swing=np.nan),
        "speed": lambda: SerpentineGait(speed=np.inf),
    }.items():
        with pytest.raises(ShapeError, match=name):
            ask()
    with pytest.raises(ShapeError, match="damping"):
        PreparedInverse(MODEL, damping=np.nan)
