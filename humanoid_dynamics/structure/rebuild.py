# SPDX-License-Identifier: Apache-2.0
"""Another tree from the same bodies, built depth-first: Pinocchio's inertia algorithm is silently wrong in any other order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.joint import Joint, Limits
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector, read_only

AXES = {
    "free_flyer": ("x", "y", "z", "rx", "ry", "rz"),
    "spherical": ("rx", "ry", "rz"),
    "planar": ("x", "y", "rz"),
}
LIMITS_Q = ("lowerPositionLimit", "upperPositionLimit")
LIMITS_V = (
    *("armature", "damping", "friction", "rotorInertia", "rotorGearRatio"),
    *("lowerVelocityLimit", "upperVelocityLimit", "lowerEffortLimit", "upperEffortLimit"),
)


@dataclass(frozen=True, eq=False)
class Body:
    """A joint and the body it carries, before they have an index.

    Attributes:
        name: Name of the joint.
        parent: Name of the joint it hangs on; empty for the world.
        kind: Kind of the joint.
        joint: Pinocchio joint.
        X_PJ: Pose of the joint in its parent.
        inertia: Inertia of all it carries.
        link: Name of the link it carries.
        record: The joint as it was, where it is still the same kind; None where it is new.
    """

    name: str
    parent: str
    kind: str
    joint: pin.JointModel
    X_PJ: pin.SE3
    inertia: pin.Inertia
    link: str
    record: Joint | None


def list_bodies(robot: RobotModel) -> list[Body]:
    """Return the tree of a robot as a list that can be edited.

    Args:
        robot: The robot.

    Returns:
        One body per joint, in tree order.

    Raises:
        UnsupportedRobotError: If a joint that follows another has no coordinate of its own.
    """
    check_rebuildable(robot)
    model = robot.model
    names = {0: ""} | {joint.index: joint.name for joint in robot.joints}
    return [
        Body(
            joint.name,
            names[int(model.parents[joint.index])],
            joint.kind,
            model.joints[joint.index],
            model.jointPlacements[joint.index],
            model.inertias[joint.index],
            joint.child,
            joint,
        )
        for joint in robot.joints
    ]


def rebuild(robot: RobotModel, bodies: Sequence[Body], loops: Iterable[LoopClosure]) -> RobotModel:
    """Return a robot with another tree.

    Args:
        robot: The robot it is made from; links, surfaces and names stay.
        bodies: The new tree, in any order; of brothers the first named comes first.
        loops: Its loop closures.

    Returns:
        The robot; its posture is that of the old one where joints are the same, neutral elsewhere.
    """
    ordered = _depth_first(bodies)
    model = _build_model(robot, ordered)
    joints = tuple(_record(model, body, robot) for body in ordered)
    actuated = [
        (name, joint.v.start + k)
        for joint in joints
        if joint.actuated
        for k, name in enumerate(joint.coordinates)
    ]
    new_links = tuple(body.link for body in ordered if body.link not in robot.links)
    posture = pin.neutral(model)
    for body, joint in zip(ordered, joints, strict=True):
        if body.record is not None:
            posture[joint.q] = robot.posture[body.record.q]
    return replace(
        robot,
        model=model,
        joints=joints,
        links=(*robot.links, *new_links),
        actuated=tuple(name for name, _ in actuated),
        actuated_v=np.array([index for _, index in actuated], dtype=np.intp),
        limits=_carry_limits(robot, ordered, joints, model),
        friction=_carry(robot.friction, ordered, joints, model.nv, 0.0),
        damping=_carry(robot.damping, ordered, joints, model.nv, 0.0),
        loops=tuple(loops),
        posture=read_only(posture),
        inertialess=(*robot.inertialess, *new_links),
    )


def _depth_first(bodies: Sequence[Body]) -> list[Body]:
    """Return the bodies so that everything behind one comes before its next brother."""
    hanging: dict[str, list[Body]] = {}
    for body in bodies:
        hanging.setdefault(body.parent, []).append(body)
    ordered, stack = [], list(reversed(hanging.get("", [])))
    while stack:
        body = stack.pop()
        ordered.append(body)
        stack.extend(reversed(hanging.get(body.name, [])))
    return ordered


def _build_model(robot: RobotModel, ordered: Sequence[Body]) -> pin.Model:
    old, model = robot.model, pin.Model()
    model.name, model.gravity = old.name, old.gravity
    index = {"": 0}
    for body in ordered:
        index[body.name] = model.addJoint(index[body.parent], body.joint, body.X_PJ, body.name)
        model.appendBodyToJoint(index[body.name], body.inertia, pin.SE3.Identity())
    carrier = {0: 0} | {joint.index: index[joint.name] for joint in robot.joints}
    for frame in list(old.frames)[1:]:  # all frames keep their indices
        model.addFrame(
            pin.Frame(
                frame.name,
                carrier[frame.parentJoint],
                0,
                frame.placement,
                frame.type,
                frame.inertia,
            ),
            False,
        )
    for body in ordered:
        if body.record is not None:
            copy_joint_properties(old, model, body.record, model.joints[index[body.name]])
        elif body.link not in robot.links:
            model.addBodyFrame(body.link, index[body.name], pin.SE3.Identity(), 0)
    return model


def check_rebuildable(robot: RobotModel) -> None:
    """Refuse a robot whose followers lost their coordinates: a copy of such a joint would follow a joint of the old tree.

    Args:
        robot: The robot.

    Raises:
        UnsupportedRobotError: If a joint that follows another has no coordinate of its own.
    """
    followers = [joint.name for joint in robot.joints if joint.kind == "mimic"]
    if followers:
        raise UnsupportedRobotError(
            "another tree",
            followers,
            "joints without a coordinate; load the robot with mimic='constraint'",
        )


def copy_joint_properties(
    old: pin.Model, new: pin.Model, record: Joint, joint: pin.JointModel
) -> None:
    """Give a joint of a new model the limits, rotor and friction it had in the old one.

    Args:
        old: Model it was part of.
        new: Model it is part of; changed.
        record: The joint as it was.
        joint: The joint as it is.
    """
    for names, there, here in (
        (LIMITS_Q, slice(joint.idx_q, joint.idx_q + joint.nq), record.q),
        (LIMITS_V, slice(joint.idx_v, joint.idx_v + joint.nv), record.v),
    ):
        for name in names:
            values = getattr(new, name)
            values[there] = getattr(old, name)[here]
            setattr(new, name, values)


def _record(model: pin.Model, body: Body, robot: RobotModel) -> Joint:
    """Return the joint record of a body in the new model."""
    index = int(model.getJointId(body.name))
    joint = model.joints[index]
    q, v = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
    if body.record is not None:
        return replace(body.record, index=index, q=q, v=v)
    axes = AXES.get(body.kind, tuple(str(k) for k in range(joint.nv)))
    names = (body.name,) if joint.nv == 1 else tuple(f"{body.name}.{axis}" for axis in axes)
    parent = next((joint.child for joint in robot.joints if joint.name == body.parent), "world")
    return Joint(body.name, body.kind, parent, body.link, index, q, v, names, actuated=False)


def _carry(
    values: Vector, bodies: Sequence[Body], joints: Sequence[Joint], size: int, otherwise: float
) -> Vector:
    carried = np.full(size, otherwise)
    for body, joint in zip(bodies, joints, strict=True):
        if body.record is not None:
            carried[joint.v] = values[body.record.v]
    return read_only(carried)


def _carry_limits(
    robot: RobotModel, bodies: Sequence[Body], joints: Sequence[Joint], model: pin.Model
) -> Limits:
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    for body, joint in zip(bodies, joints, strict=True):
        if body.record is not None:
            lower[joint.q], upper[joint.q] = (
                robot.limits.lower[body.record.q],
                robot.limits.upper[body.record.q],
            )
    velocity = _carry(robot.limits.velocity, bodies, joints, model.nv, np.inf)
    return Limits(
        read_only(lower),
        read_only(upper),
        velocity,
        _carry(robot.limits.effort, bodies, joints, model.nv, 0.0),
    )
