# SPDX-License-Identifier: Apache-2.0
"""A world that is copied, or goes to another process and back, goes on as the one it was copied from, bit by bit, and by itself."""

import copy
import multiprocessing
import pickle
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.joint_forces import build_drive
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Cut

WAYS = {"deepcopy": copy.deepcopy, "pickle": lambda world: pickle.loads(pickle.dumps(world))}


def build_pushed(compiled):
    robot = hd.load_robot("human28")
    drive = build_drive(robot, 3000.0, 60.0)
    world = World(
        robot, Setup(terrain=(build_plane(),), points="body", drive=drive, compiled=compiled)
    )
    world.push("torso", (150.0, 20.0, 0.0), 0.3)
    return world


def build_limp(compiled):
    robot = hd.load_robot("human28")
    v = np.random.default_rng(2).normal(size=robot.nv)
    return World(
        robot,
        Setup(terrain=(build_plane(),), points="body", compiled=compiled),
        hd.State(np.array(robot.posture), v),
    )


def build_swing(compiled):
    scene = load_scene("swing")
    return build_world(replace(scene, setup=replace(scene.setup, compiled=compiled)))


def go_on(world, steps):
    """Return state and books step by step."""
    reports = [
        (world.step(1e-3), world.q.tobytes(), world.v.tobytes(), world.books.account.tobytes())
        for _ in range(steps)
    ]
    return reports, [force.force.tobytes() for force in world.contact_forces()]


@pytest.mark.parametrize("compiled", [False, None])
@pytest.mark.parametrize("build", [build_pushed, build_limp, build_swing])
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_goes_on_as_the_world_it_was_copied_from(way, build, compiled):
    world = build(compiled)
    go_on(world, 120)
    other = WAYS[way](world)
    assert other.t == world.t
    assert go_on(other, 60) == go_on(world, 60)


def test_a_copy_is_a_world_of_its_own():
    world = build_limp(None)
    go_on(world, 50)
    heard = []
    world.add_hook("after_step", lambda _: heard.append(1))
    q, other = world.q.copy(), copy.deepcopy(world)
    go_on(other, 20)
    assert not heard
    np.testing.assert_array_equal(world.q, q)
    other.set_velocity(0.0 * other.v)
    assert world.v.any()
    assert not other.robot.posture.flags.writeable
    with pytest.raises(TypeError):
        other.robot.surfaces["sole"] = None


def test_a_structure_that_has_changed_is_copied_as_it_is():
    world = build_world(load_scene("swing"))
    name = world.mechanism.constraints.names[0]
    world.apply([Cut(name)])
    other = copy.deepcopy(world)
    assert other.mechanism.constraints.names == world.mechanism.constraints.names
    assert go_on(other, 20) == go_on(world, 20)


def test_constraints_of_a_copy_are_those_of_where_it_is():
    mechanism = build_swing(None).mechanism
    for way in WAYS.values():
        other = way(mechanism)
        assert other.constraints.robot is other.robot
        for seed in range(3):
            q = pin.integrate(
                mechanism.robot.model,
                mechanism.robot.posture,
                np.random.default_rng(seed).normal(size=mechanism.robot.nv),
            )
            for one in (mechanism, other):
                one.place(q)
            np.testing.assert_array_equal(other.J, mechanism.J)
            np.testing.assert_array_equal(other.scale, mechanism.scale)
            assert other.nu == mechanism.nu


def test_what_was_kept_of_a_world_does_not_fit_its_copy():
    world = build_limp(None)
    other = copy.deepcopy(world)
    with pytest.raises(hd.HumanoidDynamicsError, match="structure has changed"):
        other.restore(pickle.loads(pickle.dumps(world.keep())))


def test_worlds_are_rolled_out_in_other_processes():
    worlds = [build_limp(None) for _ in range(2)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        away = pool.starmap(go_on, [(world, 20) for world in worlds])
    assert away == [go_on(world, 20) for world in worlds]


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_snake_drives_itself_and_reads_its_own_gauges(way):
    world = build_world(load_scene("snake"))
    go_on(world, 120)
    other = WAYS[way](world)
    assert go_on(other, 60) == go_on(world, 60)
    read = {name: gauge.read().copy() for name, gauge in other.gauges.items()}
    assert all(np.array_equal(numbers, world.gauges[name].read()) for name, numbers in read.items())
    world.pilot.heading = 1.2
    go_on(world, 60)
    assert all(np.array_equal(numbers, other.gauges[name].read()) for name, numbers in read.items())
