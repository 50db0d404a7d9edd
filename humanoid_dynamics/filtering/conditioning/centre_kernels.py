# SPDX-License-Identifier: Apache-2.0
"""Stages A6 and A7 as loops that numba compiles: smooth path, zero-moment point, supports, and the bounded shift."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning.windows import smooth_table
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LEAST = 1e-9  # of the way to an edge
MOST = 0.8  # share of an area that a trusted reference may use
REGAINED = 0.004  # trust that comes back from plan to plan [-]
TRUSTED = (
    0.8,
    0.97,
)  # share of rows with the zero-moment point inside the feet: below the first none, above the second all is trusted
DT, MASS, GRAVITY, DOWNHILL_X, DOWNHILL_Y, STEEPEST, OFFSET = range(7)  # places in the numbers

Path = tuple[Matrix, Matrix, Matrix]
Areas = tuple[Matrix, Vector, Matrix, Vector, Indices]
"""Outward normals of all edges, their distances from the middle [m], middles [m], shares that are used, and edges of each, counted up."""


def follow_path(
    com: Matrix,
    spin: Matrix,
    kernels: tuple[Vector, Vector],
    numbers: Vector,
    out: tuple[Matrix, ...],
) -> None:
    """Write the smooth path of a centre of mass and its zero-moment point; see ``find_path``.

    Args:
        com: (n, 3) centres of mass [m].
        spin: (n, 3) angular momenta about them [N·m·s].
        kernels: Weights along time, of what is seen from above and of heights.
        numbers: See ``find_path``.
        out: See ``find_path``.
    """
    known = min(len(out[0]) + 1, len(com))  # one row more, for differences
    level, height, turning = np.empty((known, 2)), np.empty((known, 1)), np.empty((known, 2))
    smooth_table(com[:, :2], kernels[0], level)
    smooth_table(com[:, 2:], kernels[1], height)
    smooth_table(spin[:, :2], kernels[0], turning)
    find_path((level, height, turning), numbers, (out[0], out[1], out[2], out[3]))


def find_path(smooth: Path, numbers: Vector, out: tuple[Matrix, Matrix, Matrix, Matrix]) -> None:
    """Write the path of a centre of mass and its zero-moment point.

    Args:
        smooth: (k, 2) places seen from above [m], (k, 1) heights [m], and (k, 2) angular momenta about them [N·m·s], all smooth.
        numbers: Time between rows, mass, gravity, what it pulls downhill seen from above, steepest rise, farthest offset of the point.
        out: (m, 3) places, rates and second rates, and (m, 2) zero-moment points of the last rows, m <= k; overwritten.
    """
    place, rate, second, zmp = out
    level, height, turning = smooth
    k, m, dt = len(level), len(place), numbers[DT]
    for row in range(m):
        i = min(max(row + k - m, 1), k - 2)  # the ends repeat their neighbours
        for j in range(3):
            table, c = (level, j) if j < 2 else (height, 0)
            place[row, j] = table[row + k - m, c]
            rate[row, j] = (table[i + 1, c] - table[i - 1, c]) / (2.0 * dt)
            second[row, j] = (table[i + 1, c] - 2.0 * table[i, c] + table[i - 1, c]) / (dt * dt)
        second[row, 2] = min(max(second[row, 2], -numbers[STEEPEST]), numbers[STEEPEST])
        g = numbers[GRAVITY] + second[row, 2]
        for j in range(2):
            torque = (turning[i + 1, 1 - j] - turning[i - 1, 1 - j]) / (2.0 * dt)
            offset = (torque if j else -torque) / (numbers[MASS] * g)
            offset = min(max(offset, -numbers[OFFSET]), numbers[OFFSET])
            zmp[row, j] = (
                place[row, j]
                - (place[row, 2] / g) * (second[row, j] - numbers[DOWNHILL_X + j])
                + offset
            )


def find_reach(points: Matrix, centre: Vector, A: Matrix, b: Vector, out: Vector) -> None:
    """Write how far out points are, one on the edge.

    Args:
        points: (n, 2) points [m].
        centre: (2,) middle of the area [m].
        A: (k, 2) outward normals of its edges.
        b: (k,) distances of the edges from the middle [m].
        out: (n,) shares of the way from the middle to the edge; overwritten.
    """
    for i in range(len(points)):
        x, y, far = points[i, 0] - centre[0], points[i, 1] - centre[1], -np.inf
        for k in range(len(b)):
            far = max(far, (A[k, 0] * x + A[k, 1] * y) / b[k])
        out[i] = far


def find_moves(points: Matrix, centre: Vector, reach: Vector, share: float, out: Matrix) -> None:
    """Write by how much points have to move towards the middle of an area to be inside.

    Args:
        points: (n, 2) points [m].
        centre: (2,) middle of the area [m].
        reach: (n,) how far out they are.
        share: How far out they may be.
        out: (n, 2) ways [m]; overwritten.
    """
    for i in range(len(points)):
        less = 1.0 - min(1.0, share / max(reach[i], LEAST))
        for j in range(2):
            out[i, j] = -less * (points[i, j] - centre[j])


def move_inside(points: Matrix, rows: Indices, areas: Areas, trusted: float, out: Matrix) -> float:
    """Write by how much zero-moment points have to move to be inside their areas; return how far the reference is trusted now.

    Args:
        points: (n, 2) points [m].
        rows: (m + 1,) first row of each of m areas, and n.
        areas: The areas.
        trusted: How far the reference was trusted.
        out: (n, 2) ways [m]; overwritten.
    """
    A, b, centre, share, edges = areas
    reach, inside = np.empty(len(points)), 0
    for k in range(len(centre)):
        span = slice(rows[k], rows[k + 1])
        find_reach(
            points[span],
            centre[k],
            A[edges[k] : edges[k + 1]],
            b[edges[k] : edges[k + 1]],
            reach[span],
        )
    for i in range(rows[0], len(points)):
        inside += reach[i] <= 1.0
    now = min(max((inside / len(points) - TRUSTED[0]) / (TRUSTED[1] - TRUSTED[0]), 0.0), 1.0)
    trusted = min(now, trusted + REGAINED)
    for k in range(len(centre)):
        span = slice(rows[k], rows[k + 1])
        find_moves(
            points[span], centre[k], reach[span], share[k] + trusted * (MOST - share[k]), out[span]
        )
    return trusted


def move_pivots(
    path: tuple[Matrix, ...],
    kernel: Vector,
    pendulum: Vector,
    rows: Indices,
    areas: Areas,
    trusted: float,
    holds: bool,
    out: Matrix,
) -> float:
    """Write by how much pivots have to move, smoothly, to be inside their areas; return how far the reference is trusted now.

    Args:
        path: See ``find_path``.
        kernel: Weights along time.
        pendulum: See ``hold_inside``.
        rows: (m + 1,) first row of each of m areas, and n.
        areas: The areas.
        trusted: How far the reference was trusted.
        holds: Whether they are kept inside: heights that change and smoothing put them elsewhere.
        out: (n, 2) ways [m]; overwritten.
    """
    moves = np.zeros(out.shape)
    trusted = move_inside(path[3], rows, areas, trusted, moves)
    smooth_table(moves, kernel, out)
    if holds:
        hold_inside((path[0], path[2]), pendulum, rows, areas, out)
    return trusted


def hold_inside(
    path: tuple[Matrix, Matrix], pendulum: Vector, rows: Indices, areas: Areas, moves: Matrix
) -> None:
    """Keep pivots inside their areas, in place.

    Args:
        path: (n, 3) centres of mass [m], and their accelerations [m/s^2].
        pendulum: Rate of the pendulum [1/s], and where the ground pulls the centre of mass to, seen from above [m].
        rows: (m + 1,) first row of each of m areas, and n.
        areas: The areas.
        moves: (n, 2) by how much pivots move [m]; changed.
    """
    A, b, centre, _, edges = areas
    pivots, reach, more = np.empty(moves.shape), np.empty(len(moves)), np.empty(moves.shape)
    for i in range(len(moves)):
        for j in range(2):
            pivots[i, j] = (
                path[0][i, j]
                - path[1][i, j] / (pendulum[0] * pendulum[0])
                + pendulum[1 + j]
                + moves[i, j]
            )
    for k in range(len(centre)):
        span = slice(rows[k], rows[k + 1])
        find_reach(
            pivots[span],
            centre[k],
            A[edges[k] : edges[k + 1]],
            b[edges[k] : edges[k + 1]],
            reach[span],
        )
        find_moves(pivots[span], centre[k], reach[span], 1.0, more[span])
    for i in range(rows[0], len(moves)):
        for j in range(2):
            moves[i, j] += more[i, j]


def shift_path(d: Matrix, x: Vector, w: tuple[float, float, int], out: Path) -> None:
    """Write the bounded shift for some rows; see ``balance``.

    Args:
        d: (n, 2) by how much the pivot has to move [m].
        x: (2,) shift now [m], not a number where there is none yet; overwritten by that after the rows.
        w: Rate of the pendulum [1/s], time between rows [s], rows whose mean counts beyond the window.
        out: (count, 2) shift, its rate and second rate; overwritten.
    """
    n, count, rate, dt = len(d), len(out[0]), w[0], w[1]
    decay = np.exp(-rate * dt)
    xi = np.empty(count + 1)
    for j in range(2):
        tail = 0.0
        for i in range(n - w[2], n):
            tail += d[i, j] / w[2]
        for i in range(n - 2, count - 1, -1):
            tail = decay * tail + (1.0 - decay) * 0.5 * (d[i, j] + d[i + 1, j])
        xi[count] = tail
        for row in range(count - 1, -1, -1):
            i = min(row, n - 2)
            xi[row] = decay * xi[row + 1] + (1.0 - decay) * 0.5 * (d[i, j] + d[i + 1, j])
        now = x[j] if np.isfinite(x[j]) else xi[0]
        for row in range(count):
            out[0][row, j], out[1][row, j] = now, rate * (xi[row] - now)
            out[2][row, j] = rate * rate * (now - d[row, j])
            now = decay * now + (1.0 - decay) * 0.5 * (xi[row] + xi[row + 1])
        x[j] = now
