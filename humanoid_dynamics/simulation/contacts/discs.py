"""Where balls and discs touch: a disc is an ellipsoid as good as flat, so its lowest point moves along its rim as that rolls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.simulation.contacts.shapes import Shape
from humanoid_dynamics.simulation.contacts.solid_points import FLAT
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

CLOSER, NEARER = 30, 1e-12  # how often at most, and by how much at least, a disc is lowered nearer to what it touches [m]
SHARE = float(np.sqrt(1.0 - FLAT * FLAT))  # length of what stands for the axis of a disc; that of a ball has none


def reach(radius: Vector, axis: Matrix, normal: Matrix) -> Matrix:
    """Return the ways from the middles of balls and discs to where they are lowest (k, 3) [m].

    Of the support of an ellipsoid with half axes r, r and r FLAT, r sqrt(n' m) with m = n - a a' n, this is -r m / sqrt(n' m).

    Args:
        radius: (k,) radii [m].
        axis: (k, 3) axes, as long as ``SHARE`` for a disc and zero for a ball.
        normal: (k, 3) normals of what is touched, unit vectors.
    """
    along = np.einsum("ij,ij->i", axis, normal)
    return np.asarray((-radius / np.sqrt(1.0 - along * along))[:, None] * (normal - along[:, None] * axis))


def probe_discs(shapes: Sequence[Shape], middles: Matrix, radius: Vector, axis: Matrix) -> tuple[Vector, Matrix, Indices, Matrix]:
    """Return where discs touch the nearest of some shapes.

    Args:
        shapes: At least one shape.
        middles: (k, 3) middles in the frame of the shapes [m].
        radius: (k,) radii [m].
        axis: (k, 3) axes in that frame, as long as ``SHARE``.

    Returns:
        (k,) gaps [m], (k, 3) normals, (k,) which shapes, and (k, 3) places that touch [m].
    """
    gaps, normals, places = (np.array(parts) for parts in zip(*(_lower(shape, middles, radius, axis) for shape in shapes), strict=True))
    nearest, rows = np.argmin(gaps, axis=0), np.arange(len(middles))
    return gaps[nearest, rows], normals[nearest, rows], nearest, places[nearest, rows]


def _lower(shape: Shape, middles: Matrix, radius: Vector, axis: Matrix) -> tuple[Vector, Matrix, Matrix]:
    """Lower discs along the normal at their middles, then along that where they are lowest so, for as long as they come nearer."""

    def measure(normal: Matrix) -> tuple[Vector, Matrix, Matrix]:
        place = middles + reach(radius, axis, np.broadcast_to(normal, middles.shape))
        gap, found = shape.probe(place)
        return gap, np.array(np.broadcast_to(found, middles.shape)), place

    best, going = measure(shape.probe(middles)[1]), np.ones(len(middles), dtype=bool)
    for _ in range(CLOSER):
        new = measure(best[1])
        going &= new[0] < best[0] - NEARER
        if not going.any():
            break
        for old, found in zip(best, new, strict=True):
            old[going] = found[going]
    return best
