# SPDX-License-Identifier: Apache-2.0
"""What slides and stops, or slides back, does so in time: a step is cut where dry friction turns around."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.audit.motions import sliding
from humanoid_dynamics.simulation.audit.setting import GRAVITY, build_crate, list_corners
from humanoid_dynamics.simulation.contacts.slides import find_stop, find_stops
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.rows import M_U, MEMORY_COLUMNS, N_AXES, NEAR_COLUMNS
from humanoid_dynamics.simulation.world import World

SIZE, SPEED, BACK = (0.3, 0.2, 0.1), 0.4, 0.1


def build_sliding(slope, friction, *, compiled=False, speed=SPEED):
    """Return a world with a crate on a slope, its velocity along it, and the direction up."""
    R = pin.exp3(np.array([0.0, -slope, 0.0]))
    q = np.concatenate((R @ np.array([0.0, 0.0, SIZE[2] / 2]), pin.Quaternion(R).coeffs()))
    setup = Setup(
        terrain=(build_plane(slope=slope),), points=list_corners(SIZE, friction), compiled=compiled
    )
    return World(
        build_crate(3.0, SIZE), setup, State(q, np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0]))
    ), R[:, 0]


def measure_errors(dt, slope, friction, *, compiled):
    """Return by how much place and velocity miss the exact ones a while after a crate turned around, and energy from nowhere."""
    world, up = build_sliding(slope, friction, compiled=compiled)
    weight, grip = GRAVITY * np.sin(slope), GRAVITY * friction * np.cos(slope)
    top, back = SPEED / (weight + grip), max(0.0, weight - grip)
    while world.t < top + BACK:
        world.step(dt)
    since = world.t - top
    place, velocity = 0.5 * SPEED * top - 0.5 * back * since**2, -back * since
    return world.q[:3] @ up - place, world.v[0] - velocity, world.books.missing


@pytest.mark.parametrize(("slope", "friction"), [(0.5, 0.3), (0.3, 0.1), (0.7, 0.7), (0.2, 0.6)])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_crate_turns_around_on_a_slope_when_it_should(slope, friction, compiled):
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    for dt in (4e-3, 2e-3, 1e-3):
        np.testing.assert_allclose(
            measure_errors(dt, slope, friction, compiled=compiled), 0.0, atol=1e-9
        )


@pytest.mark.parametrize(("friction", "speed"), [(0.4, 0.8), (0.17, 0.5)])
def test_a_crate_slides_to_a_stop_where_it_should(friction, speed):
    for dt in (4e-3, 2e-3, 1e-3):
        way, heat, left = sliding(dt, friction=friction, speed=speed)
        assert way.error < 1e-8
        assert heat.error < 1e-8
        assert left.measured < 1e-12


def test_a_step_is_cut_once_where_a_slide_ends_and_no_other():
    world, _ = build_sliding(0.5, 0.3)
    passed = []
    world.add_hook("after_forces", lambda world: passed.append(world.t))
    while world.t < 0.2:
        world.step(1e-3)
    times, counts = np.unique(passed, return_counts=True)
    assert counts.max() == 2
    np.testing.assert_allclose(
        times[counts == 2],
        [0.001 * np.floor(1e3 * SPEED / (GRAVITY * (np.sin(0.5) + 0.3 * np.cos(0.5))))],
    )


def test_what_creeps_and_what_vibrates_is_not_cut():
    u = np.array([[1e-6, 0.0], [1e-3, 0.0]])
    assert find_stops(np.array([[2e-6, 0.0], [-1e-3, 0.0]]), u, 1e-3) == 0.0


def test_stops_of_points_are_those_of_arrays():
    rng = np.random.default_rng(3)
    after = 0.1 * rng.normal(size=(40, 3))
    before = after * rng.uniform(0.0, 3.0, (40, 1)) + 0.05 * rng.normal(size=(40, 3))
    times, near = [], np.zeros(NEAR_COLUMNS)
    near[N_AXES : N_AXES + 9] = np.eye(3)[[2, 0, 1]].ravel()
    for old, u in zip(before, after, strict=True):
        kept = np.zeros(MEMORY_COLUMNS)
        kept[M_U : M_U + 3] = u
        times.append(find_stop(kept, tuple(old), near, 0.1))
        assert find_stops(old[None, :2], u[None, :2], 0.1) == pytest.approx(times[-1])
    stopping = np.array(times)[np.array(times) > 0.0]
    assert len(stopping) > 5
    assert find_stops(before[:, :2], after[:, :2], 0.1) == pytest.approx(stopping.min())
    assert find_stops(np.array([[0.3, 0.0]]), np.array([[0.1, 0.0]]), 0.1) == pytest.approx(0.05)
