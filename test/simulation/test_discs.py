# SPDX-License-Identifier: Apache-2.0
"""Cylinders roll and lie on their rims: what touches is where the rim is lowest."""

import numpy as np
import pinocchio as pin
import pytest
from true_shapes import sink

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.contacts.discs import SHARE, reach
from humanoid_dynamics.simulation.contacts.moving_shapes import MovingShape
from humanoid_dynamics.simulation.contacts.solid_points import FLAT
from humanoid_dynamics.simulation.contacts.terrain import build_ball, build_box, build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint, list_body_points
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World

G = 9.81
WAYS = pytest.mark.parametrize("compiled", [True, False])


def write_cylinder(radius, length, mass=2.0, name="log"):
    across, along = mass * (radius**2 / 4 + length**2 / 12), mass * radius**2 / 2
    return hd.load_robot(
        f'<robot name="{name}"><link name="body"><inertial><mass value="{mass}"/>'
        f'<inertia ixx="{across}" iyy="{across}" izz="{along}" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
        f'<cylinder radius="{radius}" length="{length}"/></geometry></collision></link></robot>',
        root="free_flyer",
    )


def place(xyz, R):
    return np.concatenate((xyz, pin.Quaternion(R).coeffs()))


def run(robot, terrain, q, seconds, *, v=None, dt=1e-3, compiled=True, shapes=()):
    setup = Setup(terrain=terrain, points=list_body_points(robot), compiled=compiled, shapes=shapes)
    world = World(robot, setup, hd.State(q, np.zeros(robot.nv) if v is None else v))
    for _ in range(round(seconds / dt)):
        report = world.step(dt)
        assert report.status == "OK", report.reason
    return world, report


@WAYS
@pytest.mark.parametrize("ground", ["plane", "box"])
@pytest.mark.parametrize("slope", [0.1, 0.4])
def test_a_cylinder_rolls_down_a_slope_with_two_thirds_of_gravity(compiled, ground, slope):
    """Of a cylinder that does not slip, a = 2/3 g sin(slope), whichever points its rims have turned under it."""
    radius = 0.1
    robot = write_cylinder(radius, 0.3)
    terrain = (
        build_plane(slope=-slope, friction=1.0)
        if ground == "plane"
        else build_box((9.0, 9.0, 1.0), -0.5 * tilt(slope)[:, 2], rpy=(0, slope, 0))
    )
    q = place(
        tilt(slope) @ np.array([0.0, 0.0, radius]),
        tilt(slope) @ pin.rpy.rpyToMatrix(np.pi / 2, 0.0, 0.0),
    )
    seconds = 0.8
    world, report = run(robot, (terrain,), q, seconds, compiled=compiled)
    way = (world.state.q[:3] - q[:3]) @ tilt(slope)
    assert way[0] == pytest.approx(0.5 * (2.0 / 3.0 * G * np.sin(slope)) * seconds**2, rel=1e-3)
    assert abs(way[1]) < 1e-6
    assert abs(way[2]) < 2e-5
    assert report.depth < 2e-5


def tilt(slope):
    return pin.rpy.rpyToMatrix(0.0, slope, 0.0)


@pytest.mark.parametrize("turned", np.linspace(0.0, np.pi / 4, 5))
def test_a_cylinder_lies_alike_however_it_is_turned_about_its_axis(turned):
    robot = write_cylinder(0.1, 0.3)
    q = place(
        [0.0, 0.0, 0.105],
        pin.rpy.rpyToMatrix(np.pi / 2, 0.0, 0.0) @ pin.rpy.rpyToMatrix(0.0, 0.0, turned),
    )
    world, _ = run(robot, (build_plane(),), q, 0.4)
    assert abs(sink(robot, world.state.q)[0]) < 2e-5


