# SPDX-License-Identifier: Apache-2.0
"""Robots nobody has tuned, dropped from anywhere in any orientation: none explodes, gains energy or sinks.

That none sinks is measured on the shapes themselves, not on the points that stand for them.
"""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from random_robots import write_robot
from true_shapes import sink

import humanoid_dynamics as hd
from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.simulation.contacts.point_table import bind_points
from humanoid_dynamics.simulation.contacts.terrain import build_box, build_plane
from humanoid_dynamics.simulation.contacts.touch_points import list_body_points
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World

CLOSED = Path(__file__).parents[2] / "../shared/data/robots/digit_like_2legs.urdf"
ROBOTS = (
    "human",
    "human28",
    "human16",
    "legs12",
    "g1",
    "talos_reduced",
    "bolt",
    "romeo",
    "sr1",
    "alexander",
    "icub",
)
FAST = (
    ("human28", 0),
    ("human", 0),
    ("human16", 1),
    ("legs12", 1),
    ("legs12", 2),
    ("g1", 3),
    ("icub", 6),
    ("random", 4),
    ("random", 5),
    ("random", 134),
    ("sr1", 2),
)
ON_BOXES = (("human28", 102), ("human28", 104), ("human16", 100), ("human16", 104), ("g1", 102))
MANY_ON_BOXES = [
    (name, seed)
    for name in ("human28", "human16", "legs12")
    for seed in (100, 101, 103, 300, 301, 302)
]
MANY = [(name, seed) for name in (*ROBOTS, "random") for seed in range(100, 150)]


def load(name, seed):
    """Return a robot by its name, or one made at random."""
    if name == "closed":
        if not CLOSED.exists():
            pytest.skip(f"{CLOSED.name} is not there")
        return hd.load_robot(CLOSED, root="free_flyer")
    try:
        return (
            hd.load_robot(write_robot(seed), root="free_flyer")
            if name == "random"
            else hd.load_robot(name)
        )
    except MissingExtraError as missing:
        pytest.skip(str(missing))


def turn_and_measure(robot, points, rng):
    """Return a configuration turned at random, and how low its lowest point is [m]."""
    q = np.array(robot.posture)
    q[3:7] = pin.Quaternion(pin.exp3(rng.uniform(-2.0, 2.0, 3))).coeffs()
    table, data = bind_points(robot, points), robot.data()
    pin.forwardKinematics(robot.model, data, q)
    poses = np.array([data.oMi[joint].homogeneous for joint in table.joints])
    return q, float((np.matmul(poses[table.owner], table.p_J)[:, 2, 0] - table.radius).min())


def drop(name, seed, seconds, dt=1e-3):
    """Let a limp robot fall from 0.1 to 1 m above the ground, turned at random; return the world and the worst that happened."""
    robot, rng = load(name, seed), np.random.default_rng(seed)
    points = list_body_points(robot)
    q, low = turn_and_measure(robot, points, rng)
    q[2] += rng.uniform(0.1, 1.0) - low
    v = np.zeros(robot.nv)
    v[:6] = rng.uniform(-1.0, 1.0, 6)
    world = World(robot, Setup(terrain=(build_plane(),), points=points), hd.State(q, v))
    rises, deepest, before = 0.0, 0.0, world.books.energy
    for _ in range(round(seconds / dt)):
        report = world.step(dt)
        assert report.status == "OK", report.reason
        rises, deepest = rises + max(0.0, world.books.energy - before), max(deepest, report.depth)
        before = world.books.energy
    return world, report, rises, deepest


def check(name, seed, seconds):
    world, report, rises, deepest = drop(name, seed, seconds)
    assert rises <= 1e-3 * abs(world.books.start) + 1e-6
    assert deepest < 5e-3
    assert report.depth < 2e-3
    assert sink(world.robot, world.state.q)[0] < 2e-3
    assert world.books.energy < world.books.start


@pytest.mark.parametrize(("name", "seed"), FAST)
def test_a_dropped_robot_neither_explodes_nor_gains_energy_nor_sinks(name, seed):
    check(name, seed, 0.8)


@pytest.mark.parametrize(("name", "seed"), [("human28", 11), ("human28", 0), ("legs12", 2)])
def test_long_steps_land_no_deeper_than_short_ones(name, seed):
    _, _, _, deepest = drop(name, seed, 0.7, dt=1e-2)
    assert deepest < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), MANY)
def test_many_dropped_robots(name, seed):
    check(name, seed, 1.5)


@pytest.mark.parametrize("seed", [23, pytest.param(28, marks=pytest.mark.slow)])
def test_a_dropped_robot_with_closed_chains_loses_no_energy_to_nobody(seed):
    world, report, rises, _ = drop("closed", seed, 0.8)
    assert rises <= 1e-3 * abs(world.books.start)
    assert abs(report.missing) < 1e-3 * (abs(world.books.start) + abs(world.books.work["impacts"]))


def check_on_box(name, seed, seconds):
    """Drop a limp robot on the edges of a box; no step makes energy, and nothing comes out of the box that went in past an edge."""
    robot, rng = load(name, seed), np.random.default_rng(seed)
    points = list_body_points(robot)
    q, low = turn_and_measure(robot, points, rng)
    size = rng.uniform(0.2, 0.8, 3)
    size[2] = rng.uniform(0.1, 0.5)
    box = build_box(
        size, (*rng.uniform(-0.2, 0.2, 2), size[2] / 2.0), rpy=(0.0, 0.0, rng.uniform(-1.0, 1.0))
    )
    q[:2], q[2] = 0.0, q[2] + size[2] + rng.uniform(0.1, 0.6) - low
    v = np.zeros(robot.nv)
    v[:6] = rng.uniform(-1.0, 1.0, 6)
    world = World(robot, Setup(terrain=(build_plane(), box), points=points), hd.State(q, v))
    for _ in range(round(seconds / 1e-3)):
        report = world.step(1e-3)
        assert report.status == "OK", report.reason
    assert world.books.largest < 5e-3
    assert abs(world.books.missing) < 1e-3 * (
        abs(world.books.start) + abs(world.books.work["impacts"])
    )


@pytest.mark.parametrize(("name", "seed"), ON_BOXES)
def test_a_robot_dropped_on_a_box_neither_explodes_nor_gains_energy(name, seed):
    check_on_box(name, seed, 0.8)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), MANY_ON_BOXES)
def test_many_robots_dropped_on_boxes(name, seed):
    check_on_box(name, seed, 1.0)
