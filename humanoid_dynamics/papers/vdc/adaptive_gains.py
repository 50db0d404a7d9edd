# SPDX-License-Identifier: Apache-2.0
"""Gains of adaptive control, and whether they fit a robot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.vdc.joint import JOINT_PARAMETERS
from humanoid_dynamics.spatial.arrays import Matrix, Vector, as_real, read_only
from humanoid_dynamics.spatial.records import Sealed


@dataclass(frozen=True, eq=False)
class AdaptiveGains(Sealed):
    """How hard errors pull.

    Attributes:
        tracking: (nv,) Lambda of v_r = v_d + Lambda (q_d - q) [1/s].
        link: (6,) K of f_r* = Y p + K (V_r - V), linear then angular [N·s/m, N·m·s/rad].
        joint: (nv,) gain on v_r - v at each joint [N·m·s/rad or N·s/m].
        link_learning: (n, 10) rho of the link parameters, or one number.
        joint_learning: (nv, 5) rho of the joint parameters, or one number.
    """

    tracking: Vector
    link: Vector
    joint: Vector
    link_learning: Matrix | float
    joint_learning: Matrix | float = 0.0


def check_gains(gains: AdaptiveGains, links: int, nv: int) -> AdaptiveGains:
    """Return gains as numbers that nobody changes any more.

    Args:
        gains: The gains.
        links: How many links the robot has.
        nv: How many coordinates its velocity has.

    Raises:
        ShapeError: If a size is wrong, or a number is negative or not finite.
    """
    if not isinstance(gains, AdaptiveGains):
        raise ShapeError("gains", type(gains).__name__, AdaptiveGains.__name__)
    vectors = {"tracking": (nv,), "link": (6,), "joint": (nv,)}
    learning = {"link_learning": (links, 10), "joint_learning": (nv, len(JOINT_PARAMETERS))}
    checked = {
        name: check_array(f"gains.{name}", getattr(gains, name), shape, single=name in learning)
        for name, shape in {**vectors, **learning}.items()
    }
    for name, values in checked.items():
        if (values < 0.0).any():
            raise ShapeError(f"gains.{name}", f"{values.min():g}", "numbers that are not negative")
    return AdaptiveGains(**checked)


def check_array(
    field: str, values: ArrayLike, shape: tuple[int, ...], *, single: bool = False
) -> Matrix:
    """Return finite numbers of a shape, read-only.

    Args:
        field: Name of the argument, for the message.
        values: The numbers.
        shape: Expected shape.
        single: Whether one number for all will do.

    Raises:
        ShapeError: If the shape is another one, or an entry is not finite.
    """
    expected = f"{shape}, or one number" if single else f"{shape}"
    try:
        array = as_real(values)
    except (TypeError, ValueError) as cause:
        raise ShapeError(field, f"{type(values).__name__} {values!r:.60}", expected) from cause
    if array.shape != shape and not (single and array.shape == ()):
        raise ShapeError(field, f"shape {array.shape}", expected)
    if not np.isfinite(array).all():
        raise ShapeError(field, "an entry that is not finite", "finite numbers")
    return read_only(array)
