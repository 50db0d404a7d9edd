# SPDX-License-Identifier: Apache-2.0
"""How far discs are from boxes and capsules: from their sides, their edges and their corners, beside them and a little inside."""

import numpy as np
import pinocchio as pin
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.simulation.contacts.disc_kernel import lower_disc
from humanoid_dynamics.simulation.contacts.discs import SHARE, probe_discs
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape
from humanoid_dynamics.simulation.contacts.point_table import bind_points
from humanoid_dynamics.simulation.contacts.shapes import Capsule
from humanoid_dynamics.simulation.contacts.solid_points import FLAT
from humanoid_dynamics.simulation.contacts.terrain import (
    build_ball,
    build_box,
    build_plane,
    build_terrain,
)
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.steps.rows import RADIUS
from humanoid_dynamics.simulation.steps.tables import Tables

SHAPES = {
    "box": lambda rng: build_box(
        rng.uniform(0.05, 0.8, 3), rng.normal(size=3), rpy=rng.uniform(-1, 1, 3)
    ),
    "plank": lambda rng: build_box(
        rng.permutation([0.8, 0.3, 0.01]), rng.normal(size=3), rpy=rng.uniform(-1, 1, 3)
    ),
    "capsule": lambda rng: build_ball(
        rng.uniform(0.02, 0.2),
        rng.normal(size=3),
        length=rng.uniform(0.0, 0.5),
        rpy=rng.uniform(-1, 1, 3),
    ),
    "ball": lambda rng: build_ball(rng.uniform(0.02, 0.2), rng.normal(size=3)),
}


def draw(rng, shape):
    """Return a disc around a shape: any, or with a side nearly along a side or an edge."""
    radius, axis = rng.uniform(0.02, 0.3), rng.normal(size=3) * 10.0 ** rng.choice([0.0, -3.0], 3)
    span = (
        np.array(shape.half) + (shape.radius if isinstance(shape, Capsule) else 0.0) + 1.2 * radius
    )
    R = shape.X_WB.rotation
    return (
        shape.X_WB.translation + R @ (rng.uniform(-1.0, 1.0, 3) * span),
        radius,
        R @ (axis / np.linalg.norm(axis)),
    )


