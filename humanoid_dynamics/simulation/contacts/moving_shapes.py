"""Shapes that ride on bodies, so that bodies touch one another: points of one meet the shapes of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.shapes import Box, Capsule, frame_of


@dataclass(frozen=True, eq=False)
class MovingShape:
    """A shape fixed in a link.

    Attributes:
        link: The link.
        shape: The shape, in the frame of the link.
    """

    link: str
    shape: Box | Capsule


@dataclass(frozen=True, eq=False)
class BoundShape:
    """A shape bound to a tree.

    Attributes:
        shape: The shape, in the frame of its joint.
        joint: The joint.
        group: Which figure it belongs to; it is not touched by points of the same.
    """

    shape: Box | Capsule
    joint: int
    group: int


def figure_of(link: str) -> str:
    """Return the name of the figure a link belongs to; empty where there is only one.

    Args:
        link: Name of the link, such as ``crate/body``.
    """
    return link.partition("/")[0] if "/" in link else ""


def bind_shapes(robot: RobotModel, shapes: Sequence[MovingShape], groups: Mapping[str, int]) -> tuple[BoundShape, ...]:
    """Bind shapes to a robot; those on links that cannot move are left out.

    Args:
        robot: The robot.
        shapes: The shapes.
        groups: Figure -> its number.

    Returns:
        The bound shapes.

    Raises:
        UnknownNameError: If a link does not exist.
    """
    bound = []
    for moving in shapes:
        frame = attach(robot, moving.link)
        if frame.joint:
            bound.append(BoundShape(carried_by(moving.shape, frame.X_JF), frame.joint, groups.get(figure_of(moving.link), len(groups))))
    return tuple(bound)


def carried_by(shape: Box | Capsule, X: pin.SE3) -> Box | Capsule:
    """Return a shape seen from another frame.

    Args:
        shape: The shape.
        X: Pose of its frame in that frame.
    """
    return replace(shape, X_WB=X * frame_of(shape))
