# SPDX-License-Identifier: Apache-2.0
"""What every constraint can tell: its rows, their drift, its position error."""

from __future__ import annotations

from typing import Protocol

from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.spatial.arrays import Matrix, Vector

AXES = ("x", "y", "z", "rx", "ry", "rz")


class ConstraintBlock(Protocol):
    """Rows J v = 0 that belong together, with J v' = -gamma.

    A block is a frozen value bound to one robot model.  Multipliers of its rows are forces on the robot.

    Attributes:
        name: Name, unique in a set.
        labels: Name of every row.
        rotational: Which rows are angular velocities; rank decisions multiply them by a length.
        unilateral: Which rows can only push.
        holonomic: Whether the rows come from a position error.
        inert: Whether no joint can move anything in these rows.
    """

    @property
    def name(self) -> str:
        """Name, unique in a set."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of every row."""

    @property
    def rotational(self) -> tuple[bool, ...]:
        """Which rows are angular velocities."""

    @property
    def unilateral(self) -> tuple[bool, ...]:
        """Which rows can only push."""

    @property
    def holonomic(self) -> bool:
        """Whether the rows come from a position error."""

    @property
    def inert(self) -> bool:
        """Whether no joint can move anything in these rows."""

    def write_jacobian(self, kinematics: Kinematics, out: Matrix) -> None:
        """Write J into (k, nv)."""

    def write_drift(self, kinematics: Kinematics, out: Vector) -> None:
        """Write gamma = J' v into (k,); J a + gamma where the kinematics hold an acceleration a."""

    def write_error(self, kinematics: Kinematics, out: Vector) -> None:
        """Write the position error phi into (k,); zero where there is none."""


def row_labels(name: str, axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``name.axis`` for every axis."""
    return tuple(f"{name}.{axis}" for axis in axes)


def no_rows(count: int) -> tuple[bool, ...]:
    """Return a mask that marks none of the rows."""
    return (False,) * count
