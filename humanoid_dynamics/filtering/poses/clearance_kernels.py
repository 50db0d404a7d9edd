# SPDX-License-Identifier: Apache-2.0
"""How near capsules are to each other and how fast they may approach, as loops that numba compiles."""

from __future__ import annotations

import math

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

POINT = 1e-12  # m^2; a middle line that is shorter is a point
CROSSED = 1e-9  # m; middle lines that are nearer have no way out to tell
SEEN, BRAKING, HARDEST = range(3)  # places in the numbers

Bodies = tuple[Matrix, Matrix, Matrix, Matrix]
Pairs = tuple[Indices, Matrix, Vector]
Seen = tuple[tuple[Matrix, ...], tuple[Vector, ...], tuple[Vector, ...]]


def place_bodies(seen: Seen, poses: Matrix, drifts: Matrix) -> None:
    """Write where bodies are and how they accelerate.

    Args:
        seen: Orientations (3, 3), places (3,) [m] and accelerations (6,) of the bodies.
        poses: (m, 4, 4) poses; their first three rows are overwritten.
        drifts: (m, 6) accelerations; overwritten.
    """
    turns, places, accelerations = seen
    for k in range(len(poses)):
        for i in range(3):
            poses[k, i, 3] = places[k][i]
            drifts[k, i], drifts[k, 3 + i] = accelerations[k][i], accelerations[k][3 + i]
            for j in range(3):
                poses[k, i, j] = turns[k][i, j]


def find_gaps(
    poses: Matrix, capsules: Matrix, pairs: Indices, points: Matrix, over: Vector
) -> float:
    """Write how far capsules are apart, and the nearest points of their middle lines; return the smallest distance.

    Args:
        poses: (m, 4, 4) poses of the bodies.
        capsules: (c, 8) body of each, ends of its middle line in axes of the body [m], and its radius [m].
        pairs: (n, 2) capsules that are compared.
        points: (n, 2, 3) nearest points of middle lines [m]; overwritten.
        over: (n,) distances that are kept [m]; by how much the surfaces are farther apart is written there.
    """
    smallest = math.inf
    for k in range(len(pairs)):
        p, d = _line_of(poses, capsules[pairs[k, 0]])
        r, e = _line_of(poses, capsules[pairs[k, 1]])
        s, t = _nearest(p, d, r, e)
        square = 0.0
        for i in range(3):
            points[k, 0, i], points[k, 1, i] = p[i] + s * d[i], r[i] + t * e[i]
            square += (points[k, 1, i] - points[k, 0, i]) ** 2
        over[k] = math.sqrt(square) - over[k] - capsules[pairs[k, 0], 7] - capsules[pairs[k, 1], 7]
        smallest = min(smallest, over[k])
    return smallest


def find_near(over: Vector, seen: float, most: int, near: Indices) -> int:
    """Write which pairs are near, in order; return how many.

    Args:
        over: (n,) by how much pairs are farther apart than is kept [m].
        seen: From where on a pair is near [m].
        most: How many, at most: the nearest ones.
        near: (n,) places of near pairs; the first are overwritten.
    """
    count = 0
    for k in range(len(over)):
        if over[k] < seen:
            near[count] = k
            count += 1
    while count > most:
        farthest = 0
        for i in range(1, count):
            if over[near[i]] >= over[near[farthest]]:
                farthest = i
        count -= 1
        for i in range(farthest, count):
            near[i] = near[i + 1]
    return count


