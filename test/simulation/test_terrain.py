# SPDX-License-Identifier: Apache-2.0
"""Distances and normals of the ground."""

import numpy as np
import pytest

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.simulation.contacts.detect_kernel import write_axes
from humanoid_dynamics.simulation.contacts.shapes import tangents
from humanoid_dynamics.simulation.contacts.terrain import (
    build_box,
    build_plane,
    build_steps,
    build_terrain,
)
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world
from humanoid_dynamics.simulation.steps.rows import N_AXES


def test_slope_rises_by_its_angle_along_its_heading():
    plane = build_plane(0.2, slope=0.3, heading=np.pi / 2)
    points = np.array([[0.0, 0.0, 0.2], [5.0, 0.0, 0.2], [0.0, 1.0, 0.2 + np.tan(0.3)]])
    np.testing.assert_allclose(plane.probe(points)[0], 0.0, atol=1e-12)
    assert np.linalg.norm(plane.normal) == pytest.approx(1.0)


def test_distance_from_a_box_is_that_to_its_nearest_point():
    rng = np.random.default_rng(0)
    box = build_box((1.0, 2.0, 0.5), (0.3, -0.2, 0.1), rpy=(0.2, -0.4, 1.0))
    points = rng.uniform(-2.0, 2.0, size=(300, 3))
    gap, normal = box.probe(points)
    local = (points - box.X_WB.translation) @ box.X_WB.rotation
    nearest = np.clip(local, -box.half, box.half)
    outside = np.linalg.norm(local - nearest, axis=1) > 0
    np.testing.assert_allclose(gap[outside], np.linalg.norm(local - nearest, axis=1)[outside])
    np.testing.assert_allclose(gap[~outside], -np.min(box.half - np.abs(local), axis=1)[~outside])
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0)
    ahead, _ = box.probe(points + 1e-6 * normal)
    np.testing.assert_allclose((ahead - gap) / 1e-6, 1.0, atol=1e-3)


def test_every_normal_has_axes():
    rng = np.random.default_rng(1)
    along = np.vstack(
        (
            np.eye(3),
            -np.eye(3),
            rng.normal(size=(200, 3)),
            np.eye(3) + 1e-9 * rng.normal(size=(3, 3)),
        )
    )
    normals = along / np.linalg.norm(along, axis=1)[:, None]
    axes = tangents(normals).transpose(1, 0, 2)
    np.testing.assert_allclose(
        axes @ axes.transpose(0, 2, 1), np.tile(np.eye(3), (len(normals), 1, 1)), atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(axes), 1.0)
    for normal, expected in zip(normals, axes, strict=True):
        row = np.zeros(N_AXES + 9)
        write_axes(row, normal)
        np.testing.assert_allclose(row[N_AXES:], expected.ravel(), atol=1e-15)


@pytest.mark.parametrize("contact", ["friction", "paper"])
@pytest.mark.parametrize("heading", [(1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (-1.0, 0.0)])
def test_a_crate_slides_to_a_wall_wherever_it_stands(tmp_path, heading, contact):
    x, y = heading
    middle, size = ([0.5 * x, 0.5 * y, 0.5], [0.2, 2.0, 1.0] if x else [2.0, 0.2, 1.0])
    text = f"""title: a crate before a wall
contact: {contact}
objects: {{crate: {{mass: 2, box: [0.2, 0.2, 0.2], xyz: [0, 0, 0.1], velocity: [{2 * x}, {2 * y}, 0, 0, 0, 0]}}}}
terrain: [{{plane: {{friction: 0.1}}}}, {{box: {{size: {size}, xyz: {middle}}}}}]
"""
    (tmp_path / "wall.yaml").write_text(text)
    world = build_world(load_scene(str(tmp_path / "wall.yaml")))
    for _ in range(300):
        assert world.step(1e-3).status != "STOPPED"
    assert 0.0 < world.q[:2] @ heading < 0.301


def test_the_nearest_shape_counts():
    terrain = build_terrain(
        (build_plane(friction=0.5), *build_steps(2, rise=0.2, run=0.4, start=1.0))
    )
    gap, normal, shape = terrain.probe(
        np.array([[0.0, 0.0, 0.1], [1.2, 0.0, 0.25], [1.6, 0.0, 0.5]])
    )
    np.testing.assert_allclose(gap, [0.1, 0.05, 0.1], atol=1e-12)
    np.testing.assert_array_equal(shape, [0, 1, 2])
    np.testing.assert_allclose(normal, [[0, 0, 1]] * 3)


@pytest.mark.parametrize(
    "build",
    [
        lambda: build_plane(friction=-1.0),
        lambda: build_plane(restitution=1.5),
        lambda: build_plane(slope=2.0),
        lambda: build_box((1.0, 0.0, 1.0), (0, 0, 0)),
        lambda: build_box((1.0, 1.0), (0, 0, 0)),
        lambda: build_terrain((build_plane(), build_plane())),
    ],
)
def test_shapes_that_make_no_sense(build):
    with pytest.raises(ShapeError):
        build()


@pytest.mark.parametrize(
    ("size", "warned"),
    [((0.2, 0.2, 0.2), True), ((0.4, 0.1, 0.1), True), ((0.15, 0.1, 0.1), False)],
)
def test_boxes_that_may_go_through_one_another_are_told(tmp_path, size, warned):
    text = f"""objects:
  lower: {{mass: 3, box: [0.2, 0.2, 0.2], xyz: [0, 0, 0.1]}}
  upper: {{mass: 2, box: {list(size)}, xyz: [0, 0, 0.4]}}
terrain: [{{plane: {{}}}}]
"""
    (tmp_path / "boxes.yaml").write_text(text)
    world = build_world(load_scene(tmp_path / "boxes.yaml"))
    assert any("go through" in warning for warning in world.robot.warnings) == warned
