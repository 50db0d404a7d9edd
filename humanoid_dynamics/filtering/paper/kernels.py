"""A tick of the filter while every sole stands on its face or is free, as loops for numba: everything between Pinocchio and integration.

It is what ``PaperFilter`` does with arrays, and tested against it.  What it does not know (edges, corners, collisions, forces that pull or
tip) it leaves to that: it answers ``OTHERWISE`` and has changed nothing.

Arguments come in five groups:

* tree: inertia of which the upper triangle counts, bias, its factors U and D in M = U D U', velocity.
* soles: pose (4, 4), Jacobian (6, nv) and drift (6,) of each, gravity still to be added to drifts.
* wish: difference of configurations, velocity and acceleration of the reference; of the control point pose, Jacobian and drift, then pose,
  velocity and acceleration in the reference, axes of the world.
* robot: what stays: corners of the soles, their number, their edges (outward normal, distance) and friction; coordinates with a motor and
  without, size of the subtree of each, torque limits; and ``numbers``, see below.
* place: for each sole the corners that touched, as bits, whether it may touch, and what is written: the corners that touch; arms, gaps and
  rates of rise of the corners, spins, misses, Jacobians, drifts, orientations; and what is
  answered: acceleration, torques, wrenches, figures.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from humanoid_dynamics.filtering.paper.kernel_solution import find_motion, mirror
from humanoid_dynamics.filtering.paper.kernel_wish import correct, want
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Tree: TypeAlias = tuple[Matrix, Vector, Matrix, Vector, Vector]
Soles: TypeAlias = tuple[tuple[Matrix, ...], tuple[Matrix, ...], tuple[Vector, ...], Vector]
Point: TypeAlias = tuple[Matrix, Matrix, Vector, Matrix, Vector, Vector]
Wish: TypeAlias = tuple[Vector, Vector, Vector, Point]
Robot: TypeAlias = tuple[Matrix, Indices, Matrix, Vector, Indices, Indices, Indices, Vector, Vector]
Watched: TypeAlias = tuple[Indices, Indices, Indices, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Matrix]
Answers: TypeAlias = tuple[Vector, Vector, Matrix, Vector]
Place: TypeAlias = tuple[Watched, Answers]

OTHERWISE, WELL = 0, 1
NORMAL, HEIGHT, ENTER, LEAVE, MEETS, SEPARATING, RETURNING, DT, COLLIDES = 0, 3, 4, 5, 6, 7, 8, 9, 10  # places in ``numbers``
RATE, SPRING, PULL, BESIDE, WEIGHT, ARM, LAST = 11, 12, 13, 14, 15, 16, 17
RESIDUAL, PUSH, INSIDE, FRICTION, TORQUE, DEPTH, FIGURES = 0, 1, 2, 3, 4, 5, 6  # places in the figures


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
    standing = watch(tree[4], soles, robot, place[0])
    if standing < 0:
        return OTHERWISE
    nv = len(tree[1])
    J, gamma, unit = np.empty((6 * standing, nv)), np.empty(6 * standing), np.empty(6 * standing)
    stack(tree[4], robot, place[0], (J, gamma, unit))
    M = np.empty((nv, nv))
    mirror(tree[0], M)
    wanted = np.empty(nv)
    numbers = robot[8]
    want(tree[4], wish, numbers[LAST:], wanted)
    if numbers[LAST + 4] > 0.0 and not correct((tree[2], tree[3], tree[4], J), wish[3], soles[3], (robot[6], numbers[LAST:]), wanted):
        return OTHERWISE
    a, tau = place[1][0], place[1][1]
    lam = np.empty(6 * standing)
    if not find_motion((M, tree[1], J, gamma, unit), wanted, (robot[4], robot[5], numbers[LAST + 7 :]), a, lam):
        return OTHERWISE
    carry(lam, place)
    if not is_carried(robot, place):
        return OTHERWISE
    certify((M, tree[1], J, lam), a, tau, robot, place[1][3])
    return WELL


def watch(v: Vector, soles: Soles, robot: Robot, watched: Watched) -> int:
    """Find the corners that touch.

    Args:
        v: (nv,) velocity.
        soles: The soles.
        robot: What stays.
        watched: What is remembered and written of the soles.

    Returns:
        How many soles stand; minus one where one stands on less than a face, or comes down.
    """
    poses, jacobians, drifts, lift = soles
    corners, counts, numbers = robot[0], robot[1], robot[8]
    before, _, now, arms, gap, rise, spins, sunk, seen, lifted, turned = watched
    standing = 0
    for s in range(len(counts)):
        place_corners(poses[s], corners[s], numbers, arms[s], gap[s])
        copy(poses[s], turned[s])
        now[s] = 0
        if find_least(gap[s]) >= (numbers[LEAVE] if before[s] else numbers[ENTER]):
            continue
        copy(jacobians[s], seen[s])
        add(drifts[s], lift, lifted[s])
        move_corners(jacobians[s], v, numbers, (arms[s], rise[s], spins[s]))
        touching = count_touching(s, counts[s], numbers, watched)
        if touching < 0 or touching == 1 or touching == 2:
            return -1
        if touching:
            standing += 1
        miss(poses[s], numbers, arms[s, 0], gap[s, 0], sunk[s])
    return standing


def count_touching(s: int, corners: int, numbers: Vector, watched: Watched) -> int:
    """Write which corners of a sole touch and return how many; minus one where one comes down."""
    before, may, now, gap, rise = watched[0], watched[1], watched[2], watched[4], watched[5]
    touching = 0
    for c in range(corners):
        if touches(gap[s, c], rise[s, c], (before[s] >> c) & 1, may[s], numbers):
            now[s] += 1 << c
            touching += 1
            if rise[s, c] < -numbers[COLLIDES]:
                return -1
    return touching


def find_least(x: Vector) -> float:
    """Return the least number."""
    least = x[0]
    for i in range(1, len(x)):
        least = min(least, x[i])
    return float(least)


def add(x: Vector, y: Vector, total: Vector) -> None:
    """Write x + y."""
    for i in range(len(x)):
        total[i] = x[i] + y[i]


def copy(A: Matrix, B: Matrix) -> None:
    """Write the first rows and columns of A into B."""
    for i in range(len(B)):
        for k in range(B.shape[1]):
            B[i, k] = A[i, k]


def place_corners(X: Matrix, corners: Matrix, numbers: Vector, arms: Matrix, gap: Vector) -> None:
    """Write the corners seen from the origin of a sole, axes of the world, and their distances from the ground."""
    for c in range(len(corners)):
        gap[c] = -numbers[HEIGHT]
        for i in range(3):
            arms[c, i] = X[i, 0] * corners[c, 0] + X[i, 1] * corners[c, 1] + X[i, 2] * corners[c, 2]
            gap[c] += numbers[NORMAL + i] * (arms[c, i] + X[i, 3])


def move_corners(J: Matrix, v: Vector, numbers: Vector, sole: tuple[Matrix, Vector, Vector]) -> None:
    """Write how fast the corners rise, and the angular velocity."""
    arms, rise, spin = sole
    up = 0.0
    for i in range(3):
        linear, angular = 0.0, 0.0
        for k in range(len(v)):
            linear += J[i, k] * v[k]
            angular += J[3 + i, k] * v[k]
        up += numbers[NORMAL + i] * linear
        spin[i] = angular
    for c in range(len(arms)):
        rise[c] = up
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            rise[c] += arms[c, i] * (numbers[NORMAL + j] * spin[k] - numbers[NORMAL + k] * spin[j])


def touches(gap: float, rise: float, held: int, may: int, numbers: Vector) -> bool:
    """Return whether a corner touches."""
    returning = numbers[RETURNING] * max(-gap, 0.0)
    near = gap < (numbers[LEAVE] if held else numbers[ENTER]) and rise <= numbers[SEPARATING] + returning
    meets = held != 0 or gap + rise * numbers[DT] < numbers[MEETS]
    return near and meets and (may != 0 or rise < -numbers[SEPARATING])


def miss(X: Matrix, numbers: Vector, arm: Vector, gap: float, sunk: Vector) -> None:
    """Write how far a sole is off the ground, and how tilted."""
    off = gap
    for i in range(3):
        off -= arm[i] * numbers[NORMAL + i]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        sunk[i] = numbers[NORMAL + i] * off
        sunk[3 + i] = numbers[NORMAL + j] * X[k, 2] - numbers[NORMAL + k] * X[j, 2]


def stack(v: Vector, robot: Robot, watched: Watched, rows: tuple[Matrix, Vector, Vector]) -> None:
    """Write Jacobian, drift with what brings the sole back, and units of the soles that stand."""
    J, gamma, unit = rows
    numbers, row = robot[8], 0
    for s in range(len(robot[1])):
        if not watched[2][s]:
            continue
        for i in range(6):
            speed = 0.0
            for k in range(len(v)):
                J[row, k] = watched[8][s, i, k]
                speed += J[row, k] * v[k]
            gamma[row] = watched[9][s, i] + numbers[SPRING] * watched[7][s, i] + numbers[RATE] * speed
            unit[row] = numbers[WEIGHT] * (1.0 if i < 3 else numbers[ARM])
            row += 1


def carry(lam: Vector, place: Place) -> None:
    """Write the wrenches of the soles in their own axes."""
    wrenches, turned, row = place[1][2], place[0][10], 0
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
    counts, edges, friction, numbers = robot[1], robot[2], robot[3], robot[8]
    wrenches, figures = place[1][2], place[1][3]
    gap, now = place[0][4], place[0][2]
    figures[PUSH], figures[INSIDE], figures[FRICTION], figures[DEPTH] = np.inf, np.inf, np.inf, -np.inf
    for s in range(len(counts)):
        if not now[s]:
            continue
        w = wrenches[s]
        if not w[2] > numbers[PULL]:
            return False
        for e in range(edges.shape[1]):
            inside = edges[s, e, 2] + (edges[s, e, 0] * w[4] - edges[s, e, 1] * w[3]) / w[2]
            figures[INSIDE] = min(figures[INSIDE], inside)
        figures[PUSH] = min(figures[PUSH], w[2])
        figures[FRICTION] = min(figures[FRICTION], friction[s] * w[2] - (w[0] * w[0] + w[1] * w[1]) ** 0.5)
        for c in range(counts[s]):
            figures[DEPTH] = max(figures[DEPTH], -gap[s, c])
    if figures[DEPTH] == -np.inf:
        figures[DEPTH] = 0.0
    return bool(figures[INSIDE] >= -numbers[BESIDE])


def certify(balance: tuple[Matrix, Vector, Matrix, Vector], a: Vector, tau: Vector, robot: Robot, figures: Vector) -> None:
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


PIECES = (copy, add, find_least, count_touching, watch, place_corners, move_corners, touches, miss, stack, carry, is_carried, certify)
