# SPDX-License-Identifier: Apache-2.0
"""Rotations: group laws, both axis conventions, small angles, order of the two stepping rules."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.rotation import (
    advance_rotation,
    orthonormalize,
    rotate_by,
    skew,
    step_rotation,
)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-8, 1.1e-8, 1e-5, 0.3, 3.1, 6.0])
def test_rotation_equals_the_exponential(angle):
    axis = np.array([0.6, -0.48, 0.64])
    np.testing.assert_allclose(rotate_by(axis * angle), pin.exp3(axis * angle), atol=1e-15)


def test_zero_angle_is_the_identity():
    np.testing.assert_array_equal(rotate_by(np.zeros(3)), np.eye(3))


def test_skew_is_the_cross_product():
    x, y = np.random.default_rng(0).normal(size=(2, 3))
    np.testing.assert_allclose(skew(x) @ y, np.cross(x, y))


def test_axes_agree_after_rotating_the_velocity():
    rng = np.random.default_rng(1)
    R, omega = pin.exp3(rng.normal(size=3)), rng.normal(size=3)
    np.testing.assert_allclose(
        step_rotation(R, R @ omega, 0.1, "parent"),
        step_rotation(R, omega, 0.1, "child"),
        atol=1e-15,
    )
    assert (
        np.abs(step_rotation(R, omega, 0.1, "parent") - step_rotation(R, omega, 0.1, "child")).max()
        > 1e-2
    )


def test_unknown_axes_and_rule_are_refused():
    with pytest.raises(ShapeError, match="parent or child"):
        step_rotation(np.eye(3), np.zeros(3), 0.1, "world")
    with pytest.raises(ShapeError, match="midpoint or euler"):
        advance_rotation(np.eye(3), lambda _: np.zeros(3), 0.0, 0.1, rule="leapfrog")


def test_newton_step_restores_orthogonality():
    R = pin.exp3(np.array([0.3, 0.2, 0.9])) + 1e-6 * np.random.default_rng(2).normal(size=(3, 3))
    better = orthonormalize(R)
    assert np.abs(better.T @ better - np.eye(3)).max() < 1e-10
