# SPDX-License-Identifier: Apache-2.0
"""A contact wrench against numbers worked out by hand."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_dynamics.contact.wrench import find_pressure, measure_wrench, wrench_basis
from humanoid_dynamics.model.surface import ContactSurface

SOLE = [[0.2, 0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0], [0.2, -0.05, 0.0]]


def surface(vertices=SOLE, friction=0.5, limit=np.inf):
    return ContactSurface(
        "sole", "foot", 0, pin.SE3.Identity(), np.array(vertices), friction, limit
    )


def test_pressing_in_the_middle():
    w = measure_wrench(surface(), np.array([30.0, -40.0, 200.0, 0.0, 0.0, 5.0]), np.eye(3))
    assert w.normal_force == 200.0
    assert w.friction_force == 50.0
    assert w.friction_margin == pytest.approx(0.5 * 200.0 - 50.0)
    assert w.normal_margin == 200.0
    np.testing.assert_array_equal(w.cop, [0.0, 0.0])
    assert w.cop_margin == pytest.approx(0.05)


def test_centre_of_pressure_is_where_one_force_would_push():
    p, f = np.array([0.15, -0.02, 0.0]), np.array([3.0, 4.0, 100.0])
    w = measure_wrench(surface(), np.concatenate((f, np.cross(p, f))), np.eye(3))
    np.testing.assert_allclose(w.cop, p[:2], atol=1e-15)
    assert w.cop_margin == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("cop", "margin"),
    [((0.25, 0.0), -0.05), ((-0.13, 0.0), -0.03), ((0.0, 0.06), -0.01), ((0.2, 0.0), 0.0)],
)
def test_centre_of_pressure_outside_or_on_the_rim(cop, margin):
    f = np.array([0.0, 0.0, 80.0])
    w = measure_wrench(surface(), np.concatenate((f, np.cross([*cop, 0.0], f))), np.eye(3))
    assert w.cop_margin == pytest.approx(margin, abs=1e-12)


def test_slipping():
    w = measure_wrench(
        surface(friction=0.4), np.array([60.0, 80.0, 200.0, 0.0, 0.0, 0.0]), np.eye(3)
    )
    assert w.friction_margin == pytest.approx(80.0 - 100.0)


def test_pulling():
    w = measure_wrench(surface(), np.array([0.0, 0.0, -10.0, 1.0, 0.0, 0.0]), np.eye(3))
    assert w.normal_margin == -10.0
    assert w.friction_margin == pytest.approx(-5.0)
    assert w.cop_margin == -np.inf
    np.testing.assert_array_equal(w.cop, [0.0, 0.0])


def test_idle_contact_is_at_the_edge_of_everything():
    w = measure_wrench(surface(), np.zeros(6), np.eye(3))
    assert (w.normal_margin, w.friction_margin, w.cop_margin) == (0.0, 0.0, 0.0)


def test_moment_without_pressing_cannot_be():
    assert (
        measure_wrench(surface(), np.array([0.0, 0.0, 0.0, 0.0, 2.0, 0.0]), np.eye(3)).cop_margin
        == -np.inf
    )


def test_overload():
    w = measure_wrench(surface(limit=150.0), np.array([0.0, 0.0, 200.0, 0.0, 0.0, 0.0]), np.eye(3))
    assert w.normal_margin == -50.0
    assert (
        measure_wrench(
            surface(limit=150.0), np.array([0.0, 0.0, 100.0, 0.0, 0.0, 0.0]), np.eye(3)
        ).normal_margin
        == 50.0
    )


def test_tilted_surface_under_gravity():
    """A block on a slope of 30 degrees: 100 N of weight, of which 100 sin 30 act along the slope."""
    R_WC = pin.utils.rotate("y", np.deg2rad(30.0))
    f_C = R_WC.T @ np.array([0.0, 0.0, 100.0])
    w = measure_wrench(surface(friction=0.7), np.concatenate((f_C, np.zeros(3))), R_WC)
    np.testing.assert_allclose(w.f_W, [0.0, 0.0, 100.0], atol=1e-12)
    assert w.normal_force == pytest.approx(100.0 * np.cos(np.deg2rad(30.0)))
    assert w.friction_force == pytest.approx(50.0)
    assert w.friction_margin == pytest.approx(0.7 * 86.6025403784 - 50.0)


def test_a_point_bears_force_through_itself_only():
    p = np.array([0.1, -0.03, 0.0])
    basis = wrench_basis(surface([p]))
    f = np.array([1.0, 2.0, 30.0])
    np.testing.assert_allclose(basis @ f, np.concatenate((f, np.cross(p, f))), atol=1e-15)
    w = measure_wrench(surface([p]), basis @ f, np.eye(3))
    assert w.cop_margin == pytest.approx(0.0, abs=1e-15)


def test_pressure_lies_inside_a_face_whose_corners_push_within_their_friction():
    rng = np.random.default_rng(1)
    for _ in range(50):
        push = rng.uniform(0.1, 30.0, 4)
        f = np.column_stack((*(rng.uniform(-0.6, 0.6, (2, 4)) * push), push))
        w = np.concatenate((f.sum(axis=0), np.cross(SOLE, f).sum(axis=0)))
        cop = find_pressure(w[None], 0.1)[0]
        np.testing.assert_allclose(cop, push @ np.array(SOLE)[:, :2] / push.sum(), atol=1e-14)


def test_nothing_is_pressed_where_little_presses_or_a_side_or_the_back_touches():
    """A hand leans on its side, 30 N along its palm, 1.5 N against it, 3 cm behind the palm: the force meets its plane 60 cm away."""
    f, back = np.array([30.0, 0.0, 1.5]), np.array([0.0, 0.0, -0.03])
    side = np.concatenate((f, np.cross(back, f)))
    assert side[4] / side[2] == pytest.approx(-0.6)
    little, pulled = (
        np.array([0.0, 0.0, 0.5, 0.0, 0.01, 0.0]),
        np.array([0.0, 0.0, -20.0, 0.0, 0.0, 0.0]),
    )
    assert np.isnan(find_pressure(np.array([side, little, pulled]), 1.0)).all()


@pytest.mark.parametrize(
    "ends", [([0.1, -0.05, 0.0], [0.1, 0.05, 0.0]), ([-0.1, 0.0, 0.0], [0.2, 0.1, 0.0])]
)
def test_an_edge_bears_all_but_the_moment_about_itself(ends):
    a, b = np.array(ends)
    basis = wrench_basis(surface([a, b]))
    along = (b - a) / np.linalg.norm(b - a)
    about_a = basis[3:] - np.cross(a, basis[:3].T).T
    assert basis.shape == (6, 5)
    assert np.linalg.matrix_rank(basis) == 5
    np.testing.assert_allclose(along @ about_a, 0.0, atol=1e-15)


def test_a_face_bears_everything():
    np.testing.assert_array_equal(wrench_basis(surface()), np.eye(6))


def test_wrench_cannot_be_written_to():
    w = measure_wrench(surface(), np.ones(6), np.eye(3))
    for vector in (w.f_W, w.m_W, w.cop):
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 1.0
