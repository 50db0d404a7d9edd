# SPDX-License-Identifier: Apache-2.0
"""Where soles are over the ground and where they come to stand, as loops that numba compiles."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Matrix, Vector

SMALL = 1e-6
Ground = tuple[float, float, float]


def find_lowest(
    place: Vector, R: Matrix, corners: Matrix, normal: Vector, ground: Ground
) -> tuple[float, float, float]:
    """Return the cosine of the tilt of a sole, and how high its lowest corner and its middle are over a plane.

    Args:
        place: (3,) origin of the sole [m].
        R: (3, 3) its orientation.
        corners: (k, 3) its corners, in its axes [m].
        normal: (3,) normal of the plane.
        ground: A point of it [m].
    """
    off, lowest, total = 0.0, math.inf, 0.0
    for i in range(3):
        off += normal[i] * (place[i] - ground[i])
    x, y, z = upright(R, normal)
    for c in range(len(corners)):
        height = x * corners[c, 0] + y * corners[c, 1] + z * corners[c, 2]
        lowest, total = min(lowest, height), total + height
    return z, off + lowest, off + total / len(corners)


def upright(R: Matrix, normal: Vector) -> Ground:
    """Return a normal in axes of a sole."""
    x = R[0, 0] * normal[0] + R[1, 0] * normal[1] + R[2, 0] * normal[2]
    y = R[0, 1] * normal[0] + R[1, 1] * normal[1] + R[2, 1] * normal[2]
    return x, y, R[0, 2] * normal[0] + R[1, 2] * normal[1] + R[2, 2] * normal[2]


def stop_sole(
    sole: tuple[Vector, Matrix, Vector],
    normal: Vector,
    ground: Ground,
    stopping: float,
    out: Vector,
) -> None:
    """Write where a sole comes to rest on a plane.

    Args:
        sole: (3,) place [m], (3, 3) orientation and (6,) velocity of the sole in its axes.
        normal: (3,) normal of the plane.
        ground: A point of it [m].
        stopping: Way it still goes, in times of its speed [s].
        out: (3,) place [m]; overwritten.
    """
    place, R, twist = sole
    off = 0.0
    for i in range(3):
        out[i] = place[i] + stopping * (
            R[i, 0] * twist[0] + R[i, 1] * twist[1] + R[i, 2] * twist[2]
        )
        off += normal[i] * (out[i] - ground[i])
    for i in range(3):
        out[i] -= off * normal[i]


def turn_level(R: Matrix, normal: Vector, out: Matrix) -> None:
    """Write the orientation on a plane that looks the same way; see ``footing.level_turn``."""
    x, y, z = normal[0], normal[1], normal[2]
    along = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
    a, b, c = R[0, 0] - along * x, R[1, 0] - along * y, R[2, 0] - along * z
    size = math.sqrt(a * a + b * b + c * c)
    if size < SMALL:  # the sole looks along the normal: any way is as good
        a, b, c, size = 1.0, 0.0, 0.0, 1.0
    a, b, c = a / size, b / size, c / size
    out[0, 0], out[1, 0], out[2, 0] = a, b, c
    out[0, 1], out[1, 1], out[2, 1] = y * c - z * b, z * a - x * c, x * b - y * a
    out[0, 2], out[1, 2], out[2, 2] = x, y, z
