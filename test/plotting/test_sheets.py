# SPDX-License-Identifier: Apache-2.0
"""Figures of records: the numbers they show, and pictures that are pictures."""

import subprocess
import sys

import numpy as np
import pytest

from humanoid_dynamics.errors import (
    HumanoidDynamicsError,
    MissingExtraError,
    RecordError,
    UnknownNameError,
)
from humanoid_dynamics.plotting.curves import SHEETS, build_sheet, list_sheets
from humanoid_dynamics.plotting.filmstrip import clip
from humanoid_dynamics.plotting.panels import Panel, SolePanel
from humanoid_dynamics.plotting.sheets import draw_sheets, thin
from humanoid_dynamics.plotting.silhouette import list_solids, outline, see, see_box, view
from humanoid_dynamics.simulation.recorder import Recorder
from humanoid_dynamics.simulation.scenes.file import load_scene
from humanoid_dynamics.simulation.scenes.run import build_world, run_scene

AXES = view(0.0, 0.0)


def record_of(name, seconds):
    scene = load_scene(name)
    world = build_world(scene)
    recorder = Recorder(world, 2, about={"scene": name})
    run_scene(scene, world, seconds)
    return recorder.record()


@pytest.fixture(scope="module")
def pushed():
    return record_of("pushed", 0.8)


