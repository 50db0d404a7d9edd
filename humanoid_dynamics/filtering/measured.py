# SPDX-License-Identifier: Apache-2.0
"""What somebody says is a number or the state of a robot, checked: nothing raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Vector

NORMAL = 0.05  # how far the length of a quaternion may be from one
UNIT = 1e-9  # and how far without being scaled


def read_number(value: Any) -> float:
    """Return a number; no number where it is none.

    Args:
        value: What was given.
    """
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def read_vector(values: Any) -> Vector | None:
    """Return numbers as an array of one's own; None where they are none.

    Args:
        values: What was given.
    """
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def read_arrays(model: pin.Model, measured: Any) -> tuple[Vector, Vector] | None:
    """Return a configuration and a velocity as arrays of one's own; None where they are not two, no numbers, or of another size.

    Args:
        model: The robot.
        measured: Configuration and velocity.
    """
    try:
        first, second = measured
    except (TypeError, ValueError):
        return None
    q, v = read_vector(first), read_vector(second)
    fits = q is not None and v is not None and q.shape == (model.nq,) and v.shape == (model.nv,)
    return (q, v) if fits and q is not None and v is not None else None


def read_state(model: pin.Model, measured: Any) -> tuple[Vector, Vector] | None:
    """Return a measured state; None where it is none: not two, of another size, not finite, or not turned by unit quaternions.

    Args:
        model: The robot.
        measured: Configuration and velocity.
    """
    arrays = read_arrays(model, measured)
    if arrays is None:
        return None
    q, v = arrays
    if not (np.isfinite(q).all() and np.isfinite(v).all() and pin.isNormalized(model, q, NORMAL)):
        return None
    return (q if pin.isNormalized(model, q, UNIT) else np.asarray(pin.normalize(model, q))), v
