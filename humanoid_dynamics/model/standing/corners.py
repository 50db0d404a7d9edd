# SPDX-License-Identifier: Apache-2.0
"""Corners of a contact surface: one, two, or those of a convex face counter-clockwise."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix

SAME = 1e-9
STRAIGHT = 1e-6


def order_corners(corners: Matrix, field: str, *, any_order: bool = False) -> Matrix:
    """Return one point, two, or the corners of a convex face counter-clockwise about z.

    Args:
        corners: (k, 3) corners one after the other, either way round [m].
        field: What they are, for messages.
        any_order: Whether they come in any order instead.

    Returns:
        (k, 3) the same corners, from the first one on where they came in order.

    Raises:
        ShapeError: If two points are one, or of more they are not of one height, or one is not a corner of a convex face.
    """
    if len(corners) == 2 and np.linalg.norm(corners[1] - corners[0]) < SAME:
        raise ShapeError(
            field, f"the point ({corners[0, 0]:g}, {corners[0, 1]:g}) twice", "two different points"
        )
    if len(corners) < 3:
        return corners
    if np.ptp(corners[:, 2]) > SAME:
        raise ShapeError(
            field,
            f"heights from {corners[:, 2].min():g} to {corners[:, 2].max():g} m",
            "corners of one height z",
        )
    if any_order:
        x, y, _ = (corners - corners.mean(axis=0)).T
        corners = corners[np.argsort(np.arctan2(y, x), kind="stable")]
    turns = _turns(corners)
    if turns.sum() < 0.0:
        corners = np.concatenate((corners[:1], corners[:0:-1]))
        turns = _turns(corners)
    if turns.min() < STRAIGHT or turns.sum() > 2.0 * np.pi + STRAIGHT:
        worst = corners[int(np.argmin(turns))]
        raise ShapeError(
            field,
            f"corner ({worst[0]:g}, {worst[1]:g}) with a turn of {turns.min():.3g} rad",
            "a convex polygon, every corner turning",
        )
    return corners


def _turns(corners: Matrix) -> Matrix:
    """Return the (k,) angle by which the outline turns left at each corner [rad], zero where corners coincide."""
    before = corners - np.roll(corners, 1, axis=0)
    after = np.roll(before, -1, axis=0)
    sine = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    cosine = before[:, 0] * after[:, 0] + before[:, 1] * after[:, 1]
    return np.arctan2(sine, cosine)