def read_image(path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    with image.open(path) as opened:
        assert opened.format == "PNG"
        return np.asarray(opened.convert("RGB"), dtype=float)


def test_every_figure_of_a_humanoid(pushed):
    assert list_sheets(pushed) == tuple(name for name in SHEETS if name != "wheels")


@pytest.mark.parametrize(
    ("scene", "sheets"),
    [
        ("swing", ("joints", "energy")),
        ("sliding_box", ("joints", "forces", "energy")),
        ("ropes", ("joints", "energy")),
    ],
)
def test_what_a_record_has_something_for(scene, sheets):
    assert list_sheets(record_of(scene, 0.02)) == sheets


def test_left_and_right_share_a_panel(pushed):
    panels = {panel.title: panel for panel in build_sheet(pushed, "joints").panels}
    assert [curve.side for curve in panels["knee"].curves] == ["left", "right"]
    np.testing.assert_array_equal(
        panels["knee"].curves[0].values, pushed.table("q").column("left_knee")
    )
    shown = sum(len(panel.curves) for panel in panels.values())
    assert shown == pushed.table("q").values.shape[1] - 3  # a quaternion is one turn


def test_spherical_joints_are_shown_by_their_turn():
    record = record_of("swing", 0.02)
    panels = [panel for panel in build_sheet(record, "joints").panels if "shoulder" in panel.title]
    turn = panels[0].curves[0]
    assert turn.values[0] == pytest.approx(
        2.8, abs=0.2
    )  # as the scene says: raised by 2.8 rad, then closed


def test_energy_panels_keep_the_books(pushed):
    panels = {
        panel.title: {curve.name: curve.values for curve in panel.curves}
        for panel in build_sheet(pushed, "energy").panels
    }
    change = (
        panels["energy, potential from the start"]["total"]
        - panels["energy, potential from the start"]["total"][0]
    )
    work = sum(panels["work since the start"].values())
    missing = panels["energy error: energy less start and work"]["missing"]
    np.testing.assert_allclose(change, work + missing, atol=1e-9)


def test_centre_of_pressure_is_where_the_forces_are(pushed):
    panels = build_sheet(pushed, "cop").panels
    assert [panel.title for panel in panels] == ["left_foot", "right_foot"]
    for panel in panels:
        assert isinstance(panel, SolePanel)
        assert np.nanmin(panel.margin) > -1e-9
        assert np.nanmax(panel.margin) < 0.05
    w = pushed.wrench("left_foot")[-1]
    np.testing.assert_allclose(
        np.cross([*panels[0].cop[-1], 0.0], w[:3])[:2], w[3:5], atol=1e-9
    )  # no tilting moment is left there


def test_numbers_are_those_of_the_curves(pushed):
    numbers = build_sheet(pushed, "forces").numbers()
    total = pushed.table("balance").column("force_z")
    expected = {"min": total.min(), "max": total.max(), "final": total[-1], "unit": "N"}
    assert numbers["all contacts"]["force_z"] == pytest.approx(expected)
    assert (
        build_sheet(record_of("falling", 0.002), "cop").numbers()["left_foot"]["cop_x"]["unit"]
        == "m"
    )


def test_nothing_to_show_is_told():
    record = record_of("swing", 0.01)
    with pytest.raises(
        RecordError, match="nothing for the figure 'cop': no sole ever carried load"
    ):
        build_sheet(record, "cop")
    with pytest.raises(UnknownNameError, match="joints, torques, forces, cop, energy, wheels"):
        build_sheet(record, "forse")


def test_thinned_curves_keep_their_peaks():
    t = np.linspace(0.0, 600.0, 600001)
    y = np.sin(40.0 * t)
    y[123456], y[400000] = 9.0, np.nan
    few_t, few_y = thin(t, y)
    assert len(few_t) <= 2400
    assert np.nanmax(few_y) == 9.0
    assert np.nanmin(few_y) < -0.999
    assert (np.diff(few_t) > 0.0).all()
    assert thin(t[:100], y[:100])[0] is not few_t
    np.testing.assert_array_equal(thin(t[:100], y[:100])[1], y[:100])


def test_pictures_are_small_alike_and_not_blank(pushed, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    for name in list_sheets(pushed):
        sheet = build_sheet(pushed, name)
        draw_sheets([sheet], "pushed", tmp_path / f"{name}.png")
        content = (tmp_path / f"{name}.png").read_bytes()
        if name == "cop":
            draw_sheets([sheet], "pushed", tmp_path / "again.png")
            assert content == (tmp_path / "again.png").read_bytes()
        assert 4_000 < len(content) < 120_000
        pixels = read_image(tmp_path / f"{name}.png")
        assert pixels.shape[1] == 864
        dark = (pixels.min(axis=2) < 160).mean()
        assert 0.002 < dark < 0.4
        columns = np.array_split((pixels.min(axis=2) < 200).any(axis=0), 4)
        assert all(column.any() for column in columns[: 4 if len(sheet.panels) > 3 else 2])


def test_a_picture_has_the_colours_of_left_and_right(pushed, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    draw_sheets([build_sheet(pushed, "joints")], "pushed", tmp_path / "joints.png")
    pixels = read_image(tmp_path / "joints.png").reshape(-1, 3)
    for colour in ((0x1F, 0x6F, 0xB4), (0xD1, 0x58, 0x1A)):
        assert (np.abs(pixels - colour).max(axis=1) < 24).sum() > 200


def test_where_nothing_can_be_written(pushed, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    (tmp_path / "file").write_text("")
    with pytest.raises(HumanoidDynamicsError, match="cannot be written"):
        draw_sheets([build_sheet(pushed, "energy")], "", tmp_path / "file" / "energy.png")


def test_without_matplotlib_the_extra_is_named(pushed, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"humanoid_dynamics\[plot\]"):
        draw_sheets([build_sheet(pushed, "energy")], "", tmp_path / "energy.png")


def test_numbers_need_no_matplotlib():
    code = "import sys, humanoid_dynamics.plotting.curves, humanoid_dynamics.cli.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_outline_of_a_ball_and_of_a_box():
    ball = outline(np.array([[1.0, 5.0, 2.0]]), 0.5, AXES)
    np.testing.assert_allclose(np.linalg.norm(ball.corners - [1.0, 2.0], axis=1), 0.5)
    assert ball.depth == pytest.approx(5.0)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    assert len(see_box(corners, AXES)) == 1  # straight from the side one face is seen
    faces = see_box(corners, view(0.5, 0.3))
    assert len(faces) == 3
    whole = outline(corners, 0.0, view(0.5, 0.3))
    area = lambda p: (  # noqa: E731
        0.5 * abs(np.sum(p[:, 0] * np.roll(p[:, 1], -1) - p[:, 1] * np.roll(p[:, 0], -1)))
    )
    assert sum(area(face.corners) for face in faces) == pytest.approx(area(whole.corners))


@pytest.mark.parametrize(
    ("name", "owners"),
    [("standing", {""}), ("swing", {"figure", "swing"}), ("steps", {"ball", "crate"})],
)
def test_bodies_are_seen_where_they_are(name, owners):
    scene = load_scene(name)
    points = (
        []
        if isinstance(scene.setup.points, str)
        else [(p.link, p.p_L, p.radius) for p in scene.setup.points]
    )
    solids = list_solids(scene.robot, points)
    assert {solid.owner for solid in solids} == owners
    seen = see(scene.robot, solids, scene.robot.data(), scene.state.q, AXES)
    depths = [one.depth for one in seen]
    assert depths == sorted(depths, reverse=True)
    corners = np.vstack([one.corners for one in seen])
    if name == "standing":
        assert corners[:, 1].min() == pytest.approx(0.0, abs=0.01)  # its soles
        assert 1.4 < corners[:, 1].max() < 1.9


def test_clipping():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    cut = clip(square, (1.0, 5.0, -1.0, 1.0))
    assert cut[:, 0].min() == 1.0
    assert cut[:, 1].max() == 1.0
    assert len(clip(square, (3.0, 4.0, 0.0, 1.0))) == 0


def test_panels_are_panels(pushed):
    assert all(isinstance(panel, Panel) for panel in build_sheet(pushed, "torques").panels)
