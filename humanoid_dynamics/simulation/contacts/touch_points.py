"""Where a body may touch the terrain: corners of its contact surfaces, corners of its shapes, balls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from humanoid_dynamics.constraints.kinematics import attach
from humanoid_dynamics.errors import ShapeError, UnknownNameError, UrdfError
from humanoid_dynamics.model.robot import Notice, RobotModel
from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.model.standing.footprint import shape_points
from humanoid_dynamics.model.surface import DEFAULT_FRICTION
from humanoid_dynamics.simulation.contacts.moving_shapes import figure_of
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, check_number, check_vector, read_only

ABOVE_SOLE = 0.02  # shapes nearer to the plane of a surface than this are the surface [m]
RIM = 8
FINITE = float(np.finfo(np.float64).max)
CORNERS = read_only([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
UP = read_only([0.0, 0.0, 1.0])
ALL_SIDES = read_only(np.zeros(3))
WORLD = -1  # group of points of the terrain


@dataclass(frozen=True, eq=False)
class TouchPoint:
    """A ball, or a point where its radius is zero, fixed in a link.

    Attributes:
        name: Its name, such as ``left_foot.0``.
        link: Link that carries it.
        p_L: (3,) its middle in the link [m].
        radius: Its radius [m].
        friction: Coulomb coefficient [-].
        restitution: Coefficient of restitution [-].
        outward: (3,) direction in which a corner looks, in the link: it touches what lies there; zero for what touches on all sides.
    """

    name: str
    link: str
    p_L: Vector
    radius: float = 0.0
    friction: float = DEFAULT_FRICTION
    restitution: float = 0.0
    outward: Vector = field(default_factory=lambda: ALL_SIDES)


@dataclass(frozen=True, eq=False)
class PointTable:
    """All touch points of a world, bound to its tree.

    Attributes:
        names: Their names.
        links: The link of each.
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
    """

    names: tuple[str, ...]
    links: tuple[str, ...]
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

    def __len__(self) -> int:
        return len(self.names)

    @property
    def own(self) -> int:
        """Number of points of bodies."""
        return int(np.count_nonzero(self.group != WORLD))


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
    frames = [attach(robot, point.link) for point in points]
    moving = [(point, frame) for point, frame in zip(points, frames, strict=True) if frame.joint]
    joints = tuple(sorted({frame.joint for _, frame in moving}))
    names = [figure_of(link) for link in robot.links]
    groups = {name: number for number, name in enumerate(dict.fromkeys(names))}
    homogeneous = np.array([[*frame.X_JF.act(np.asarray(point.p_L)), 1.0] for point, frame in moving])
    return PointTable(
        tuple(point.name for point, _ in moving),
        tuple(point.link for point, _ in moving),
        joints,
        np.array([joints.index(frame.joint) for _, frame in moving], dtype=np.intp),
        read_only(homogeneous.reshape(-1, 4, 1)),
        read_only([point.radius for point, _ in moving]),
        read_only([point.friction for point, _ in moving]),
        read_only([point.restitution for point, _ in moving]),
        read_only(list_support(robot)),
        np.array([groups.get(figure_of(point.link), 0) for point, _ in moving], dtype=np.intp),
        groups,
        read_only(np.array([frame.X_JF.rotation @ point.outward for point, frame in moving]).reshape(-1, 3)),
    )


def _check_point(point: TouchPoint) -> None:
    """Refuse a point with a number that makes no sense."""
    for what, word in (("name", point.name), ("link", point.link)):
        if not isinstance(word, str):
            raise ShapeError(f"{what} of a touch point", f"{type(word).__name__} {word!r:.60}", "a word")
    check_vector(f"p_L of touch point {point.name!r}", point.p_L, 3)
    check_vector(f"outward of touch point {point.name!r}", point.outward, 3)
    for what, most in (("radius", FINITE), ("friction", FINITE), ("restitution", 1.0)):
        expected = "a finite number of at least zero" if most == FINITE else f"a number from 0 to {most:g}"
        check_number(f"{what} of touch point {point.name!r}", getattr(point, what), 0.0, most, expected)


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


def choose_points(robot: RobotModel, points: str | tuple[TouchPoint, ...]) -> tuple[TouchPoint, ...]:
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


def list_surface_points(robot: RobotModel, names: Iterable[str] | None = None) -> tuple[TouchPoint, ...]:
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
        TouchPoint(f"{surface.name}.{k}", surface.link, surface.X_LC.act(corner), 0.0, surface.friction)
        for surface in surfaces
        for k, corner in enumerate(surface.vertices)
    )


def list_body_points(robot: RobotModel, *, friction: float = DEFAULT_FRICTION, restitution: float = 0.0) -> tuple[TouchPoint, ...]:
    """List what of a whole robot can touch: corners of its surfaces, and its collision shapes, or what it looks like where it has none.

    A box touches with its corners, a sphere and a capsule as they are, a cylinder with eight points of each rim, a mesh with the corners
    that lie farthest out in fourteen directions.

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
        raise UrdfError(robot.origin, "robot", "holds no shapes; list its touch points yourself")
    for link in robot.links:
        for k, shape in enumerate(robot.solids.get(link, ())):
            every = _balls(shape)
            balls = [ball for ball in every if not _is_at_surface(robot, link, ball[0])]
            whole = len(balls) == len(every)  # where corners are left out, those that stay may be the lowest and look elsewhere
            for i, (p, r, out) in enumerate(balls):
                points.append(TouchPoint(f"{link}.{k}.{i}", link, p, r, friction, restitution, out if whole else ALL_SIDES))
    return tuple(points)


