# SPDX-License-Identifier: Apache-2.0
"""What the soles may stand on: anything that tells distance and normal below points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only


class Ground(Protocol):
    """Planes, slopes, steps: whatever answers for many points at once."""

    def probe(self, points: Matrix) -> tuple[Vector, Matrix]:
        """Return the distance of points from the ground and its normal there.

        Args:
            points: (n, 3) points in the world [m].

        Returns:
            (n,) signed distance, negative inside, and (n, 3) normals; one row stands for all.
        """


@dataclass(frozen=True, eq=False)
class Slope:
    """A plane through the origin that rises along x.

    Attributes:
        angle: How steep, uphill along x [rad].
        height: Height above the origin [m].
        normal: (1, 3) out of the ground.
    """

    angle: float = 0.0
    height: float = 0.0
    normal: Matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "normal", read_only([[-np.sin(self.angle), 0.0, np.cos(self.angle)]])
        )

    def probe(self, points: Matrix) -> tuple[Vector, Matrix]:
        """Return the distance of points from the plane and its normal.

        Args:
            points: (n, 3) points in the world [m].

        Returns:
            (n,) signed distance, negative inside, and the normal as (1, 3).
        """
        return points.dot(self.normal[0]) - self.height * float(self.normal[0, 2]), self.normal
