# SPDX-License-Identifier: Apache-2.0
"""The snake in a robot: read from any URDF whose wheels make it one, and where its angles are among the robot's coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import Attachment, attach
from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.papers.snake.chain import SnakeModel
from humanoid_dynamics.spatial.arrays import Indices, Vector

QUESTION = "reading a snake"
TURNING = ("revolute", "continuous")
NEAR = (
    1e-6  # m, rad: how exactly wheels have to sit at centres of mass and on the line between joints
)


@dataclass(frozen=True, eq=False)
class SnakeMap:
    """A snake and its place in a robot.

    Attributes:
        robot: The robot.
        model: The snake, its links in the order of the robot's wheels.
        joints: (n-1) joints that bend it, joint k between wheels k and k + 1.
        first: The first wheel.
        offsets: (n-1,) angle between the links where a joint stands at zero [rad].
        motors: (n-1,) indices of the joints in the velocity.
    """

    robot: RobotModel = field(repr=False)
    model: SnakeModel
    joints: tuple[Joint, ...] = field(repr=False)
    first: Attachment = field(repr=False)
    offsets: Vector = field(repr=False)
    motors: Indices = field(repr=False)

    def read(self, q: Vector, v: Vector, data: pin.Data) -> tuple[Vector, Vector, Vector]:
        """Return the state of the snake; parts of the velocity that the wheels forbid are left out.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            data: Work space of the robot.

        Returns:
            (n,) absolute angles of the links [rad], (2,) generalized speeds [m/s, rad/s], (2,) centre of link 1 [m].
        """
        pin.forwardKinematics(self.robot.model, data, q, v)
        X_WC = data.oMi[self.first.joint] * self.first.X_JF
        V_C = self.first.X_JF.actInv(data.v[self.first.joint])
        theta = np.empty(self.model.n)
        theta[0] = np.arctan2(X_WC.rotation[1, 0], X_WC.rotation[0, 0])
        theta[1:] = self.offsets + [_angle(joint, q) for joint in self.joints]
        return (
            np.cumsum(theta),
            np.array([V_C.linear[0], V_C.angular[2]]),
            np.array(X_WC.translation[:2]),
        )


def find_snake(robot: RobotModel) -> SnakeMap:
    """Find the snake in a robot: wheels, each at the centre of mass of its link and halfway between the joints to its neighbours.

    Args:
        robot: The robot; how it is carried in the plane does not matter.

    Returns:
        The snake and its place.

    Raises:
        UnsupportedRobotError: If its wheels do not make it one.
    """
    if not robot.wheels:
        raise UnsupportedRobotError(QUESTION, [robot.name], "a robot without wheels")
    wheels = [attach(robot, wheel.link, wheel.X_LW) for wheel in robot.wheels]
    by_index = {joint.index: joint for joint in robot.joints}
    joints = [by_index[wheel.joint] for wheel in wheels[1:]]
    turns = [
        _measure_turn(robot, joint, before, wheel)
        for joint, before, wheel in zip(joints, wheels, wheels[1:], strict=False)
    ]
    ahead, behind, offsets = (
        np.array(values) for values in (zip(*turns, strict=True) if turns else ((), (), ()))
    )
    lengths = np.concatenate((ahead, behind[-1:])) if turns else np.ones(1)
    for joint, one, other in zip(joints, ahead[1:], behind[:-1], strict=False):
        if abs(one - other) > NEAR:
            raise UnsupportedRobotError(
                QUESTION,
                [joint.child],
                f"a wheel {one:.6g} m and {other:.6g} m from the joints, not halfway",
            )
    masses, inertias = zip(
        *(
            _weigh(robot, wheel.link, place)
            for wheel, place in zip(robot.wheels, wheels, strict=True)
        ),
        strict=True,
    )
    snake = SnakeModel(np.array(masses), np.array(inertias), lengths)
    motors = np.array([joint.v.start for joint in joints], dtype=np.intp)
    return SnakeMap(robot, snake, tuple(joints), wheels[0], offsets, motors)


def _measure_turn(
    robot: RobotModel, joint: Joint, before: Attachment, wheel: Attachment
) -> tuple[float, float, float]:
    """Distances of a joint from the wheel before it and from its own [m], and the angle between the links where it stands at zero."""
    model = robot.model
    if model.parents[joint.index] != before.joint or joint.kind not in TURNING:
        raise UnsupportedRobotError(
            QUESTION, [joint.name], "requires a revolute joint between consecutive links"
        )
    X_CJ, X_JC = before.X_JF.inverse() * model.jointPlacements[joint.index], wheel.X_JF
    ahead, behind, turn = (
        X_CJ.translation,
        -X_JC.inverse().translation,
        X_CJ.rotation @ X_JC.rotation,
    )
    axis = pin.computeJointJacobian(model, robot.data(), pin.neutral(model), joint.index)[
        3:, joint.v.start
    ]
    skew = max(
        abs(ahead[1]),
        abs(behind[1]),
        abs(turn[2, 2] - 1.0),
        float(np.abs(X_JC.rotation.T @ axis - (0.0, 0.0, 1.0)).max()),
    )
    if skew > NEAR or min(ahead[0], behind[0]) <= 0.0:
        raise UnsupportedRobotError(
            QUESTION, [joint.name], "requires joints ahead of their wheel with an upward axis"
        )
    return float(ahead[0]), float(behind[0]), float(np.arctan2(turn[1, 0], turn[0, 0]))


def _weigh(robot: RobotModel, link: str, wheel: Attachment) -> tuple[float, float]:
    """Mass [kg] and moment of inertia about the upward axis through the wheel [kg·m²] of what moves with a link."""
    inertia = robot.model.inertias[wheel.joint]
    centre = wheel.X_JF.actInv(inertia.lever)
    if max(abs(centre[0]), abs(centre[1])) > NEAR:
        raise UnsupportedRobotError(QUESTION, [link], "requires the wheel at the centre of mass")
    up = wheel.X_JF.rotation[:, 2]
    return float(inertia.mass), float(up @ inertia.inertia @ up)


def _angle(joint: Joint, q: Vector) -> float:
    start = joint.q.start
    return float(q[start] if joint.kind == "revolute" else np.arctan2(q[start + 1], q[start]))
