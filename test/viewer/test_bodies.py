# SPDX-License-Identifier: Apache-2.0
"""What is drawn of a robot: all of it, where it is."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.model.shape import Geometry

pytest.importorskip("trimesh", reason="the page's extra is not installed")

from humanoid_dynamics.viewer.bodies import THINNEST, build_bodies, place_bodies
from humanoid_dynamics.viewer.triangles import (
    Triangles,
    capsule_between,
    coarsen,
    merge,
    triangulate,
)

OWN = ("human28", "human16", "legs12", "swing", "snake5", "fourbar", "biped7")


def volume(surface: Triangles) -> float:
    """Volume inside a closed surface, by the divergence theorem: positive only if its faces look outwards."""
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


@pytest.mark.parametrize(
    ("kind", "size", "expected"),
    [
        ("box", (0.2, 0.3, 0.4), 0.024),
        ("sphere", (0.1,), 4.0 / 3.0 * np.pi * 1e-3),
        ("cylinder", (0.1, 0.5), np.pi * 0.005),
        ("capsule", (0.1, 0.5), np.pi * 0.005 + 4.0 / 3.0 * np.pi * 1e-3),
    ],
)
def test_volume_and_middle_of_primitives(
    kind: str, size: tuple[float, ...], expected: float
) -> None:
    X = pin.SE3(pin.exp3(np.array([0.4, -0.7, 1.1])), np.array([0.3, -0.2, 0.9]))
    surface = triangulate(Geometry(kind, size, X))
    assert (
        0.88 * expected <= volume(surface) <= expected * (1.0 + 1e-9)
    )  # inscribed, with few corners
    middle = 0.5 * (surface.vertices @ X.rotation).min(axis=0) + 0.5 * (
        surface.vertices @ X.rotation
    ).max(axis=0)
    assert X.rotation @ middle == pytest.approx(X.translation, abs=1e-9)


def test_capsule_reaches_from_point_to_point() -> None:
    start, end = np.array([0.1, -0.2, 0.3]), np.array([0.1, 0.4, -0.5])
    along = (end - start) / np.linalg.norm(end - start)
    heights = (capsule_between(start, end, 0.05).vertices - start) @ along
    assert heights.min() == pytest.approx(-0.05, abs=1e-6)
    assert heights.max() == pytest.approx(np.linalg.norm(end - start) + 0.05, abs=1e-6)


def test_coarse_surface_is_near_the_fine_one_and_smaller() -> None:
    fine = triangulate(Geometry("sphere", (0.1,), pin.SE3.Identity()))
    coarse = coarsen(fine, 0.05)
    assert 0 < len(coarse.faces) < len(fine.faces)
    assert np.linalg.norm(coarse.vertices, axis=1) == pytest.approx(
        np.full(len(coarse.vertices), 0.1), abs=1e-6
    )


def test_merged_surfaces_keep_their_faces() -> None:
    box = triangulate(Geometry("box", (1.0, 1.0, 1.0), pin.SE3.Identity()))
    assert volume(
        merge([box, box.moved(pin.SE3(np.eye(3), np.array([3.0, 0.0, 0.0])))])
    ) == pytest.approx(2.0)


@pytest.mark.parametrize("name", OWN)
def test_every_body_with_an_extent_is_drawn(name: str) -> None:
    robot = hd.load_robot(name)
    model, drawn = robot.model, {body.joint for body in build_bodies(robot)}
    for joint in set(range(1, model.njoints)) - drawn:
        reach = [
            np.linalg.norm(model.jointPlacements[child].translation)
            for child in model.children[joint]
        ]
        assert max(reach, default=2.0 * np.linalg.norm(model.inertias[joint].lever)) <= THINNEST


@pytest.mark.parametrize("name", OWN)
def test_a_robot_without_shapes_becomes_capsules_around_its_joints(name: str) -> None:
    robot = replace(hd.load_robot(name), shapes={})
    bodies = build_bodies(robot)
    assert bodies
    assert not any(body.drawn for body in bodies)
    for body in bodies:
        assert np.isfinite(body.surface.vertices).all()
        for child in robot.model.children[body.joint]:
            end = robot.model.jointPlacements[child].translation
            assert (
                np.linalg.norm(end) < 0.02
                or np.linalg.norm(body.surface.vertices - end, axis=1).min() < 0.1
            )


def test_bodies_are_where_the_links_are() -> None:
    robot = hd.load_robot("human28")
    bodies, data = build_bodies(robot), robot.data()
    q = pin.integrate(robot.model, robot.posture, np.random.default_rng(3).normal(size=robot.nv))
    pin.framesForwardKinematics(robot.model, data, q)
    for body, (x, y, z, qw, qx, qy, qz) in zip(bodies, place_bodies(bodies, data), strict=True):
        X_WB = pin.XYZQUATToSE3(np.array([x, y, z, qx, qy, qz, qw]))
        assert (X_WB * body.X_JL).isApprox(data.oMf[robot.link_frame(body.name)], 1e-9)


def test_missing_mesh_leaves_a_capsule() -> None:
    robot = hd.load_robot("human28")
    shapes = {
        link: (Geometry("mesh", (1.0, 1.0, 1.0), pin.SE3.Identity(), ""),) for link in robot.links
    }
    assert not any(body.drawn for body in build_bodies(replace(robot, shapes=shapes)))


def test_broken_mesh_leaves_a_capsule(tmp_path) -> None:
    path = tmp_path / "broken.stl"
    path.write_bytes(b"solid nothing")
    robot = hd.load_robot("human28")
    shapes = {
        link: (Geometry("mesh", (1.0, 1.0, 1.0), pin.SE3.Identity(), str(path)),)
        for link in robot.links
    }
    assert not any(body.drawn for body in build_bodies(replace(robot, shapes=shapes)))
