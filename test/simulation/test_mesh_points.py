# SPDX-License-Identifier: Apache-2.0
"""Meshes touch with few of their corners, and nothing of them lies deeper than these."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from true_shapes import UP, sink

import humanoid_dynamics as hd
from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.model.standing.footprint import shape_points
from humanoid_dynamics.simulation.contacts.clusters import Looking, find_clusters
from humanoid_dynamics.simulation.contacts.detect_kernel import detect
from humanoid_dynamics.simulation.contacts.detection import Detector
from humanoid_dynamics.simulation.contacts.hull_points import (
    FAITHFUL,
    TOGETHER,
    choose_corners,
    order_nearby,
)
from humanoid_dynamics.simulation.contacts.point_table import bind_points
from humanoid_dynamics.simulation.contacts.terrain import build_box, build_plane, build_terrain
from humanoid_dynamics.simulation.contacts.thresholds import REACH
from humanoid_dynamics.simulation.contacts.touch_points import list_body_points
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.steps.rows import (
    COUNT,
    DOF_ROWS,
    DT,
    N_GAP,
    N_PLACE,
    N_POINT,
    SLOWEST,
    V_MIDDLE,
    WITHIN,
    V,
)
from humanoid_dynamics.simulation.steps.tables import Tables
from humanoid_dynamics.simulation.world import World

NOTHING = np.zeros((0, 3))
DOWN = np.random.default_rng(0).normal(size=(400, 3))
DOWN /= np.linalg.norm(DOWN, axis=1)[:, None]


def egg(sizes, count=3000, seed=1):
    """Return points on an ellipsoid, flattened below."""
    points = np.random.default_rng(seed).normal(size=(count, 3))
    points = points / np.linalg.norm(points, axis=1)[:, None] * np.array(sizes)
    return np.maximum(points, [-np.inf, -np.inf, -0.8 * sizes[2]])


def load(name):
    try:
        return hd.load_robot(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))


def write_egg(folder, sizes, mass=3.0):
    """Return a free body whose shape is a mesh."""
    (folder / "egg.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in egg(sizes)))
    x, y, z = mass / 5 * (np.sum(np.square(sizes)) - np.square(sizes))
    (folder / "egg.urdf").write_text(
        f'<robot name="egg"><link name="body"><inertial><mass value="{mass}"/>'
        f'<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><mesh filename="egg.obj"/></geometry></collision></link></robot>'
    )
    return hd.load_robot(folder / "egg.urdf", root="free_flyer")


@pytest.mark.parametrize("sizes", [(0.1, 0.1, 0.1), (0.2, 0.1, 0.05), (0.02, 0.02, 0.3)])
def test_no_vertex_sticks_out_of_the_corners_that_stand_for_a_mesh(sizes):
    vertices = egg(sizes)
    corners = vertices[choose_corners(vertices, NOTHING)]
    lacking = (vertices @ DOWN.T).max(axis=0) - (corners @ DOWN.T).max(axis=0)
    assert 0.0 <= lacking.min() <= lacking.max() < 1.1 * FAITHFUL
    assert len(corners) < 0.2 * len(vertices)


@pytest.mark.parametrize(
    "flat", [(1.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1e-7)]
)
def test_meshes_that_are_flat_or_a_line_or_a_point_have_corners_too(flat):
    vertices = egg((0.1, 0.1, 0.1), 300) * np.array(flat) + 0.3
    corners = vertices[choose_corners(vertices, NOTHING)]
    assert ((vertices @ DOWN.T).max(axis=0) - (corners @ DOWN.T).max(axis=0)).max() < 1.1 * FAITHFUL
    assert not len(choose_corners(NOTHING, NOTHING))


def test_corners_are_left_out_where_others_stand_for_them():
    box = np.array([[x, y, z] for x in (0.0, 0.2) for y in (0.0, 0.1) for z in (0.0, 0.05)])
    inside = np.random.default_rng(2).uniform(0.0, 1.0, (500, 3)) * [0.2, 0.1, 0.05]
    assert set(choose_corners(np.vstack((box, inside)), box[:4])) >= {4, 5, 6, 7}
    assert set(choose_corners(np.vstack((box, inside)), NOTHING)) == set(range(8))


@pytest.mark.parametrize("name", ["g1", "icub", "talos_reduced"])
def test_links_of_robots_are_nowhere_lower_than_their_points(name):
    """In any direction: what a surface stands for may add half a millimetre."""
    robot = load(name)
    points = list_body_points(robot)
    for link in {point.link for point in points}:
        own = [point for point in points if point.link == link]
        reached = np.max(
            [point.p_L @ DOWN.T + point.radius for point in own if not point.axis.any()], axis=0
        )
        vertices = [
            shape_points(shape, UP, None)
            for shape in robot.solids.get(link, ())
            if shape.kind == "mesh"
        ]
        for cloud in vertices:
            if len(cloud):
                assert ((cloud @ DOWN.T).max(axis=0) - reached).max() < 1.2 * FAITHFUL + 5e-4


def test_points_that_follow_one_another_lie_together():
    points = egg((0.2, 0.1, 0.05), 240)
    order = order_nearby(points)
    assert sorted(order) == list(range(240))
    parts = [points[order[k : k + TOGETHER]] for k in range(0, 240, TOGETHER)]
    assert (
        np.mean([np.ptp(part, axis=0).max() for part in parts]) < 0.4 * np.ptp(points, axis=0).max()
    )


def test_points_of_a_shape_lie_together_whatever_they_are_called():
    robot = load("human28")
    points = list_body_points(robot)
    named, numbered = (
        bind_points(robot, some)
        for some in (points, [replace(point, name=f"p{k}") for k, point in enumerate(points)])
    )
    assert len(find_clusters(named).first) > 10
    for ours, theirs in zip(find_clusters(named), find_clusters(numbered), strict=True):
        assert ours == pytest.approx(theirs)


class Unscreened(Detector):
    """Looks at all points."""

    def __init__(self, table, terrain):
        super().__init__(table, terrain)
        self._screen.is_of_use = False


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ground", ["plane", "boxes"])
def test_no_point_that_may_come_to_the_ground_in_a_step_is_overlooked(seed, ground):
    """However fast a robot flies and turns low over it: whatever is spared is of clusters that cannot get there."""
    robot, rng = load("human28"), np.random.default_rng(seed)
    table, dt = bind_points(robot, list_body_points(robot)), float(rng.choice([1e-3, 1e-2]))
    terrain = build_terrain(
        (build_plane(),)
        if ground == "plane"
        else (build_plane(), build_box((0.3, 0.3, 0.1), (0.2, 0.0, 0.05)))
    )
    detector, data = Detector(table, terrain), robot.data()
    assert len(find_clusters(table).first) > 10
    q = np.array(robot.posture)
    q[3:7] = pin.Quaternion(pin.exp3(rng.uniform(-2, 2, 3))).coeffs()
    q[2] += sink(robot, q)[0] + 1e-3
    dofs = np.zeros((DOF_ROWS, robot.nv))
    dofs[V_MIDDLE] = dofs[V] = rng.normal(size=robot.nv) * rng.choice([0.01, 1.0, 10.0])
    pin.computeJointJacobians(robot.model, data, q)
    poses = np.array([[*X.rotation.T.ravel(), *X.translation] for X in data.oMi])
    near = detector.find(poses, data.J, Looking(30.0 * dt, dofs, dt, np.zeros(len(table))))
    found = set(near.point.tolist())
    every = Unscreened(table, terrain).find(
        poses, data.J, Looking(30.0 * dt, dofs, dt, np.zeros(len(table)))
    )
    arrives = every.gap + dt * (every.J[0] @ dofs[V_MIDDLE])
    tables = Tables(robot, table, terrain, (), None)
    tables.dofs[:] = dofs
    tables.numbers[DT], tables.numbers[WITHIN], tables.numbers[SLOWEST] = dt, 30.0 * dt, 0.01
    detect(
        (poses, np.ascontiguousarray(data.J.T)),
        (tables.points, tables.shapes, tables.dofs, tables.near, tables.memory),
        (tables.joints, tables.parents),
        tables.numbers,
    )
    kernel = tables.near[: int(tables.numbers[COUNT])]
    index = kernel[:, N_POINT].astype(int)
    plain = set(np.flatnonzero(~table.axis.any(axis=1)).tolist())
    assert plain & set(index.tolist()) == plain & found
    both = {point: k for k, point in enumerate(near.point.tolist())}
    assert kernel[:, N_GAP] == pytest.approx(near.gap[[both[point] for point in index]], abs=1e-12)
    assert kernel[:, N_PLACE : N_PLACE + 3] == pytest.approx(
        near.place[[both[point] for point in index]], abs=1e-12
    )
    assert {
        int(point) for point, arrival in zip(every.point, arrives, strict=True) if arrival < REACH
    } <= found
    assert found <= set(every.point.tolist())


@pytest.mark.parametrize("ground", ["plane", "boxes"])
def test_an_egg_rests_on_few_of_its_corners_with_kernels_and_arrays_alike(tmp_path, ground):
    robot = write_egg(tmp_path, (0.12, 0.1, 0.08))
    q = np.array([0.0, 0.0, 0.3, *pin.Quaternion(pin.exp3(np.array([0.4, 1.9, 0.2]))).coeffs()])
    terrain = (
        (build_plane(),)
        if ground == "plane"
        else (build_box((2.0, 2.0, 1.0), (0.0, 0.0, -0.5)), build_plane(-0.2))
    )
    ends = []
    for compiled in (True, False):
        world = World(
            robot,
            Setup(terrain=terrain, points="body", compiled=compiled),
            hd.State(q, np.zeros(6)),
        )
        for _ in range(600):
            report = world.step(1e-3)
            assert report.status == "OK", report.reason
            assert len(world._stepper.touching.point) <= 9
        assert sink(robot, world.state.q)[0] < FAITHFUL
        ends.append(world.state.q)
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)
    assert len(list_body_points(robot)) > 50
