"""Stages A6 and A7 as loops that numba compiles: smooth path, zero-moment point, supports, and the bounded shift."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

LEAST = 1e-9  # of the way to an edge
DT, MASS, GRAVITY, DOWNHILL_X, DOWNHILL_Y, STEEPEST, OFFSET = range(7)  # places in the numbers

Path = tuple[Matrix, Matrix, Matrix]


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
            zmp[row, j] = place[row, j] - (place[row, 2] / g) * (second[row, j] - numbers[DOWNHILL_X + j]) + offset


def find_highest(values: Matrix, labels: Labels) -> float:
    """Return the highest of the numbers that are labelled; zero where none is above.

    Args:
        values: (n, 2) numbers.
        labels: (n, 2) labels.
    """
    highest = 0.0
    for i in range(len(labels)):
        for foot in range(2):
            if labels[i, foot]:
                highest = max(highest, values[i, foot])
    return highest


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
