# SPDX-License-Identifier: Apache-2.0
"""Joints of the tree that break: at once, by another tree, or declared breakable beforehand [SV, sec. 4.2].

Either way what hangs on the joint is carried by a free joint afterwards, and every body keeps its pose and its twist.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.state import State
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.structure.rebuild import Body, list_bodies, rebuild

BREAKABLE = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "spherical": "spherical",
    "planar": "planar",
}


def detach(robot: RobotModel, joint: str) -> RobotModel:
    """Return the robot after a joint has broken: the link behind it hangs on the world by a free joint [SV, sec. 5.2, fig. 10].

    Args:
        robot: The robot.
        joint: Name of the joint.

    Returns:
        Another robot, its tree built depth-first; loops stay, joints that followed the broken one no longer do.

    Raises:
        UnknownNameError: If there is no such joint.
    """
    record = robot.joint(joint)
    bodies = [
        _freed(body, parent="", X_PJ=pin.SE3.Identity()) if body.name == record.name else body
        for body in list_bodies(robot)
    ]
    freed = rebuild(robot, bodies, robot.loops)
    mimics = tuple(mimic for mimic in robot.mimics if joint not in {mimic.joint, mimic.leader})
    return replace(freed, mimics=mimics, posture=transfer(robot, freed, State.at_rest(robot)).q)


def make_breakable(robot: RobotModel, joint: str) -> RobotModel:
    """Return the robot with a joint that can be cut like any connection [SV, fig. 10]: six freedoms and the 6 - p rows of the joint.

    Args:
        robot: The robot.
        joint: Name of a revolute, continuous, prismatic, spherical or planar joint.

    Returns:
        Another robot of the same motions; a loop closure of the joint's name holds it together.

    Raises:
        UnknownNameError: If there is no such joint.
        HumanoidDynamicsError: If the joint is of another kind, or mimics.
    """
    record = robot.joint(joint)
    if record.kind not in BREAKABLE:
        raise HumanoidDynamicsError(
            f"joint {joint!r} is {record.kind}; breakable are {', '.join(BREAKABLE)}"
        )
    if any(joint in {mimic.joint, mimic.leader} for mimic in robot.mimics):
        raise HumanoidDynamicsError(
            f"joint {joint!r} is part of a mimic pair; expected a joint without mimic"
        )
    bodies = [
        _freed(body, body.parent, body.X_PJ) if body.name == joint else body
        for body in list_bodies(robot)
    ]
    broken = rebuild(robot, bodies, (*robot.loops, _closure_of(robot, record)))
    return replace(broken, posture=transfer(robot, broken, State.at_rest(robot)).q)


def transfer(old: RobotModel, new: RobotModel, state: State) -> State:
    """Return a state of another tree of the same bodies in which every body has the same pose and twist.

    Args:
        old: The robot the state belongs to.
        new: The robot with the other tree; joints that are not the same must be free joints.
        state: Configuration and velocity of the old one.

    Returns:
        Configuration and velocity of the new one.

    Raises:
        HumanoidDynamicsError: If a joint that changed is not free.
    """
    data = old.data()
    pin.forwardKinematics(old.model, data, state.q, state.v)
    q, v = pin.neutral(new.model), np.zeros(new.nv)
    before = {joint.name: joint for joint in old.joints}
    for joint in new.joints:
        was = before.get(joint.name)
        if was is not None and was.kind == joint.kind and _hangs_alike(old, new, was, joint):
            q[joint.q], v[joint.v] = state.q[was.q], state.v[was.v]
        elif was is not None and joint.kind == "free_flyer":
            q[joint.q], v[joint.v] = _as_free(old, new, data, was, joint)
        elif was is not None:
            raise HumanoidDynamicsError(
                f"joint {joint.name!r} changed from {was.kind} to {joint.kind}; only a free joint can take its state"
            )
    return State(q, v)


def _freed(body: Body, parent: str, X_PJ: pin.SE3) -> Body:
    return replace(
        body,
        parent=parent,
        kind="free_flyer",
        joint=pin.JointModelFreeFlyer(),
        X_PJ=X_PJ,
        record=None,
    )


def _hangs_alike(old: RobotModel, new: RobotModel, was: Joint, joint: Joint) -> bool:
    parents = (
        old.model.names[old.model.parents[was.index]],
        new.model.names[new.model.parents[joint.index]],
    )
    return parents[0] == parents[1] and bool(
        old.model.jointPlacements[was.index] == new.model.jointPlacements[joint.index]
    )


def _as_free(
    old: RobotModel, new: RobotModel, data: pin.Data, was: Joint, joint: Joint
) -> tuple[Vector, Vector]:
    """Return pose and twist of a joint frame relative to where its free joint sits."""
    parent = new.model.names[new.model.parents[joint.index]]
    carrier = int(old.model.getJointId(parent)) if parent != "universe" else 0
    X_WC = data.oMi[was.index]
    X_PC = (data.oMi[carrier] * new.model.jointPlacements[joint.index]).actInv(X_WC)
    twist = data.v[was.index] - X_WC.actInv(data.oMi[carrier].act(data.v[carrier]))
    return pin.SE3ToXYZQUAT(X_PC), twist.vector


def _closure_of(robot: RobotModel, joint: Joint) -> LoopClosure:
    """Return the loop closure that allows what a joint of the tree allows: child against parent, its axis as z."""
    model = robot.model
    X_JF = pin.SE3(_axis_as_z(robot, joint), np.zeros(3))
    carrier = int(model.parents[joint.index])
    X_PF = model.jointPlacements[joint.index] * X_JF
    link_b = next((other.child for other in robot.joints if other.index == carrier), "world")
    if carrier:
        X_PF = model.frames[robot.link_frame(link_b)].placement.actInv(X_PF)
    X_LF = model.frames[robot.link_frame(joint.child)].placement.actInv(X_JF)
    return LoopClosure(joint.name, BREAKABLE[joint.kind], joint.child, X_LF, link_b, X_PF)


def _axis_as_z(robot: RobotModel, joint: Joint) -> Matrix:
    """Return the rotation whose z axis is that of the joint."""
    if joint.kind in {"spherical", "planar"}:
        return np.eye(3)
    model = robot.model.joints[joint.index]
    work = model.createData()
    model.calc(work, pin.neutral(robot.model), np.zeros(robot.nv))
    subspace = np.asarray(work.S).reshape(6)
    axis = subspace[:3] if joint.kind == "prismatic" else subspace[3:]
    turn: Matrix = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).toRotationMatrix()
    return turn
