# SPDX-License-Identifier: Apache-2.0
"""Where balls and discs touch: a disc is an ellipsoid as good as flat, so its lowest point moves along its rim as that rolls."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.contacts.shapes import Capsule, Plane, Shape
from humanoid_dynamics.simulation.contacts.solid_points import FLAT
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only

TURNS, ROUND_OFF, TINY = (
    12,
    1e-15,
    1e-12,
)  # passes of Newton's method at most; what is left by them; what stands for zero
SHARE = float(
    np.sqrt(1.0 - FLAT * FLAT)
)  # length of what stands for the axis of a disc; that of a ball has none
# on which sides of a box its sides are, its edges, and its corners
SIDES = read_only(
    sorted(product((-1.0, 0.0, 1.0), repeat=3), key=lambda side: sum(map(abs, side)))[1:]
)


def reach(radius: Vector, axis: Matrix, normal: Matrix) -> Matrix:
    """Return the ways from the middles of balls and discs to where they are lowest (k, 3) [m].

    Of the support of an ellipsoid with half axes r, r and r FLAT, r sqrt(n' m) with m = n - a a' n, this is -r m / sqrt(n' m).

    Args:
        radius: (k,) radii [m].
        axis: (k, 3) axes, as long as ``SHARE`` for a disc and zero for a ball.
        normal: (k, 3) normals of what is touched, unit vectors.
    """
    along = np.einsum("ij,ij->i", axis, normal)
    return np.asarray(
        (-radius / np.sqrt(1.0 - along * along))[:, None] * (normal - along[:, None] * axis)
    )


def probe_discs(
    shapes: Sequence[Shape], middles: Matrix, radius: Vector, axis: Matrix
) -> tuple[Vector, Matrix, Indices, Matrix]:
    """Return where discs touch the nearest of some shapes.

    Args:
        shapes: At least one shape.
        middles: (k, 3) middles in the frame of the shapes [m].
        radius: (k,) radii [m].
        axis: (k, 3) axes in that frame, as long as ``SHARE``.

    Returns:
        (k,) gaps [m], (k, 3) normals, (k,) which shapes, and (k, 3) places that touch [m].
    """
    gaps, normals, places = (
        np.array(parts)
        for parts in zip(*(_part(shape, middles, radius, axis) for shape in shapes), strict=True)
    )
    nearest, rows = np.argmin(gaps, axis=0), np.arange(len(middles))
    return gaps[nearest, rows], normals[nearest, rows], nearest, places[nearest, rows]


def _part(
    shape: Shape, middles: Matrix, radius: Vector, axis: Matrix
) -> tuple[Vector, Matrix, Matrix]:
    """Return how far discs are from a shape, the normals there, and where they touch."""
    if isinstance(shape, Plane):
        normal = np.tile(shape.normal, (len(middles), 1))
        place = middles + reach(radius, axis, normal)
        return shape.probe(place)[0], normal, place
    R, core, thick = shape.X_WB.rotation, np.array(shape.half), 0.0
    if isinstance(shape, Capsule):
        core, thick = np.array([0.0, 0.0, shape.half[2]]), shape.radius
    middle, across = (middles - shape.X_WB.translation) @ R, axis @ R
    tried = find_directions(middle, radius, across, core)
    along = np.einsum("kdi,ki->kd", tried, across)
    away = (
        np.einsum("kdi,ki->kd", tried, middle)
        - np.abs(tried) @ core
        - radius[:, None] * np.sqrt(1.0 - along * along)
    )
    best, rows = np.argmax(away, axis=1), np.arange(len(middles))
    normal = tried[rows, best] @ R.T
    return away[rows, best] - thick, normal, middles + reach(radius, axis, normal)


def find_directions(
    middle: Matrix, radius: Vector, axis: Matrix, half: Vector
) -> NDArray[np.float64]:
    """Return directions in one of which discs and a box are the farthest apart: from its sides, edges and corners, and along the axis.

    Seen along an edge, a disc is an ellipse, and so it is in the plane of its axis and a corner.  Where an ellipse with half axes r and b
    is nearest to a place (p, z), its normal is along (p / (t + r² - b²), z / t), with the largest t for which
    (r p / (t + r² - b²))² + (b z / t)² is one.  From below, Newton's method comes ever nearer to that.

    Args:
        middle: (k, 3) middles of the discs, in the frame of the box [m].
        radius: (k,) radii [m].
        axis: (k, 3) axes, as long as ``SHARE``.
        half: (3,) half edges of the box, zero for what is thin [m].

    Returns:
        (k, 27, 3) unit vectors from the box to the discs.
    """
    seen, r = np.abs(SIDES), radius[:, None]
    away, across = seen * middle[:, None] - SIDES * half, seen * axis[:, None]
    flat = np.einsum("kdi,kdi->kd", across, across)
    across /= np.maximum(np.sqrt(flat), TINY)[..., None]
    along = np.einsum("kdi,kdi->kd", away, across)
    away -= along[..., None] * across
    height, more = np.maximum(np.abs(along), TINY * r), r * r * flat
    wide, high = r * np.sqrt(np.einsum("kdi,kdi->kd", away, away)), r * np.sqrt(1.0 - flat) * height
    root = np.maximum(wide - more, high)
    for _ in range(TURNS):
        a, b = (wide / (root + more)) ** 2, (high / root) ** 2
        root += 0.5 * np.maximum(a + b - 1.0, 0.0) / (a / (root + more) + b / root)
    found = (
        away / (root + more)[..., None]
        + (np.where(along < 0.0, -height, height) / root)[..., None] * across
    )
    size = np.sqrt(np.einsum("kdi,kdi->kd", found, found))[..., None]
    found = np.where(
        size > 0.0,
        found / np.where(size > 0.0, size, 1.0),
        SIDES / np.sqrt(seen.sum(axis=1))[:, None],
    )
    flat_on = np.where(np.einsum("ki,ki->k", axis, middle) < 0.0, -1.0, 1.0)[:, None] * axis / SHARE
    return np.concatenate((found, flat_on[:, None]), axis=1)
