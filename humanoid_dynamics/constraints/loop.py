# SPDX-License-Identifier: Apache-2.0
"""Loop closure: two frames held together by the joint that was cut [CK, eq. 10-12], variant B of the cut.

The cut joint is dropped and its 6 - p constrained rows remain.  (Variant A keeps it as a massless virtual link with p freedoms and closes
all six rows; see ``structure.virtual``.)  Multipliers are the force and moment that link B exerts on link A.
"""

from __future__ import annotations

from dataclasses import dataclass

import pinocchio as pin

from humanoid_dynamics.constraints.block import AXES, no_rows, row_labels
from humanoid_dynamics.constraints.kinematics import Attachment, Kinematics, attach
from humanoid_dynamics.constraints.relative import relative_drift, relative_jacobian
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.pose import check_pose
from humanoid_dynamics.spatial.wrench import cross

ROWS = {
    "fixed": (0, 1, 2, 3, 4, 5),
    "revolute": (0, 1, 2, 3, 4),
    "prismatic": (0, 1, 3, 4, 5),
    "universal": (0, 1, 2, 5),
    "spherical": (0, 1, 2),
    "planar": (2, 3, 4),
}
ALIGNED = ("revolute", "planar")
LINEAR_FIRST = ("fixed", "revolute", "spherical")  # rows are the first so many of the six


@dataclass(frozen=True, eq=False)
class LoopBlock:
    """Rows of one loop closure, in axes of frame B at the origin of frame A.

    Attributes:
        name: Name of the loop.
        kind: What the cut joint still lets move.
        A: Frame on the first link.
        B: Frame on the second link, or in the world.
    """

    name: str
    kind: str
    A: Attachment
    B: Attachment

    @property
    def axes(self) -> tuple[int, ...]:
        """Which of the six axes of frame B are closed; for ``universal`` the last is the axis normal to both of its own."""
        return ROWS[self.kind]

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of every row."""
        return row_labels(self.name, tuple(AXES[axis] for axis in self.axes))

    @property
    def rotational(self) -> tuple[bool, ...]:
        """Which rows are angular velocities."""
        return tuple(axis > 2 for axis in self.axes)

    @property
    def unilateral(self) -> tuple[bool, ...]:
        """None: a joint pulls as well as it pushes."""
        return no_rows(len(self.axes))

    @property
    def holonomic(self) -> bool:
        """Always: a loop is a statement about positions."""
        return True

    @property
    def inert(self) -> bool:
        """Whether both frames belong to the same body."""
        return self.A.joint == self.B.joint

    def write_jacobian(self, kinematics: Kinematics, out: Matrix) -> None:
        """Write J = J_A - J_B into (k, nv)."""
        rows = relative_jacobian(kinematics, self.A, self.B)
        if self.kind == "universal":
            out[:3] = rows[:3]
            out[3] = self._normal(kinematics) @ rows[3:]
        elif self.kind in LINEAR_FIRST:
            out[:] = rows[: len(out)]
        else:
            out[:] = rows[list(self.axes)]

    def write_drift(self, kinematics: Kinematics, out: Vector) -> None:
        """Write gamma into (k,)."""
        linear, angular, omega = relative_drift(kinematics, self.A, self.B)
        if self.kind == "universal":
            x = kinematics.relative(self.A, self.B).rotation[:, 0]
            turning = cross(cross(omega, x), _Y)
            out[:3] = linear
            out[3] = cross(x, _Y) @ angular + turning @ omega
            return
        if self.kind in LINEAR_FIRST:
            out[:3] = linear
            out[3:] = angular[: len(out) - 3]
            return
        for row, axis in enumerate(self.axes):
            out[row] = linear[axis] if axis < 3 else angular[axis - 3]

    def write_error(self, kinematics: Kinematics, out: Vector) -> None:
        """Write phi into (k,): position of A in B, then the angles by which the axes fail to meet."""
        X_BA = kinematics.relative(self.A, self.B)
        if self.kind == "universal":
            out[:3] = X_BA.translation
            out[3] = X_BA.rotation[1, 0]  # y of B against x of A
            return
        angles = (
            (-X_BA.rotation[1, 2], X_BA.rotation[0, 2], 0.0)
            if self.kind in ALIGNED
            else pin.log3(X_BA.rotation)
        )
        for row, axis in enumerate(self.axes):
            out[row] = X_BA.translation[axis] if axis < 3 else angles[axis - 3]

    def _normal(self, kinematics: Kinematics) -> Vector:
        """Return x of A times y of B, the direction about which a universal joint cannot turn, in axes of B."""
        return cross(kinematics.relative(self.A, self.B).rotation[:, 0], _Y)


def build_loop(robot: RobotModel, loop: LoopClosure) -> LoopBlock:
    """Bind a loop closure to a robot.

    Args:
        robot: The robot.
        loop: The closure; either link may be ``world``.

    Returns:
        Its rows.

    Raises:
        UnknownNameError: If a link or the kind does not exist.
        ShapeError: If a frame is not finite, or its axes are no rotation.
    """
    if loop.kind not in ROWS:
        raise UnknownNameError("loop kind", loop.kind, ROWS)
    check_pose(f"X_LA of connection {loop.name!r}", loop.X_LA)
    check_pose(f"X_LB of connection {loop.name!r}", loop.X_LB)
    return LoopBlock(
        loop.name,
        loop.kind,
        attach(robot, loop.link_a, loop.X_LA),
        attach(robot, loop.link_b, loop.X_LB),
    )


_Y = pin.SE3.Identity().rotation[:, 1].copy()
