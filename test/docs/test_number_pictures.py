# SPDX-License-Identifier: Apache-2.0
"""Pictures of the documents carry the numbers they were drawn from, which are still those of the code."""

import human_steps
import number_pictures as pictures
import numpy as np
import pytest

LARGEST = 120_000  # bytes


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_picture_is_what_the_code_says(name):
    numbers, path = pictures.PICTURES[name][0](), pictures.IMAGES / name
    assert path.stat().st_size < LARGEST
    carried = pictures.read_numbers(path)
    assert carried
    if numbers is None:
        pytest.skip(f"no measurements: {human_steps.DATA} is absent")
    assert not pictures.differs(numbers, carried)


def test_every_picture_has_a_place():
    assert {path.name for path in pictures.IMAGES.iterdir()} >= set(pictures.PICTURES)
    pages = "".join(
        path.read_text(encoding="utf-8") for path in pictures.IMAGES.parent.glob("*.md")
    )
    assert all(f"(images/{name})" in pages for name in pictures.PICTURES)


def test_a_difference_is_found():
    assert not pictures.differs({"a": [1.0, 2.0]}, {"a": [1.0, 2.0005]})
    assert pictures.differs({"a": [1.0, 2.0]}, {"a": [1.0, 2.01]})
    assert pictures.differs({"a": [1.0]}, {"b": [1.0]})
    assert pictures.differs({"a": [1.0]}, {"a": [1.0, 1.0]})


def test_a_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    numbers = pictures.compute_step_torques_picture()
    pictures.draw_step_torques(tmp_path / "picture.png", numbers)
    assert not pictures.differs(numbers, pictures.read_numbers(tmp_path / "picture.png"))


def test_double_supports_are_cut_from_two_feet():
    """Two ramps made up: their shares are found, with front and rear foot told apart, and cut-off ones left out."""
    times = np.arange(0.0, 2.0, 0.01)
    left = np.where(times < 0.5, 600.0, np.where(times < 0.7, 600.0 * (0.7 - times) / 0.2, 0.0))
    left = left + np.where(times > 1.5, np.minimum(600.0 * (times - 1.5) / 0.2, 600.0), 0.0)
    right = 600.0 - left
    places = np.array([np.zeros(200), np.full(200, 0.5)])
    first, second = human_steps.find_double_supports("X", times, np.array([left, right]), places)
    for step in (first, second):
        assert step.duration == pytest.approx(0.18)
        assert (np.diff(step.share) > 0.0).all()
        assert (
            np.abs(step.share - (0.05 + 0.9 * step.u)).max() < 1e-12
        )  # 20 N of 600 N cut a sample off at each end
        assert human_steps.miss(step, "linear") == pytest.approx(
            np.sqrt(np.mean((0.05 - 0.1 * step.u) ** 2))
        )
        assert human_steps.miss(step, "quintic") > 0.06
    assert first.step_time == pytest.approx(1.0)
    late = human_steps.find_double_supports(
        "X", times[55:], np.array([left, right])[:, 55:], places[:, 55:]
    )
    assert len(late) == 1


def test_what_was_measured():
    """Two public walks: a straight line to 0.02 .. 0.04 at normal speed, 0.09 .. 0.13 in fast walking, the quintic always further off."""
    if not human_steps.is_there():
        pytest.skip(f"no measurements: {human_steps.DATA} is absent")
    steps = human_steps.read_steps()
    assert [step.walker for step in steps] == ["A"] * 3 + ["B"] * 3
    for step in steps:
        linear = human_steps.miss(step, "linear")
        assert 0.085 < linear < 0.13 if step.walker == "A" else 0.02 < linear < 0.04
        assert human_steps.miss(step, "quintic") > linear + 0.045
        assert abs(step.middle - step.share[len(step.share) // 2]) < 0.03
