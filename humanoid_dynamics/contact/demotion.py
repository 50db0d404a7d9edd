# SPDX-License-Identifier: Apache-2.0
"""Letting go step by step: a face that would tip keeps an edge, an edge a corner, a corner that would pull nothing [DF, sec. 3.4].

What stays is what lies nearest to the centre of pressure; the same rule serves forces and impulses.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import ON_THE_EDGE


def stay_held(corners: Matrix, normal: float, cop: Vector, least: float) -> list[int]:
    """Return which corners of a patch stay held: all, the ends of an edge, one, or none.

    Args:
        corners: (k, 2) corners that are held now, in order around the patch [m].
        normal: Normal force or impulse they carry together.
        cop: (2,) where it acts [m].
        least: Pull, as a negative number, below which one counts.

    Returns:
        Indices into the corners.
    """
    if normal < least:
        return []
    count = len(corners)
    if count == 1 or normal <= -least or lies_within(corners, cop):
        return list(range(count))
    return find_nearest_side(corners, cop)


def lies_within(corners: Matrix, point: Vector, slack: float = ON_THE_EDGE) -> bool:
    """Return whether a point lies in a convex polygon, either way round, or between the ends of an edge.

    Args:
        corners: (k, 2) corners, two or more [m].
        point: (2,) the point [m].
        slack: How far outside still counts as inside [m].
    """
    along = np.roll(corners, -1, axis=0) - corners
    to = point - corners
    lengths = np.sqrt(np.einsum("ij,ij->i", along, along))
    if len(corners) == 2:
        length = float(lengths[0])
        share = float(to[0] @ along[0]) / length if length > 0.0 else np.inf
        return bool(-slack <= share <= length + slack)
    apart = lengths > 0.0
    side = ((along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0])[apart]) / lengths[apart]
    return bool((side >= -slack).all() or (side <= slack).all())


def find_nearest_side(corners: Matrix, point: Vector) -> list[int]:
    """Return the two ends of the nearest edge, or the one corner that is nearest.

    Args:
        corners: (k, 2) corners in order around a patch, two or more [m].
        point: (2,) a point outside [m].

    Returns:
        One or two indices, ascending.
    """
    count = len(corners)
    best, found = np.inf, [0]
    for k in range(count if count > 2 else 1):
        after = (k + 1) % count
        edge = corners[after] - corners[k]
        square = float(edge @ edge)
        share = float((point - corners[k]) @ edge) / square if square > 0.0 else 0.0
        beside = point - corners[k] - min(max(share, 0.0), 1.0) * edge
        distance = float(beside @ beside)
        if distance < best - 1e-24:
            best = distance
            found = [k, after] if 0.0 <= share <= 1.0 else [k] if share < 0.0 else [after]
    return sorted(found)
