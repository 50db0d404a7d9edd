# SPDX-License-Identifier: Apache-2.0
"""A wrench on a link for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only

LARGEST_PUSH = 1e100  # whose square is still a number [N, N·m, m]


@dataclass(frozen=True, eq=False)
class Push:
    """A constant force and moment, in axes of the world, that rides on a link.

    Attributes:
        link: The link.
        force: (3,) force [N].
        moment: (3,) moment about the point [N·m].
        point: (3,) where it acts, in the link [m].
        start: When it begins [s].
        duration: How long it lasts [s].
    """

    link: str
    force: Vector
    moment: Vector
    point: Vector
    start: float
    duration: float

    def share(self, t: float, dt: float) -> float:
        """Return the share of a step from t to t + dt during which it acts, so that its impulse is exact."""
        overlap = min(t + dt, self.start + self.duration) - max(t, self.start)
        return max(0.0, overlap) / dt

    def acts(self, t: float) -> bool:
        """Return whether it acts at a time."""
        return self.start <= t < self.start + self.duration

    def over(self, t: float) -> bool:
        """Return whether it has ended."""
        return t >= self.start + self.duration


def check_part(field: str, values: Sequence[float]) -> Vector:
    """Return a force, a moment or a place of a push (3,), read-only.

    Args:
        field: Its name, for the message.
        values: (3,) numbers.

    Raises:
        ShapeError: If they are not three finite numbers, or so large that no number is their square.
    """
    part = check_vector(field, values, 3)
    largest = float(part[np.argmax(np.abs(part))])
    if abs(largest) > LARGEST_PUSH:
        raise ShapeError(field, f"{largest:g}", f"at most {LARGEST_PUSH:g}")
    return read_only(part)


def shifted(push: Push, place: Vector) -> Vector:
    """Return the wrench of a push about the origin of the world (6,), for a point that is now at a place (3,)."""
    moment = push.moment + np.array(
        [
            place[1] * push.force[2] - place[2] * push.force[1],
            place[2] * push.force[0] - place[0] * push.force[2],
            place[0] * push.force[1] - place[1] * push.force[0],
        ]
    )
    return np.concatenate((push.force, moment))


def sum_pushes(
    robot: RobotModel, data: pin.Data, pushes: Sequence[Push], q: Vector, span: tuple[float, float]
) -> Vector:
    """Return the generalized force (nv,) of some pushes during a step.

    Args:
        robot: The robot.
        data: Work space; poses are those of q afterwards.
        pushes: The pushes.
        q: (nq,) configuration.
        span: Time at the start of the step and its length [s].
    """
    model = robot.model
    pin.computeJointJacobians(model, data, q)
    force = np.zeros(robot.nv)
    for push in pushes:
        frame = model.frames[robot.link_frame(push.link)]
        place = (data.oMi[frame.parentJoint] * frame.placement).act(push.point)
        J: Matrix = pin.getJointJacobian(model, data, frame.parentJoint, pin.WORLD).reshape(6, -1)
        force += push.share(*span) * shifted(push, place).dot(J)
    return force
