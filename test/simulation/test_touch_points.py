# SPDX-License-Identifier: Apache-2.0
"""Where robots touch: with all their links, however they were named, and told where a mesh is missing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import MissingExtraError
from humanoid_dynamics.model.reading.source import read_source
from humanoid_dynamics.simulation.contacts.touch_points import list_body_points
from humanoid_dynamics.simulation.scenes.file import read_scene
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World

BOX = '<geometry><box size="0.2 0.1 0.1"/></geometry>'
MESH = '<geometry><mesh filename="package://nowhere/hand.stl"/></geometry>'
LINK = '<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial><collision>{shape}</collision></link>'
INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
JOINT = '<joint name="wrist" type="fixed"><parent link="arm"/><child link="hand"/></joint>'


def write_arm():
    """Return the URDF of an arm whose hand is a mesh that lies nowhere."""
    links = "".join(
        LINK.format(name=name, inertia=INERTIA, shape=shape)
        for name, shape in (("arm", BOX), ("hand", MESH))
    )
    return f'<robot name="arm">{links}{JOINT}</robot>'


@pytest.mark.parametrize("name", ["bolt", "icub"])
def test_a_robot_of_the_catalogue_touches_where_it_does_by_its_path(name):
    try:
        robot = hd.load_robot(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    path = next(read_source(name).folder.rglob(f"{name}.urdf"))
    expected = [
        (point.link, *point.p_L)
        for point in list_body_points(replace(hd.load_robot(path), surfaces=robot.surfaces))
    ]
    found = [(point.link, *point.p_L) for point in list_body_points(robot)]
    assert found == expected
    assert len({link for link, *_ in found}) > 6


def test_the_points_of_a_description_do_not_depend_on_how_it_was_named(tmp_path, monkeypatch):
    corners = np.array([[x, y, z] for x in (0.0, 0.3) for y in (0.0, 0.2) for z in (0.0, 0.1)])
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "hand.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
    )
    text = write_arm().replace("package://nowhere/hand.stl", "meshes/hand.obj")
    (tmp_path / "arm.urdf").write_text(text)
    by_path = hd.load_robot(tmp_path / "arm.urdf", root="free_flyer")
    monkeypatch.chdir(tmp_path.parent)
    by_relative_path = hd.load_robot(Path(tmp_path.name) / "arm.urdf", root="free_flyer")
    for robot in (by_path, by_relative_path):
        points = [point for point in list_body_points(robot) if point.link == "hand"]
        assert len(points) == 8
        assert sorted(tuple(point.p_L) for point in points) == sorted(map(tuple, corners))


def test_links_whose_meshes_are_missing_are_told():
    robot = hd.load_robot(write_arm(), root="free_flyer")
    scene = read_scene(
        {
            "figures": {
                "a": {"robot": write_arm(), "root": "free_flyer", "points": "body"},
                "b": {"robot": "human28"},
            }
        }
    )
    for world in (World(robot, Setup(points="body")), World(scene.robot, scene.setup)):
        assert [
            text
            for text in world.robot.warnings
            if "hand" in text and "have no contact there" in text
        ]
    assert not [
        text
        for text in World(robot, Setup(points="surfaces")).robot.warnings
        if "have no contact there" in text
    ]


def test_corners_of_a_box_that_shares_its_place_with_a_surface_touch_on_all_sides():
    """Those of the palm are the surface's; of the others the lowest may look up, and nothing else would hold the hand."""
    robot = hd.load_robot("human28")
    corners = {}
    for point in list_body_points(robot)[4 * len(robot.surfaces) :]:
        corners.setdefault(point.name.rpartition(".")[0], []).append(point)
    boxes = {
        name: points
        for name, points in corners.items()
        if any(point.outward.any() for point in points)
    }
    assert boxes
    assert all(len(points) == 8 for points in boxes.values())


def test_the_lowest_corner_of_a_hand_touches_however_it_is_turned():
    robot = hd.load_robot("human28")
    points = [point for point in list_body_points(robot) if point.link == "right_hand"]
    p_L, outward = (
        np.array([point.p_L for point in points]),
        np.array([point.outward for point in points]),
    )
    rng = np.random.default_rng(0)
    for down in rng.normal(size=(200, 3)):
        lowest = int(np.argmax(p_L @ down))
        assert not outward[lowest].any() or outward[lowest] @ down > 0.35 * np.linalg.norm(down)
