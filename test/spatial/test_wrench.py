# SPDX-License-Identifier: Apache-2.0
"""Six-vectors: power does not care about point or axes."""

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.wrench import cross, rotate_six, shift_twist, shift_wrench


def test_power_is_invariant_under_shift_and_rotation():
    rng = np.random.default_rng(0)
    V, F, p = rng.normal(size=6), rng.normal(size=6), rng.normal(size=3)
    R = pin.exp3(rng.normal(size=3))
    assert np.isclose(shift_twist(V, p) @ shift_wrench(F, p), V @ F, rtol=1e-13)
    assert np.isclose(rotate_six(R, V) @ rotate_six(R, F), V @ F, rtol=1e-13)


def test_shift_is_the_lever_rule():
    np.testing.assert_allclose(
        shift_wrench(np.array([0, 0, 10.0, 0, 0, 0]), np.array([0.5, 0, 0])), [0, 0, 10, 0, 5, 0]
    )
    np.testing.assert_allclose(
        shift_twist(np.array([0, 0, 0, 0, 0, 2.0]), np.array([0.5, 0, 0])), [0, 1, 0, 0, 0, 2]
    )


def test_cross():
    x, y = np.random.default_rng(3).normal(size=(2, 3))
    np.testing.assert_allclose(cross(x, y), np.cross(x, y))
