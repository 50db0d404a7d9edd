# SPDX-License-Identifier: Apache-2.0
"""What is a pose: a finite place, and axes that are a rotation."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import check_vector, read_only
from humanoid_dynamics.spatial.wrench import cross

EYE = read_only(np.eye(3))
UNIT = 1e-6  # how far lengths and angles of axes may be off


def check_pose(field: str, X: object) -> None:
    """Refuse what is no pose.

    Args:
        field: Name of the argument, for the message.
        X: What came.

    Raises:
        ShapeError: If it is none, is not finite, or its axes are not those of a rotation.
    """
    if not isinstance(X, pin.SE3):
        raise ShapeError(field, f"{type(X).__name__} {X!r:.60}", "a pin.SE3")
    check_vector(f"translation of {field}", X.translation, 3)
    R = X.rotation
    x, y, z = R.T
    if not (np.abs(R.T.dot(R) - EYE).max() <= UNIT and cross(x, y).dot(z) > 0.0):
        raise ShapeError(
            f"rotation of {field}",
            f"{R.round(3).tolist()}",
            "a rotation: right-handed axes of length 1, at right angles",
        )
