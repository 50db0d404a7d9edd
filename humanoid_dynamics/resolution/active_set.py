"""The nearest point of a polyhedron, compiled: the dual active-set method of Goldfarb and Idnani in coordinates where distance is plain.

From the point of least cost on, the row that is broken most is made to hold, again and again; a row that would have to pull is let go.
The cost rises at every step, so that there is an end.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.resolution.rows import excess_of, rows_of, worst_row, write_normal
from humanoid_dynamics.resolution.small import add, set_unit
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

FOUND, HOPELESS, LOST = range(3)
MOST_STEPS = 200
DEPENDENT = 1e-18  # share of the square of a normal that counts as none; the soft program spans nine decades


def walk(J: Matrix, free: Vector, x: Vector, M: Memory, k: int, torques: int, exact: float, known: int) -> tuple[int, int]:  # noqa: PLR0917
    """Move the push along the first k directions to the nearest one that breaks no row.

    Args:
        J: Jacobian.
        free: Torques of free motion.
        x: The push, where the cost is least; overwritten.
        M: The memory.
        k: Number of directions.
        torques: Number of limited torques.
        exact: What a row may be broken by.
        known: How many rows of ``active`` to begin with.

    Returns:
        How it ended, and how many rows of ``active`` the push rests on; where it is hopeless, those that contradict each other.
    """
    n, Q, R, T, u, active, rows = M.sizes.n, M.Q, M.R, M.T, M.u, M.active, rows_of(M)
    normal, d, r, step = M.work[:n], M.work[n : 2 * n], M.work[2 * n : 3 * n], M.work[3 * n : 4 * n]
    set_unit(Q, k, 0)
    count, row, pressed, excess = begin(J, free, x, M, k, known), -1, 0.0, 0.0
    for _ in range(MOST_STEPS):
        if row < 0:
            row, excess = worst_row(J, free, x, rows, torques)
            if not excess > exact:
                return FOUND, count
            pressed = 0.0
            write_normal(J, T, rows, row, k, normal)
        steep = write_directions(Q, R, k, count, normal, d, r)
        length, leaving = longest_step(u, r, count)
        if steep > 0.0 and excess <= length * steep:
            length, leaving = excess / steep, -1
        elif leaving < 0:
            active[min(count, n - 1)] = row
            return HOPELESS, min(count + 1, n)
        pressed += length
        add(u, -length, r, count)
        if steep > 0.0:
            write_rest(Q, k, count, d, step)
            move(x, T, k, step, length)
            excess -= length * steep
        if leaving >= 0:
            remove_normal(Q, R, u, active, k, count, leaving)
            count -= 1
            continue
        add_normal(Q, R, k, count, d, step, steep)
        u[count], active[count] = pressed, row
        count, row = count + 1, -1
    return LOST, count


def begin(J: Matrix, free: Vector, x: Vector, M: Memory, k: int, known: int) -> int:  # noqa: PLR0917
    """Move the push from the one of least cost to the nearest that rests on some rows, without those that would have to pull.

    Returns:
        How many rows are left of those in ``active``.
    """
    n, Q, R, T, u, active, rows = M.sizes.n, M.Q, M.R, M.T, M.u, M.active, rows_of(M)
    normal, d, r, step = M.work[:n], M.work[n : 2 * n], M.work[2 * n : 3 * n], M.work[3 * n : 4 * n]
    count = 0
    for i in range(known):
        write_normal(J, T, rows, active[i], k, normal)
        steep = write_directions(Q, R, k, count, normal, d, r)
        if steep > 0.0 and count < k:
            active[count] = active[i]
            write_rest(Q, k, count, d, step)
            add_normal(Q, R, k, count, d, step, steep)
            count += 1
    while count > 0:
        for i in range(count):
            u[i] = excess_of(J, free, x, rows, active[i])
        pulling = press_together(R, u, count, r)
        if pulling < 0:
            break
        remove_normal(Q, R, u, active, k, count, pulling)
        count -= 1
    for i in range(k):
        step[i] = 0.0
        for j in range(count):
            step[i] += r[j] * Q[j, i]
    move(x, T, k, step, 1.0)
    return count


def press_together(R: Matrix, u: Vector, count: int, r: Vector) -> int:
    """Write the forces of active rows that take away what they are broken by, R'R u, over that, and R u.

    Returns:
        Which row pulls most; minus one where none does.
    """
    pulling, least = -1, 0.0
    for i in range(count):
        for j in range(i):
            u[i] -= R[j, i] * u[j]
        u[i] /= R[i, i]
        r[i] = u[i]
    for i in range(count - 1, -1, -1):
        for j in range(i + 1, count):
            u[i] -= R[i, j] * u[j]
        u[i] /= R[i, i]
        if u[i] < least:
            pulling, least = i, u[i]
    return pulling


def longest_step(u: Vector, r: Vector, count: int) -> tuple[float, int]:
    """Return how far the forces of the active rows let the new one grow, and which of them ends it."""
    length, leaving = 1e300, -1
    for j in range(count):
        if r[j] > 0.0 and u[j] < length * r[j]:
            length, leaving = u[j] / r[j], j
    return length, leaving


def move(x: Vector, T: Matrix, k: int, step: Vector, length: float) -> None:
    """Move the push against a sum of directions."""
    for j in range(k):
        along = length * step[j]
        for i in range(len(x)):
            x[i] -= along * T[j, i]


def write_rest(Q: Matrix, k: int, count: int, d: Vector, step: Vector) -> None:
    """Write what is left of a normal, given in the basis Q, beside the active ones."""
    for i in range(k):
        step[i] = 0.0
    for j in range(count, k):
        for i in range(k):
            step[i] += d[j] * Q[j, i]


def write_directions(Q: Matrix, R: Matrix, k: int, count: int, normal: Vector, d: Vector, r: Vector) -> float:  # noqa: PLR0917
    """Write a normal in the basis Q, and by which sum of active normals it is met; return the square of what is left of it, or zero."""
    whole, steep = 0.0, 0.0
    for j in range(k):
        along = 0.0
        for i in range(k):
            along += Q[j, i] * normal[i]
        d[j] = along
        whole += along**2
        if j >= count:
            steep += along**2
    for i in range(count - 1, -1, -1):
        r[i] = d[i]
        for j in range(i + 1, count):
            r[i] -= R[i, j] * r[j]
        r[i] /= R[i, i]
    return steep if steep > DEPENDENT * whole else 0.0


def add_normal(Q: Matrix, R: Matrix, k: int, count: int, d: Vector, step: Vector, steep: float) -> None:  # noqa: PLR0917
    """Make a normal, given in the basis Q, the next column of R; mirror the free vectors of Q so that it stays triangular."""
    for i in range(count):
        R[i, count] = d[i]
    length = steep**0.5 if d[count] < 0.0 else -(steep**0.5)
    R[count, count] = length
    scale = 1.0 / (steep - length * d[count])
    d[count] -= length
    for i in range(k):
        step[i] -= length * Q[count, i]
    for j in range(count, k):
        along = scale * d[j]
        for i in range(k):
            Q[j, i] -= along * step[i]


def remove_normal(Q: Matrix, R: Matrix, u: Vector, active: Indices, k: int, count: int, leaving: int) -> None:  # noqa: PLR0917
    """Take a column out of R and turn the others back to triangular form."""
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
