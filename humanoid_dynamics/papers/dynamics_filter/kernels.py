# SPDX-License-Identifier: Apache-2.0
"""A tick of the filter while every sole stands on its face or is free, as loops for numba: everything between Pinocchio and integration.

It is what ``PaperFilter`` does with arrays, and tested against it.  What it does not know (edges, corners, collisions, forces that pull or
tip) it leaves to that: it answers ``OTHERWISE`` and has changed nothing.

Arguments come in five groups:

* tree: inertia of which the upper triangle counts, bias, its factors U and D in M = U D U', velocity, joint Jacobian.
* soles: orientation and origin of each.
* wish: difference of configurations, velocity and acceleration of the reference; of the control point orientation and place, then both in
  the reference, and the joint Jacobian there.
* robot: what stays: corners of the soles, their number, their edges (outward normal, distance) and friction; coordinates with a motor and
  without, size of the subtree of each, torque limits; ways to the soles and to the control point; and ``numbers``, see below.
* place: for each sole the corners that touched, as bits, whether it may touch, and the corners that touch, written; and what is answered:
  acceleration, torques, wrenches, orientations of the soles, figures.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from humanoid_dynamics.papers.dynamics_filter.kernel_frames import move_point, read_rows
from humanoid_dynamics.papers.dynamics_filter.kernel_solution import find_motion, mirror
from humanoid_dynamics.papers.dynamics_filter.kernel_wish import (
    SHARE,
    WEIGHTS,
    Point,
    correct,
    want,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Tree: TypeAlias = tuple[Matrix, Vector, Matrix, Vector, Vector, Matrix]
Soles: TypeAlias = tuple[tuple[Matrix, Vector], ...]
Wish: TypeAlias = tuple[Vector, Vector, Vector, Point]
Robot: TypeAlias = tuple[
    Matrix,
    Indices,
    Matrix,
    Vector,
    Indices,
    Indices,
    Indices,
    Vector,
    tuple[Indices, ...],
    Indices,
    Vector,
]
Watched: TypeAlias = tuple[Indices, Indices, Indices]
Answers: TypeAlias = tuple[Vector, Vector, Matrix, Matrix, Vector]
Place: TypeAlias = tuple[Watched, Answers]
Rows: TypeAlias = tuple[Matrix, Vector, Vector]

APART: tuple[
    str, ...
] = ()  # of the parts of kernels here, those that are not copied to where they are called
OTHERWISE, WELL = 0, 1
NORMAL, HEIGHT, ENTER, LEAVE, MEETS, SEPARATING, RETURNING, DT, COLLIDES = (
    0,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
)  # places in ``numbers``
RATE, SPRING, PULL, BESIDE, WEIGHT, ARM, LAST = 11, 12, 13, 14, 15, 16, 17
RESIDUAL, PUSH, INSIDE, FRICTION, TORQUE, DEPTH, FIGURES = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
)  # places in the figures


def quick_tick(tree: Tree, soles: Soles, wish: Wish, robot: Robot, place: Place) -> int:
    """Answer one tick; all groups as above.

    Args:
        tree: The tree.
        soles: The soles.
        wish: What is wanted.
        robot: What stays.
        place: Memory and answers.

    Returns:
        ``WELL``, or ``OTHERWISE`` where this is not for loops.
    """
    v, numbers = tree[4], robot[10]
    nv, most = len(v), 6 * len(robot[1])
    J, gamma, unit = np.zeros((most, nv)), np.empty(most), np.empty(most)
    standing = watch(tree, soles, robot, place, (J, gamma, unit))
    if standing < 0:
        return OTHERWISE
    k = 6 * standing
    J, gamma, unit = J[:k], gamma[:k], unit[:k]
    M, wanted, lam = np.empty((nv, nv)), np.empty(nv), np.empty(k)
    mirror(tree[0], M)
    gains = numbers[LAST:]
    want(v, wish, gains, wanted)
    if gains[SHARE] > 0.0 and not correct(
        (tree[2], tree[3], v, tree[5], J), wish, (robot[6], robot[9], gains), wanted
    ):
        return OTHERWISE
    a, tau = place[1][0], place[1][1]
    if not find_motion(
        (M, tree[1], J, gamma, unit), wanted, (robot[4], robot[5], gains[WEIGHTS:]), a, lam
    ):
        return OTHERWISE
    carry(lam, place)
    if not is_carried(robot, place):
        return OTHERWISE
    certify((M, tree[1], J, lam), a, tau, robot, place[1][4])
    return WELL


def watch(tree: Tree, soles: Soles, robot: Robot, place: Place, rows: Rows) -> int:
    """Find the corners that touch, and write Jacobian, drift and units of the soles that stand.

    Args:
        tree: The tree.
        soles: The soles.
        robot: What stays.
        place: What is remembered and written of the soles.
        rows: Jacobian, drift with what brings the soles back, and units; written as far as soles stand.

    Returns:
        How many soles stand; minus one where one stands on less than a face, or comes down.
    """
    corners, counts, ways, numbers, (before, _, now), figures = (
        robot[0],
        robot[1],
        robot[8],
        robot[10],
        place[0],
        place[1][4],
    )
    most = corners.shape[1]
    arms, gap, rise, twist, still = (
        np.empty((most, 3)),
        np.empty(most),
        np.empty(most),
        np.empty((2, 6)),
        np.zeros(len(tree[4])),
    )
    standing, figures[DEPTH] = 0, -np.inf
    for s in range(len(counts)):
        R, p = soles[s]
        copy(R, place[1][3][s])
        place_corners((R, p), corners[s], numbers, arms, gap)
        now[s] = 0
        if find_least(gap) >= (numbers[LEAVE] if before[s] else numbers[ENTER]):
            continue
        move_point((tree[5], tree[4], still), ways[s], p, twist[0], twist[1])
        move_corners(twist[0], numbers, arms, rise)
        touching = count_touching(s, counts[s], (gap, rise), numbers, place[0])
        if touching < 0 or touching == 1 or touching == 2:
            return -1
        if touching:
            first, after = 6 * standing, 6 * standing + 6
            read_rows(tree[5], ways[s], p, rows[0][first:after])
            bring_back(
                R, (arms[0], gap[0], twist), numbers, (rows[1][first:after], rows[2][first:after])
            )
            figures[DEPTH] = max(figures[DEPTH], -find_least(gap))
            standing += 1
    if standing == 0:
        figures[DEPTH] = 0.0
    return standing


def count_touching(
    s: int, corners: int, heights: tuple[Vector, Vector], numbers: Vector, watched: Watched
) -> int:
    """Write which corners of a sole touch and return how many; minus one where one comes down."""
    before, may, now = watched
    gap, rise = heights
    touching = 0
    for c in range(corners):
        if touches(gap[c], rise[c], (before[s] >> c) & 1, may[s], numbers):
            now[s] += 1 << c
            touching += 1
            if rise[c] < -numbers[COLLIDES]:
                return -1
    return touching


def find_least(x: Vector) -> float:
    """Return the least number."""
    least = x[0]
    for i in range(1, len(x)):
        least = min(least, x[i])
    return float(least)


def copy(A: Matrix, B: Matrix) -> None:
    """Write the first rows and columns of A into B."""
    for i in range(len(B)):
        for k in range(B.shape[1]):
            B[i, k] = A[i, k]


def place_corners(
    sole: tuple[Matrix, Vector], corners: Matrix, numbers: Vector, arms: Matrix, gap: Vector
) -> None:
    """Write the corners seen from the origin of a sole, axes of the world, and their distances from the ground."""
    R, p = sole
    for c in range(len(corners)):
        gap[c] = -numbers[HEIGHT]
        for i in range(3):
            arms[c, i] = R[i, 0] * corners[c, 0] + R[i, 1] * corners[c, 1] + R[i, 2] * corners[c, 2]
            gap[c] += numbers[NORMAL + i] * (arms[c, i] + p[i])


def move_corners(V: Vector, numbers: Vector, arms: Matrix, rise: Vector) -> None:
    """Write how fast the corners rise."""
    for c in range(len(arms)):
        rise[c] = 0.0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            rise[c] += numbers[NORMAL + i] * (V[i] + V[3 + j] * arms[c, k] - V[3 + k] * arms[c, j])


def touches(gap: float, rise: float, held: int, may: int, numbers: Vector) -> bool:
    """Return whether a corner touches."""
    returning = numbers[RETURNING] * max(-gap, 0.0)
    near = (
        gap < (numbers[LEAVE] if held else numbers[ENTER])
        and rise <= numbers[SEPARATING] + returning
    )
    meets = held != 0 or gap + rise * numbers[DT] < numbers[MEETS]
    return near and meets and (may != 0 or rise < -numbers[SEPARATING])


def bring_back(
    R: Matrix, sole: tuple[Vector, float, Matrix], numbers: Vector, rows: tuple[Vector, Vector]
) -> None:
    """Write the drift of a sole with what brings it back where it is off the ground, tilted or moving, and its units."""
    arm, off, twist = sole
    gamma, unit = rows
    for i in range(3):
        off -= arm[i] * numbers[NORMAL + i]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        tilt = numbers[NORMAL + j] * R[k, 2] - numbers[NORMAL + k] * R[j, 2]
        gamma[i] = (
            twist[1, i] + numbers[SPRING] * numbers[NORMAL + i] * off + numbers[RATE] * twist[0, i]
        )
        gamma[3 + i] = twist[1, 3 + i] + numbers[SPRING] * tilt + numbers[RATE] * twist[0, 3 + i]
        unit[i], unit[3 + i] = numbers[WEIGHT], numbers[WEIGHT] * numbers[ARM]


def carry(lam: Vector, place: Place) -> None:
    """Write the wrenches of the soles in their own axes."""
    wrenches, turned, row = place[1][2], place[1][3], 0
    for s in range(len(wrenches)):
        for i in range(6):
            wrenches[s, i] = 0.0
        if place[0][2][s]:
            for i in range(3):
                for k in range(3):
                    wrenches[s, i] += turned[s, k, i] * lam[row + k]
                    wrenches[s, 3 + i] += turned[s, k, i] * lam[row + 3 + k]
            row += 6


def is_carried(robot: Robot, place: Place) -> bool:
    """Write the margins; return whether no sole pulls or tips."""
    edges, friction, numbers = robot[2], robot[3], robot[10]
    now, wrenches, figures = place[0][2], place[1][2], place[1][4]
    figures[PUSH], figures[INSIDE], figures[FRICTION] = np.inf, np.inf, np.inf
    for s in range(len(now)):
        if not now[s]:
            continue
        w = wrenches[s]
        if not w[2] > numbers[PULL]:
            return False
        for e in range(edges.shape[1]):
            inside = edges[s, e, 2] + (edges[s, e, 0] * w[4] - edges[s, e, 1] * w[3]) / w[2]
            figures[INSIDE] = min(figures[INSIDE], inside)
        figures[PUSH] = min(figures[PUSH], w[2])
        figures[FRICTION] = min(
            figures[FRICTION], friction[s] * w[2] - (w[0] * w[0] + w[1] * w[1]) ** 0.5
        )
    return bool(figures[INSIDE] >= -numbers[BESIDE])


def certify(
    balance: tuple[Matrix, Vector, Matrix, Vector],
    a: Vector,
    tau: Vector,
    robot: Robot,
    figures: Vector,
) -> None:
    """Write the torques, what the equation of motion misses with them, and what motors have left."""
    M, h, J, lam = balance
    driven, limit = robot[4], robot[7]
    force = np.empty(len(h))
    for i in range(len(h)):
        total = h[i]
        for k in range(len(h)):
            total += M[i, k] * a[k]
        force[i] = total
    for r in range(len(lam)):
        for i in range(len(h)):
            force[i] -= J[r, i] * lam[r]
    used = 0.0
    for i in range(len(driven)):
        tau[i] = force[driven[i]]
        used = max(used, abs(tau[i]) / limit[i])
        force[driven[i]] = 0.0
    worst = 0.0
    for i in range(len(h)):
        worst = max(worst, abs(force[i]))
    figures[RESIDUAL], figures[TORQUE] = worst, 1.0 - used


PIECES = (
    copy,
    find_least,
    count_touching,
    watch,
    place_corners,
    move_corners,
    touches,
    bring_back,
    carry,
    is_carried,
    certify,
)
