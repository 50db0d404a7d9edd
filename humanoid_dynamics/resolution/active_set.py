"""The nearest point of a polyhedron, compiled: the dual active-set method of Goldfarb and Idnani in coordinates where distance is plain.

From the point of least cost on, the row that is broken most is made to hold, again and again; a row that would have to pull is let go.
The cost rises at every step, so that there is an end.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.resolution.rows import worst_row, write_normal
from humanoid_dynamics.resolution.small import add, dot, set_unit
from humanoid_dynamics.spatial.arrays import Matrix, Vector

FOUND, HOPELESS, LOST = range(3)
MOST_STEPS = 200
DEPENDENT = 1e-18  # share of the square of a normal that counts as none; the soft program spans nine decades


def walk(J: Matrix, free: Vector, x: Vector, M: Memory, k: int, torques: int, exact: float) -> int:  # noqa: PLR0917
    """Move the push along the first k directions to the nearest one that breaks no row.

    Args:
        J: Jacobian.
        free: Torques of free motion.
        x: The push, where the cost is least; overwritten.
        M: The memory.
        k: Number of directions.
        torques: Number of limited torques.
        exact: What a row may be broken by.
    """
    n, Q, u, active = M.sizes.n, M.Q, M.u, M.active
    normal, d, r, step = M.work[:n], M.work[n : 2 * n], M.work[2 * n : 3 * n], M.work[3 * n : 4 * n]
    set_unit(Q, k, 0)
    count, row, pressed, excess = 0, -1, 0.0, 0.0
    for _ in range(MOST_STEPS):
        if row < 0:
            row, excess = worst_row(J, free, x, M, torques)
            if not excess > exact:
                return FOUND
            pressed = 0.0
            write_normal(J, M, row, k, normal)
        steep = write_directions(M, k, count, normal, d, r)
        length, leaving = longest_step(u, r, count)
        if steep > 0.0 and excess <= length * steep:
            length, leaving = excess / steep, -1
        elif leaving < 0:
            return HOPELESS
        pressed += length
        add(u, -length, r, count)
        if steep > 0.0:
            move(x, M, k, count, d, step, length)
            excess -= length * steep
        if leaving >= 0:
            remove_normal(M, k, count, leaving)
            count -= 1
            continue
        add_normal(M, k, count, d, step, steep)
        u[count], active[count] = pressed, row
        count, row = count + 1, -1
    return LOST


def longest_step(u: Vector, r: Vector, count: int) -> tuple[float, int]:
    """Return how far the forces of the active rows let the new one grow, and which of them ends it."""
    length, leaving = 1e300, -1
    for j in range(count):
        if r[j] > 0.0 and u[j] < length * r[j]:
            length, leaving = u[j] / r[j], j
    return length, leaving


def move(x: Vector, M: Memory, k: int, count: int, d: Vector, step: Vector, length: float) -> None:  # noqa: PLR0917
    """Move the push down the normal, along what is left of it beside the active rows, which is written to ``step``."""
    for i in range(k):
        step[i] = 0.0
    for j in range(count, k):
        add(step, d[j], M.Q[j], k)
    for j in range(k):
        add(x, -length * step[j], M.T[j], len(x))


def write_directions(M: Memory, k: int, count: int, normal: Vector, d: Vector, r: Vector) -> float:  # noqa: PLR0917
    """Write a normal in the basis Q, and by which sum of active normals it is met; return the square of what is left of it, or zero."""
    whole, steep = 0.0, 0.0
    for j in range(k):
        d[j] = dot(M.Q[j], normal, k)
        whole += d[j] ** 2
        if j >= count:
            steep += d[j] ** 2
    for i in range(count - 1, -1, -1):
        r[i] = d[i]
        for j in range(i + 1, count):
            r[i] -= M.R[i, j] * r[j]
        r[i] /= M.R[i, i]
    return steep if steep > DEPENDENT * whole else 0.0


def add_normal(M: Memory, k: int, count: int, d: Vector, step: Vector, steep: float) -> None:  # noqa: PLR0917
    """Make a normal, given in the basis Q, the next column of R; mirror the free vectors of Q so that it stays triangular."""
    for i in range(count):
        M.R[i, count] = d[i]
    length = steep**0.5 if d[count] < 0.0 else -(steep**0.5)
    M.R[count, count] = length
    scale = 1.0 / (steep - length * d[count])
    d[count] -= length
    add(step, -length, M.Q[count], k)
    for j in range(count, k):
        add(M.Q[j], -scale * d[j], step, k)


def remove_normal(M: Memory, k: int, count: int, leaving: int) -> None:
    """Take a column out of R and turn the others back to triangular form."""
    Q, R, u, active = M.Q, M.R, M.u, M.active
    for j in range(leaving, count - 1):
        u[j], active[j] = u[j + 1], active[j + 1]
        for i in range(j + 2):
            R[i, j] = R[i, j + 1]
    for j in range(leaving, count - 1):
        length = (R[j, j] ** 2 + R[j + 1, j] ** 2) ** 0.5
        c, s = R[j, j] / length, R[j + 1, j] / length
        for i in range(j, count - 1):
            R[j, i], R[j + 1, i] = c * R[j, i] + s * R[j + 1, i], c * R[j + 1, i] - s * R[j, i]
        for i in range(k):
            Q[j, i], Q[j + 1, i] = c * Q[j, i] + s * Q[j + 1, i], c * Q[j + 1, i] - s * Q[j, i]
