# SPDX-License-Identifier: Apache-2.0
"""A step that takes the energy from nowhere out of what a run may miss says so, and no other does."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.audit.setting import build_body, build_state
from humanoid_dynamics.simulation.balance import ENERGY, NONE, sum_energy
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World


def whirl(dt, seconds):
    """Let a limp figure whirl its limbs without weight; return statuses, and whether the energy of the run is kept at its end."""
    robot = hd.load_robot("human28")
    rng, v = np.random.default_rng(1), np.zeros(robot.nv)
    v[6:], v[:6] = rng.uniform(-10.0, 10.0, robot.nv - 6), rng.uniform(-2.0, 2.0, 6)
    world = World(
        robot, Setup(gravity=(0.0, 0.0, 0.0), compiled=False), hd.State(np.array(robot.posture), v)
    )
    reports = [world.step(dt) for _ in range(round(seconds / dt))]
    return [report.status for report in reports], abs(world.books.missing) <= ENERGY * sum_energy(
        world.books
    )


def test_long_steps_of_wild_limbs_are_unbalanced_where_the_energy_of_the_run_is_not_kept():
    statuses, kept = whirl(2e-2, 0.6)
    assert not kept
    assert "UNBALANCED" in statuses
    statuses, kept = whirl(1e-3, 0.6)
    assert kept
    assert set(statuses) == {"OK"}


def test_the_step_that_takes_it_out_says_so_and_those_after_it_do_not():
    world = World(
        build_body(2.0, (0.1, 0.2, 0.25)),
        Setup(),
        build_state(z=1.0, v=(0.3, 0.0, 2.0, 0.4, 0.0, 0.0)),
    )
    assert world.step(1e-3).status == "OK"
    world.books.enter("motors", 1.0)
    report = world.step(1e-3)
    assert report.status == "UNBALANCED"
    assert report.reason.startswith(
        "energy error of -1.0e+00 J in the step, -1.0e+00 J since the start: more than 0.001 of the "
    )
    assert world.step(1e-3).status == "OK"


@pytest.mark.parametrize("compiled", [False, None])
def test_what_starts_with_no_energy_is_balanced(compiled):
    falling = World(build_body(2.0, (0.1, 0.2, 0.25)), Setup(compiled=compiled), build_state())
    robot = hd.load_robot("human28")
    q = np.array(robot.posture)
    limp = World(robot, Setup(compiled=compiled), hd.State(q, np.zeros(robot.nv)))
    q[2] -= limp.books.start / (9.81 * robot.mass)
    limp.set_state(hd.State(q, np.zeros(robot.nv)))
    for world in (falling, limp):
        assert abs(world.books.start) < NONE
        assert {world.step(1e-3).status for _ in range(250)} == {"OK"}