def draw_pairs(kind, seed):
    """Yield a shape and a disc around it, sixty times."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        shape = SHAPES[kind](rng)
        yield shape, *draw(rng, shape)


def search(shape, middle, radius, axis):
    """Return the least distance of all places on a flat disc from a shape, from ever finer grids: it is convex."""
    across, about, span = np.linalg.svd(axis[None])[2][1:], np.zeros(2), radius
    for _ in range(30):
        grid = span * np.linspace(-1.0, 1.0, 21)
        places = about + np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
        places *= np.minimum(1.0, radius / np.maximum(np.linalg.norm(places, axis=1), 1e-12))[
            :, None
        ]
        gaps = shape.probe(middle + places @ across)[0]
        about, span = places[np.argmin(gaps)], 0.7 * span
    return gaps.min(), middle + about @ across


@pytest.mark.parametrize("kind", SHAPES)
def test_no_place_on_a_disc_is_nearer_to_a_shape_than_the_one_that_is_told(kind):
    """To the thickness of what stands for a disc, and where it touches lies on the disc, as far from the shape as it is said to be."""
    beside = 0
    for shape, middle, radius, axis in draw_pairs(kind, 5):
        nearest, _ = search(shape, middle, radius, axis)
        gap, normal, which, place = (
            found[0]
            for found in probe_discs((shape,), middle[None], np.array([radius]), SHARE * axis[None])
        )
        thin = 1.01 * FLAT * radius + 1e-6
        if nearest < thin:
            assert gap <= nearest + 1e-6
            continue
        beside += 1
        assert nearest - thin <= gap <= nearest + 1e-6
        assert which == 0
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        assert shape.probe(place[None])[0][0] == pytest.approx(gap, abs=1e-9)
        assert shape.probe(place[None])[1][0] == pytest.approx(normal, abs=1e-6)
        assert abs((place - middle) @ axis) <= thin
        assert np.linalg.norm(place - middle) <= radius + 1e-9
    assert beside > 20


@pytest.mark.parametrize("kind", SHAPES)
def test_a_disc_that_is_pressed_in_a_little_comes_free_the_way_that_is_told(kind):
    """A hundredth of a millimetre, as what lies there is, over sides, edges and corners."""
    pressed = 0
    for shape, middle, radius, axis in draw_pairs(kind, 6):
        gap, normal, _, _ = probe_discs(
            (shape,), middle[None], np.array([radius]), SHARE * axis[None]
        )
        if gap[0] < 1e-6:
            continue
        pressed += 1
        deep = middle[None] - (gap[0] + 1e-5) * normal
        gap, way, _, _ = probe_discs((shape,), deep, np.array([radius]), SHARE * axis[None])
        assert -1.5e-5 < gap[0] < 0.0
        assert search(shape, deep[0] - gap[0] * way[0], radius, axis)[0] > -1e-9
    assert pressed > 20


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("moves", [False, True])
def test_kernels_and_arrays_find_the_same(kind, moves):
    rng, robot = np.random.default_rng(7), hd.load_robot("human28")
    points = bind_points(
        robot, (TouchPoint("rim", "torso", np.zeros(3), 0.1, axis=np.array([0.0, 0.0, 1.0])),)
    )
    for _ in range(40):
        shape = SHAPES[kind](rng)
        middle, radius, axis = draw(rng, shape)
        carrier = pin.SE3.Random() if moves else pin.SE3.Identity()
        terrain, movers = ((), (BoundShape(shape, 1, "torso", 1),)) if moves else ((shape,), ())
        tables = Tables(robot, points, build_terrain(terrain), movers, None)
        tables.points[0, RADIUS] = radius
        expected = [
            found[0]
            for found in probe_discs((shape,), middle[None], np.array([radius]), SHARE * axis[None])
        ]
        pose, room = np.array([*carrier.rotation.T.ravel(), *carrier.translation]), np.zeros(28)
        seen = np.array(
            [*carrier.act(middle), *np.zeros(6), *(SHARE * carrier.rotation @ axis), *np.zeros(3)]
        )
        gap = lower_disc(tables.points[0], (tables.shapes[0], pose), seen, room)
        assert gap == pytest.approx(expected[0], abs=1e-9)
        if gap > 0.0:
            assert room[:3] == pytest.approx(carrier.rotation @ expected[1], abs=1e-6)
            assert room[3:6] == pytest.approx(carrier.act(expected[3]), abs=1e-6)


def test_discs_in_the_middle_of_a_box_and_of_its_edges_are_told_a_direction():
    """Where none is better than others too: nothing is divided by zero."""
    box, radius = build_box((0.2, 0.4, 0.6), np.zeros(3)), np.array([0.1])
    row = Tables(
        hd.load_robot("human28"),
        bind_points(hd.load_robot("human28"), ()),
        build_terrain((box,)),
        (),
        None,
    ).shapes[0]
    point = np.zeros(20)
    point[RADIUS] = 0.1
    for middle in ([0.0, 0.0, 0.0], [0.1, 0.2, 0.0], [0.1, 0.2, 0.3], [0.1, 0.0, 0.0]):
        for axis in np.eye(3):
            gap, normal, _, place = (
                found[0]
                for found in probe_discs((box,), np.array([middle]), radius, SHARE * axis[None])
            )
            room = np.zeros(28)
            found = lower_disc(
                point,
                (row, np.zeros(12)),
                np.array([*middle, *np.zeros(6), *(SHARE * axis), *np.zeros(3)]),
                room,
            )
            assert gap == pytest.approx(found, abs=1e-9)
            assert np.isfinite([*normal, *place, *room]).all()
            assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-9)
            assert np.linalg.norm(room[:3]) == pytest.approx(1.0, abs=1e-9)


def test_a_disc_over_a_plane_is_lowest_on_its_rim():
    plane, axis = build_plane(0.1, slope=0.2), np.array([[0.0, np.sin(0.5), np.cos(0.5)]])
    gap, normal, _, place = probe_discs(
        (plane,), np.array([[0.0, 0.0, 1.0]]), np.array([0.3]), SHARE * axis
    )
    assert normal[0] == pytest.approx(plane.normal)
    assert plane.probe(place)[0] == pytest.approx(gap)
    assert gap[0] == pytest.approx(
        search(plane, np.array([0.0, 0.0, 1.0]), 0.3, axis[0])[0], abs=1.01 * FLAT * 0.3
    )
