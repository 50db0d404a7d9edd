# SPDX-License-Identifier: Apache-2.0
"""What the ground does in one frame, as loops that numba compiles; for ``FrameJudge``."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

BASE = WRENCH = 6
LEAST = 1e-9  # of the square of a cosine
OFF = 1e-6  # m; pressure that is nearer to an edge is on it


Given = tuple[Matrix, tuple[tuple[Matrix, Vector], tuple[Matrix, Vector]], float]


def judge_forces(
    J: tuple[Matrix, Matrix],
    v: Vector,
    answer: tuple[Matrix, Vector],
    given: Given,
    miss: Vector,
    found: Matrix,
) -> float:
    """Take torques and pushes on both soles off what the equation of motion misses, and measure them.

    Args:
        J: (6, nv) Jacobians of the soles.
        v: (nv,) velocity with which the soles move.
        answer: (2, 6) wrenches of the ground on the soles, and torques.
        given: (2, 3) middles of their corners [m], normals of the edges of their outlines with how far out they are, and the least push
            that counts [N].
        miss: (nv,) what the equation misses; changed.
        found: (2, 10) what ``judge_sole`` finds; overwritten.

    Returns:
        The largest entry of what is missed.
    """
    for i in range(len(answer[1])):
        miss[BASE + i] -= answer[1][i]
    judge_sole(J[0], answer[0][0], v, given[0][0], given[1][0], given[2], miss, found[0])
    judge_sole(J[1], answer[0][1], v, given[0][1], given[1][1], given[2], miss, found[1])
    largest = 0.0
    for i in range(len(miss)):
        if math.isnan(miss[i]):
            return math.nan
        largest = max(largest, abs(miss[i]))
    return largest


def judge_sole(
    J: Matrix,
    w: Vector,
    v: Vector,
    middle: Vector,
    edges: tuple[Matrix, Vector],
    loaded: float,
    miss: Vector,
    found: Vector,
) -> None:
    """Take the push on a sole off what the equation of motion misses, and measure it.

    Args:
        J: (6, nv) Jacobian of the sole.
        w: (6,) wrench of the ground on it.
        v: (nv,) velocity.
        middle: (3,) middle of its corners [m].
        edges: Normals of the edges of its outline, and how far out they are.
        loaded: Least push that counts [N].
        miss: (nv,) what the equation misses; changed.
        found: (10,) speed of its middle along it, how far the pressure is inside, tangential and normal force, and its twist; overwritten.
    """
    A, b = edges
    twist = found[4:10]
    for i in range(WRENCH):
        twist[i] = 0.0
        for j in range(len(v)):
            twist[i] += J[i, j] * v[j]
            miss[j] -= w[i] * J[i, j]
    x = twist[0] + twist[4] * middle[2] - twist[5] * middle[1]
    y = twist[1] + twist[5] * middle[0] - twist[3] * middle[2]
    found[0], found[1] = math.hypot(x, y), math.inf
    if w[2] > loaded:
        for k in range(len(b)):
            found[1] = min(found[1], b[k] + (A[k, 0] * w[4] - A[k, 1] * w[3]) / w[2])
    found[2], found[3] = math.hypot(w[0], w[1]), w[2]


def judge_edge(
    w: Vector, twist: Vector, R: Matrix, edge: Vector, loaded: float, found: Vector
) -> None:
    """Measure the push on the edge of a sole.

    Args:
        w: (6,) wrench of the ground on the sole, in its axes.
        twist: (6,) velocity of the sole, likewise.
        R: (3, 3) its orientation.
        edge: (4,) middle of the edge, which is along y, and half its width [m].
        loaded: Least push that counts [N].
        found: (10,) speed of the edge along the ground, how far the pressure is from its ends, or off it and then negative, tangential and
            normal force; the first four are overwritten.
    """
    nx, ny, nz, px, py, pz = R[2, 0], R[2, 1], R[2, 2], edge[0], edge[1], edge[2]
    x = twist[0] + twist[4] * pz - twist[5] * py
    y = twist[1] + twist[5] * px - twist[3] * pz
    z = twist[2] + twist[3] * py - twist[4] * px
    push = w[0] * nx + w[1] * ny + w[2] * nz
    across, up, along = w[0] - push * nx, w[1] - push * ny, w[2] - push * nz
    rise = x * nx + y * ny + z * nz
    found[0], found[1] = math.sqrt(max(x * x + y * y + z * z - rise * rise, 0.0)), math.inf
    found[2], found[3] = math.sqrt(across * across + up * up + along * along), push
    if push <= loaded:
        return
    a, b, c = (
        w[3] - (py * w[2] - pz * w[1]),
        w[4] - (pz * w[0] - px * w[2]),
        w[5] - (px * w[1] - py * w[0]),
    )
    size = math.sqrt(max(1.0 - ny * ny, LEAST))
    ex, ey, ez = -ny * nx / size, size, -ny * nz / size  # the edge as it lies on the ground
    off = abs(a * ex + b * ey + c * ez) / push
    beside = abs(a * (ey * nz - ez * ny) + b * (ez * nx - ex * nz) + c * (ex * ny - ey * nx)) / push
    found[1] = edge[3] - beside if off <= OFF else -off


def judge_place(place: Vector, R: Matrix, points: Matrix, plane: Vector, found: Vector) -> None:
    """Measure how far points of a sole are from its ground, and how far it is tilted against that.

    Args:
        place: (3,) origin of the sole [m].
        R: (3, 3) its orientation.
        points: (k, 3) points in its axes [m].
        plane: (6,) normal and a point of the ground [m].
        found: (2,) largest distance of a point, above or below [m], and angle between the normals of both [rad]; overwritten.
    """
    x = R[0, 0] * plane[0] + R[1, 0] * plane[1] + R[2, 0] * plane[2]
    y = R[0, 1] * plane[0] + R[1, 1] * plane[1] + R[2, 1] * plane[2]
    z = R[0, 2] * plane[0] + R[1, 2] * plane[1] + R[2, 2] * plane[2]
    off, far = 0.0, 0.0
    for i in range(3):
        off += plane[i] * (place[i] - plane[3 + i])
    for k in range(len(points)):
        far = max(far, abs(off + x * points[k, 0] + y * points[k, 1] + z * points[k, 2]))
    found[0], found[1] = far, math.atan2(math.hypot(x, y), z)


def judge_limits(
    q: Vector, v: Vector, tau: Vector, places: Indices, limits: Matrix, found: Vector
) -> None:
    """Measure how near torques, positions and speeds are to their limits.

    Args:
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (na,) torques.
        places: Limited positions in the configuration.
        limits: (4, na) lowest and highest of those, one over torque and speed limits of all.
        found: (3,) largest share of a torque limit, smallest distance to a position limit, largest share of a speed limit; overwritten.
    """
    torque, joint, rate, base = 0.0, math.inf, 0.0, len(v) - len(tau)
    for i in range(len(places)):
        place = q[places[i]]
        joint = min(joint, place - limits[0, i], limits[1, i] - place)
    for i in range(len(tau)):
        torque = max(torque, abs(tau[i]) * limits[2, i])
        rate = max(rate, abs(v[base + i]) * limits[3, i])
    found[0], found[1], found[2] = torque, joint, rate
