# SPDX-License-Identifier: Apache-2.0
"""What a point came into by a side it can touch holds it; what it came into past an edge lets it pass, and throws nothing out."""

from dataclasses import replace

import numpy as np
import pytest

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.simulation.audit.setting import build_crate, build_state, list_corners
from humanoid_dynamics.simulation.contacts.terrain import build_ball, build_box, build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world as build_scene
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World

EDGES = (0.2, 0.2, 0.2)
SOLIDS = (build_box((1.0, 1.0, 0.4), (0.0, 0.0, -0.2)), build_ball(2.0, (0.0, 0.0, -2.0)))
PATHS = pytest.mark.parametrize("compiled", [False, None])


def build_world(solid, height, speed, *, compiled):
    """Return a crate whose corners look outwards, its lowest corners at some height, falling at some speed."""
    corners = [
        replace(point, outward=point.p_L / np.linalg.norm(point.p_L))
        for point in list_corners(EDGES, 0.6)
    ]
    setup = Setup(terrain=(solid,), points=tuple(corners), compiled=compiled)
    return World(
        build_crate(4.0, EDGES),
        setup,
        build_state(z=height + 0.1, v=(0.0, 0.0, -speed, 0.0, 0.0, 0.0)),
    )


@PATHS
@pytest.mark.parametrize("solid", SOLIDS)
def test_what_is_deep_inside_at_once_goes_on_as_if_nothing_were_there(solid, compiled):
    world = build_world(solid, 1.0, 0.0, compiled=compiled)
    world.q[2] = (
        0.04  # the lowest corners 6 cm inside, as where a link comes in past an edge and turns
    )
    for _ in range(50):
        report = world.step(1e-3)
        assert report.touching == 0
    assert world.v[2] == pytest.approx(-9.81 * 0.05, rel=1e-9)
    assert world.books.work["corrections"] == 0.0


@PATHS
@pytest.mark.parametrize("solid", SOLIDS)
@pytest.mark.parametrize(("dt", "speed"), [(1e-3, 0.0), (1e-3, 20.0), (1e-2, 8.0)])
def test_what_comes_in_by_a_face_is_held_however_fast(solid, dt, speed, compiled):
    world = build_world(solid, 0.1, speed, compiled=compiled)
    for _ in range(round(0.4 / dt)):
        report = world.step(dt)
        assert report.status == "OK", report.reason
    assert report.touching == 4
    assert report.depth < 1e-3
    assert np.abs(world.v).max() < 1e-2


@pytest.mark.parametrize("solid", SOLIDS)
def test_what_is_let_pass_is_told_and_what_rests_is_not(solid):
    world = build_world(solid, 0.01, 0.0, compiled=None)
    for _ in range(300):
        world.step(1e-3)
    assert world.touching.point.size
    assert world.find_inside() == ()
    world.q[2] = 0.04
    deep = world.find_inside()
    assert [one.shape for one in deep] == ["corner0", "corner2", "corner4", "corner6"]
    assert [one.depth for one in deep] == pytest.approx(
        [-solid.probe(np.array([[0.1, 0.1, -0.06]]))[0][0]] * 4
    )
    assert (
        str(deep[0])
        == f"shape 'corner0' of link 'body', {deep[0].depth:.3g} m inside {solid.name!r}"
    )


def test_what_lies_across_a_wall_is_told_though_no_point_is_inside():
    ends = [
        TouchPoint(f"end{k}", "body", np.array([x, 0.0, 0.0]), 0.05, shape="rod")
        for k, x in enumerate((-0.4, 0.4))
    ]
    setup = Setup(terrain=(build_box((0.1, 2.0, 2.0), (0.0, 0.0, -1.0)),), points=tuple(ends))
    world = World(build_crate(4.0, EDGES), setup, build_state(z=0.06))
    assert world.find_inside() == ()
    world.q[2] = 0.02
    assert [(one.shape, one.solid) for one in world.find_inside()] == [("rod", "box")]
    assert world.find_inside()[0].depth == pytest.approx(0.03)
    assert world.step(1e-3).depth == 0.0


@PATHS
def test_a_plane_has_no_edges_to_come_in_by(compiled):
    world = build_world(build_plane(), 1.0, 0.0, compiled=compiled)
    world.q[2] = 0.04
    assert world.step(1e-3).depth > 0.05


@PATHS
def test_a_start_inside_is_told(compiled):
    with pytest.raises(ShapeError, match=r"0\.06 m inside the ground"):
        build_world(SOLIDS[0], -0.06, 0.0, compiled=compiled)
    world = build_world(SOLIDS[0], 1.0, 0.0, compiled=compiled)
    with pytest.raises(ShapeError, match=r"0\.06 m inside the ground"):
        world.set_state(build_state(z=0.04))


CRATES = """objects:
  lower: {mass: 3, box: [0.5, 0.5, 0.5], xyz: [0, 0, 0.25]}
  upper: {mass: 2, box: [0.2, 0.2, 0.2], xyz: [0, 0, 1.0]}
terrain: [{plane: {}}]
"""


@PATHS
def test_shapes_that_ride_on_bodies_let_pass_what_is_deep_at_once(tmp_path, compiled):
    (tmp_path / "crates.yaml").write_text(CRATES)
    scene = load_scene(tmp_path / "crates.yaml")
    world = build_scene(replace(scene, setup=replace(scene.setup, compiled=compiled)))
    upper = next(joint for joint in world.robot.joints if "upper" in joint.name)
    world.q[upper.q.start + 2] = 0.5  # its lowest corners 10 cm inside the other
    world.set_velocity(world.v)
    for _ in range(50):
        assert world.step(1e-3).status == "OK"
    assert world.v[upper.v.start + 2] == pytest.approx(-9.81 * 0.05, rel=1e-6)
    assert world.books.work["corrections"] == pytest.approx(0.0, abs=1e-6)
