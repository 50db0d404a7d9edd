# SPDX-License-Identifier: Apache-2.0
"""What shapes must be: finite, of some size, with unit normals and axes."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.simulation.contacts.shapes import Capsule, Plane, Shape
from humanoid_dynamics.spatial.arrays import check_number, check_vector
from humanoid_dynamics.spatial.pose import UNIT, check_pose

MOST = float(np.finfo(np.float64).max)


def check_shape(field: str, shape: Shape) -> None:
    """Refuse a shape that is none in numbers.

    Args:
        field: What it is, for the message.
        shape: The shape.

    Raises:
        ShapeError: Naming the number, what was received and what was expected.
    """
    check_surface(shape.friction, shape.restitution, f" of {field}")
    if isinstance(shape, Plane):
        normal = check_vector(f"normal of {field}", shape.normal, 3)
        if abs(float(np.linalg.norm(normal)) - 1.0) > UNIT:
            raise ShapeError(f"normal of {field}", f"{normal.tolist()}", "a vector of length 1")
        check_number(f"offset of {field}", shape.offset, -MOST, MOST, "a finite height")
        return
    check_pose(f"X_WB of {field}", shape.X_WB)
    half = check_vector(f"half of {field}", shape.half, 3)
    if not (half[0] > 0.0 and half.min() >= 0.0 and (half.all() or isinstance(shape, Capsule))):
        raise ShapeError(f"half of {field}", f"{half.tolist()}", "positive lengths")


def check_surface(friction: object, restitution: object, of: str = "") -> None:
    """Refuse coefficients that make no sense.

    Args:
        friction: Coulomb coefficient.
        restitution: Coefficient of restitution.
        of: Of what, for the message.

    Raises:
        ShapeError: If one is no number or out of bounds.
    """
    check_number(f"friction{of}", friction, 0.0, np.inf, "a number of at least zero")
    check_number(f"restitution{of}", restitution, 0.0, 1.0, "a number between 0 and 1")
