# SPDX-License-Identifier: Apache-2.0
"""What stands still and can be touched: planes, slopes, boxes, steps, each with its own friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.simulation.contacts.shapes import (
    Box,
    Capsule,
    Plane,
    Shape,
    leave_out,
    probe_facing,
)
from humanoid_dynamics.simulation.contacts.sound_shapes import check_surface
from humanoid_dynamics.spatial.arrays import (
    Indices,
    Matrix,
    Vector,
    check_number,
    check_vector,
    read_only,
)

INTEGER = (int, np.integer)
MIN, MAX = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Terrain:
    """Several shapes as one; where they overlap the nearest counts.

    Attributes:
        shapes: Planes, boxes and capsules.
        friction: (k,) their Coulomb coefficients.
        restitution: (k,) their coefficients of restitution.
    """

    shapes: tuple[Shape, ...]
    friction: Vector = field(init=False, repr=False)
    restitution: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "friction", read_only([shape.friction for shape in self.shapes]))
        object.__setattr__(
            self, "restitution", read_only([shape.restitution for shape in self.shapes])
        )

    def probe(
        self, points: Matrix, looks: Matrix | None = None, least: Vector | None = None
    ) -> tuple[Vector, Matrix, Indices]:
        """Return the nearest surface of each point.

        Args:
            points: (n, 3) points in the world [m].
            looks: (n, 3) direction in which each looks, zero for all; None where none looks anywhere.
            least: (n,) distance below which each is in nothing that has edges to come in by [m]; None where none is too deep.

        Returns:
            (n,) gaps [m], (n, 3) normals, and (n,) which shapes they belong to; infinitely far where there is nothing.
        """
        rows = np.arange(len(points))
        if not self.shapes:
            return (
                np.full(len(points), np.inf),
                np.tile([0.0, 0.0, 1.0], (len(points), 1)),
                0 * rows,
            )
        gaps, normals = zip(
            *(probe_facing(shape, points, looks) for shape in self.shapes), strict=True
        )
        found = np.array(
            [leave_out(shape, gap, least) for shape, gap in zip(self.shapes, gaps, strict=True)]
        )
        nearest = np.argmin(found, axis=0)
        every = np.array([np.broadcast_to(normal, points.shape) for normal in normals])
        return found[nearest, rows], every[nearest, rows], nearest


def build_plane(
    height: float = 0.0,
    *,
    slope: float = 0.0,
    heading: float = 0.0,
    friction: float = np.inf,
    restitution: float = 0.0,
    name: str = "ground",
) -> Plane:
    """Return level ground, or a slope.

    Args:
        height: Height at the origin of the world [m].
        slope: Angle by which it rises [rad].
        heading: Direction in which it rises, about z from x [rad].
        friction: Coulomb coefficient; that of the body where left out.
        restitution: Coefficient of restitution.
        name: Its name.

    Returns:
        The plane.

    Raises:
        ShapeError: If a number makes no sense.
    """
    for word, value in (("height", height), ("slope", slope), ("heading", heading)):
        check_vector(word, [value], 1)
    check_surface(friction, restitution)
    if not abs(slope) < np.pi / 2:
        raise ShapeError("slope", f"{slope}", "an angle below a right angle [rad]")
    normal = np.array(
        [-np.sin(slope) * np.cos(heading), -np.sin(slope) * np.sin(heading), np.cos(slope)]
    )
    return Plane(name, read_only(normal), height * float(normal[2]), friction, restitution)


def build_box(
    size: ArrayLike,
    xyz: ArrayLike,
    *,
    rpy: ArrayLike = (0.0, 0.0, 0.0),
    friction: float = np.inf,
    restitution: float = 0.0,
    name: str = "box",
) -> Box:
    """Return a box that stands still.

    Args:
        size: (3,) edge lengths [m].
        xyz: (3,) position of its middle in the world [m].
        rpy: (3,) its roll, pitch and yaw [rad].
        friction: Coulomb coefficient; that of the body where left out.
        restitution: Coefficient of restitution.
        name: Its name.

    Returns:
        The box.

    Raises:
        ShapeError: If a number makes no sense.
    """
    edges, middle, angles = (
        check_vector("size", size, 3),
        check_vector("xyz", xyz, 3),
        check_vector("rpy", rpy, 3),
    )
    if not (edges > 0.0).all():
        raise ShapeError("size", f"{edges.tolist()}", "positive lengths")
    check_surface(friction, restitution)
    return Box(
        name,
        pin.SE3(pin.rpy.rpyToMatrix(angles), middle),
        read_only(edges / 2.0),
        friction,
        restitution,
    )


def build_ball(
    radius: float, xyz: ArrayLike = (0.0, 0.0, 0.0), *, length: float = 0.0, rpy: ArrayLike = (0.0, 0.0, 0.0), friction: float = np.inf,
    restitution: float = 0.0, name: str = "ball",
) -> Capsule:  # fmt: skip
    """Return a ball, or a capsule along z.

    Args:
        radius: Its radius [m].
        xyz: (3,) position of its middle [m].
        length: Length of the cylinder between its round ends [m].
        rpy: (3,) its roll, pitch and yaw [rad].
        friction: Coulomb coefficient; that of the other body where left out.
        restitution: Coefficient of restitution.
        name: Its name.

    Returns:
        The capsule.

    Raises:
        ShapeError: If a number makes no sense.
    """
    middle, angles = check_vector("xyz", xyz, 3), check_vector("rpy", rpy, 3)
    check_number("radius", radius, MIN, MAX, "a positive length")
    check_number("length", length, 0.0, MAX, "a length of at least zero")
    check_surface(friction, restitution)
    return Capsule(
        name,
        pin.SE3(pin.rpy.rpyToMatrix(angles), middle),
        float(radius),
        float(length),
        friction,
        restitution,
    )


def build_steps(
    count: int,
    *,
    rise: float = 0.15,
    run: float = 0.3,
    width: float = 2.0,
    start: float = 0.5,
    friction: float = np.inf,
) -> tuple[Box, ...]:
    """Return a flight of steps that rises along x, each step a box down to the ground.

    Args:
        count: Number of steps.
        rise: Height of each [m].
        run: Depth of each [m].
        width: Breadth along y [m].
        start: Where the first begins [m].
        friction: Coulomb coefficient; that of the body where left out.

    Returns:
        The boxes.

    Raises:
        ShapeError: If a number makes no sense.
    """
    if not isinstance(count, INTEGER) or isinstance(count, bool) or count < 0:
        raise ShapeError(
            "count", f"{type(count).__name__} {count!r:.60}", "a whole number of at least zero"
        )
    for word, length in (("rise", rise), ("run", run), ("width", width)):
        check_number(word, length, MIN, MAX, "a positive length")
    check_vector("start", [start], 1)
    return tuple(
        build_box(
            (run, width, rise * (k + 1)),
            (start + run * (k + 0.5), 0.0, rise * (k + 1) / 2),
            friction=friction,
            name=f"step{k + 1}",
        )
        for k in range(count)
    )


def build_terrain(shapes: Sequence[Shape]) -> Terrain:
    """Return shapes as one terrain.

    Args:
        shapes: Planes, boxes and capsules with different names.

    Returns:
        The terrain.

    Raises:
        ShapeError: If two shapes have one name.
    """
    names = [shape.name for shape in shapes]
    for name in names:
        if not isinstance(name, str):
            raise ShapeError("terrain", f"a shape named {name!r:.60}", "words as names")
        if names.count(name) > 1:
            raise ShapeError("terrain", f"two shapes named {name!r}", "different names")
    return Terrain(tuple(shapes))
