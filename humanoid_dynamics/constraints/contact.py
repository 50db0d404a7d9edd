# SPDX-License-Identifier: Apache-2.0
"""Contact: a face, an edge or a point of a link that stands still in the world.

Linear rows are in axes of the ground, which are those of the world unless said otherwise, at the origin of the contact frame; multipliers
are the force and moment of the environment on the robot.  An edge may turn about itself: its angular rows are the link axes normal to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.block import row_labels
from humanoid_dynamics.constraints.kinematics import Attachment, Kinematics, attach
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.wrench import cross

AXES = {
    "face": ("x", "y", "z", "rx", "ry", "rz"),
    "edge": ("x", "y", "z", "r1", "r2"),
    "point": ("x", "y", "z"),
}


@dataclass(frozen=True, eq=False)
class ContactBlock:
    """Rows of one contact.

    Attributes:
        name: Name of the contact.
        kind: ``face``, ``edge`` or ``point``.
        C: Contact frame on the link: origin of the face, middle of the edge (x along it), or the point.
        R_WG: (3, 3) axes of the ground in the world; z is the normal.
        anchor: Pose X_WC the contact holds, or None where only velocities are constrained.
        friction: Coulomb coefficient [-].
        plain: Whether it is a face on level ground, whose rows need no turning.
    """

    name: str
    kind: str
    C: Attachment
    R_WG: Matrix = field(default_factory=lambda: np.eye(3))
    anchor: pin.SE3 | None = None
    friction: float = 0.7
    plain: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "plain", self.kind == "face" and bool((np.eye(3) == self.R_WG).all())
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of every row."""
        return row_labels(self.name, AXES[self.kind])

    @property
    def rotational(self) -> tuple[bool, ...]:
        """Which rows are angular velocities."""
        return tuple(axis.startswith("r") for axis in AXES[self.kind])

    @property
    def unilateral(self) -> tuple[bool, ...]:
        """The normal row: ground pushes and never pulls."""
        return tuple(axis == "z" for axis in AXES[self.kind])

    @property
    def holonomic(self) -> bool:
        """Whether the contact holds a pose."""
        return self.anchor is not None

    @property
    def inert(self) -> bool:
        """Whether the link cannot move."""
        return self.C.joint == 0

    def write_jacobian(self, kinematics: Kinematics, out: Matrix) -> None:
        """Write J into (k, nv)."""
        rows = kinematics.jacobian(self.C, _WORLD_AXES)
        if self.plain:
            out[:] = rows
            return
        out[:3] = self.R_WG.T @ rows[:3]
        if self.kind != "point":
            out[3:] = self._angular_axes(kinematics) @ rows[3:]

    def write_drift(self, kinematics: Kinematics, out: Vector) -> None:
        """Write gamma, the classical acceleration of the contact frame at zero generalized acceleration, into (k,)."""
        drift = pin.getFrameClassicalAcceleration(
            kinematics.model, kinematics.data, self.C.joint, self.C.X_JF, _WORLD_AXES
        )
        if self.plain:
            np.add(drift.vector, kinematics.lift_W, out=out)
            return
        out[:3] = self.R_WG.T @ (drift.linear + kinematics.lift_W[:3])
        if self.kind != "point":
            out[3:] = self._angular_axes(kinematics) @ drift.angular

    def write_error(self, kinematics: Kinematics, out: Vector) -> None:
        """Write phi, where the contact frame has gone from its anchor, into (k,)."""
        if self.anchor is None:
            out[:] = 0.0
            return
        X_WC = kinematics.pose(self.C)
        out[:3] = self.R_WG.T @ (X_WC.translation - self.anchor.translation)
        if self.kind != "point":
            out[3:] = self._angular_axes(kinematics) @ self._turned(
                X_WC.rotation, self.anchor.rotation
            )

    def _angular_axes(self, kinematics: Kinematics) -> Matrix:
        """Return the directions, in the world, about which the contact cannot turn."""
        across: Matrix = (
            self.R_WG.T if self.kind == "face" else kinematics.pose(self.C).rotation[:, 1:].T
        )
        return across

    def _turned(self, R_WC: Matrix, R_WC_anchor: Matrix) -> Vector:
        """Return the turn from the anchor to here, in world axes; for an edge without the part about itself."""
        if self.kind == "face":
            turn: Vector = pin.log3(R_WC @ R_WC_anchor.T)
            return turn
        return cross(R_WC_anchor[:, 0], R_WC[:, 0])


def build_contact(
    robot: RobotModel,
    surface: ContactSurface | str,
    *,
    name: str | None = None,
    vertices: Sequence[int] | None = None,
    R_WG: Matrix | None = None,
    anchor: pin.SE3 | None = None,
) -> ContactBlock:
    """Bind a contact surface, or some of its corners, to a robot.

    Args:
        robot: The robot.
        surface: The surface or its name.
        name: Name of the contact; that of the surface where left out.
        vertices: Corners that touch: one makes a point, two an edge, left out the whole surface.
        R_WG: (3, 3) axes of the ground in the world, z its normal; level where left out.
        anchor: Pose the contact frame holds in the world; only velocities are constrained where left out.

    Returns:
        Its rows.

    Raises:
        UnknownNameError: If the surface does not exist.
        ShapeError: If there is no such corner.
    """
    surface = robot.surface(surface) if isinstance(surface, str) else surface
    count = len(surface.vertices)
    touching = tuple(range(count)) if vertices is None else tuple(vertices)
    if not touching or not all(0 <= index < count for index in touching):
        raise ShapeError(
            "vertices", f"{touching}", f"indices of the {count} corners of {surface.name!r}"
        )
    kind = {1: "point", 2: "edge"}.get(len(touching), "face")
    X_CK = pin.SE3.Identity() if kind == "face" else _frame_of(surface.vertices[list(touching)])
    frame = attach(robot, surface.link, surface.X_LC * X_CK)
    axes = np.eye(3) if R_WG is None else np.asarray(R_WG, dtype=np.float64)
    return ContactBlock(name or surface.name, kind, frame, axes, anchor, surface.friction)


def hold(block: ContactBlock, kinematics: Kinematics) -> ContactBlock:
    """Return the contact anchored where its frame is now.

    Args:
        block: The contact.
        kinematics: Poses of the robot.

    Returns:
        The same contact holding its present pose.
    """
    return ContactBlock(
        block.name, block.kind, block.C, block.R_WG, kinematics.pose(block.C), block.friction
    )


def _frame_of(corners: Matrix) -> pin.SE3:
    """Return the frame of a point, or of an edge: its middle, x along it, z as near to that of the surface as can be."""
    if len(corners) == 1:
        return pin.SE3(np.eye(3), corners[0])
    x = corners[1] - corners[0]
    x = x / np.sqrt(x @ x)
    y = np.cross(np.array([0.0, 0.0, 1.0]), x)
    y = y / np.sqrt(y @ y) if y @ y > 1e-12 else np.array([0.0, 1.0, 0.0])
    return pin.SE3(np.column_stack((x, y, np.cross(x, y))), corners.mean(axis=0))


_WORLD_AXES = pin.LOCAL_WORLD_ALIGNED
