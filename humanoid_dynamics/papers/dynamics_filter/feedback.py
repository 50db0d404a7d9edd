# SPDX-License-Identifier: Apache-2.0
"""Desired accelerations: feedback of all joints, then of a point of the upper body [DF, eq. 3-6]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.linalg import lapack

from humanoid_dynamics.constraints.kinematics import Kinematics
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

POINTS = (
    "neck",
    "head",
    "chest",
    "torso",
    "pelvis",
)  # where the point is looked for, in this order
SOFT = 1e-12  # share of the mean of the diagonal that bounds the pseudo-inverse
_AXES = pin.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True)
class Gains:
    """Constant gains of the feedback.

    Attributes:
        joint_p: Of positions [1/s²].
        joint_d: Of velocities [1/s].
        point_p: Of the pose of the control point [1/s²].
        point_d: Of its velocity [1/s].
        share: Part of the correction for the control point that is applied, 0 to 1.
    """

    joint_p: float = 100.0
    joint_d: float = 20.0
    point_p: float = 100.0
    point_d: float = 20.0
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class PaperReference:
    """What the filter is asked to do at one instant.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity, or None: found by a causal differentiator.
        a: (nv,) acceleration, or None likewise.
        contacts: Surface -> whether it is meant to stand; None where soles stand as they find ground.
    """

    q: Vector
    v: Vector | None = None
    a: Vector | None = None
    contacts: dict[str, bool] | None = None


class JointFeedback:
    """Wanted acceleration of all coordinates [DF, eq. 3].

    Differences are taken on the manifold, and rates of a free base are turned from the axes of the reference into those of the base.
    """

    def __init__(self, robot: RobotModel, gains: Gains) -> None:
        """Prepare.

        Args:
            robot: The robot.
            gains: The gains.
        """
        self._model, self._gains = robot.model, gains
        self._free = robot.root == "free_flyer"

    def want(self, q: Vector, v: Vector, reference: tuple[Vector, Vector, Vector]) -> Vector:
        """Return a_ref + K_D (v_ref - v) + K_P (q_ref - q).

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            reference: Configuration, velocity and acceleration that are wanted.

        Returns:
            (nv,) acceleration.
        """
        q_ref, v_ref, a_ref = reference
        gains = self._gains
        error = pin.difference(self._model, q, q_ref)
        wanted = gains.joint_d * (v_ref - v)
        wanted += a_ref
        if self._free:
            wanted[:6] += _turn_base(error[3:6], v_ref, a_ref, gains.joint_d)
        wanted += gains.joint_p * error
        return np.asarray(wanted)


def _turn_base(turn: Vector, v_ref: Vector, a_ref: Vector, rate: float) -> Vector:
    """Return what K_D v_ref + a_ref of the base gain when they are turned into the axes of the base."""
    x, y, z = turn.tolist()
    if x * x + y * y + z * z < 1e-24:
        return np.zeros(6)
    R = pin.exp3(turn)
    both = rate * v_ref[:6] + a_ref[:6]
    return np.concatenate((R.dot(both[:3]), R.dot(both[3:]))) - both


class ControlPoint:
    """Feedback of the pose of a point of the upper body, merged by a weighted pseudo-inverse [DF, eq. 4-6].

    The weight is the inertia: of all corrections the one that costs least force is chosen.  Where the Jacobian loses rank the correction
    stays bounded.
    """

    def __init__(self, robot: RobotModel, gains: Gains, name: str = "") -> None:
        """Prepare.

        Args:
            robot: The robot.
            gains: The gains.
            name: Control point or alias; the neck, or what there is nearest to it, where empty.
        """
        self._model, self._data, self._gains = robot.model, robot.data(), gains
        self.name, self.frame = find_point(robot, name)

    def correct(
        self,
        kinematics: Kinematics,
        weight: Matrix,
        wanted: Vector,
        reference: tuple[Vector, Vector, Vector],
    ) -> Vector:
        """Return J_P# (r_wanted - J_P a_wanted - dJ_P v), and how the point is off.

        Args:
            kinematics: After ``weigh``.
            weight: (nv, nv) what an acceleration costs; its upper triangle counts.
            wanted: (nv,) acceleration wanted so far.
            reference: Configuration, velocity and acceleration that are wanted.

        Returns:
            (nv,) change of the wanted acceleration.
        """
        model, data, frame = kinematics.model, kinematics.data, self.frame
        J = pin.getFrameJacobian(model, data, frame, _AXES)
        drift = (
            pin.getFrameClassicalAcceleration(model, data, frame, _AXES).vector + kinematics.lift_W
        )
        missing = self._want(
            pin.updateFramePlacement(model, data, frame), J.dot(kinematics.v), reference
        )
        missing -= J.dot(wanted)
        missing -= drift
        X = lapack.dposv(weight, J.T)[1]
        G = J.dot(X)
        G.ravel()[::7] += SOFT * float(G.trace())
        return np.asarray(X.dot(lapack.dposv(G, missing)[1]) * self._gains.share)

    def _want(self, X_WP: pin.SE3, V: Vector, reference: tuple[Vector, Vector, Vector]) -> Vector:
        """Return the wanted acceleration of the point [DF, eq. 4]; the left side printed there as that of theta is that of r."""
        model, data, gains = self._model, self._data, self._gains
        pin.forwardKinematics(model, data, *reference)
        X_ref = pin.updateFramePlacement(model, data, self.frame)
        V_ref = pin.getFrameVelocity(model, data, self.frame, _AXES).vector
        wanted = pin.getFrameClassicalAcceleration(model, data, self.frame, _AXES).vector
        wanted += gains.point_d * (V_ref - V)
        R = X_ref.rotation.dot(X_WP.rotation.T)
        wanted[:3] += gains.point_p * (X_ref.translation - X_WP.translation)
        wanted[3:] += gains.point_p * pin.log3(R)
        return np.asarray(wanted)


def find_point(robot: RobotModel, name: str = "") -> tuple[str, int]:
    """Return name and frame of the control point.

    Args:
        robot: The robot.
        name: Control point, link or alias; the neck, or what there is nearest to it, where empty.

    Returns:
        Its name and its pinocchio frame.

    Raises:
        UnknownNameError: If there is none of that name, or nothing to choose from.
    """
    if name in robot.control_points:
        return name, robot.control_points[name].frame
    if name:
        return name, robot.link_frame(name)
    for candidate in POINTS:
        if candidate in robot.control_points:
            return candidate, robot.control_points[candidate].frame
        if candidate in robot.aliases:
            return candidate, robot.link_frame(candidate)
    if robot.root == "free_flyer":
        return robot.links[0], robot.link_frame(robot.links[0])
    raise UnknownNameError("control point", "neck", robot.control_points)
