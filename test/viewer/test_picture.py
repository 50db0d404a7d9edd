# SPDX-License-Identifier: Apache-2.0
"""A picture says what the forces are: arrows, centre of pressure, support."""

import numpy as np
import pytest

import humanoid_dynamics as hd

pytest.importorskip("trimesh", reason="the page's extra is not installed")

from humanoid_dynamics.spatial.polygon import margin_inside
from humanoid_dynamics.viewer.bodies import build_bodies
from humanoid_dynamics.viewer.picture import (
    METRES_PER_NEWTON,
    Painter,
    Touch,
    gather_arrows,
    gather_pressures,
    span_support,
)


@pytest.fixture
def touches() -> list[Touch]:
    rng = np.random.default_rng(5)
    places = rng.uniform(-0.1, 0.1, (8, 3)) * (1, 1, 0) + np.repeat(
        [[0, 0.1, 0], [0, -0.1, 0]], 4, axis=0
    )
    forces = rng.uniform(10, 100, (8, 3))
    return [
        Touch("left" if k < 4 else "right", p, f)
        for k, (p, f) in enumerate(zip(places, forces, strict=True))
    ]


def test_arrows_carry_the_whole_force_and_end_at_the_robot(touches: list[Touch]) -> None:
    arrows = gather_arrows(touches)
    whole = (arrows[:, 1] - arrows[:, 0]).sum(axis=0) / METRES_PER_NEWTON
    assert whole == pytest.approx(np.sum([touch.force for touch in touches], axis=0))
    assert arrows.shape == (2, 2, 3)
    assert (arrows[:, 0, 2] < arrows[:, 1, 2]).all()


def test_centre_of_pressure_lies_in_the_support(touches: list[Touch]) -> None:
    support = span_support(touches)
    for cop in gather_pressures(touches):
        assert margin_inside(support[:, :2], cop[:2]) > 0.0
    for touch in touches:
        assert margin_inside(support[:, :2], touch.place[:2]) >= -1e-12


def test_no_support_on_a_line() -> None:
    touches = [
        Touch("foot", np.array([x, 0.0, 0.0]), np.array([0.0, 0.0, 10.0])) for x in (0.0, 0.1, 0.2)
    ]
    assert len(span_support(touches)) == 0


def test_nothing_touched_nothing_drawn() -> None:
    assert len(gather_arrows([])) == len(gather_pressures([])) == len(span_support([])) == 0


def test_ghost_stands_where_the_reference_is() -> None:
    robot = hd.load_robot("human28")
    painter = Painter(robot, build_bodies(robot))
    moved = np.array(robot.posture)
    moved[0] += 1.0
    picture = painter.paint(0.0, robot.posture, reference=moved)
    assert picture.ghost is not None
    assert picture.ghost[:, :3] - picture.poses[:, :3] == pytest.approx(
        np.tile([1.0, 0.0, 0.0], (len(picture.poses), 1))
    )
