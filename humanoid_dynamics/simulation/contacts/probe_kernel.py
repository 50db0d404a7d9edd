# SPDX-License-Identifier: Apache-2.0
"""Distances of points from shapes, written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.shapes import FACING
from humanoid_dynamics.simulation.steps.rows import (
    CAPSULE,
    KIND,
    PLANE,
    RADIUS,
    S_HALF,
    S_JOINT,
    S_R,
    S_T,
)
from humanoid_dynamics.spatial.arrays import Vector

FAR = 1e30


def carry(pose: Vector, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a point of a joint in the world.

    Args:
        pose: (12,) rotation, column by column, and translation.
        x: Its coordinate along x [m].
        y: Along y [m].
        z: Along z [m].
    """
    return (
        pose[0] * x + pose[3] * y + pose[6] * z + pose[9],
        pose[1] * x + pose[4] * y + pose[7] * z + pose[10],
        pose[2] * x + pose[5] * y + pose[8] * z + pose[11],
    )


def turn_out(pose: Vector, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector of a joint in the axes of the world; the arguments are those of ``carry``."""
    return (
        pose[0] * x + pose[3] * y + pose[6] * z,
        pose[1] * x + pose[4] * y + pose[7] * z,
        pose[2] * x + pose[5] * y + pose[8] * z,
    )


def turn_in(pose: Vector, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector of the world in the axes of a joint; the arguments are those of ``carry``."""
    return (
        pose[0] * x + pose[1] * y + pose[2] * z,
        pose[3] * x + pose[4] * y + pose[5] * z,
        pose[6] * x + pose[7] * y + pose[8] * z,
    )


def bring(pose: Vector, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a point of the world in a joint; the arguments are those of ``carry``."""
    return turn_in(pose, x - pose[9], y - pose[10], z - pose[11])


def see_in(shape: Vector, pose: Vector, vector: Vector, here: float) -> tuple[float, float, float]:
    """Return a vector of the world in the frame of a shape.

    Args:
        shape: Row of the table of shapes.
        pose: (12,) pose of the joint that carries it.
        vector: (3,) the vector.
        here: One where it is a point, zero where it is a direction.
    """
    x, y, z = vector[0], vector[1], vector[2]
    if shape[S_JOINT] > 0.0:
        x, y, z = turn_in(pose, x - here * pose[9], y - here * pose[10], z - here * pose[11])
    x, y, z = x - here * shape[S_T], y - here * shape[S_T + 1], z - here * shape[S_T + 2]
    return (
        shape[S_R] * x + shape[S_R + 3] * y + shape[S_R + 6] * z,
        shape[S_R + 1] * x + shape[S_R + 4] * y + shape[S_R + 7] * z,
        shape[S_R + 2] * x + shape[S_R + 5] * y + shape[S_R + 8] * z,
    )


def see_out(shape: Vector, pose: Vector, vector: Vector) -> tuple[float, float, float]:
    """Return a direction in the frame of a shape in the axes of the world; the arguments are those of ``see_in``."""
    x = shape[S_R] * vector[0] + shape[S_R + 1] * vector[1] + shape[S_R + 2] * vector[2]
    y = shape[S_R + 3] * vector[0] + shape[S_R + 4] * vector[1] + shape[S_R + 5] * vector[2]
    z = shape[S_R + 6] * vector[0] + shape[S_R + 7] * vector[1] + shape[S_R + 8] * vector[2]
    return turn_out(pose, x, y, z) if shape[S_JOINT] > 0.0 else (x, y, z)


def probe_box(shape: Vector, local: Vector, looks: Vector, normal: Vector) -> float:
    """Return the distance of a point from a box, and write the normal there; inside, of the nearest side that it looks at.

    Args:
        shape: Row of the table of shapes.
        local: (3,) the point in the frame of the box [m].
        looks: (3,) direction in which it looks there, zero for all.
        normal: (3,) the normal in that frame, overwritten.
    """
    square, deepest, side = 0.0, -FAR, -1
    everywhere = looks[0] == 0.0 and looks[1] == 0.0 and looks[2] == 0.0
    for k in range(3):
        beyond = float(abs(local[k]) - shape[S_HALF + k])
        towards = -looks[k] if local[k] < 0.0 else looks[k]
        if beyond > deepest and (everywhere or towards <= -FACING):
            deepest, side = beyond, k
        normal[k] = max(beyond, 0.0)
        square += normal[k] * normal[k]
    far: float = np.sqrt(square)
    for k in range(3):
        outwards = normal[k] / far if far > 0.0 else (1.0 if k == side else 0.0)
        normal[k] = -outwards if local[k] < 0.0 else outwards
    return far if far > 0.0 else (deepest if side >= 0 else FAR)


def probe_capsule(shape: Vector, local: Vector, normal: Vector) -> float:
    """Return the distance of a point from a capsule along z, and write the normal there.

    Args:
        shape: Row of the table of shapes.
        local: (3,) the point in the frame of the capsule [m].
        normal: (3,) the normal in that frame, overwritten.
    """
    half = shape[S_HALF + 2]
    along = min(max(local[2], -half), half)
    x, y, z = local[0], local[1], local[2] - along
    far = np.sqrt(x * x + y * y + z * z)
    if far > 0.0:
        normal[0], normal[1], normal[2] = x / far, y / far, z / far
    else:
        normal[0], normal[1], normal[2] = 1.0, 0.0, 0.0
    return float(far - shape[S_HALF])


def probe(shape: Vector, pose: Vector, middle: Vector, normal: Vector) -> float:
    """Return the distance of a point from a shape, and write the normal there.

    Args:
        shape: Row of the table of shapes.
        pose: (12,) pose of the joint that carries it.
        middle: The point in the world [m], three more numbers, and the direction in which it looks, zero for all.
        normal: (3,) the normal in the world, overwritten.
    """
    x, y, z = middle[0], middle[1], middle[2]
    a, b, c = middle[6], middle[7], middle[8]
    if shape[S_JOINT] > 0.0:
        x, y, z = bring(pose, x, y, z)
        a, b, c = turn_in(pose, a, b, c)
    x, y, z = x - shape[S_T], y - shape[S_T + 1], z - shape[S_T + 2]
    if shape[KIND] == PLANE:
        normal[0], normal[1], normal[2] = shape[S_R + 2], shape[S_R + 5], shape[S_R + 8]
        gap = normal[0] * x + normal[1] * y + normal[2] * z
    else:
        local, looks, found = np.empty(3), np.empty(3), np.empty(3)
        for k in range(3):
            local[k] = shape[S_R + k] * x + shape[S_R + 3 + k] * y + shape[S_R + 6 + k] * z
            looks[k] = shape[S_R + k] * a + shape[S_R + 3 + k] * b + shape[S_R + 6 + k] * c
        gap = (
            probe_capsule(shape, local, found)
            if shape[KIND] == CAPSULE
            else probe_box(shape, local, looks, found)
        )
        for k in range(3):
            normal[k] = (
                shape[S_R + 3 * k] * found[0]
                + shape[S_R + 3 * k + 1] * found[1]
                + shape[S_R + 3 * k + 2] * found[2]
            )
    if shape[S_JOINT] > 0.0:
        normal[0], normal[1], normal[2] = turn_out(pose, normal[0], normal[1], normal[2])
    return float(gap)


def is_far(shape: Vector, pose: Vector, middle: Vector, reach: float) -> bool:
    """Return whether a point is farther from all of a shape than some distance, by a ball that holds the shape; False may be wrong.

    Args:
        shape: Row of the table of shapes.
        pose: (12,) pose of the joint that carries it.
        middle: As for ``probe``.
        reach: The distance [m].
    """
    if shape[KIND] == PLANE:
        return False
    x, y, z = shape[S_T], shape[S_T + 1], shape[S_T + 2]
    if shape[S_JOINT] > 0.0:
        x, y, z = carry(pose, x, y, z)
    x, y, z = x - middle[0], y - middle[1], z - middle[2]
    a, b, c = shape[S_HALF], shape[S_HALF + 1], shape[S_HALF + 2]
    radius = a + c if shape[KIND] == CAPSULE else np.sqrt(a * a + b * b + c * c)
    return bool(x * x + y * y + z * z > (radius + reach) * (radius + reach))


def is_beyond(shape: Vector, pose: Vector, middle: Vector, reach: float) -> bool:
    """Return whether all of a shape is farther from a point than some distance; False may be wrong.  Arguments are those of ``is_far``."""
    if shape[KIND] != PLANE:
        return is_far(shape, pose, middle, reach)
    x, y, z = middle[0] - shape[S_T], middle[1] - shape[S_T + 1], middle[2] - shape[S_T + 2]
    return bool(shape[S_R + 2] * x + shape[S_R + 5] * y + shape[S_R + 8] * z > reach)


def lower(point: Vector, axis: Vector, normal: Vector, middle: Vector, place: Vector) -> None:
    """Write where a ball or a disc touches what has some normal.

    Args:
        point: Row of the table of points.
        axis: (3,) axis in the world, zero for a ball.
        normal: (3,) the normal.
        middle: Where its middle is in the world [m].
        place: Where it touches [m], overwritten.
    """
    along = axis[0] * normal[0] + axis[1] * normal[1] + axis[2] * normal[2]
    length = point[RADIUS]
    if along != 0.0:
        length /= np.sqrt(1.0 - along * along)
    for k in range(3):
        place[k] = middle[k] - length * (normal[k] - along * axis[k])


PARTS = (
    carry,
    turn_out,
    turn_in,
    bring,
    see_in,
    see_out,
    probe_box,
    probe_capsule,
    probe,
    is_far,
    is_beyond,
    lower,
)
