# SPDX-License-Identifier: Apache-2.0
"""Calm steps of arrays, taken in one go where bodies stand, are those that go through all phases, and nothing but standing is calm."""

from dataclasses import replace

import numpy as np
import pytest
from scenes import list_numbers

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.steps.rows import M_P, M_U
from humanoid_dynamics.simulation.steps.step_kernel import DEEP, UNDONE
from humanoid_dynamics.simulation.world import World

DT = 1e-3
STIFFNESS, DAMPING = 8000.0, 150.0


def build_standing(**changes):
    robot = hd.load_robot("human28")
    setup = Setup(
        terrain=(build_plane(),),
        drive=build_drive(robot, STIFFNESS, DAMPING),
        compiled=False,
        limits=False,
    )
    return World(robot, replace(setup, **changes))


def watch(world):
    """Return a list that grows by what became of every attempt at a calm step."""
    engine, came = world._stepper.engine, []
    leap = engine.leap
    engine.leap = lambda *given: came.append(leap(*given)) or came[-1]
    return came


def run_both(steps, act=lambda world, k: None, **changes):
    """Run one world that may take calm steps, and one in which somebody looks in between all phases; return what became of the attempts."""
    calm, phased = build_standing(**changes), build_standing(**changes)
    phased.add_hook("after_terms", lambda world: None)
    came, none = watch(calm), watch(phased)
    for k in range(steps):
        reports = []
        for world in (calm, phased):
            act(world, k)
            reports.append(world.step(DT))
        np.testing.assert_allclose(*map(list_numbers, reports), atol=1e-9)
    assert not none
    np.testing.assert_allclose(calm.q, phased.q, atol=1e-9)
    np.testing.assert_allclose(calm.v, phased.v, atol=1e-8)
    np.testing.assert_allclose(calm.point_forces(), phased.point_forces(), atol=1e-4)
    for entry, work in calm.books.work.items():
        assert work == pytest.approx(phased.books.work[entry], abs=1e-8)
    np.testing.assert_allclose(calm.tables.memory, phased.tables.memory, atol=1e-7)
    return np.array(came) != UNDONE


@pytest.mark.parametrize("points", ["surfaces", "body"])
def test_standing_is_calm(points):
    taken = run_both(120, points=points)
    assert taken[-60:].all()


def test_friction_and_damping_of_joints_are_those_of_all_phases():
    robot = hd.load_robot("human28")
    rough = replace(robot, damping=np.full(robot.nv, 0.3), friction=np.full(robot.nv, 0.2))
    setup = Setup(
        terrain=(build_plane(),), drive=build_drive(rough, STIFFNESS, DAMPING), compiled=False
    )
    calm, phased = World(rough, setup), World(rough, setup)
    phased.add_hook("after_terms", lambda world: None)
    came = watch(calm)
    for _ in range(100):
        calm.step(DT)
        phased.step(DT)
    assert np.count_nonzero(came) > 30
    np.testing.assert_allclose(calm.v, phased.v, atol=1e-8)
    assert calm.books.work == pytest.approx(phased.books.work, abs=1e-8)


def test_pushed_until_it_slides_and_stands_again():
    def push(world, k):
        if k == 60:
            world.push("pelvis", (400.0, 0.0, 0.0), 0.03)

    taken = run_both(300, push)
    lost = np.flatnonzero(~taken)
    assert taken[1:50].all()  # the very first impulses are found in two passes
    assert len(lost) > 5
    assert np.count_nonzero(taken[lost[0] :]) > 50


def test_steps_of_another_length_and_new_velocities_are_not_calm():
    world = build_standing()
    for _ in range(60):
        world.step(DT)
    came = watch(world)
    world.step(DT)
    world.step(0.5 * DT)
    world.set_velocity(np.zeros(world.robot.nv))
    world.step(0.5 * DT)
    assert came[0] != UNDONE
    assert not any(came[1:])


def test_going_back_repeats_every_bit():
    world = build_standing()
    for _ in range(60):
        world.step(DT)
    start, traces = world.keep(), []
    for _ in range(2):
        world.try_step(3e-3)  # of another length, which is not to be remembered
        world.restore(start)
        came = watch(world)
        for _ in range(20):
            world.step(DT)
        assert all(came)
        traces.append(np.concatenate((world.q, world.v, world.point_forces().ravel())))
    np.testing.assert_array_equal(*traces)


def test_the_paper_and_more_than_a_plane_are_left_to_the_phases():
    assert not run_both(40, contact="paper").any()
    assert not run_both(40, terrain=(build_plane(), build_plane(-1.0, name="below"))).any()


def test_what_stands_too_deep_is_pushed_out():
    world = build_standing()
    for _ in range(5):
        world.step(DT)
    world._stepper.q[2] -= 5e-5
    came = watch(world)
    depths = [world.step(DT).depth for _ in range(20)]
    assert DEEP in came
    assert depths[-1] < 0.5 * depths[0]


def test_what_somebody_wrote_into_the_memory_counts():
    def write(world, k):
        if k == 80:
            world.tables.memory[:, M_U:M_P] = 1e-4

    assert run_both(90, act=write)[75:].all()
