# SPDX-License-Identifier: Apache-2.0
"""Points, balls and discs that stand for a shape where it touches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_dynamics.model.shape import Geometry
from humanoid_dynamics.model.standing.footprint import shape_points
from humanoid_dynamics.simulation.contacts.hull_points import choose_corners
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

FLAT = 1e-3  # how thick a disc is on each side, in the middle, over its radius
INSET = 0.01  # how far within the rim an end of a cylinder has corners, over its radius: what rolls does not run over them
QUARTERS = read_only([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
CORNERS = read_only([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
UP = read_only([0.0, 0.0, 1.0])
ALL_SIDES = read_only(np.zeros(3))
NO_AXIS = read_only(np.zeros(3))


class SolidPoint(NamedTuple):
    """A point, a ball or a disc of a shape, in the frame of its link.

    Attributes:
        p: (3,) its middle [m].
        radius: Its radius, zero for a point [m].
        outward: (3,) direction in which a corner looks, zero for what touches on all sides.
        axis: (3,) unit vector across a disc, zero for a ball.
    """

    p: Vector
    radius: float = 0.0
    outward: Vector = ALL_SIDES
    axis: Vector = NO_AXIS


def list_solid_points(shape: Geometry, others: Matrix) -> list[SolidPoint]:
    """Return what stands for a shape, in its link.

    Args:
        shape: The shape.
        others: (k, 3) points of the link that touch too, of which a mesh may leave out what lies between them [m].
    """
    X = shape.X_LG
    if shape.kind == "mesh":
        cloud = shape_points(shape, UP, None)
        return [SolidPoint(cloud[k]) for k in choose_corners(cloud, others)]
    if shape.kind == "box":
        return [
            SolidPoint(X.act(p), r, X.rotation @ out)
            for p, r, out, _ in list_box_corners(np.array(shape.size))
        ]
    if shape.kind == "sphere":
        return [SolidPoint(X.translation, shape.size[0])]
    radius, length = shape.size
    if shape.kind == "capsule":
        return [SolidPoint(X.act(side * length / 2.0 * UP), radius) for side in (1.0, -1.0)]
    rounds = [point for side in (1.0, -1.0) for point in _list_end(side, radius, length)]
    return [SolidPoint(X.act(p), r, axis=X.rotation @ axis) for p, r, _, axis in rounds]


def list_box_corners(size: Vector) -> list[SolidPoint]:
    """Return the corners of a box about its middle, each with the direction in which it looks.

    Args:
        size: (3,) its edges [m].
    """
    return [SolidPoint(corner * size, 0.0, corner / np.linalg.norm(corner)) for corner in CORNERS]


def _list_end(side: float, radius: float, length: float) -> list[SolidPoint]:
    """Return what stands for an end of a cylinder along z: a disc that touches where it is lowest, and four corners to lie on."""
    end = side * length / 2.0 * UP
    disc = SolidPoint(end - side * FLAT * radius * UP, radius, axis=UP)
    return [disc, *(SolidPoint(end + (1.0 - INSET) * radius * corner) for corner in QUARTERS)]
