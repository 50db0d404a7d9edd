"""The nearest push of contacts as a sum of forces at their corners, compiled: least squares without negative numbers.

A push keeps the rows of its contacts if it is a sum of forces at corners, along the edges of their friction pyramids [DF, sec. 4].  There
are far fewer of these than rows, and where the equation of motion cannot be met only few of them bear anything: one by one the force is
taken that lets the cost fall most, and forces that would have to pull are let go.  In the coordinates y = U x the distance from the push of
least cost is plain; orthonormal vectors span the forces that are taken.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.active_set import FOUND, LOST, MOST_STEPS, add_normal, lean_on, remove_normal, split
from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.resolution.rows import Rows, highest, place_of, write_excess
from humanoid_dynamics.resolution.small import add_row, dot_row
from humanoid_dynamics.spatial.arrays import Matrix, Vector

APART: tuple[str, ...] = ("press_corners",)  # of the parts of kernels here, those that are not copied to where they are called
STILL = 1e-14  # of the largest pull: a pull that is none


def press_corners(x: Vector, M: Memory) -> int:
    """Move the push to the nearest one that contacts can give, whatever they bear.

    Args:
        x: The push of least cost; overwritten.
        M: The memory, with the factor of the cost.

    Returns:
        How it ended.
    """
    n, Q, R, u, active = M.sizes.n, M.Q, M.R, M.u, M.active
    d, r, b, rest, normal = M.work[:n], M.work[n : 2 * n], M.work[2 * n : 3 * n], M.work[3 * n : 4 * n], M.work[4 * n : 5 * n]
    corners = Rows(M.corners, M.nothing, M.pull, M.firsts, M.corner_ends, M.T, M.t, M.effort, M.z)
    count, still = 0, 0.0
    write_plain(M.U, x, rest, n)
    for _ in range(MOST_STEPS):
        write_back(M.U, rest, normal, n)
        write_excess(normal, corners)
        pull, force = highest(corners.y, still)
        still = max(still, STILL * pull)
        steep = 0.0
        if force >= 0 and count < n:
            write_force(corners, force, M.U, normal)
            steep = split(Q, count, normal, d, n, 0.0)
        if not steep > 0.0:
            write_sum(x, corners, u, M, count)
            return FOUND
        add_normal(Q, R, d, count, normal, steep, n)
        b[count], u[count], active[count] = dot_row(Q, count, rest, n), 0.0, force
        add_row(rest, -b[count], Q, count, n)
        count += 1
        while count > 0:
            lean_on(R, b, r, count)
            leaving = approach(u, r, count)
            if leaving < 0:
                break
            count -= 1
            remove_normal(Q, R, b, u, active, count, leaving, n)
            add_row(rest, b[count], Q, count, n)
    return LOST


def approach(u: Vector, r: Vector, count: int) -> int:
    """Move forces towards wanted ones until the first would have to pull; return which, minus one where none has to."""
    length, leaving = 1.0, -1
    for i in range(count):
        if r[i] <= 0.0 and u[i] <= length * (u[i] - r[i]):
            length, leaving = u[i] / max(u[i] - r[i], 1e-300), i
    for i in range(count):
        u[i] += length * (r[i] - u[i])
    return leaving


def write_plain(U: Matrix, x: Vector, y: Vector, size: int) -> None:
    """Write U x; the diagonal of U holds one over itself."""
    for i in range(size):
        y[i] = x[i] / U[i, i]
        for j in range(i + 1, size):
            y[i] += U[i, j] * x[j]


def write_back(U: Matrix, y: Vector, h: Vector, size: int) -> None:
    """Write U'y; what is below the diagonal of U is zero."""
    for i in range(size):
        h[i] = y[i] / U[i, i] - y[i] * U[i, i]
    for k in range(size):
        add_row(h, y[k], U, k, size)


def write_force(corners: Rows, force: int, U: Matrix, normal: Vector) -> None:
    """Write a force at a corner in plain coordinates."""
    first, size = place_of(corners, force)
    for k in range(len(normal)):
        normal[k] = 0.0
    for i in range(size):
        push, place = corners.A[i, force], first + i
        normal[place] += push / U[place, place]
        for k in range(place):
            normal[k] += push * U[k, place]


def write_sum(x: Vector, corners: Rows, u: Vector, M: Memory, count: int) -> None:
    """Write the push of forces at corners."""
    for i in range(len(x)):
        x[i] = 0.0
    for j in range(count):
        first, size = place_of(corners, M.active[j])
        for i in range(size):
            x[first + i] += u[j] * corners.A[i, M.active[j]]
