# SPDX-License-Identifier: Apache-2.0
"""The cone of a patch: rows and corner forces are the same set, and the closed form of a rectangle is among them."""

import numpy as np
import pinocchio as pin
import pytest
from nearest import cone_distance

from humanoid_dynamics.contact.cone import build_generators, build_pushes, build_wrench_cone
from humanoid_dynamics.contact.wrench import measure_wrench
from humanoid_dynamics.model.surface import MOST_CORNERS, ContactSurface
from humanoid_dynamics.resolution.violations import yaw_margin
from humanoid_dynamics.spatial.polygon import margin_inside

X, Y = 0.11, 0.05
PATCHES = {
    "rectangle": [[X, Y], [-X, Y], [-X, -Y], [X, -Y]],
    "triangle": [[0.15, 0.05], [-0.08, 0.06], [-0.1, -0.05]],
    "pentagon": [[0.15, 0.05], [0.05, 0.07], [-0.1, 0.04], [-0.1, -0.05], [0.1, -0.06]],
    "edge": [[0.1, 0.05], [0.12, -0.05]],
    "edge along x": [[0.2, 0.0], [-0.06, 0.0]],
    "point": [[0.1, 0.03]],
    "large": [[8.0, 5.0], [-8.0, 5.0], [-8.0, -5.0], [8.0, -5.0]],
}


def patch(corners, friction=0.7, limit=np.inf):
    vertices = np.column_stack((np.array(corners, dtype=float), np.zeros(len(corners))))
    return ContactSurface("patch", "link", 0, pin.SE3.Identity(), vertices, friction, limit)


def coordinates(cone, wrench):
    x = np.linalg.lstsq(cone.basis, wrench, rcond=None)[0]
    np.testing.assert_allclose(cone.basis @ x, wrench, atol=1e-9 * (1 + np.abs(wrench).max()))
    return x


@pytest.mark.parametrize("facets", [3, 4, 8])
@pytest.mark.parametrize("name", PATCHES)
class TestSameSet:
    def test_what_corners_add_up_to_keeps_all_rows(self, name, facets):
        surface, rng = patch(PATCHES[name]), np.random.default_rng(1)
        cone, generators = build_wrench_cone(surface, facets), build_generators(surface, facets)
        for _ in range(100):
            w = generators @ rng.exponential(1.0, generators.shape[1]) ** 4
            assert np.max(cone.A @ coordinates(cone, w)) < 1e-9 * np.abs(w).max()

    def test_inside_and_outside_agree_with_a_search_for_corner_forces(self, name, facets):
        surface, rng = patch(PATCHES[name]), np.random.default_rng(2)
        cone, generators = build_wrench_cone(surface, facets), build_generators(surface, facets)
        seen = set()
        for _ in range(150):
            x = coordinates(cone, generators @ rng.exponential(1.0, generators.shape[1]) ** 4)
            x = x + 0.15 * rng.standard_normal(len(x)) * np.abs(x)
            worst = np.max(cone.A @ x)
            if abs(worst) > 1e-6 * np.abs(x).max():
                inside = worst < 0.0
                seen.add(inside)
                assert inside == (
                    cone_distance(generators, cone.basis @ x) < 1e-8 * np.abs(x).max()
                )
        assert seen == {True, False}


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.7, 1.5])
def test_rectangle_is_the_closed_form(friction):
    """[Caron, proposition 2], with the coefficient of the pyramid inside the cone, friction / sqrt 2."""
    cone, mu, rng = (
        build_wrench_cone(patch(PATCHES["rectangle"], friction)),
        friction / np.sqrt(2.0),
        np.random.default_rng(3),
    )
    if friction:
        assert len(cone.A) == 16
    for _ in range(400):
        f, m = (
            rng.standard_normal(3) * [friction, friction, 1.0],
            rng.standard_normal(3) * [Y, X, friction * (X + Y)],
        )
        f[2] = abs(f[2])
        low = -mu * (X + Y) * f[2] + abs(Y * f[0] - mu * m[0]) + abs(X * f[1] - mu * m[1])
        high = mu * (X + Y) * f[2] - abs(Y * f[0] + mu * m[0]) - abs(X * f[1] + mu * m[1])
        slacks = [
            mu * f[2] - abs(f[0]),
            mu * f[2] - abs(f[1]),
            Y * f[2] - abs(m[0]),
            X * f[2] - abs(m[1]),
            m[2] - low,
            high - m[2],
        ]
        worst = np.max(cone.A @ np.concatenate((f, m)))
        if abs(min(slacks)) > 1e-9 and abs(worst) > 1e-9:
            assert (worst < 0.0) == (min(slacks) > 0.0)


def test_pure_turning_of_a_small_square_is_friction_times_corner_distance():
    s = 0.03
    cone = build_wrench_cone(patch([[s, s], [-s, s], [-s, -s], [s, -s]], 0.5))
    limit = (
        0.5 * 100.0 * s * np.sqrt(2.0)
    )  # each quarter of the load, across the arm to its corner, with the full coefficient
    turn = np.array([0.0, 0.0, 100.0, 0.0, 0.0, 1.0])
    for sign in (1.0, -1.0):
        turn[5] = sign * limit * 0.999
        assert np.max(cone.A @ turn) < 0.0
        turn[5] = sign * limit * 1.001
        assert np.max(cone.A @ turn) > 0.0


