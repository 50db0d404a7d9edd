# SPDX-License-Identifier: Apache-2.0
"""Pictures of scenes: all there, small, and made by the one command."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from humanoid_dynamics.simulation.scenes.names import scene_names

PROJECT = Path(__file__).resolve().parents[2]
IMAGES = PROJECT / "docs" / "images"
MOST = 120_000  # bytes


@pytest.fixture(scope="module")
def pictures():
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    import pictures

    return pictures


@pytest.mark.parametrize("name", scene_names())
def test_every_scene_has_a_picture_on_its_page(name):
    path = IMAGES / f"scene_{name}.png"
    assert path.is_file(), f"python docs/pictures.py --only scene_{name} draws it"
    assert 3_000 < path.stat().st_size < MOST
    assert f"images/scene_{name}.png" in (PROJECT / "docs" / "world.md").read_text(encoding="utf-8")


def test_the_command_draws_the_same_picture_twice(pictures, tmp_path, capsys):
    for folder in ("one", "other"):
        assert pictures.main(["--only", "scene_sliding_box", "--dir", str(tmp_path / folder)]) == 0
    one, other = (tmp_path / folder / "scene_sliding_box.png" for folder in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    assert "scene_sliding_box.png" in capsys.readouterr().out
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    with image.open(one) as drawn:
        pixels = np.asarray(drawn.convert("RGB"), dtype=float)
    assert 0.02 < (pixels.min(axis=2) < 200).mean() < 0.6


def test_a_scene_nobody_described_is_drawn_too(pictures, tmp_path, monkeypatch):
    import scene_pictures

    monkeypatch.setattr(scene_pictures, "LOOKS", {})
    scene_pictures.draw_scene("tipping_box", tmp_path / "box.png")
    assert (tmp_path / "box.png").stat().st_size > 3_000


def test_every_look_and_every_reading_is_of_a_scene(pictures):
    import scene_pictures

    assert set(scene_pictures.LOOKS) <= set(scene_names())
    assert set(
        yaml.safe_load((PROJECT / "docs" / "scenes.yaml").read_text(encoding="utf-8"))
    ) <= set(scene_names())