def drop_coin(seed, seconds, dt, *, compiled=True):
    """Let a coin fall, turned and turning at random; return the world, the sum of all rises of its energy, and how deep it was at most."""
    robot, rng = write_cylinder(0.08, 0.02, 0.5), np.random.default_rng(seed)
    q = place([0.0, 0.0, 0.2], pin.exp3(rng.uniform(-1.0, 1.0, 3)))
    setup = Setup(terrain=(build_plane(),), points=list_body_points(robot), compiled=compiled)
    world = World(robot, setup, hd.State(q, np.array([0.2, 0.0, 0.0, *rng.uniform(-2, 2, 3)])))
    before, rises, deepest = world.books.energy, 0.0, 0.0
    for k in range(round(seconds / dt)):
        assert world.step(dt).status == "OK"
        rises, before = rises + max(0.0, world.books.energy - before), world.books.energy
        deepest = max(deepest, sink(robot, world.state.q)[0] if k % 10 == 0 else 0.0)
    return world, rises / world.books.start, deepest


@WAYS
@pytest.mark.parametrize("seed", [3, 4])
def test_a_coin_that_falls_comes_to_lie_flat_and_gains_no_energy(compiled, seed):
    world, rises, deepest = drop_coin(seed, 1.5, 1e-3, compiled=compiled)
    assert rises <= 1e-4
    assert deepest < 5e-4
    assert np.abs(world.state.v).max() < 1e-9
    assert abs(world.state.q[2] - 0.01) < 1e-5


def test_a_coin_that_goes_round_on_its_rim_keeps_its_energy_the_better_the_shorter_the_steps():
    rises = [drop_coin(2, 1.5, dt)[1] for dt in (1e-3, 2.5e-4)]
    assert rises[0] < 5e-4
    assert rises[1] < 0.05 * rises[0]


@WAYS
def test_a_coin_that_rolls_round_on_its_rim_loses_little_in_steps_of_uneven_lengths(compiled):
    """Where it touches moves on from the middle of one step to the middle of the next, which is not half of it where one is shorter."""
    robot, R, turning = (
        write_cylinder(0.08, 0.02, 0.5),
        pin.rpy.rpyToMatrix(0.5 * np.pi + 0.6, 0.0, 0.0),
        np.array([0.0, 0.0, 6.0]),
    )
    down = np.array([0.0, 0.0, 1.0]) - R[2, 2] * R[:, 2]
    lowest = min(
        (side * 0.01 * R[:, 2] - 0.08 * down / np.linalg.norm(down) for side in (1.0, -1.0)),
        key=lambda p: p[2],
    )
    v = np.concatenate((R.T @ np.cross(lowest, turning), R.T @ turning))
    setup = Setup(
        terrain=(build_plane(friction=5.0),),
        points=list_body_points(robot, friction=5.0),
        compiled=compiled,
    )
    world = World(robot, setup, hd.State(place([0.0, 0.0, -lowest[2]], R), v))
    for _ in range(20):
        world.step(1e-4)
    start = world.books.energy
    for k in range(2400):
        assert world.step(4.5e-4 if k % 2 else 0.5e-4).status == "OK"
    assert -2e-3 * start < world.books.energy - start < 1e-6 * start
    assert abs(world.books.missing) < 1e-4 * start


def test_a_disc_touches_where_an_ellipsoid_has_its_support():
    """No point of the ellipsoid is lower than the one that is told, which lies on it; of a ball it is straight below the middle."""
    rng, radius = np.random.default_rng(1), 0.3
    for _ in range(100):
        R, normal = pin.exp3(rng.normal(size=3)), rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        way = reach(np.array([radius]), SHARE * R[:, 2:].T, normal[None])[0]
        local = R.T @ way / (radius * np.array([1.0, 1.0, FLAT]))
        assert np.linalg.norm(local) == pytest.approx(1.0, abs=1e-9)
        others = rng.normal(size=(500, 3))
        others = (
            (others / np.linalg.norm(others, axis=1)[:, None])
            * (radius * np.array([1.0, 1.0, FLAT]))
            @ R.T
        )
        assert (others @ normal).min() >= way @ normal - 1e-12
        assert reach(np.array([radius]), np.zeros((1, 3)), normal[None])[0] == pytest.approx(
            -radius * normal
        )


