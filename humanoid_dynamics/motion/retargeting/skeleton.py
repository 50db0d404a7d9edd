# SPDX-License-Identifier: Apache-2.0
"""A moving skeleton: bones that turn about their joints, without masses and without a robot."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.motion.clip import check_times
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints and where they sit on their parents.

    Attributes:
        names: Name of each joint, parents before children; ends of bones are joints too.
        parents: Index of the parent of each joint, -1 for the root.
        offsets: (m, 3) place of each joint in the frame of its parent, in units of the file.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Matrix = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", read_only(self.offsets))

    def index(self, name: str) -> int:
        """Return the index of a joint.

        Args:
            name: Its name.

        Raises:
            UnknownNameError: If there is none.
        """
        if name not in self.names:
            raise UnknownNameError("joint of the skeleton", name, self.names)
        return self.names.index(name)


@dataclass(frozen=True, eq=False)
class SkeletonMotion:
    """A skeleton over time, in units and axes of its file.

    Attributes:
        origin: Where it came from, for messages.
        skeleton: The skeleton.
        times: (n,) instants [s].
        places: (n, m, 3) place of each joint in the frame of its parent; of the root in the world.
        turns: (n, m, 3, 3) rotation of each joint in the frame of its parent; of the root in the world.
    """

    origin: str
    skeleton: Skeleton
    times: Vector
    places: Matrix = field(repr=False)
    turns: Matrix = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", check_times(self.times, self.origin))
        for name in ("places", "turns"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.times)

    def world(self) -> tuple[Matrix, Matrix]:
        """Place all joints in the world: forward kinematics.

        Returns:
            p: (n, m, 3) positions of the joints.
            R: (n, m, 3, 3) their orientations.
        """
        p, R = np.array(self.places), np.array(self.turns)
        for joint, parent in enumerate(self.skeleton.parents):
            if parent >= 0:
                p[:, joint] = p[:, parent] + np.einsum(
                    "nij,nj->ni", R[:, parent], self.places[:, joint]
                )
                R[:, joint] = R[:, parent] @ self.turns[:, joint]
        return p, R
