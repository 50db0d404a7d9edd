# SPDX-License-Identifier: Apache-2.0
"""Simulation, counting and the experiment as data."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.papers.snake import (
    SnakeModel,
    SnakeState,
    build_paper_state,
    build_paper_torques,
    compute_reference,
    experiment,
    simulate_snake,
)
from humanoid_dynamics.papers.snake.counts import measure_operations, sum_paper_steps
from humanoid_dynamics.papers.snake.operations import Counter, Operations


def rest(_t, _theta, _u):
    return np.zeros(3)


def test_fixed_steps_converge_with_the_fourth_power():
    model, start, law = SnakeModel.uniform(4), build_paper_state(4), build_paper_torques(4)
    exact = compute_reference(model, start, law, np.array([0.5]), compiled=False).theta[-1]
    errors = [
        np.abs(
            simulate_snake(model, start, law, duration=0.5, dt=dt, compiled=False).theta[-1] - exact
        ).max()
        for dt in (0.02, 0.01, 0.005)
    ]
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 4.0, atol=0.3)


@pytest.mark.parametrize("mode", ["paper", "lagrange", "newton_euler"])
def test_all_modes_draw_the_same_motion(mode):
    model, start, law = (
        SnakeModel.uniform(4),
        SnakeState(0.3 * np.arange(4.0), [0.5, 1.0]),
        build_paper_torques(4),
    )
    ours, theirs = (
        simulate_snake(model, start, law, duration=0.2, dt=2e-3, mode=m, compiled=False)
        for m in ("linear", mode)
    )
    for name in ("theta", "u", "position", "kinetic", "work"):
        assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-8, atol=1e-9)
    assert theirs.slip.max() < 1e-8


def test_a_snake_without_torques_keeps_its_energy():
    model = SnakeModel.uniform(4)
    run = simulate_snake(
        model, SnakeState([0.0, 0.5, -0.4, 0.3], [0.5, 1.0]), rest, duration=1.0, compiled=False
    )
    assert_allclose(run.energy, run.energy[0], rtol=1e-9)
    assert_allclose(run.work, 0.0)
    assert_allclose(run.state(0).theta, [0.0, 0.5, -0.4, 0.3])


def test_a_diverging_motion_ends_before_the_first_bad_number():
    model = SnakeModel.uniform(4)

    def law(t, _theta, _u):
        return np.full(3, np.inf if t > 0.05 else 0.1)

    run = simulate_snake(model, build_paper_state(4), law, duration=0.2, dt=0.01, compiled=False)
    assert run.status == "DIVERGED"
    assert 3 < run.t.size < 10
    assert np.isfinite(run.theta).all()


@pytest.mark.parametrize(("duration", "dt"), [(1.0, 0.0), (0.0, 0.1), (-1.0, 0.1)])
def test_no_step_is_refused(duration, dt):
    with pytest.raises(ShapeError, match=r"duration, dt: received .* expected positive numbers"):
        simulate_snake(SnakeModel.uniform(4), build_paper_state(4), rest, duration=duration, dt=dt)


def test_thirty_links_run_faster_than_the_clock_at_a_kilohertz():
    model, start, law = SnakeModel.uniform(30), build_paper_state(30), build_paper_torques(30)
    best = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        simulate_snake(model, start, law, duration=0.2, dt=1e-3)
        best = min(best, time.perf_counter() - begin)
    assert best < 0.2


# counting


def test_counting_numbers_count_and_compute():
    counter = Counter()
    a, b = counter.array([3.0, 2.0])
    assert float((a * b + 1.0) / b - a) == 0.5
    assert tuple(counter.read()) == (2, 2)
    assert tuple(counter.read()) == (0, 0)
    assert float(2.0 / b - -a) == 4.0
    assert float(1.0 - b) == -1.0
    assert counter.read() == Operations(1, 2)
    assert Operations(1, 2).total == 3


def test_structure_is_free_only_where_asked():
    for skip, expected in ((False, (4, 2)), (True, (0, 0))):
        counter = Counter(skip_structure=skip)
        a = counter.array(3.0)
        values = [a * 0, 1 * a, a / 1, 0 / a, a + 0, 0 - a]
        assert [float(value) for value in values] == [0.0, 3.0, 3.0, 0.0, 3.0, -3.0]
        assert tuple(counter.read()) == expected


def test_unknown_methods_are_refused():
    with pytest.raises(UnknownNameError, match="no method named 'gauss'"):
        sum_paper_steps("gauss")
    with pytest.raises(UnknownNameError, match="no mode named 'gauss'"):
        measure_operations("gauss", 3)


# experiment


def test_experiment_is_a_table_of_everything():
    data = experiment.SnakeExperiment(
        experiment.compare_operations((2, 3)),
        experiment.compare_times((2, 3), 0.0, ways=(False,)),
        experiment.compare_precision((3,), duration=0.02, dt=2e-3),
    )
    assert {(row.mode, row.n) for row in data.counts} == {
        (m, n) for m in ("linear", "paper", "lagrange", "newton_euler") for n in (2, 3)
    }
    assert next(row.printed for row in data.counts if (row.mode, row.n) == ("paper", 3)) == (
        192,
        72,
    )
    assert next(row.recomputed for row in data.counts if row.mode == "linear") is None
    assert data.ratio("lagrange", "paper", compiled=False).keys() == {2, 3}
    assert data.ratio("lagrange", "paper", compiled=True) == {}
    assert [row.mode for row in data.precision] == ["linear", "lagrange"]
    for row in data.precision:
        assert row.energy_error[0] < row.energy_error[1]
