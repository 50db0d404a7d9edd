# SPDX-License-Identifier: Apache-2.0
"""Touch points of a world, bound to its tree: what a step looks up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.discs import SHARE
from humanoid_dynamics.simulation.contacts.moving_shapes import figure_of
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.spatial.arrays import (
    Indices,
    Matrix,
    Vector,
    check_number,
    check_vector,
    read_only,
)
from humanoid_dynamics.spatial.pose import UNIT

FINITE = float(np.finfo(np.float64).max)
FEW = 12  # points of a shape; meshes have more
NOBODY = np.zeros(0, dtype=np.intp)
WORLD = -1  # group of points of the terrain


@dataclass(frozen=True, eq=False)
class PointTable:
    """All touch points of a world, bound to its tree.

    Attributes:
        names: Their names.
        links: The link of each.
        shapes: The shape each stands for with others, empty where it stands for itself.
        joints: (m,) pinocchio joints that carry any.
        owner: (n,) which of these carries each point.
        p_J: (n, 4, 1) position in the joint, homogeneous [m].
        radius: (n,) radius [m].
        friction: (n,) Coulomb coefficient.
        restitution: (n,) coefficient of restitution.
        support: (nj, nv) one where the coordinate moves the joint, for all joints.
        group: (n,) number of the figure each belongs to, ``WORLD`` for points of the terrain, which are the last ones.
        groups: Number of each figure.
        outward: (n, 3) direction in which each looks, in its joint; zero for what touches on all sides.
        axis: (n, 3) axis of each disc, in its joint, as long as ``SHARE``; zero for points and balls.
    """

    names: tuple[str, ...]
    links: tuple[str, ...]
    shapes: tuple[str, ...]
    joints: tuple[int, ...]
    owner: Indices
    p_J: Matrix
    radius: Vector
    friction: Vector
    restitution: Vector
    support: Matrix
    group: Indices
    groups: Mapping[str, int]
    outward: Matrix
    axis: Matrix

    def __len__(self) -> int:
        return len(self.names)

    @property
    def own(self) -> int:
        """Number of points of bodies."""
        return int(np.count_nonzero(self.group != WORLD))

    @cached_property
    def lines(self) -> tuple[Indices, Indices]:
        """Points of bodies at the ends of lines within shapes: between all of a shape, of a mesh from each to the farthest from it."""
        first, second = [NOBODY], [NOBODY]
        shapes = self.shapes[: self.own]
        for shape in dict.fromkeys(filter(None, shapes)):
            own = np.array([k for k, name in enumerate(shapes) if name == shape], dtype=np.intp)
            p = self.p_J[own, :3, 0]
            away = np.linalg.norm(p[:, None] - p, axis=2)
            a, b = (
                np.triu_indices(len(own), 1)
                if len(own) <= FEW
                else (np.arange(len(own)), away.argmax(axis=1))
            )
            first, second = [*first, own[a]], [*second, own[b]]
        return np.concatenate(first), np.concatenate(second)


def bind_points(robot: RobotModel, points: Sequence[TouchPoint]) -> PointTable:
    """Bind touch points to a robot; those on links that cannot move are left out.

    Args:
        robot: The robot.
        points: The points.

    Returns:
        The table.

    Raises:
        UnknownNameError: If a link does not exist.
        ShapeError: If a number of a point makes no sense.
    """
    for point in points:
        _check_point(point)
    frames = {link: attach(robot, link) for link in dict.fromkeys(point.link for point in points)}
    moving = [(point, frames[point.link]) for point in points if frames[point.link].joint]
    joints = tuple(sorted({frame.joint for _, frame in moving}))
    places = {joint: place for place, joint in enumerate(joints)}
    names = [figure_of(link) for link in robot.links]
    groups = {name: number for number, name in enumerate(dict.fromkeys(names))}
    homogeneous = np.array(
        [[*frame.X_JF.act(np.asarray(point.p_L)), 1.0] for point, frame in moving]
    )
    return PointTable(
        tuple(point.name for point, _ in moving),
        tuple(point.link for point, _ in moving),
        tuple(point.shape for point, _ in moving),
        joints,
        np.array([places[frame.joint] for _, frame in moving], dtype=np.intp),
        read_only(homogeneous.reshape(-1, 4, 1)),
        read_only([point.radius for point, _ in moving]),
        read_only([point.friction for point, _ in moving]),
        read_only([point.restitution for point, _ in moving]),
        read_only(list_support(robot)),
        np.array([groups.get(figure_of(point.link), 0) for point, _ in moving], dtype=np.intp),
        groups,
        read_only(
            np.array([frame.X_JF.rotation @ point.outward for point, frame in moving]).reshape(
                -1, 3
            )
        ),
        read_only(
            SHARE
            * np.array([frame.X_JF.rotation @ point.axis for point, frame in moving]).reshape(-1, 3)
        ),
    )


def _check_point(point: TouchPoint) -> None:
    """Refuse a point with a number that makes no sense."""
    for what, word in (("name", point.name), ("link", point.link), ("shape", point.shape)):
        if not isinstance(word, str):
            raise ShapeError(
                f"{what} of a touch point", f"{type(word).__name__} {word!r:.60}", "a word"
            )
    check_vector(f"p_L of touch point {point.name!r}", point.p_L, 3)
    check_vector(f"outward of touch point {point.name!r}", point.outward, 3)
    axis = check_vector(f"axis of touch point {point.name!r}", point.axis, 3)
    if axis.any() and abs(float(np.linalg.norm(axis)) - 1.0) > UNIT:
        raise ShapeError(
            f"axis of touch point {point.name!r}",
            f"{axis.tolist()}",
            "a vector of length 1, or zero",
        )
    for what, most in (("radius", FINITE), ("friction", FINITE), ("restitution", 1.0)):
        expected = (
            "a finite number of at least zero" if most == FINITE else f"a number from 0 to {most:g}"
        )
        check_number(
            f"{what} of touch point {point.name!r}", getattr(point, what), 0.0, most, expected
        )


def list_support(robot: RobotModel) -> Matrix:
    """Return (nj, nv) one where a coordinate moves a joint.

    Args:
        robot: The robot.
    """
    support = np.zeros((robot.model.njoints, robot.nv))
    for index in range(1, robot.model.njoints):
        for above in robot.model.supports[index]:
            joint = robot.model.joints[int(above)]
            if above:
                support[index, joint.idx_v : joint.idx_v + joint.nv] = 1.0
    return support
