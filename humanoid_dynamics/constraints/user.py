# SPDX-License-Identifier: Apache-2.0
"""Rows that a caller writes, in whatever units: rank decisions look at them as rows of unit length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from humanoid_dynamics.constraints.block import no_rows
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class UserBlock:
    """Rows given by functions of the configuration and velocity.

    Attributes:
        name: Name of the block.
        labels: Name of every row.
        jacobian: q -> (k, nv) J.
        drift: (q, v) -> (k,) gamma = J' v.
        error: q -> (k,) phi, or None where no position stands behind the rows.
    """

    name: str
    labels: tuple[str, ...]
    jacobian: Callable[[Vector], Matrix]
    drift: Callable[[Vector, Vector], Vector]
    error: Callable[[Vector], Vector] | None = None

    @property
    def rotational(self) -> tuple[bool, ...]:
        """None: units are the caller's."""
        return no_rows(len(self.labels))

    @property
    def unilateral(self) -> tuple[bool, ...]:
        """None."""
        return no_rows(len(self.labels))

    @property
    def holonomic(self) -> bool:
        """Whether a position error was given."""
        return self.error is not None

    @property
    def inert(self) -> bool:
        """Unknown, hence no."""
        return False

    def write_jacobian(self, kinematics: Kinematics, out: Matrix) -> None:
        """Write J into (k, nv)."""
        out[:] = self.jacobian(kinematics.q)

    def write_drift(self, kinematics: Kinematics, out: Vector) -> None:
        """Write gamma, or J a + gamma where the kinematics hold an acceleration, into (k,)."""
        out[:] = self.drift(kinematics.q, kinematics.v)
        if kinematics.a is not None:
            out += self.jacobian(kinematics.q) @ kinematics.a

    def write_error(self, kinematics: Kinematics, out: Vector) -> None:
        """Write phi into (k,)."""
        out[:] = 0.0 if self.error is None else self.error(kinematics.q)
