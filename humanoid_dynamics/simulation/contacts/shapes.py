# SPDX-License-Identifier: Apache-2.0
"""Shapes that can be touched: planes, boxes and capsules, each of which tells how far points are from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

FACING = 0.35  # cosine between where a corner or an edge looks and what it may touch, at least
STEEP = 0.9  # level share of a normal from which on its surface is steep


@dataclass(frozen=True, eq=False)
class Plane:
    """A half-space; level ground at height zero by default.

    Attributes:
        name: Its name.
        normal: (3,) unit vector out of the ground, in the world.
        offset: Height of the plane along its normal [m].
        friction: Coulomb coefficient; the smaller of this and that of the body counts.
        restitution: Coefficient of restitution; the larger of this and that of the body counts.
    """

    name: str = "ground"
    normal: Vector = field(default_factory=lambda: read_only(np.array([0.0, 0.0, 1.0])))
    offset: float = 0.0
    friction: float = np.inf
    restitution: float = 0.0

    def probe(self, points: Matrix) -> tuple[Vector, Matrix]:
        """Return the distance of points from the surface and the normal there.

        Args:
            points: (n, 3) points in the world [m].

        Returns:
            (n,) signed distance, negative inside, and (n, 3) normals; one row stands for all.
        """
        return points.dot(self.normal) - self.offset, self.normal[None]


@dataclass(frozen=True, eq=False)
class Box:
    """A box that stands still.

    Attributes:
        name: Its name.
        X_WB: Pose of its middle.
        half: (3,) half edge lengths [m].
        friction: Coulomb coefficient; the smaller of this and that of the body counts.
        restitution: Coefficient of restitution; the larger of this and that of the body counts.
    """

    name: str
    X_WB: pin.SE3
    half: Vector
    friction: float = np.inf
    restitution: float = 0.0

    def probe(self, points: Matrix, looks: Matrix | None = None) -> tuple[Vector, Matrix]:
        """Return the distance of points from the surface and the normal there.

        Args:
            points: (n, 3) points in the world [m].
            looks: (n, 3) direction in which each looks, zero for all; a point inside is at the nearest side that it looks at.

        Returns:
            (n,) signed distance, negative inside, and (n, 3) normals.
        """
        R = self.X_WB.rotation
        local = (points - self.X_WB.translation) @ R
        beyond = np.abs(local) - self.half
        side = np.where(local < 0.0, -1.0, 1.0)
        outside = np.maximum(beyond, 0.0)
        far = np.sqrt(np.einsum("ij,ij->i", outside, outside))
        sides = (
            beyond
            if looks is None
            else np.where(
                (side * (looks @ R) > -FACING) & _looking(looks)[:, None], -np.inf, beyond
            )
        )
        nearest = np.argmax(sides, axis=1)
        within = sides[np.arange(len(points)), nearest]
        normals = np.where(
            (far > 0.0)[:, None],
            outside / np.where(far > 0.0, far, 1.0)[:, None],
            np.eye(3)[nearest],
        )
        return np.where(far > 0.0, far, np.where(np.isinf(within), np.inf, within)), (
            side * normals
        ) @ R.T


@dataclass(frozen=True, eq=False)
class Capsule:
    """A cylinder along z with round ends; a ball where its length is zero.

    Attributes:
        name: Its name.
        X_WB: Pose of its middle.
        radius: Its radius [m].
        length: Length of the cylinder [m].
        friction: Coulomb coefficient; the smaller of this and that of the body counts.
        restitution: Coefficient of restitution; the larger of this and that of the body counts.
    """

    name: str
    X_WB: pin.SE3
    radius: float
    length: float = 0.0
    friction: float = np.inf
    restitution: float = 0.0

    @property
    def half(self) -> tuple[float, float, float]:
        """Radius and half the length of its cylinder, as a box has its half edges [m]."""
        return (self.radius, 0.0, 0.5 * self.length)

    def probe(self, points: Matrix) -> tuple[Vector, Matrix]:
        """Return the distance of points from the surface and the normal there.

        Args:
            points: (n, 3) points in the world [m].

        Returns:
            (n,) signed distance, negative inside, and (n, 3) normals.
        """
        R = self.X_WB.rotation
        local = (points - self.X_WB.translation) @ R
        local[:, 2] -= np.clip(local[:, 2], -0.5 * self.length, 0.5 * self.length)
        far = np.sqrt(np.einsum("ij,ij->i", local, local))
        normals = np.where(
            (far > 0.0)[:, None],
            local / np.where(far > 0.0, far, 1.0)[:, None],
            np.array([1.0, 0.0, 0.0]),
        )
        return far - self.radius, normals @ R.T


Shape: TypeAlias = Plane | Box | Capsule


def probe_facing(shape: Shape, points: Matrix, looks: Matrix | None) -> tuple[Vector, Matrix]:
    """Return the distance of points from a shape, infinite where they do not look at it, and the normal there.

    What lies on a ledge with an edge or a corner at its end slides over that and is not held by its side.

    Args:
        shape: The shape.
        points: (n, 3) points in the frame of the shape's pose [m].
        looks: (n, 3) direction in which each looks, zero for all; None where none looks anywhere.
    """
    if looks is None:
        return shape.probe(points)
    gap, normal = shape.probe(points, looks) if isinstance(shape, Box) else shape.probe(points)
    averted = (
        np.einsum("ij,ij->i", np.broadcast_to(normal, points.shape), looks) > -FACING
    ) & _looking(looks)
    return np.where(averted, np.inf, gap), normal


def leave_out(shape: Shape, gap: Vector, least: Vector | None) -> Vector:
    """Return distances from a shape, infinite where one is too deep to have come in by a side that is touched.

    Args:
        shape: The shape; a plane has no edges to come in by.
        gap: (n,) distances [m].
        least: (n,) the least that each can have come to [m]; None where none is too deep.
    """
    return gap if least is None or isinstance(shape, Plane) else np.where(gap < least, np.inf, gap)


def carried_reach(shape: Box | Capsule) -> float:
    """Return the radius of a ball about the middle of a shape that holds all of it [m].

    Args:
        shape: The shape.
    """
    return (
        float(np.linalg.norm(shape.half))
        if isinstance(shape, Box)
        else shape.radius + 0.5 * shape.length
    )


def frame_of(shape: Shape) -> pin.SE3:
    """Return the pose of a shape; that of a plane has its z along the normal.

    Args:
        shape: The shape.
    """
    if not isinstance(shape, Plane):
        return shape.X_WB
    axes = tangents(shape.normal[None])[:, 0]
    return pin.SE3(np.column_stack((axes[1], axes[2], axes[0])), shape.normal * shape.offset)


def tangents(normal: Matrix) -> Matrix:
    """Return (3, k, 3) axes: the normal, a tangent across y, or a level one where the surface is steep, and the one across both.

    Args:
        normal: (k, 3) unit vectors.
    """
    n_x, n_y, n_z = normal.T
    steep = n_x * n_x + n_y * n_y > STEEP * STEEP
    first = np.where(
        steep[:, None],
        np.column_stack((-n_y, n_x, np.zeros_like(n_x))),
        np.column_stack((n_z, np.zeros_like(n_x), -n_x)),
    )
    first = first / np.sqrt(np.einsum("ij,ij->i", first, first))[:, None]
    second = np.matmul(first[:, None, :], minus_skew(normal))[:, 0, :]
    return np.array((normal, first, second))


def minus_skew(p: Matrix) -> Matrix:
    """Return (k, 3, 3) matrices X with a X = p x a for rows a.

    Args:
        p: (k, 3) vectors.
    """
    X = np.zeros((len(p), 3, 3))
    X[:, 0, 1], X[:, 0, 2], X[:, 1, 2] = p[:, 2], -p[:, 1], p[:, 0]
    X[:, 1, 0], X[:, 2, 0], X[:, 2, 1] = -p[:, 2], p[:, 1], -p[:, 0]
    return X


def _looking(looks: Matrix) -> NDArray[np.bool_]:
    """Return which points look somewhere, and not everywhere."""
    return np.asarray(np.einsum("ij,ij->i", looks, looks) > 0.0)
