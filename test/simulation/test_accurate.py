# SPDX-License-Identifier: Apache-2.0
"""The accurate integrator, drives at their limits, bodies that collide, and going back in time."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.dynamics.impact import project_velocity
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.simulation.audit.motions import build_body
from humanoid_dynamics.simulation.contacts.moving_shapes import MovingShape
from humanoid_dynamics.simulation.contacts.terrain import build_ball, build_plane
from humanoid_dynamics.simulation.contacts.thresholds import WILD
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.fine_motion import fly
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.steps.kept_energy import keep_energy
from humanoid_dynamics.simulation.steps.rows import PULL, SAG, V_END
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.joining import join


def swing(integrator):
    scene = load_scene("swing")
    return build_world(replace(scene, setup=replace(scene.setup, integrator=integrator)))


def kinetic(world):
    return pin.computeKineticEnergy(world.robot.model, world.robot.data(), world.q, world.v)


@pytest.mark.parametrize(("integrator", "share"), [("fast", 1e-3), ("accurate", 1e-6)])
def test_a_closed_chain_keeps_its_energy(integrator, share):
    world, largest, closure, missing = swing(integrator), 0.0, 0.0, 0.0
    for _ in range(800):
        report = world.step(1e-3)
        largest, closure, missing = (
            max(largest, kinetic(world)),
            max(closure, report.closure),
            max(missing, abs(report.missing)),
        )
    assert largest > 0.5
    assert missing < share * largest
    assert closure < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "share"), [("fast", 1e-3), ("accurate", 1e-6)])
def test_a_closed_chain_keeps_its_energy_for_ten_seconds(integrator, share):
    world, largest, missing = swing(integrator), 0.0, 0.0
    for _ in range(10_000):
        missing = max(missing, abs(world.step(1e-3).missing))
        largest = max(largest, kinetic(world))
    assert missing < share * largest


def test_what_a_fast_step_of_a_chain_loses_the_next_one_gains():
    world = swing("fast")
    world.set_velocity(
        project_velocity(
            world.mechanism, world.q, 6.0 * np.random.default_rng(2).normal(size=world.robot.nv)
        )
    )
    start = kinetic(world)
    missing = [world.step(1e-3).missing for _ in range(40)]
    assert np.abs(world.v).max() > WILD
    assert max(missing) < 1e-5 * start
    assert abs(missing[-1]) < 2e-5 * start
    kept = world.keep()
    after = [world.step(1e-3).missing for _ in range(3)]
    world.restore(kept)
    assert [world.step(1e-3).missing for _ in range(3)] == after


def test_energy_is_kept_when_rows_take_a_velocity():
    z, bound = np.array([3.0, 4.0, 1e-3]), np.array([3.0, 4.0, 0.0])
    kept = keep_energy(z, bound, 0.0)
    assert kept @ kept == pytest.approx(z @ z, rel=1e-14)
    assert kept @ kept - keep_energy(z, bound, 5e-4) @ keep_energy(z, bound, 5e-4) == pytest.approx(
        1e-3
    )
    assert np.linalg.norm(keep_energy(10.0 * z, bound, 0.0)) < 5.0 * (
        1.0 + 1e-4
    )  # no gift is large
    assert not keep_energy(z, np.zeros(3), 0.0).any()


def test_smooth_motion_is_of_fourth_order():
    scene = load_scene("swing")
    ends = []
    for parts in (4, 8, 16, 64):
        world = build_world(scene)
        terms = world._stepper.engine.terms
        q, v = world.q, world.v
        for _ in range(parts):
            flight = fly(terms, q, v, np.zeros(world.robot.nv), 0.01 / parts)
            q, v = flight.q, flight.v
        ends.append(np.concatenate((v, pin.difference(world.robot.model, world.q, q))))
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) > 3.5


def test_unknown_integrator():
    with pytest.raises(UnknownNameError, match="integrator"):
        World(hd.load_robot("human28"), Setup(integrator="precise"))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_drive_gives_no_more_than_its_motor_can(compiled):
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    human = hd.load_robot("human28")
    target = np.array(human.posture)
    knee, elbow = human.joint("left_knee"), human.joint("left_elbow")
    target[knee.q], target[elbow.q] = 1.9, -1.9
    world = World(
        human,
        Setup(
            gravity=(0, 0, 0),
            limits=False,
            drive=build_drive(human, 5e4, 500.0, target),
            compiled=compiled,
        ),
    )
    effort, cut = np.where(human.limits.effort > 0.0, human.limits.effort, np.inf), 0
    for _ in range(300):
        world.step(1e-3)
        dofs = world.tables.dofs
        torque = dofs[PULL] - dofs[SAG] * dofs[V_END]
        assert (np.abs(torque) <= effort * (1.0 + 1e-8)).all()
        cut += int((np.abs(torque) > effort * (1.0 - 1e-8)).sum())
    assert cut > 20
    assert world.q[knee.q.start] == pytest.approx(1.9, abs=0.05)
    assert abs(world.books.missing) < 0.02 * abs(world.books.work["drive"]) + 0.5


def test_two_balls_collide_as_newton_says():
    first, second = build_body(2.0, (0.01,) * 3), build_body(3.0, (0.01,) * 3)
    robot = join([first, second], ["a", "b"])
    q = np.array([0, 0, 0, 0, 0, 0, 1, 0.5, 0, 0, 0, 0, 0, 1.0])
    v = np.zeros(12)
    v[0], v[6] = 3.0, -1.0
    points = (TouchPoint("a", "a/body", np.zeros(3), 0.1, 0.3, 0.6),)
    shapes = (MovingShape("b/body", build_ball(0.1, restitution=0.4)),)
    world = World(robot, Setup(gravity=(0, 0, 0), points=points, shapes=shapes), hd.State(q, v))
    impacts = sum(world.step(1e-3).impacts for _ in range(200))
    assert impacts == 1
    e, common = 0.6, (2.0 * 3.0 - 3.0 * 1.0) / 5.0
    assert world.v[0] == pytest.approx(common - e * 3.0 / 5.0 * 4.0, rel=1e-7)
    assert world.v[6] == pytest.approx(common + e * 2.0 / 5.0 * 4.0, rel=1e-7)
    assert world.books.work["impacts"] == pytest.approx(-0.5 * (1 - e**2) * 1.2 * 16.0, rel=1e-7)


def test_crates_of_a_scene_stand_on_one_another():
    scene = load_scene("collisions")
    world = build_world(replace(scene, moments=()))
    for _ in range(150):
        report = world.step(1e-3)
        assert report.status == "OK"
    upper = world.robot.joint("upper/root_joint").q
    assert world.q[upper][2] == pytest.approx(0.4, abs=2e-5)


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
def test_a_fast_ball_rolls_without_gaining_energy(dt):
    radius, speed = 0.12, 4.0
    ball = TouchPoint("ball", "body", np.zeros(3), radius, 0.5)
    start = hd.State([0, 0, radius, 0, 0, 0, 1], [speed, 0, 0, 0, speed / radius, 0])
    world = World(
        build_body(5.0, (0.4 * 5.0 * radius**2,) * 3),
        Setup(terrain=(build_plane(),), points=(ball,)),
        start,
    )
    for _ in range(round(0.2 / dt)):
        world.step(dt)
    assert abs(world.books.missing) < 1e-4 * world.books.start * (dt / 1e-3) ** 2
    assert world.q[0] == pytest.approx(0.2 * speed, rel=2e-4)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_tried_step_leaves_no_trace(compiled):
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    scene = load_scene("pushed")
    scene = replace(scene, setup=replace(scene.setup, compiled=compiled))
    worlds = [build_world(scene) for _ in range(2)]
    for world in worlds:  # the first step has none before it
        world.push("torso", (40.0, 0.0, 0.0), 0.02)
    heard = []
    worlds[0].add_hook("after_step", lambda world: heard.append(world.t))
    for k in range(40):
        if k % 5 == 0:
            kept = worlds[0].keep()
            worlds[0].try_step(3e-3)
            worlds[0].restore(kept)
            np.testing.assert_array_equal(worlds[0].tau, worlds[1].tau)
            np.testing.assert_array_equal(worlds[0].tables.dofs, worlds[1].tables.dofs)
        for world in worlds:
            world.step(1e-3)
    np.testing.assert_array_equal(worlds[0].q, worlds[1].q)
    np.testing.assert_array_equal(worlds[0].v, worlds[1].v)
    assert worlds[0].books.work == worlds[1].books.work
    assert len(heard) == 40
