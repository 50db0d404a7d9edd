# SPDX-License-Identifier: Apache-2.0
"""Robots that fall without torques: all bodies touch the ground, and published forces are all that changed the momentum."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.simulation.live import LiveWorld


def momentum(world, data):
    return np.array(pin.computeCentroidalMomentum(world.robot.model, data, world.q, world.v).linear)


def limp(robot, **choices):
    live = LiveWorld.of_robot(robot, **choices)
    live.begun = True
    return live, live.world.robot.data()


def sum_up(live, data, rows):
    """Return the force in the world that wrenches on surfaces and links stand for."""
    robot = live.world.robot
    pin.framesForwardKinematics(robot.model, data, live.world.q)
    frames = [
        *(surface.frame for surface in robot.surfaces.values()),
        *(robot.link_frame(link) for link in live.links),
    ]
    return sum(data.oMf[frame].rotation @ row[:3] for frame, row in zip(frames, rows, strict=True))


@pytest.mark.parametrize(
    ("name", "period", "steps"), [("human28", 1e-3, 1), ("legs12", 2e-3, 2), ("human28", 2e-3, 20)]
)
def test_the_ground_holds_all_bodies_and_published_forces_are_the_whole_impulse(
    name, period, steps
):
    live, data = limp(hd.load_robot(name))
    world, seconds = live.world, 1.2 if steps < 10 else 0.1
    if steps == 20:
        live.push(
            "pelvis", np.array([0.0, 0.0, 3000.0]), np.zeros(3), 0.05
        )  # it lands within the time
    start, impulse = momentum(world, data), np.zeros(3)
    push = 3000.0 * 0.05 * np.array([0.0, 0.0, 1.0]) if steps == 20 else np.zeros(3)
    shattered = 0
    while world.t < seconds - 1e-9:
        assert not live.advance(period / steps, steps)
        impulse += period * sum_up(live, data, live.mean_wrenches())
        shattered += (
            world._stepper.parts_touched is not None and len(world._stepper.parts_touched) > 1
        )
    change = (
        momentum(world, data)
        - start
        - push
        - world.t * world.robot.mass * world.robot.model.gravity.linear
    )
    np.testing.assert_allclose(impulse, change, atol=2e-4 * world.robot.mass * 9.81 * seconds)
    assert not live.find_sunken()
    if steps < 10:
        assert shattered > 10  # steps of several parts, which this is about
        assert world.q[2] > 0.05
    felt = [
        np.concatenate((wrench.force, wrench.moment))
        for wrench in (*live.feel(), *live.feel_links())
    ]
    np.testing.assert_allclose(sum_up(live, data, felt), world.ground_force(), atol=1e-6)
    np.testing.assert_allclose(
        world.point_forces().sum(axis=0), sum(f.force for f in world.contact_forces()), atol=1e-6
    )


def test_forces_of_a_step_are_those_of_all_its_parts_in_a_copy_and_after_going_back_too():
    live, _ = limp(hd.load_robot("legs12"))
    world = live.world
    while not (world._stepper.parts_touched and len(world._stepper.parts_touched) > 1):
        live.advance(1e-3, 1)
    kept, force, wrenches = world.keep(), world.ground_force(), live.measure_wrenches()
    live.advance(1e-3, 3)
    world.restore(kept)
    np.testing.assert_array_equal(world.ground_force(), force)
    np.testing.assert_array_equal(live.measure_wrenches(), wrenches)


def test_a_body_that_does_not_touch_is_seen_under_the_ground():
    live, _ = limp(hd.load_robot("legs12"), points="surfaces")
    assert not live.find_sunken()
    live.advance(2e-3, 600)
    assert "under the ground" in live.find_sunken()


def test_a_robot_without_shapes_stands_on_its_surfaces():
    robot = replace(hd.load_robot("legs12"), solids={})
    live, _ = limp(robot)
    assert len(live.world.point_names) == 8
    with pytest.raises(UnknownNameError):
        LiveWorld.of_robot(robot, points="hands")
