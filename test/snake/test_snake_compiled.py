# SPDX-License-Identifier: Apache-2.0
"""The same lines interpreted and compiled, in either precision."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake import (
    MODES,
    PreparedInverse,
    PreparedSnake,
    SnakeModel,
    passes,
    unfolded,
)
from humanoid_dynamics.papers.snake.dynamics import select_kernel
from humanoid_dynamics.papers.snake.passes import FAR, turn

ROOT = Path(__file__).parents[2]


def draw(n):
    rng = np.random.default_rng(n)
    model = SnakeModel(
        rng.uniform(0.5, 2.0, n), rng.uniform(0.002, 0.02, n), rng.uniform(0.05, 0.2, n)
    )
    return model, rng.uniform(-3.0, 3.0, n), rng.normal(size=2), rng.normal(size=n - 1)


@pytest.mark.parametrize("n", [1, 2, 3, 12, 300])
def test_compiled_and_interpreted_kernel_agree(n):
    model, theta, u, torques = draw(n)
    interpreted, fast = (
        PreparedSnake(model, compiled=way).tick(theta, u, torques).rates for way in (False, True)
    )
    assert_allclose(fast, interpreted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("mode", MODES[1:])
def test_compiled_and_interpreted_comparators_agree(mode):
    model, theta, u, torques = draw(6)
    interpreted, fast = (
        PreparedSnake(model, mode, compiled=way).tick(theta, u, torques).rates
        for way in (False, True)
    )
    assert_allclose(fast, interpreted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_single_precision_stays_single(is_compiled):
    model, theta, u, torques = draw(8)
    arrays = [array.astype(np.float32) for array in (theta, u, torques, *model.tables)]
    single = select_kernel(unfolded.forward, is_compiled)(*arrays)
    double = unfolded.forward(theta, u, torques, *model.tables)
    assert single.dtype == np.float32
    assert_allclose(single, double, rtol=1e-3, atol=1e-3)
    assert np.abs(single - double).max() > 1e-8


@pytest.mark.parametrize("reach", [1.0, 100.0, 0.5 * FAR, 1e9])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_one_pass_makes_the_same_cosines(reach, is_compiled):
    angles = np.random.default_rng(1).uniform(-reach, reach, 5000 if is_compiled else 500)
    angles[:9] = np.pi / 4.0 * np.arange(-4, 5)
    ours = select_kernel(turn, is_compiled)(angles)
    for one, other in zip(ours, (np.cos(angles), np.sin(angles)), strict=True):
        assert_allclose(one, other, rtol=0.0, atol=2.3e-16)


def test_one_pass_answers_not_a_number_with_not_a_number():
    c, z = turn(np.array([0.0, np.nan]))
    assert (c[0], z[0]) == (1.0, 0.0)
    assert np.isnan([c[1], z[1]]).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_compiled_loop_gets_a_status_too(value):
    model, theta, _, torques = draw(5)
    assert (
        PreparedSnake(model, compiled=True).tick(theta, np.array([value, value]), torques).status
        == "INVALID_INPUT"
    )


def test_import_brings_neither_numba_nor_a_plotter():
    code = "import sys, humanoid_dynamics.papers.snake; print([m for m in ('numba', 'matplotlib', 'rclpy') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("mode", MODES)
def test_any_number_that_is_none_is_found_in_any_place(n, mode):
    """Also where it does not reach the accelerations, such as the angle of a single link."""
    snake, rng = (
        PreparedSnake(SnakeModel.uniform(n), mode, compiled=False),
        np.random.default_rng(n),
    )
    for place in range(2 * n + 1):
        state = rng.normal(size=2 * n + 1)
        assert snake.tick(*np.split(state, (n, n + 2))).status == "OK"
        state[place] = np.nan
        broken = snake.tick(*np.split(state, (n, n + 2)))
        assert broken.status == "INVALID_INPUT"
        assert np.isfinite(broken.rates).all()


@pytest.mark.parametrize("n", [1, 2, 3, 12, 300])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_compiled_and_interpreted_inverse_agree(n, damping):
    model, theta, u, _ = draw(n)
    interpreted, fast = (
        PreparedInverse(model, damping, compiled=way).tick(theta, u, np.array([0.7, -1.3]))
        for way in (False, True)
    )
    assert_allclose(fast.torques, interpreted.torques, rtol=1e-10, atol=1e-10)
    assert (fast.status, fast.reason) == (interpreted.status, interpreted.reason)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_inverse_in_a_loop_gets_a_status_and_refuses_shapes(is_compiled):
    snake = PreparedInverse(SnakeModel.uniform(4), compiled=is_compiled)
    answer = snake.tick(np.zeros(4), np.array([np.nan, 0.0]), np.ones(2))
    assert answer.status == "INVALID_INPUT"
    assert_allclose(answer.torques, 0.0)
    with pytest.raises(
        ShapeError, match=r"theta, u, u_dot: received shapes .* expected \(\(4,\), \(2,\), \(2,\)\)"
    ):
        snake.tick(np.zeros(3), np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_passes_equal_the_sums_they_stand_for(n, dtype):
    rng = np.random.default_rng(n)
    rows = rng.uniform(-1.0, 1.0, (5, n - 1)).astype(dtype)
    c, z, a, torques, x = (
        rng.normal(size=size).astype(dtype) for size in (n - 1, n - 1, n - 1, n - 1, n)
    )
    d, Q = rows[4] * z, np.sum(a * rows[4] * z * z)
    sums = np.array(
        [
            np.sum(d * z),
            np.sum(d * c),
            np.sum(a * d * c),
            np.sum(a * rows[2]) + Q,
            np.sum(a * rows[3]) - Q,
        ]
    )
    net = rows[1] * (torques - np.append(torques[1:], dtype(0))[: n - 1])
    force = np.array([np.sum(z * net), np.sum(c * net) - 3.0 * np.sum(torques[:1])])
    cases = (
        (passes.add_up(rows[0], x), np.cumsum(rows[0] * np.diff(x))),
        (passes.weigh(c, z, a, rows), sums),
        (passes.press(c, z, torques, rows[1], dtype(3.0)), force),
    )
    for ours, theirs in cases:
        assert np.asarray(ours).dtype == dtype
        assert_allclose(ours, theirs, atol=50 * n * np.finfo(dtype).eps)
