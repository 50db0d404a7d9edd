# SPDX-License-Identifier: Apache-2.0
"""Shapes that ride on bodies, so that bodies touch one another: points of one meet the shapes of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.model.robot import Notice, RobotModel
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
        link: The link.
        group: Which figure it belongs to; it is not touched by points of the same.
    """

    shape: Box | Capsule
    joint: int
    link: str
    group: int


def figure_of(link: str) -> str:
    """Return the name of the figure a link belongs to; empty where there is only one.

    Args:
        link: Name of the link, such as ``crate/body``.
    """
    return link.partition("/")[0] if "/" in link else ""


def bind_shapes(
    robot: RobotModel, shapes: Sequence[MovingShape], groups: Mapping[str, int]
) -> tuple[BoundShape, ...]:
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
            group = groups.get(figure_of(moving.link), len(groups))
            bound.append(
                BoundShape(carried_by(moving.shape, frame.X_JF), frame.joint, moving.link, group)
            )
    return tuple(bound)


def note_boxes(robot: RobotModel, shapes: Sequence[MovingShape]) -> RobotModel:
    """Return the robot with a warning for every two boxes neither of which is smaller than the other on all sides.

    Corners meet faces, and edges that cross do not meet: such boxes do not bear one another.

    Args:
        robot: The robot.
        shapes: Shapes that ride on it.
    """
    boxes = [
        (shape.link, np.sort(shape.shape.half)) for shape in shapes if isinstance(shape.shape, Box)
    ]
    pairs = [
        f"{one} and {other}"
        for k, (one, first) in enumerate(boxes)
        for other, second in boxes[:k]
        if figure_of(one) != figure_of(other)
        and not ((first < second).all() or (second < first).all())
    ]
    if not pairs:
        return robot
    said = "neither box is smaller than the other on all sides, and edges that cross do not meet: one may go through the other"
    return replace(
        robot,
        notices=(*robot.notices, *(Notice("warning", f"links {pair}", said) for pair in pairs)),
    )


def carried_by(shape: Box | Capsule, X: pin.SE3) -> Box | Capsule:
    """Return a shape seen from another frame.

    Args:
        shape: The shape.
        X: Pose of its frame in that frame.
    """
    return replace(shape, X_WB=X * frame_of(shape))
