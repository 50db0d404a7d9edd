"""Where everything is and how it moves at one instant: computed once, read by every constraint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model import robot as robots
from humanoid_dynamics.spatial.arrays import Matrix, Vector

WORLD_NAMES = ("world", "universe")


@dataclass(frozen=True, eq=False)
class Attachment:
    """A frame that rides on a joint of the tree, or stands in the world where the joint is 0.

    Attributes:
        joint: Index of the pinocchio joint that carries the frame.
        X_JF: Pose of the frame in that joint.
    """

    joint: int
    X_JF: pin.SE3


def attach(robot: robots.RobotModel, link: str, X_LF: pin.SE3 | None = None) -> Attachment:
    """Find the joint that carries a frame of a link.

    Args:
        robot: The robot.
        link: Link name, REP-120 alias, or ``world``.
        X_LF: Pose of the frame in the link; the link frame itself where left out.

    Returns:
        The attachment.

    Raises:
        UnknownNameError: If no link has that name.
    """
    X_LF = pin.SE3.Identity() if X_LF is None else X_LF
    if link in WORLD_NAMES and link not in robot.links and link not in robot.aliases:
        return Attachment(0, X_LF)
    try:
        frame = robot.model.frames[robot.link_frame(link)]
    except UnknownNameError as cause:
        raise UnknownNameError("link", link, (*robot.links, *robot.aliases, "world")) from cause
    return Attachment(int(frame.parentJoint), frame.placement * X_LF)


class Kinematics:
    """Work space of one owner: poses, velocities, joint Jacobians and accelerations at zero generalized acceleration.

    Attributes:
        robot: The robot.
        model: Its pinocchio model.
        data: Pinocchio work space, private to the owner of this object.
        q: (nq,) configuration of the last update.
        v: (nv,) velocity of the last update; zero after ``place``.
    """

    def __init__(self, robot: robots.RobotModel) -> None:
        self.robot = robot
        self.model = robot.model
        self.data = robot.data()
        self.rest = np.zeros(robot.nv)
        self._relative: dict[tuple[Attachment, Attachment], pin.SE3] = {}
        self.q: Vector = pin.neutral(self.model)
        self.v: Vector = self.rest
        self.move(self.q, self.v)

    def place(self, q: Vector) -> None:
        """Compute poses and Jacobians only.

        Args:
            q: (nq,) configuration.
        """
        self.q, self.v = q, self.rest
        self._relative.clear()
        pin.computeJointJacobians(self.model, self.data, q)

    def move(self, q: Vector, v: Vector, a: Vector | None = None) -> None:
        """Compute poses, Jacobians, velocities and accelerations.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) generalized acceleration; zero where left out, which makes every acceleration a drift.
        """
        self.q, self.v = q, v
        self._relative.clear()
        pin.forwardKinematics(self.model, self.data, q, v, self.rest if a is None else a)
        pin.computeJointJacobians(self.model, self.data)

    def pose(self, frame: Attachment) -> pin.SE3:
        """Return the pose X_WF of an attached frame."""
        return self.data.oMi[frame.joint] * frame.X_JF if frame.joint else frame.X_JF

    def relative(self, A: Attachment, B: Attachment) -> pin.SE3:
        """Return X_BA, the pose of frame A in frame B; asked again before the next move it is not computed again."""
        X_BA = self._relative.get((A, B))
        if X_BA is None:
            X_BA = self._relative[A, B] = self.pose(B).actInv(self.pose(A))
        return X_BA

    def jacobian(self, frame: Attachment, axes: pin.ReferenceFrame) -> Matrix:
        """Return the Jacobian of an attached frame.

        Args:
            frame: The frame.
            axes: In which axes, at the origin of the frame.

        Returns:
            (6, nv) rows, linear then angular.
        """
        rows: Matrix = pin.getFrameJacobian(self.model, self.data, frame.joint, frame.X_JF, axes)
        return rows if rows.ndim == 2 else rows.reshape(6, 1)  # a single coordinate comes back as a vector
