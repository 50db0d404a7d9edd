"""Rows that a caller writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from humanoid_dynamics.constraints.block import no_rows
from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.errors import ShapeError
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
        rotational: Which rows are angular velocities; none where left empty.
    """

    name: str
    labels: tuple[str, ...]
    jacobian: Callable[[Vector], Matrix]
    drift: Callable[[Vector, Vector], Vector]
    error: Callable[[Vector], Vector] | None = None
    rotational: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        if not self.rotational:
            object.__setattr__(self, "rotational", no_rows(len(self.labels)))
        if len(self.rotational) != len(self.labels):
            raise ShapeError("rotational", f"{len(self.rotational)} flags", f"one per row, {len(self.labels)}")

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
        """Write gamma into (k,)."""
        out[:] = self.drift(kinematics.q, kinematics.v)

    def write_error(self, kinematics: Kinematics, out: Vector) -> None:
        """Write phi into (k,)."""
        out[:] = 0.0 if self.error is None else self.error(kinematics.q)
