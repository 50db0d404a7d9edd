# SPDX-License-Identifier: Apache-2.0
"""Restitution: what bounces comes back with the share of its speed that was asked for, and no bounce creates energy."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.audit.setting import build_body, build_state
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World

WEIGHTLESS = (0.0, 0.0, 0.0)


def hit(world):
    """Step until something hits."""
    for _ in range(20):
        if world.step(1e-3).impacts:
            return world
    raise AssertionError


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("e", [0.95, 1.0])
def test_a_ball_comes_back_with_its_restitution_from_every_speed(e, compiled):
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    ball = (TouchPoint("ball", "body", np.zeros(3), 0.1, 0.3, e),)
    for mass in (0.5, 1.3):
        setup = Setup(terrain=(build_plane(),), points=ball, gravity=WEIGHTLESS, compiled=compiled)
        for speed in np.linspace(1.0, 5.0, 9):
            world = hit(
                World(
                    build_body(mass, (2e-3,) * 3),
                    setup,
                    build_state(z=0.1 + 1e-3 * speed, v=(0.0, 0.0, -speed, 0.0, 0.0, 0.0)),
                )
            )
            assert world.v[2] == pytest.approx(e * speed, rel=1e-8)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("angle", "friction"), [(0.3, 0.3), (0.6, 0.3), (0.9, 1.0)])
def test_a_rod_with_friction_bounces_as_far_as_no_energy_comes_from_nowhere(
    angle, friction, compiled
):
    """Newton's restitution creates energy here; nearly all of it is left that need not."""
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    end, R = np.array([0.0, 0.0, -0.5]), pin.exp3(np.array([0.0, angle, 0.0]))
    state = hd.State(
        np.r_[[0.0, 0.0, 1e-3] - R @ end, pin.Quaternion(R).coeffs()],
        np.r_[R.T @ np.array([1.0, 0.0, -2.0]), 0.0, 0.0, 0.0],
    )
    tip = (TouchPoint("tip", "body", end, 0.0, friction, 0.95),)
    setup = Setup(terrain=(build_plane(),), points=tip, gravity=WEIGHTLESS, compiled=compiled)
    world = hit(World(build_body(3.0, (0.25, 0.25, 0.01)), setup, state))
    after = pin.Quaternion(world.q[3:7]).matrix() @ (world.v[:3] + np.cross(world.v[3:], end))
    assert -0.1 < world.books.work["impacts"] <= 0.0
    assert 1.5 < after[2] < 1.89
