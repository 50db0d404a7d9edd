# SPDX-License-Identifier: Apache-2.0
"""Several robots as one: a figure and the swing it sits on, two figures that will take each other's hands.

Robots that meet are one tree from the start, each still hanging where it hung.  What they do to each other later - grasp, sit down, let
go - is an event that adds or removes rows, and no model is built again [SV, sec. 4.2].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError, UnknownNameError
from humanoid_dynamics.model.joint import Joint, Limits, Mimic
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.robot import ControlPoint, RobotModel
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Vector, read_only
from humanoid_dynamics.structure.rebuild import check_rebuildable, copy_joint_properties

SEPARATOR = "/"
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Part:
    """One robot on its way into the whole.

    Attributes:
        robot: The robot as it was.
        prefix: What its names begin with from now on.
        joints: Its joints in the new model.
        frames: Index of a frame in its model -> index in the new model.
    """

    robot: RobotModel
    prefix: str
    joints: tuple[Joint, ...]
    frames: Mapping[int, int]

    def link(self, name: str) -> str:
        """Return the new name of a link; the world keeps its own."""
        return name if name == "world" and name not in self.robot.links else self.prefix + name

    def rename(self, entries: Mapping[str, T]) -> dict[str, T]:
        """Return a table with new names."""
        return {self.prefix + name: entry for name, entry in entries.items()}


def join(robots: Sequence[RobotModel], names: Sequence[str]) -> RobotModel:
    """Return one robot made of several, as the figures on swing, bar and ropes are [CK, sec. 4; SV, sec. 6].

    Args:
        robots: The robots; each stays where it hangs in the world.
        names: What each is called from now on.  Its links, joints, coordinates, surfaces, control points, loops, wheels and aliases
            become ``name/...``; an empty name leaves them as they are.

    Returns:
        The robot; it takes its root and its resting contacts from the first one.

    Raises:
        ShapeError: If there is no robot, or not one name for each.
        HumanoidDynamicsError: If two robots have the same name, one name in common, or different gravity.
        UnsupportedRobotError: If a joint that follows another has no coordinate of its own.
    """
    _check(robots, names)
    model = pin.Model()
    model.name, model.gravity = SEPARATOR.join(filter(None, names)), robots[0].model.gravity
    parts = [
        _enter(model, robot, f"{name}{SEPARATOR}" if name else "")
        for robot, name in zip(robots, names, strict=True)
    ]
    joints = tuple(joint for part in parts for joint in part.joints)
    actuated = [
        (name, joint.v.start + k)
        for joint in joints
        if joint.actuated
        for k, name in enumerate(joint.coordinates)
    ]
    whole = replace(
        robots[0],
        name=model.name,
        origin=", ".join(robot.origin for robot in robots),
        urdf="",
        model=model,
        joints=joints,
        links=tuple(part.prefix + link for part in parts for link in part.robot.links),
        actuated=tuple(name for name, _ in actuated),
        actuated_v=np.array([index for _, index in actuated], dtype=np.intp),
        limits=_join_limits(robots),
        friction=_stack([robot.friction for robot in robots]),
        damping=_stack([robot.damping for robot in robots]),
        posture=_stack([robot.posture for robot in robots]),
        stance=tuple(parts[0].prefix + name for name in robots[0].stance),
        notices=tuple(notice for robot in robots for notice in robot.notices),
    )
    return _name(whole, parts)


def connect_points(
    robot: RobotModel, name: str, kind: str, point_a: str, point_b: str
) -> LoopClosure:
    """Return the closure that holds two control points together, such as a hand and a grip [CK, sec. 4; SV, sec. 6].

    Args:
        robot: The robot.
        name: Name of the closure.
        kind: What the joint between them lets move, as in ``LoopClosure``.
        point_a: Control point whose frame is A.
        point_b: Control point whose frame is B.

    Returns:
        The closure, for ``Connect`` or ``build_loop``.

    Raises:
        UnknownNameError: If there is no such control point.
    """
    for point in (point_a, point_b):
        if point not in robot.control_points:
            raise UnknownNameError("control point", point, robot.control_points)
    A, B = robot.control_points[point_a], robot.control_points[point_b]
    return LoopClosure(name, kind, A.link, A.X_LP, B.link, B.X_LP)


def _check(robots: Sequence[RobotModel], names: Sequence[str]) -> None:
    if not robots or len(robots) != len(names):
        raise ShapeError(
            "names",
            f"{len(names)} names for {len(robots)} robots",
            "one name for each of one or more robots",
        )
    if len(set(names)) != len(names):
        raise HumanoidDynamicsError(
            f"robots to join need different names, received {', '.join(map(repr, names))}"
        )
    for robot in robots:
        check_rebuildable(robot)
        if robot.model.gravity != robots[0].model.gravity:
            raise HumanoidDynamicsError(
                f"robots {robots[0].name!r} and {robot.name!r} have different gravity and cannot be joined"
            )
    taken: set[str] = set()
    for robot, name in zip(robots, names, strict=True):
        prefix = f"{name}{SEPARATOR}" if name else ""
        mine = {
            prefix + each
            for each in (*robot.links, *(joint.name for joint in robot.joints), *robot.aliases)
        }
        if taken & mine:
            raise HumanoidDynamicsError(
                f"robots to join share the names {', '.join(sorted(taken & mine))}; give each robot a name"
            )
        taken |= mine


def _enter(model: pin.Model, robot: RobotModel, prefix: str) -> _Part:
    """Append the joints and frames of a robot to the model; depth-first order stays what it was."""
    old, carriers, joints = robot.model, {0: 0}, []
    for joint in robot.joints:
        parent = carriers[int(old.parents[joint.index])]
        index = model.addJoint(
            parent, old.joints[joint.index], old.jointPlacements[joint.index], prefix + joint.name
        )
        model.appendBodyToJoint(index, old.inertias[joint.index], pin.SE3.Identity())
        carriers[joint.index] = index
    for joint in robot.joints:  # now that the model has room for all their numbers
        joints.append(_moved(model, joint, prefix, carriers))
        copy_joint_properties(old, model, joint, model.joints[carriers[joint.index]])
    frames = {0: 0}
    for index, frame in enumerate(old.frames):
        if index:
            carrier = carriers[frame.parentJoint]
            copy = pin.Frame(
                prefix + frame.name,
                carrier,
                frames[frame.parentFrame],
                frame.placement,
                frame.type,
                frame.inertia,
            )
            frames[index] = int(model.addFrame(copy, False))
    return _Part(robot, prefix, tuple(joints), frames)


def _moved(model: pin.Model, joint: Joint, prefix: str, carriers: Mapping[int, int]) -> Joint:
    """Return the record of a joint in the new model."""
    there = model.joints[carriers[joint.index]]
    return replace(
        joint,
        name=prefix + joint.name,
        parent=joint.parent if joint.parent == "world" else prefix + joint.parent,
        child=prefix + joint.child,
        index=carriers[joint.index],
        q=slice(there.idx_q, there.idx_q + there.nq),
        v=slice(there.idx_v, there.idx_v + there.nv),
        coordinates=tuple(prefix + name for name in joint.coordinates),
    )


def _name(whole: RobotModel, parts: Sequence[_Part]) -> RobotModel:
    """Return the robot with all that is known by name - surfaces, points, loops, wheels, mimics, aliases - under the new names."""
    surfaces: dict[str, ContactSurface] = {}
    points: dict[str, ControlPoint] = {}
    aliases: dict[str, str] = {}
    for part in parts:
        for name, surface in part.rename(part.robot.surfaces).items():
            surfaces[name] = replace(
                surface,
                name=name,
                link=part.prefix + surface.link,
                frame=part.frames[surface.frame],
            )
        for name, point in part.rename(part.robot.control_points).items():
            points[name] = replace(
                point, name=name, link=part.prefix + point.link, frame=part.frames[point.frame]
            )
        aliases |= {
            name: part.prefix + link for name, link in part.rename(part.robot.aliases).items()
        }
    return replace(
        whole,
        surfaces=MappingProxyType(surfaces),
        control_points=MappingProxyType(points),
        aliases=MappingProxyType(aliases),
        loops=tuple(_closure(part, loop) for part in parts for loop in part.robot.loops),
        wheels=tuple(
            replace(wheel, name=part.prefix + wheel.name, link=part.prefix + wheel.link)
            for part in parts
            for wheel in part.robot.wheels
        ),
        mimics=tuple(
            Mimic(part.prefix + mimic.joint, part.prefix + mimic.leader, mimic.ratio, mimic.offset)
            for part in parts
            for mimic in part.robot.mimics
        ),
        shapes=MappingProxyType(
            {
                name: shapes
                for part in parts
                for name, shapes in part.rename(part.robot.shapes).items()
            }
        ),
        solids=MappingProxyType(
            {
                name: shapes
                for part in parts
                for name, shapes in part.rename(part.robot.solids).items()
            }
        ),
        inertialess=tuple(part.prefix + link for part in parts for link in part.robot.inertialess),
    )


def _closure(part: _Part, loop: LoopClosure) -> LoopClosure:
    return replace(
        loop,
        name=part.prefix + loop.name,
        link_a=part.link(loop.link_a),
        link_b=part.link(loop.link_b),
    )


def _join_limits(robots: Sequence[RobotModel]) -> Limits:
    return Limits(
        *(
            _stack([getattr(robot.limits, name) for robot in robots])
            for name in ("lower", "upper", "velocity", "effort")
        )
    )


def _stack(vectors: Sequence[Vector]) -> Vector:
    return read_only(np.concatenate(vectors))