@pytest.mark.parametrize("given", [0.0, 3.0, -5.0, 20.0])
def test_yaw_margin_is_what_a_moment_leaves_of_the_closed_form(given):
    """With the load in the middle and no force along it a rectangle holds moments up to mu (X + Y) f_z, mu that of the pyramid."""
    cone, load = build_wrench_cone(patch(PATCHES["rectangle"], 0.6)), 200.0
    margin = yaw_margin(cone, np.array([0.0, 0.0, load, 0.0, 0.0, given]))
    assert margin == pytest.approx(0.6 / np.sqrt(2.0) * (X + Y) * load - abs(given), rel=1e-9)


def test_point_turns_freely_and_tells_no_yaw():
    cone = build_wrench_cone(patch(PATCHES["point"]))
    assert cone.basis.shape == (6, 3)
    assert set(cone.labels) == {"friction"}


def test_tipping_edge_is_told_from_a_turning_one():
    surface = patch(PATCHES["edge along x"])
    cone = build_wrench_cone(surface)
    ahead = coordinates(
        cone, np.concatenate(([0.0, 0.0, 50.0], np.cross([0.21, 0.0, 0.0], [0.0, 0.0, 50.0])))
    )
    broken = {
        label
        for label, slack in zip(cone.labels, cone.b - cone.A @ ahead, strict=True)
        if slack < -1e-9
    }
    assert "cop" in broken
    turned = coordinates(cone, np.array([0.0, 0.0, 50.0, 0.0, -50.0 * 0.07, 40.0]))
    broken = {
        label
        for label, slack in zip(cone.labels, cone.b - cone.A @ turned, strict=True)
        if slack < -1e-9
    }
    assert broken == {"yaw"}


def test_largest_normal_force():
    cone = build_wrench_cone(patch(PATCHES["rectangle"], limit=120.0))
    assert cone.labels[-1] == "load"
    for force, kept in ((119.0, True), (121.0, False)):
        assert bool(np.all(cone.A @ [0.0, 0.0, force, 0.0, 0.0, 0.0] <= cone.b)) == kept


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_rows_do_not_depend_on_the_unit_of_length(scale):
    rng = np.random.default_rng(4)
    one = build_wrench_cone(patch(PATCHES["pentagon"]))
    other = build_wrench_cone(patch(np.array(PATCHES["pentagon"]) * scale))
    for _ in range(100):
        x = rng.standard_normal(6) * [0.2, 0.2, 1.0, 0.05, 0.05, 0.02]
        worst = [np.max(one.A @ x), np.max(other.A @ (x * [1, 1, 1, scale, scale, scale]))]
        assert worst[0] == pytest.approx(worst[1], abs=1e-9)


def circle(corners):
    angles = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)
    return patch(0.1 * np.column_stack((np.cos(angles), np.sin(angles))))


def test_every_corner_of_a_round_patch_bears():
    surface = circle(24)
    cone = build_wrench_cone(surface)
    assert sum(label == "cop" for label in cone.labels) == 24
    for x, y, _ in surface.vertices:
        assert np.max(cone.A @ [0.0, 0.0, 1.0, 0.999 * y, -0.999 * x, 0.0]) < 0.0
        assert np.max(cone.A @ [0.0, 0.0, 1.0, 1.001 * y, -1.001 * x, 0.0]) > 0.0


def test_a_patch_with_too_many_corners_is_one_inside_for_rows_and_margins_alike():
    surface, whole = circle(80), circle(16)
    cone, generators = build_wrench_cone(surface), build_generators(surface)
    assert len(surface.vertices) == MOST_CORNERS == sum(label == "cop" for label in cone.labels)
    assert all(np.hypot(x, y) == pytest.approx(0.1) for x, y, _ in surface.vertices)
    assert all(
        margin_inside(surface.vertices[:, :2], 0.98 * corner[:2]) > 0.0 for corner in whole.vertices
    )
    rng = np.random.default_rng(5)
    for _ in range(100):
        x = rng.standard_normal(6) * [0.2, 0.2, 1.0, 0.05, 0.05, 0.03]
        if np.max(cone.A @ x) < 0.0:
            assert cone_distance(generators, x) < 1e-9
        if x[2] > 0.0 and (margin := measure_wrench(surface, x, np.eye(3)).cop_margin) > 1e-9:
            assert (
                max(
                    row @ x
                    for row, label in zip(cone.A, cone.labels, strict=True)
                    if label == "cop"
                )
                < 0.0
                < margin
            )


@pytest.mark.parametrize("name", PATCHES)
def test_pushes_are_generators_in_the_basis_of_the_rows(name):
    surface = patch(PATCHES[name])
    np.testing.assert_allclose(
        build_wrench_cone(surface).basis @ build_pushes(surface),
        build_generators(surface),
        atol=1e-9,
    )
