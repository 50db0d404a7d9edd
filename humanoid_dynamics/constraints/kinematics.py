# SPDX-License-Identifier: Apache-2.0
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
        a: (nv,) generalized acceleration the accelerations of bodies hold, or None where they are drifts.
        lift_W: (6,) what is still to be added to accelerations seen from the world [m/s²]: zero, or gravity where they come out of a
            recursive Newton-Euler sweep, which lets bodies accelerate upwards instead of being pulled down.
    """

    q: Vector
    v: Vector
    a: Vector | None
    lift_W: Vector

    def __init__(self, robot: robots.RobotModel) -> None:
        self.robot = robot
        self.model = robot.model
        self.data = robot.data()
        self.rest = np.zeros(robot.nv)
        self._relative: dict[tuple[Attachment, Attachment], pin.SE3] = {}
        self._none, self._gravity = np.zeros(6), np.array(self.model.gravity.vector)
        self.move(pin.neutral(self.model), self.rest)

    def place(self, q: Vector) -> None:
        """Compute poses and Jacobians only.

        Args:
            q: (nq,) configuration.
        """
        self._hold(q, self.rest, None, self._none)
        pin.computeJointJacobians(self.model, self.data, q)

    def move(self, q: Vector, v: Vector, a: Vector | None = None) -> None:
        """Compute poses, Jacobians, velocities and accelerations.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) generalized acceleration; zero where left out, which makes every acceleration a drift.
        """
        self._hold(q, v, a, self._none)
        pin.forwardKinematics(self.model, self.data, q, v, self.rest if a is None else a)
        pin.computeJointJacobians(self.model, self.data)

    def balance(self, q: Vector, v: Vector, a: Vector) -> Vector:
        """Compute the joint forces of a motion of the tree, and all that ``move`` computes on the way.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            a: (nv,) generalized acceleration.

        Returns:
            (nv,) M a + h.
        """
        self._hold(q, v, a, self._gravity)
        tau: Vector = pin.rnea(self.model, self.data, q, v, a)
        self.data.a = self.data.a_gf
        pin.computeJointJacobians(self.model, self.data, q)
        return tau

    def weigh(self, q: Vector, v: Vector) -> tuple[Matrix, Vector]:
        """Compute inertia and bias force of the tree, and all that ``move`` computes on the way.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.

        Returns:
            (nv, nv) M, of which the *upper triangle* counts, and (nv,) h.
        """
        self._hold(q, v, None, self._gravity)
        h = pin.nonLinearEffects(self.model, self.data, q, v)
        self.data.a = self.data.a_gf
        return pin.crba(
            self.model, self.data, q, pin.Convention.WORLD
        ), h  # this convention leaves joint Jacobians behind

    def _hold(self, q: Vector, v: Vector, a: Vector | None, lift_W: Vector) -> None:
        """Remember what the work space holds from now on."""
        self.q, self.v, self.a, self.lift_W = q, v, a, lift_W
        self._relative.clear()

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
        return (
            rows if rows.ndim == 2 else rows.reshape(6, 1)
        )  # a single coordinate comes back as a vector
