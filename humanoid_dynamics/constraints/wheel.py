# SPDX-License-Identifier: Apache-2.0
"""A wheel or blade that may roll but not slip along its axle: a row on velocities that no position stands behind.

The row lives in the link, so its drift is the *spatial* acceleration in link axes; the classical one would be wrong by omega x v.
"""

from __future__ import annotations

from dataclasses import dataclass

import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import Attachment, Kinematics, attach
from humanoid_dynamics.model.loop import Wheel
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

AXLE = 1


@dataclass(frozen=True, eq=False)
class WheelBlock:
    """Row of one wheel: velocity of its centre along its own axle [SN, sec. II].

    Attributes:
        name: Name of the wheel.
        C: Wheel frame; x rolls, y is the axle.
    """

    name: str
    C: Attachment

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of the row."""
        return (f"{self.name}.lateral",)

    @property
    def rotational(self) -> tuple[bool, ...]:
        """The row is a linear velocity."""
        return (False,)

    @property
    def unilateral(self) -> tuple[bool, ...]:
        """A blade holds to both sides."""
        return (False,)

    @property
    def holonomic(self) -> bool:
        """Never."""
        return False

    @property
    def inert(self) -> bool:
        """Whether the link cannot move."""
        return self.C.joint == 0

    def write_jacobian(self, kinematics: Kinematics, out: Matrix) -> None:
        """Write the axle row of the Jacobian in axes of the wheel into (1, nv)."""
        out[0] = kinematics.jacobian(self.C, pin.LOCAL)[AXLE]

    def write_drift(self, kinematics: Kinematics, out: Vector) -> None:
        """Write the spatial acceleration along the axle at zero generalized acceleration into (1,)."""
        drift = pin.getFrameAcceleration(
            kinematics.model, kinematics.data, self.C.joint, self.C.X_JF, pin.LOCAL
        ).linear[AXLE]
        out[0] = drift + kinematics.pose(self.C).rotation[:, AXLE] @ kinematics.lift_W[:3]

    def write_error(self, kinematics: Kinematics, out: Vector) -> None:  # noqa: ARG002  (there is no position to be wrong)
        """Write zero."""
        out[:] = 0.0


def build_wheel(robot: RobotModel, wheel: Wheel) -> WheelBlock:
    """Bind a wheel to a robot.

    Args:
        robot: The robot.
        wheel: The wheel.

    Returns:
        Its row.

    Raises:
        UnknownNameError: If the link does not exist.
    """
    return WheelBlock(wheel.name, attach(robot, wheel.link, wheel.X_LW))
