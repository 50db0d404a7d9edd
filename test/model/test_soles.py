# SPDX-License-Identifier: Apache-2.0
"""Soles of robots nobody has described."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from bipeds import ANKLE, BOX, SHANK, THIGH, biped, strip

from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.standing.feet import side_of
from humanoid_dynamics.model.standing.footprint import convex_hull, polygon_area, simplify_polygon
from humanoid_dynamics.model.standing.mesh_points import read_mesh_points


def corners_below_ankle(robot: RobotModel, name: str) -> np.ndarray:
    """Corners of a surface in the frame of the last joint of its leg."""
    surface = robot.surfaces[name]
    frame = robot.model.frames[surface.frame]
    return np.array([frame.placement.act(corner) for corner in surface.vertices])


def shapes(text: str) -> dict[str, str]:
    return {"left": text, "right": text}


def test_box_gives_its_lower_face() -> None:
    robot = load_robot(biped())
    assert set(robot.surfaces) == {"left_foot", "right_foot"}
    corners = corners_below_ankle(robot, "left_foot")
    expected = np.array([[x, y, -0.08] for x in (-0.07, 0.15) for y in (-0.045, 0.055)])
    assert sorted(map(tuple, corners.round(12))) == sorted(map(tuple, expected.round(12)))


def test_frame_is_under_the_ankle_upright_and_forward() -> None:
    robot = load_robot(biped())
    placement = robot.model.frames[robot.surfaces["left_foot"].frame].placement
    assert np.allclose(placement.translation, [0.0, 0.0, -0.08], atol=1e-12)
    assert np.allclose(placement.rotation, np.eye(3), atol=1e-12)


def test_corners_run_counter_clockwise() -> None:
    robot = load_robot(biped())
    for surface in robot.surfaces.values():
        assert polygon_area(surface.vertices[:, :2]) == pytest.approx(0.22 * 0.1, rel=1e-12)


def test_right_is_the_mirror_image_of_left() -> None:
    robot = load_robot(biped())
    left, right = (robot.surfaces[name].vertices for name in ("left_foot", "right_foot"))
    assert np.array_equal(left[::-1] * [1.0, -1.0, 1.0], right)


@pytest.mark.parametrize("radius", [0.005, 0.01])
def test_four_spheres_give_a_face_through_their_lowest_points(radius: float) -> None:
    centres = [(x, y) for x in (-0.05, 0.12) for y in (-0.03, 0.03)]
    sphere = '<collision><origin xyz="{} {} -0.03"/><geometry><sphere radius="{}"/></geometry></collision>'
    robot = load_robot(biped(feet=shapes("".join(sphere.format(x, y, radius) for x, y in centres))))
    corners = corners_below_ankle(robot, "right_foot")
    assert sorted(map(tuple, corners.round(9))) == sorted(
        (x, y, round(-0.03 - radius, 9)) for x, y in centres
    )


def test_two_capsules_along_the_foot_give_a_face() -> None:
    capsule = '<collision><origin xyz="0.03 {} -0.05" rpy="0 1.5707963267948966 0"/><geometry>{}</geometry></collision>'
    solid = '<capsule radius="0.02" length="0.18"/>'
    robot = load_robot(biped(feet=shapes("".join(capsule.format(y, solid) for y in (-0.03, 0.03)))))
    corners = corners_below_ankle(robot, "left_foot")
    assert np.allclose(np.ptp(corners, axis=0), [0.18, 0.06, 0.0], atol=1e-9)
    assert np.allclose(corners[:, 2], -0.07)


def test_one_capsule_stands_for_a_foot_as_broad_as_itself() -> None:
    capsule = '<collision><origin xyz="0.03 0 -0.05" rpy="0 1.5707963267948966 0"/><geometry>{}</geometry></collision>'
    robot = load_robot(biped(feet=shapes(capsule.format('<capsule radius="0.03" length="0.18"/>'))))
    length, breadth = robot.surfaces["left_foot"].size
    assert 0.23 < length <= 0.24 + 1e-12
    assert breadth == pytest.approx(0.06, abs=1e-9)


def test_a_bent_zero_pose_does_not_tilt_the_sole() -> None:
    robot = load_robot(biped(ankle_rest=0.2))
    surface = robot.surfaces["left_foot"]
    assert np.allclose(surface.X_LC.rotation, np.eye(3), atol=1e-12)
    assert surface.size == pytest.approx((0.22, 0.1))


def test_mesh_of_the_foot_is_read_where_it_is(tmp_path: Path) -> None:
    corners = [(x, y, z) for x in (-0.05, 0.15) for y in (-0.04, 0.04) for z in (-0.07, 0.0)]
    (tmp_path / "foot.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners))
    mesh = '<collision><geometry><mesh filename="foot.obj"/></geometry></collision>'
    (tmp_path / "biped.urdf").write_text(biped(feet=shapes(mesh)))
    robot = load_robot(tmp_path / "biped.urdf")
    assert robot.surfaces["left_foot"].size == pytest.approx((0.2, 0.08))
    assert corners_below_ankle(robot, "left_foot")[:, 2] == pytest.approx(-0.07)


@pytest.mark.parametrize("content", ["", "v 0 0", "v a b c\n", "v nan 0 0\n"])
def test_broken_mesh_is_a_missing_mesh(tmp_path: Path, content: str) -> None:
    (tmp_path / "foot.obj").write_text(content)
    assert read_mesh_points(tmp_path / "foot.obj").shape == (0, 3)
    (tmp_path / "biped.urdf").write_text(
        biped(feet=shapes('<visual><geometry><mesh filename="foot.obj"/></geometry></visual>'))
    )
    assert "proportions" in load_robot(tmp_path / "biped.urdf").surfaces["left_foot"].assumed


@pytest.mark.parametrize(
    ("suffix", "magic"),
    [(".stl", b"\0" * 80 + b"\xff" * 4), (".dae", b"<COLLADA"), (".glb", b"glTF"), (".dae", b"")],
)
def test_truncated_mesh_files_have_no_points(tmp_path: Path, suffix: str, magic: bytes) -> None:
    path = tmp_path / f"foot{suffix}"
    path.write_bytes(magic)
    assert read_mesh_points(path).shape == (0, 3)


def test_binary_and_text_stl_and_collada_agree(tmp_path: Path) -> None:
    triangles = np.random.default_rng(3).normal(size=(5, 3, 3)).astype(np.float32)
    record = np.zeros(5, np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]))
    record["v"] = triangles
    (tmp_path / "b.stl").write_bytes(b"\0" * 80 + np.uint32(5).tobytes() + record.tobytes())
    lines = "".join(
        f"vertex {x!r} {y!r} {z!r}\n" for x, y, z in triangles.reshape(-1, 3).astype(float).tolist()
    )
    (tmp_path / "t.stl").write_text(f"solid foot\n{lines}endsolid\n")
    numbers = " ".join(repr(float(value) * 10.0) for value in triangles.reshape(-1))
    (tmp_path / "c.dae").write_text(
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.1"/><up_axis>Z_UP</up_axis></asset>'
        '<library_geometries><geometry id="g"><mesh><source id="p"><float_array>'
        + numbers
        + "</float_array></source>"
        '<vertices id="v"><input semantic="POSITION" source="#p"/></vertices></mesh></geometry></library_geometries>'
        '<library_visual_scenes><visual_scene><node><translate>1 2 3</translate><rotate>0 0 1 90</rotate><instance_geometry url="#g"/>'
        "</node></visual_scene></library_visual_scenes></COLLADA>"
    )
    binary, text, collada = (
        read_mesh_points(tmp_path / name) for name in ("b.stl", "t.stl", "c.dae")
    )
    assert np.array_equal(binary, text)
    turned = np.unique(
        (binary @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
        + np.array([0.1, 0.2, 0.3]),
        axis=0,
    )
    assert np.allclose(np.sort(collada, axis=0), np.sort(turned, axis=0), atol=1e-7)


def test_without_shapes_the_leg_gives_a_human_foot() -> None:
    robot = load_robot(strip(biped()))
    leg = THIGH + SHANK
    length, breadth = robot.surfaces["left_foot"].size
    assert length == pytest.approx(0.152 / 0.530 * leg, rel=1e-9)
    assert breadth == pytest.approx(0.055 / 0.530 * leg, rel=1e-9)
    below = -corners_below_ankle(robot, "left_foot")[0, 2]
    assert 0.5 * ANKLE < below < ANKLE


@pytest.mark.parametrize(
    "names",
    [
        ("left", "right"),
        ("L", "R"),
        ("l", "r"),
        ("LLEG", "RLEG"),
        ("Left", "Right"),
        ("leg_l6", "leg_r6"),
    ],
)
@pytest.mark.parametrize("foot", ["foot", "sole", "ankle", "Ankle_Roll", "Foot_link", "segment6"])
def test_left_and_right_whatever_they_are_called(names: tuple[str, str], foot: str) -> None:
    robot = load_robot(biped(names=names, foot=foot, feet=dict.fromkeys(names, BOX)))
    assert robot.surfaces["left_foot"].link == f"{names[0]}_{foot}"
    assert robot.surfaces["right_foot"].link == f"{names[1]}_{foot}"


def test_a_foot_without_shapes_takes_those_of_the_other() -> None:
    robot = load_robot(biped(feet={"left": "", "right": BOX}))
    assert "mirror image" in robot.surfaces["left_foot"].assumed
    left, right = (robot.surfaces[name].vertices for name in ("left_foot", "right_foot"))
    assert np.array_equal(left[::-1] * [1.0, -1.0, 1.0] + 0.0, right + 0.0)


def test_names_that_say_nothing_leave_the_reach_to_say_it() -> None:
    robot = load_robot(strip(biped(), shapes=False, names=True))
    assert {name: surface.link for name, surface in robot.surfaces.items()} == {
        "left_foot": "body6",
        "right_foot": "body12",
    }
    assert robot.surfaces["left_foot"].size == pytest.approx((0.22, 0.1))


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("left_sole_link", "left"),
        ("LAnkleRoll", "left"),
        ("RLEG_LINK5", "right"),
        ("r_foot", "right"),
        ("RightFoot", "right"),
        ("leg_l6_link", "left"),
        ("pelvis", ""),
        ("roll", ""),
        ("leg_left_right", ""),
        ("FL_FOOT", ""),
    ],
)
def test_sides_of_names(name: str, side: str) -> None:
    assert side_of(name) == side


def test_torso_with_arms_has_no_feet_and_says_so() -> None:
    text = biped(
        names=("left_arm", "right_arm"),
        foot="hand",
        feet=dict.fromkeys(("left_arm", "right_arm"), ""),
    )
    robot = load_robot(text)
    assert not robot.surfaces
    assert any("no foot" in warning for warning in robot.warnings)


def test_one_notice_says_what_was_assumed() -> None:
    robot = load_robot(biped())
    told = [notice for notice in robot.notices if notice.element == "soles"]
    assert len(told) == 1
    assert told[0].severity == "info"
    assert all(surface.assumed for surface in robot.surfaces.values())
    assert "left_foot" in told[0].text


def test_fixed_root_gets_no_soles() -> None:
    assert not load_robot(biped(), root="fixed").surfaces


def test_frames_belong_to_the_model() -> None:
    robot = load_robot(biped())
    for surface in robot.surfaces.values():
        assert robot.model.frames[surface.frame].type == pin.FrameType.OP_FRAME


def test_hull_of_random_points_contains_them_and_is_convex() -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    hull = convex_hull(points)
    edges = np.roll(hull, -1, axis=0) - hull
    for corner, edge in zip(hull, edges, strict=True):
        assert (
            edge[0] * (points[:, 1] - corner[1]) - edge[1] * (points[:, 0] - corner[0])
        ).min() > -1e-12


def test_simplified_polygon_stays_inside() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    simple = simplify_polygon(circle)
    assert len(simple) == 8
    assert 0.85 * np.pi < polygon_area(simple) < np.pi
    assert {tuple(corner) for corner in simple} <= {tuple(corner) for corner in circle}
