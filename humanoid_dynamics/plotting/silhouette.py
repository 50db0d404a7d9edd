# SPDX-License-Identifier: Apache-2.0
"""A robot as flat shapes: every shape of every link is the outline of its shadow, far ones drawn first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.catalogue import catalogue_names, find_entry
from humanoid_dynamics.model.reading.urdf import Urdf
from humanoid_dynamics.model.reading.urdf_file import read_urdf
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.model.standing.footprint import CORNERS, convex_hull, shape_points
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

CIRCLE = read_only(
    [[np.cos(angle), np.sin(angle)] for angle in np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)]
)
UP = read_only([0.0, 0.0, 1.0])
LIGHT = read_only([-0.36, -0.48, 0.8])
MANY = 64
BOX = (
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
)  # faces of CORNERS


@dataclass(frozen=True, eq=False)
class Solid:
    """The convex hull of balls, or of points where their radius is zero, on a joint.

    Attributes:
        joint: Pinocchio joint that carries it.
        p_J: (k, 3) their middles [m].
        radius: Their radius [m].
        owner: The figure or object it belongs to; empty where there is only one.
        faces: Corners of each face, counter-clockwise from outside, where it is a box.
    """

    joint: int
    p_J: Matrix
    radius: float
    owner: str
    faces: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Outline:
    """A shape as seen.

    Attributes:
        corners: (k, 2) to the right and up [m].
        depth: How far away [m].
        owner: The figure or object it belongs to.
        slant: How far it is turned from the light, which comes from above, 0 to 1.
    """

    corners: Matrix
    depth: float
    owner: str
    slant: float = 0.0


def view(azimuth: float, elevation: float) -> Matrix:
    """Return the axes of a picture: right, up and away.

    Args:
        azimuth: Where one looks, about z from x forwards to the right of the picture [rad].
        elevation: How far from above [rad].

    Returns:
        (3, 3) rows in the world [-].
    """
    right = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    level = np.array([-right[1], right[0], 0.0])
    away = np.cos(elevation) * level - np.sin(elevation) * UP
    return np.vstack((right, np.cross(right, away), away))


def list_solids(
    robot: RobotModel, balls: Iterable[tuple[str, Vector, float]] = ()
) -> tuple[Solid, ...]:
    """List the solids of a robot, or of several that were joined: shapes of the URDF, else what touches, else bones.

    Args:
        robot: The robot.
        balls: Link, middle in the link [m] and radius [m] of touch points, for bodies without a URDF.

    Returns:
        The solids.
    """
    solids: list[Solid] = []
    touching: dict[str, list[tuple[Vector, float]]] = {}
    for link, p_L, radius in balls:
        touching.setdefault(link, []).append((p_L, radius))
    for prefix, urdf, folder in _sources(robot):
        for name, record in urdf.links.items():
            frame = attach(robot, prefix + name)
            for shape in record.visuals or record.collisions:
                p_L, radius = _points(shape, folder)
                if len(p_L):
                    solids.append(
                        Solid(frame.joint, _place(frame.X_JF, p_L), radius, prefix.rstrip("/"))
                    )
    drawn = {solid.joint for solid in solids}
    for link, points in touching.items():
        frame = attach(robot, link)
        if frame.joint not in drawn:
            p_J = _place(frame.X_JF, np.array([p for p, _ in points]))
            faces = BOX if len(points) == len(CORNERS) else ()
            solids.append(
                Solid(
                    frame.joint,
                    p_J,
                    max(radius for _, radius in points),
                    link.rpartition("/")[0],
                    faces,
                )
            )
    return tuple(solids) or tuple(_list_bones(robot))


def see(
    robot: RobotModel, solids: Sequence[Solid], data: pin.Data, q: Vector, axes: Matrix
) -> list[Outline]:
    """Return what is seen of a robot, far things first.

    Args:
        robot: The robot.
        solids: Its solids.
        data: Work space.
        q: (nq,) configuration.
        axes: (3, 3) axes of the picture.

    Returns:
        Outlines.
    """
    pin.forwardKinematics(robot.model, data, q)
    seen: list[Outline] = []
    for solid in solids:
        points = _place(data.oMi[solid.joint], solid.p_J)
        seen += (
            see_box(points, axes, solid.owner, solid.faces)
            if solid.faces
            else [outline(points, solid.radius, axes, solid.owner)]
        )
    return sorted(seen, key=lambda one: -one.depth)


def see_box(
    points: Matrix, axes: Matrix, owner: str = "", faces: tuple[tuple[int, ...], ...] = ()
) -> list[Outline]:
    """Return the faces of a box that are turned towards the eye.

    Args:
        points: (8, 3) its corners in the world, in the order of ``CORNERS`` [m].
        axes: (3, 3) axes of the picture.
        owner: Whom it belongs to.
        faces: Corners of each face; those of ``CORNERS`` where left out.

    Returns:
        Up to three outlines.
    """
    found = []
    depth = float((points @ axes[2]).mean())
    for face in faces or BOX:
        corners = points[list(face)]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
        normal /= max(float(np.linalg.norm(normal)), 1e-12)
        if normal @ axes[2] < -1e-9:
            found.append(
                Outline(corners @ axes[:2].T, depth, owner, 0.5 - 0.5 * float(normal @ LIGHT))
            )
    return found


def outline(points: Matrix, radius: float, axes: Matrix, owner: str = "") -> Outline:
    """Return the outline of the convex hull of balls.

    Args:
        points: (k, 3) their middles in the world [m].
        radius: Their radius [m].
        axes: (3, 3) axes of the picture.
        owner: Whom it belongs to.

    Returns:
        The outline.
    """
    seen = points @ axes.T
    flat = seen[:, :2]
    if radius > 0.0:
        flat = (flat[:, None] + radius * CIRCLE[None]).reshape(-1, 2)
    return Outline(convex_hull(flat), float(seen[:, 2].mean()), owner)


def _sources(robot: RobotModel) -> list[tuple[str, Urdf, Path]]:
    """Return the URDFs a robot was made of, each with what names begin with."""
    if robot.urdf:
        return [("", read_urdf(robot.urdf, robot.origin), _folder(robot.origin))]
    names, origins = robot.model.name.split("/"), robot.origin.split(", ")
    known = set(catalogue_names())
    parts = (
        [load_robot(origin) if origin in known else None for origin in origins]
        if len(names) == len(origins)
        else []
    )
    return [
        (f"{name}/", read_urdf(part.urdf, part.origin), _folder(part.origin))
        for name, part in zip(names, parts, strict=False)
        if part is not None
    ]


def _folder(origin: str) -> Path:
    """Return where the meshes of a robot are looked for."""
    entry = find_entry(origin)
    return Path(origin).parent if entry is None else entry.urdf_path().parent


def _points(shape: Geometry, folder: Path) -> tuple[Matrix, float]:
    """Return the balls whose hull a shape is, in its link."""
    if shape.kind in {"sphere", "capsule"}:
        half = shape.size[1] / 2 if shape.kind == "capsule" else 0.0
        ends = np.array([[0.0, 0.0, half], [0.0, 0.0, -half]])[: 1 if half == 0.0 else 2]
        return _place(shape.X_LG, ends), shape.size[0]
    return _hull(shape_points(shape, np.array(UP), folder)), 0.0


def _hull(points: Matrix) -> Matrix:
    """Return the corners of the convex hull: a mesh has thousands of points inside."""
    if len(points) <= MANY:
        return points
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:  # flat
        return points


def _list_bones(robot: RobotModel) -> Iterable[Solid]:
    """Return sticks from joint to joint, for a robot nobody knows the shapes of."""
    model = robot.model
    for index in range(2, model.njoints):
        parent = int(model.parents[index])
        if parent:
            yield Solid(
                parent, np.vstack((np.zeros(3), model.jointPlacements[index].translation)), 0.02, ""
            )


def _place(X: pin.SE3, points: Matrix) -> Matrix:
    return np.asarray(points @ X.rotation.T + X.translation)
