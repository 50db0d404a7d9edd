"""Poses of one frame over time, such as a tracked hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.motion.clip import check_table, check_times
from humanoid_dynamics.motion.formats.recording import normalize_rows
from humanoid_dynamics.spatial.arrays import Matrix, Vector

COLUMNS = ("x", "y", "z", "qx", "qy", "qz", "qw")


@dataclass(frozen=True, eq=False)
class PoseStream:
    """Where one frame was, and how it was turned.

    Attributes:
        name: Name of the frame, such as ``hand``.
        times: (n,) instants [s].
        poses: (n, 7) x y z [m] and quaternion x y z w in the world.
        origin: Where it came from, for messages.
    """

    name: str
    times: Vector
    poses: Matrix = field(repr=False)
    origin: str = "poses"

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", check_times(self.times, self.origin))
        columns = tuple(f"{self.name}.{part}" for part in COLUMNS)
        table = np.array(check_table(self.poses, (len(self.times), 7), columns, self.origin, f"poses of {self.name}"))
        normalize_rows(table, [3, 4, 5, 6], columns, self.origin)
        table.flags.writeable = False
        object.__setattr__(self, "poses", table)

    def __len__(self) -> int:
        return len(self.times)

    def pose(self, row: int) -> pin.SE3:
        """Return one sample.

        Args:
            row: Its index.
        """
        return pin.XYZQUATToSE3(np.array(self.poses[row]))