def note_missing(robot: RobotModel, points: Sequence[TouchPoint]) -> RobotModel:
    """Return the robot with a warning that names the links whose meshes were not found or cannot be read: nothing there touches.

    Args:
        robot: The robot.
        points: From ``list_body_points``.
    """
    told = {point.name.rpartition(".")[0] for point in points} | {surface.link for surface in robot.surfaces.values()}
    missing = [
        link
        for link in robot.links
        if link not in told and any(s.kind == "mesh" and f"{link}.{k}" not in told for k, s in enumerate(robot.solids.get(link, ())))
    ]
    if not missing:
        return robot
    notice = Notice("warning", f"links {', '.join(missing)}", "meshes were not found or cannot be read, so they touch nothing there")
    return replace(robot, notices=(*robot.notices, notice))


def list_box_corners(size: Vector) -> list[tuple[Vector, float, Vector]]:
    """Return the corners of a box about its middle, with no radius, each with the direction in which it looks.

    Args:
        size: (3,) its edges [m].
    """
    return [(corner * size, 0.0, corner / np.linalg.norm(corner)) for corner in CORNERS]


def _balls(shape: Geometry) -> list[tuple[Vector, float, Vector]]:
    """Return the points and balls that stand for a shape, in its link, with the directions in which they look."""
    if shape.kind != "box":
        return [(p, radius, ALL_SIDES) for p, radius in _round_balls(shape)]
    X = shape.X_LG
    return [(X.act(corner), radius, X.rotation @ out) for corner, radius, out in list_box_corners(np.array(shape.size))]


def _round_balls(shape: Geometry) -> list[tuple[Vector, float]]:
    """Return the points and balls that stand for a shape that is no box, in its link."""
    X = shape.X_LG
    if shape.kind == "sphere":
        return [(X.translation, shape.size[0])]
    half = np.array([0.0, 0.0, shape.size[1] / 2]) if len(shape.size) == 2 else np.zeros(3)
    if shape.kind == "capsule":
        return [(X.act(end), shape.size[0]) for end in (half, -half)]
    if shape.kind == "cylinder":
        angles = 2.0 * np.pi * np.arange(RIM) / RIM
        rim = shape.size[0] * np.column_stack((np.cos(angles), np.sin(angles), np.zeros(RIM)))
        return [(X.act(end + p), 0.0) for end in (half, -half) for p in rim]
    cloud = shape_points(shape, UP, None)
    if not len(cloud):
        return []
    directions = np.vstack((np.eye(3), -np.eye(3), 2.0 * CORNERS))
    return [(cloud[k], 0.0) for k in sorted(set(np.argmax(cloud @ directions.T, axis=0).tolist()))]


def _is_at_surface(robot: RobotModel, link: str, p_L: Vector) -> bool:
    """Return whether a contact surface of the link stands for this point already."""
    return any(
        surface.link == link and surface.X_LC.actInv(p_L)[2] < ABOVE_SOLE and len(surface.vertices) > 2
        for surface in robot.surfaces.values()
    )
