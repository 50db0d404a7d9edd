# SPDX-License-Identifier: Apache-2.0
"""The ground as a plane, where contacts are checked against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.spatial.arrays import Vector, check_vector, read_only


@dataclass(frozen=True, eq=False)
class Ground:
    """A plane.

    Attributes:
        height: Height of the plane above the origin of the world, measured along z [m].
        normal: (3,) its normal, of any length but zero, pointing to where the robot is; upwards where it is not given.
    """

    height: float = 0.0
    normal: Vector = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    def __post_init__(self) -> None:
        normal = check_vector("normal", self.normal, 3)
        if not np.isfinite(self.height) or not normal[2] > 0.0:
            raise ShapeError(
                "ground",
                f"height {self.height}, normal {normal.tolist()}",
                "a finite height and a normal that points upwards",
            )
        object.__setattr__(self, "normal", read_only(normal / np.linalg.norm(normal)))

    @property
    def offset(self) -> float:
        """Distance of the plane from the origin, along its normal [m]."""
        return float(self.normal[2] * self.height)


AnyGround: TypeAlias = "float | Ground | Mapping[str, float | Ground] | None"


def find_grounds(ground: AnyGround, surfaces: tuple[str, ...]) -> Mapping[str, Ground]:
    """Return the ground of each surface that has one.

    Args:
        ground: One for all surfaces, or one by the name of a surface; a number is the height of a level one.
        surfaces: Names of the surfaces.

    Raises:
        UnknownNameError: If a name is none of a surface.
        ShapeError: If a height or normal makes no plane.
    """
    if ground is None:
        return MappingProxyType({})
    given = ground if isinstance(ground, Mapping) else dict.fromkeys(surfaces, ground)
    for name in given:
        if name not in surfaces:
            raise UnknownNameError("contact surface", name, surfaces)
    return MappingProxyType(
        {
            name: one if isinstance(one, Ground) else Ground(float(one))
            for name, one in given.items()
        }
    )