@pytest.mark.parametrize("seed", range(4))
def test_the_lowest_of_what_stands_for_a_cylinder_is_that_of_the_cylinder(seed):
    """By no more than the thickness of its discs, a thousandth of the radius, in any direction."""
    rng, radius, length = np.random.default_rng(seed), 0.1, 0.3
    robot = write_cylinder(radius, length)
    points = list_body_points(robot)
    for normal in rng.normal(size=(200, 3)):
        n = normal / np.linalg.norm(normal)
        ways = [
            point.p_L + reach(np.array([point.radius]), SHARE * point.axis[None], n[None])[0]
            for point in points
        ]
        exact = -0.5 * length * abs(n[2]) - radius * np.hypot(n[0], n[1])
        assert exact - 1e-12 <= min(way @ n for way in ways) <= exact + FLAT * radius


def test_discs_meet_planes_boxes_and_balls_alike_with_kernels_and_arrays():
    """A log falls on a step beside a ball that moves: one touches what stands still, the other what moves."""
    text = "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
        f"<collision><geometry>{shape}</geometry></collision></link>"
        for name, shape in (
            ("log/body", '<cylinder radius="0.05" length="0.3"/>'),
            ("ball/body", '<sphere radius="0.1"/>'),
        )
    )
    joint = '<joint name="ball/free" type="floating"><parent link="log/body"/><child link="ball/body"/></joint>'
    robot = hd.load_robot(f'<robot name="two">{text}{joint}</robot>', root="free_flyer")
    q = np.concatenate(
        (
            place([0.0, 0.0, 0.4], pin.rpy.rpyToMatrix(1.2, 0.3, 0.0)),
            [0.05, -0.3, 0.0, 0.0, 0.0, 0.0, 1.0],
        )
    )
    terrain = (build_plane(), build_box((0.4, 0.4, 0.2), (0.3, 0.0, 0.1)))
    shapes = (MovingShape("ball/body", build_ball(0.1)),)
    ends = [
        run(robot, terrain, q, 0.5, compiled=compiled, shapes=shapes)[0].state
        for compiled in (True, False)
    ]
    assert ends[0].q == pytest.approx(ends[1].q, abs=1e-6)
    assert ends[0].q[2] < 0.35


def test_a_cylinder_that_slides_on_an_end_is_told_to_bear_moments_of_where_it_touches():
    """Of one that slides and does not tip, force and moment in the record balance about its middle: friction acts at its end."""
    robot, mass = write_cylinder(0.1, 0.05), 2.0
    discs = tuple(point for point in list_body_points(robot) if point.axis.any())
    q = place([0.0, 0.0, 0.025], np.eye(3))
    world = World(
        robot,
        Setup(terrain=(build_plane(),), points=discs),
        hd.State(q, np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])),
    )
    recorder = Recorder(world)
    for _ in range(200):
        assert world.step(1e-3).status == "OK"
    wrench = recorder.record().wrench("body")[50:].mean(axis=0)  # it rocks a little
    assert wrench[:3] == pytest.approx([-0.7 * mass * G, 0.0, mass * G], abs=0.02 * mass * G)
    assert wrench[3:] == pytest.approx(np.zeros(3), abs=0.05)


@pytest.mark.parametrize("axis", [[0.0, 0.0, 2.0], [0.0, 0.5, 0.0]])
def test_an_axis_that_is_no_direction_is_refused(axis):
    point = TouchPoint("rim", "body", np.zeros(3), 0.1, axis=np.array(axis))
    with pytest.raises(
        hd.errors.ShapeError,
        match=r"axis of touch point 'rim': received .* a vector of length 1, or zero",
    ):
        World(write_cylinder(0.1, 0.3), Setup(points=(point,)))