def _line_of(
    poses: Matrix, capsule: Vector
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return beginning of a middle line and the way to its end, axes of the world."""
    X = poses[int(capsule[0])]
    x, y, z, dx, dy, dz = (
        capsule[1],
        capsule[2],
        capsule[3],
        capsule[4] - capsule[1],
        capsule[5] - capsule[2],
        capsule[6] - capsule[3],
    )
    start = (
        X[0, 3] + X[0, 0] * x + X[0, 1] * y + X[0, 2] * z,
        X[1, 3] + X[1, 0] * x + X[1, 1] * y + X[1, 2] * z,
        X[2, 3] + X[2, 0] * x + X[2, 1] * y + X[2, 2] * z,
    )
    way = (
        X[0, 0] * dx + X[0, 1] * dy + X[0, 2] * dz,
        X[1, 0] * dx + X[1, 1] * dy + X[1, 2] * dz,
        X[2, 0] * dx + X[2, 1] * dy + X[2, 2] * dz,
    )
    return start, way


def _along(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _nearest(
    p: tuple[float, float, float],
    d: tuple[float, float, float],
    r: tuple[float, float, float],
    e: tuple[float, float, float],
) -> tuple[float, float]:
    """Return the shares of two lines, p + s d and r + t e, at which they are nearest to each other."""
    w = (p[0] - r[0], p[1] - r[1], p[2] - r[2])
    a, b, c, f, g = _along(d, d), _along(d, e), _along(e, e), _along(d, w), _along(e, w)
    if a <= POINT:
        return 0.0, _share(g, c)
    whole = a * c - b * b
    s = _share(b * g - c * f, whole) if c > POINT and whole > POINT * a * c else 0.0
    t = b * s + g
    if t < 0.0 or c <= POINT:
        return _share(-f, a), 0.0
    if t > c:
        return _share(b - f, a), 1.0
    return s, t / c


def _share(x: float, whole: float) -> float:
    return min(max(x / whole, 0.0), 1.0) if whole > POINT else 0.0


def write_rows(
    bodies: Bodies,
    near: Indices,
    pairs: Pairs,
    numbers: Vector,
    v: Vector,
    rows: Matrix,
    lower: Vector,
) -> int:
    """Write rows that tell how fast parts come nearer, and bounds on them; return how many.

    Args:
        bodies: (m, 4, 4) poses, (m, 6) accelerations in axes of each where no coordinate accelerates, (6, nv) columns that move bodies,
            axes and origin of the world, and (m, nv) which of them move each.
        near: Pairs that are near.
        pairs: (n, 2) bodies of all pairs, (n, 2, 3) nearest points of their middle lines [m], (n,) by how much they are farther apart
            than is kept [m].
        numbers: Constants of ``clearance``.
        v: (nv,) velocity.
        rows: (most, nv) rows; overwritten.
        lower: (most,) what they must at least be [m/s^2]; overwritten.
    """
    ends, points, over = pairs
    count = 0
    for k in near:
        x, y, z = (
            points[k, 1, 0] - points[k, 0, 0],
            points[k, 1, 1] - points[k, 0, 1],
            points[k, 1, 2] - points[k, 0, 2],
        )
        length = math.sqrt(x * x + y * y + z * z)
        if length > CROSSED:
            for j in range(len(v)):
                rows[count, j] = 0.0
            line, drift = (x / length, y / length, z / length), 0.0
            for end in range(2):
                drift += _add_end(
                    bodies, ends[k, end], line, points[k, end], 2.0 * end - 1.0, v, rows[count]
                )
            approach = 0.0
            for j in range(len(v)):
                approach += rows[count, j] * v[j]
            least = -(numbers[BRAKING] ** 2) * over[k] - 2.0 * numbers[BRAKING] * approach - drift
            lower[count] = min(least, numbers[HARDEST])
            count += 1
    return count


def _add_end(
    bodies: Bodies,
    body: int,
    line: tuple[float, float, float],
    p: Vector,
    way: float,
    v: Vector,
    row: Vector,
) -> float:
    """Add to a row how fast a point of a body goes along a line; return its acceleration where no coordinate accelerates."""
    X, a, J, carried = bodies[0][body], bodies[1][body], bodies[2], bodies[3]
    nx, ny, nz = way * line[0], way * line[1], way * line[2]
    mx, my, mz = p[1] * nz - p[2] * ny, p[2] * nx - p[0] * nz, p[0] * ny - p[1] * nx
    wx, wy, wz, vx, vy, vz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(len(v)):
        if carried[body, j] != 0.0:
            row[j] += (
                nx * J[0, j]
                + ny * J[1, j]
                + nz * J[2, j]
                + mx * J[3, j]
                + my * J[4, j]
                + mz * J[5, j]
            )
            vx, vy, vz = vx + J[0, j] * v[j], vy + J[1, j] * v[j], vz + J[2, j] * v[j]
            wx, wy, wz = wx + J[3, j] * v[j], wy + J[4, j] * v[j], wz + J[5, j] * v[j]
    # The point goes at u = v + w x p; its acceleration is that of the body there, and w x u.
    ux, uy, uz = vx + wy * p[2] - wz * p[1], vy + wz * p[0] - wx * p[2], vz + wx * p[1] - wy * p[0]
    drift = nx * (wy * uz - wz * uy) + ny * (wz * ux - wx * uz) + nz * (wx * uy - wy * ux)
    rx, ry, rz = p[0] - X[0, 3], p[1] - X[1, 3], p[2] - X[2, 3]
    mx, my, mz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
    for i in range(3):
        drift += a[i] * (X[0, i] * nx + X[1, i] * ny + X[2, i] * nz) + a[3 + i] * (
            X[0, i] * mx + X[1, i] * my + X[2, i] * mz
        )
    return float(drift)
