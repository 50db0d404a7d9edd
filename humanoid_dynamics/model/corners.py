"""Corners of a contact surface: one, two, or those of a convex face counter-clockwise."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix

SAME = 1e-9
STRAIGHT = 1e-6


def order_points(points: Matrix, field: str) -> Matrix:
    """Return one point, two, or the corners of a convex face counter-clockwise about z, given in any order.

    Args:
        points: (k, 3) points [m].
        field: What they are, for messages.

    Returns:
        (k, 3) the same points.

    Raises:
        ShapeError: If two points are one, or one of several is not a corner of a convex face.
    """
    if len(points) > 2:
        x, y, _ = (points - points.mean(axis=0)).T
        return order_corners(points[np.argsort(np.arctan2(y, x), kind="stable")], field)
    if len(points) == 2 and np.linalg.norm(points[1] - points[0]) < SAME:
        raise ShapeError(field, f"the point ({points[0, 0]:g}, {points[0, 1]:g}) twice", "two different points")
    return points


def order_corners(corners: Matrix, field: str) -> Matrix:
    """Return the corners of a convex face counter-clockwise about z, from the first one on.

    Args:
        corners: (k, 3) corners one after the other, either way round [m].
        field: What they are, for messages.

    Returns:
        (k, 3) the same corners.

    Raises:
        ShapeError: If there are fewer than three, they are not of one height, or one is not a corner of a convex face.
    """
    if len(corners) < 3:
        raise ShapeError(field, f"{len(corners)} corners", "three or more")
    if np.ptp(corners[:, 2]) > SAME:
        raise ShapeError(field, f"heights from {corners[:, 2].min():g} to {corners[:, 2].max():g} m", "corners of one height z")
    turns = _turns(corners)
    if turns.sum() < 0.0:
        corners = np.concatenate((corners[:1], corners[:0:-1]))
        turns = _turns(corners)
    if turns.min() < STRAIGHT or turns.sum() > 2.0 * np.pi + STRAIGHT:
        worst = corners[int(np.argmin(turns))]
        raise ShapeError(
            field, f"corner ({worst[0]:g}, {worst[1]:g}) with a turn of {turns.min():.3g} rad", "a convex polygon, every corner turning"
        )
    return corners


def _turns(corners: Matrix) -> Matrix:
    """Return the (k,) angle by which the outline turns left at each corner [rad], zero where corners coincide."""
    before = corners - np.roll(corners, 1, axis=0)
    after = np.roll(before, -1, axis=0)
    sine = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    cosine = before[:, 0] * after[:, 0] + before[:, 1] * after[:, 1]
    return np.arctan2(sine, cosine)
