# SPDX-License-Identifier: Apache-2.0
"""Where a disc is nearest to a shape; what numba compiles in place of ``discs.py``."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.discs import ROUND_OFF, SHARE, TINY, TURNS
from humanoid_dynamics.simulation.contacts.probe_kernel import FAR, lower, probe, see_in, see_out
from humanoid_dynamics.simulation.steps.rows import CAPSULE, KIND, PLANE, RADIUS, S_HALF
from humanoid_dynamics.spatial.arrays import Vector

D_AXIS, D_RADIUS, D_HALF = 3, 6, 7  # columns of a disc beside a box, after its middle
RARE = ("part_from",)  # what is written short, because it seldom runs


def lower_disc(point: Vector, shape: tuple[Vector, Vector], middle: Vector, room: Vector) -> float:
    """Return the distance of a disc from a shape, and write the normal there and where it touches.

    Args:
        point: Row of the table of points.
        shape: Row of the table of shapes, and the pose of its joint.
        middle: (15,) where its middle is in the world [m], and more.
        room: (28,) the normal at the middle, overwritten; where the disc touches, overwritten, before a place that looks nowhere, zero;
            and room.
    """
    (row, pose), found, place, disc, best = shape, room[:3], room[3:12], room[12:22], room[22:25]
    if row[KIND] == PLANE:
        lower(point, middle[9:12], found, middle, place)
        return probe(row, pose, place, found)
    disc[0], disc[1], disc[2] = see_in(row, pose, middle[:3], 1.0)
    disc[D_AXIS], disc[D_AXIS + 1], disc[D_AXIS + 2] = see_in(row, pose, middle[9:12], 0.0)
    disc[D_RADIUS] = point[RADIUS]
    capsule = row[KIND] == CAPSULE
    for k in range(3):
        disc[D_HALF + k] = 0.0 if capsule and k < 2 else row[S_HALF + k]
    gap = part_disc(disc, best, room[25:28])
    found[0], found[1], found[2] = see_out(row, pose, best)
    lower(point, middle[9:12], found, middle, place)
    return gap - row[S_HALF] if capsule else gap


def part_disc(disc: Vector, best: Vector, tried: Vector) -> float:
    """Return how far a disc and a box are apart, and write the direction in which they are, as ``discs.find_directions`` lists them.

    Args:
        disc: (10,) middle [m], axis and radius [m] of a disc, and the half edges of the box [m], in its frame.
        best: (3,) unit vector from the box to the disc, overwritten.
        tried: (3,) room.
    """
    gap = -FAR
    for k in range(3):
        for i in range(3):
            tried[i] = 0.0 if i != k else (-1.0 if disc[k] < 0.0 else 1.0)
        gap = keep_farther(disc, tried, best, gap)
    if is_over(disc, best, gap):
        return gap
    for corner in range(27):
        signs = (corner // 9 - 1, corner // 3 % 3 - 1, corner % 3 - 1)
        if abs(signs[0]) + abs(signs[1]) + abs(signs[2]) > 1:
            part_from(disc, signs, tried)
            gap = keep_farther(disc, tried, best, gap)
    aside = disc[0] * disc[D_AXIS] + disc[1] * disc[D_AXIS + 1] + disc[2] * disc[D_AXIS + 2]
    for k in range(3):
        tried[k] = (-disc[D_AXIS + k] if aside < 0.0 else disc[D_AXIS + k]) / SHARE
    return keep_farther(disc, tried, best, gap)


def keep_farther(disc: Vector, tried: Vector, best: Vector, gap: float) -> float:
    """Return how far a disc and a box are apart in the better of two directions, and keep that.

    Args:
        disc: As for ``part_disc``.
        tried: (3,) a direction.
        best: (3,) the other, overwritten where the first is better.
        gap: How far they are apart in that [m].
    """
    along, away = 0.0, 0.0
    for k in range(3):
        along += tried[k] * disc[D_AXIS + k]
        away += tried[k] * disc[k] - abs(tried[k]) * disc[D_HALF + k]
    away -= disc[D_RADIUS] * np.sqrt(1.0 - along * along)
    if not away > gap:
        return gap
    for k in range(3):
        best[k] = tried[k]
    return float(away)


def is_over(disc: Vector, normal: Vector, gap: float) -> bool:
    """Return whether where a disc is lowest over a side of a box lies over that side, and is nowhere less deep.

    Args:
        disc: As for ``part_disc``.
        normal: (3,) normal of the side.
        gap: How far the disc is beyond it [m].
    """
    along = 0.0
    for k in range(3):
        along += normal[k] * disc[D_AXIS + k]
    length = disc[D_RADIUS] / np.sqrt(1.0 - along * along)
    for k in range(3):
        place = disc[k] - length * (normal[k] - along * disc[D_AXIS + k])
        if normal[k] == 0.0 and abs(place) - disc[D_HALF + k] > min(gap, 0.0):
            return False
    return True


def part_from(disc: Vector, signs: tuple[int, int, int], normal: Vector) -> None:
    """Write the direction from an edge or a corner of a box to where a disc is nearest to it; ``discs.find_directions`` has the equations.

    Args:
        disc: As for ``part_disc``.
        signs: On which sides of the box it is, zero along an edge.
        normal: (3,) the direction, overwritten.
    """
    r, flat, along, square = disc[D_RADIUS], 0.0, 0.0, 0.0
    for k in range(3):
        normal[k] = disc[k] - signs[k] * disc[D_HALF + k] if signs[k] != 0 else 0.0
        flat += disc[D_AXIS + k] ** 2 if signs[k] != 0 else 0.0
        along += normal[k] * disc[D_AXIS + k]
    length = max(np.sqrt(flat), TINY)
    along /= length
    for k in range(3):
        normal[k] -= along * disc[D_AXIS + k] / length if signs[k] != 0 else 0.0
        square += normal[k] * normal[k]
    height, more = max(abs(along), TINY * r), r * r * flat
    wide, high = r * np.sqrt(square), r * np.sqrt(1.0 - flat) * height
    root = max(wide - more, high)
    for _ in range(TURNS):
        a, b = wide / (root + more), high / root
        beyond = a * a + b * b - 1.0
        if not beyond > ROUND_OFF:
            break
        root += 0.5 * beyond / (a * a / (root + more) + b * b / root)
    upward, size = (-height if along < 0.0 else height) / (root * length), 0.0
    for k in range(3):
        normal[k] = normal[k] / (root + more) + (
            upward * disc[D_AXIS + k] if signs[k] != 0 else 0.0
        )
        size += normal[k] * normal[k]
    for k in range(3):
        normal[k] = (
            normal[k] / np.sqrt(size)
            if size > 0.0
            else signs[k] / np.sqrt(abs(signs[0]) + abs(signs[1]) + abs(signs[2]))
        )


PARTS = (lower_disc, part_disc, keep_farther, is_over, part_from)
