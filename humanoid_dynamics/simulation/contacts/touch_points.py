# SPDX-License-Identifier: Apache-2.0
"""Where a body may touch the terrain: corners of its contact surfaces, corners of its shapes, balls, discs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from humanoid_dynamics.errors import UnknownNameError, UrdfError
from humanoid_dynamics.model.robot import Notice, RobotModel
from humanoid_dynamics.model.surface import DEFAULT_FRICTION, ContactSurface
from humanoid_dynamics.simulation.contacts.solid_points import (
    ALL_SIDES,
    NO_AXIS,
    SolidPoint,
    list_solid_points,
)
from humanoid_dynamics.spatial.arrays import Vector

TINY = 1e-12  # m
BESIDE = 5e-4  # a corner that is no farther from a contact surface is of that surface [m]


@dataclass(frozen=True, eq=False)
class TouchPoint:
    """A ball or a disc, or a point where its radius is zero, fixed in a link.

    Attributes:
        name: Its name, such as ``left_foot.0``.
        link: Link that carries it.
        p_L: (3,) its middle in the link [m].
        radius: Its radius [m].
        friction: Coulomb coefficient [-].
        restitution: Coefficient of restitution [-].
        outward: (3,) direction in which a corner looks, in the link: it touches what lies there; zero for what touches on all sides.
        axis: (3,) unit vector across a disc of this radius, which touches where its rim is lowest, in the link; zero for a ball.
        shape: Name of the shape of the link that it stands for with others, such as ``torso.0``; empty where it stands for itself.
    """

    name: str
    link: str
    p_L: Vector
    radius: float = 0.0
    friction: float = DEFAULT_FRICTION
    restitution: float = 0.0
    outward: Vector = field(default_factory=lambda: ALL_SIDES)
    axis: Vector = field(default_factory=lambda: NO_AXIS)
    shape: str = ""


def choose_points(
    robot: RobotModel, points: str | tuple[TouchPoint, ...]
) -> tuple[TouchPoint, ...]:
    """Return touch points by the name of a choice, or as they are.

    Args:
        robot: The robot.
        points: ``surfaces``, ``body``, or the points.

    Returns:
        The points.

    Raises:
        UnknownNameError: If there is no such choice.
    """
    if not isinstance(points, str):
        return points
    lists = {"surfaces": list_surface_points, "body": list_body_points}
    if points not in lists:
        raise UnknownNameError("choice of touch points", points, lists)
    return list_body_points(robot) if points == "body" else list_surface_points(robot)


def list_surface_points(
    robot: RobotModel, names: Iterable[str] | None = None
) -> tuple[TouchPoint, ...]:
    """List the corners of contact surfaces.

    Args:
        robot: The robot.
        names: Names of the surfaces; all where left out.

    Returns:
        One point per corner.

    Raises:
        UnknownNameError: If a surface does not exist.
    """
    surfaces = [robot.surface(name) for name in (robot.surfaces if names is None else names)]
    return tuple(
        TouchPoint(
            f"{surface.name}.{k}", surface.link, surface.X_LC.act(corner), 0.0, surface.friction
        )
        for surface in surfaces
        for k, corner in enumerate(surface.vertices)
    )


def list_body_points(
    robot: RobotModel, *, friction: float = DEFAULT_FRICTION, restitution: float = 0.0
) -> tuple[TouchPoint, ...]:
    """List what of a whole robot can touch: corners of its surfaces, and its collision shapes, or what it looks like where it has none.

    A box touches with its corners, a sphere and a capsule as they are, a cylinder with a disc at each end, which touches where its rim is
    lowest, and four corners beside it, a mesh with as many of its corners as leave none of them out by more than a millimetre.

    Args:
        robot: The robot.
        friction: Coulomb coefficient of the shapes.
        restitution: Coefficient of restitution of the shapes.

    Returns:
        The points.

    Raises:
        UrdfError: If the robot holds no shapes.
    """
    points = list(list_surface_points(robot))
    if not robot.solids:
        raise UrdfError(
            robot.origin, "robot", "has no collision shapes; expected a list of touch points"
        )
    for link in robot.links:
        soles = _list_soles(robot, link)
        corners = np.array(
            [surface.X_LC.act(corner) for surface in soles for corner in surface.vertices]
        ).reshape(-1, 3)
        for k, shape in enumerate(robot.solids.get(link, ())):
            every = list_solid_points(shape, corners)
            found = [point for point in every if not _is_in_sole(soles, point)]
            whole = len(found) == len(
                every
            )  # where corners are left out, those that stay may be the lowest and look elsewhere
            for i, (p, r, out, axis) in enumerate(found):
                outward = out if whole else ALL_SIDES
                points.append(
                    TouchPoint(
                        f"{link}.{k}.{i}",
                        link,
                        p,
                        r,
                        friction,
                        restitution,
                        outward,
                        axis,
                        f"{link}.{k}",
                    )
                )
    return tuple(points)


def note_missing(robot: RobotModel, points: Sequence[TouchPoint]) -> RobotModel:
    """Return the robot with a warning that names the links whose meshes were not found or cannot be read: nothing there touches.

    Args:
        robot: The robot.
        points: From ``list_body_points``.
    """
    told = {point.shape for point in points} | {surface.link for surface in robot.surfaces.values()}
    missing = [
        link
        for link in robot.links
        if link not in told
        and any(
            s.kind == "mesh" and f"{link}.{k}" not in told
            for k, s in enumerate(robot.solids.get(link, ()))
        )
    ]
    if not missing:
        return robot
    notice = Notice(
        "warning",
        f"links {', '.join(missing)}",
        "meshes are missing or unreadable, so they have no contact there",
    )
    return replace(robot, notices=(*robot.notices, notice))


def _list_soles(robot: RobotModel, link: str) -> list[ContactSurface]:
    """Return the contact surfaces of a link that are faces: what is between their corners touches nothing that these do not."""
    return [
        surface
        for surface in robot.surfaces.values()
        if surface.link == link and len(surface.vertices) > 2
    ]


def _is_in_sole(soles: Sequence[ContactSurface], point: SolidPoint) -> bool:
    """Return whether contact surfaces of the link stand for a corner already: it lies between theirs."""
    return point.radius == 0.0 and any(_lies_on(surface, point.p) for surface in soles)


def _lies_on(surface: ContactSurface, p_L: Vector) -> bool:
    """Return whether a point lies on a face or right beside it."""
    x, y, z = surface.X_LC.actInv(p_L)
    corners = surface.vertices[:, :2]
    edges = np.roll(corners, -1, axis=0) - corners
    away = (edges[:, 1] * (x - corners[:, 0]) - edges[:, 0] * (y - corners[:, 1])) / np.maximum(
        np.linalg.norm(edges, axis=1), TINY
    )
    return bool(abs(z) <= BESIDE and away.max() <= BESIDE)
