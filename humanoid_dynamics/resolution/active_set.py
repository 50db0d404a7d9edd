"""The nearest point of a polyhedron, compiled: the dual active-set method of Goldfarb and Idnani in coordinates where distance is plain.

From the point of least cost on, the row that is broken most is made to hold, again and again; a row that would have to pull is let go.
The cost rises at every step, so that there is an end.  With H = U'U the plain coordinates are U x: a row a is the normal U'^-1 a there,
and orthonormal vectors span those of the equations, which always hold, and of the active rows.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.memory import Memory
from humanoid_dynamics.resolution.rows import rows_of, worst_row, write_row
from humanoid_dynamics.resolution.small import add, add_row, dot, dot_row, solve_transposed, solve_upper
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART: tuple[str, ...] = ("walk",)  # of the parts of kernels here, those that are not copied to where they are called
FOUND, HOPELESS, LOST = range(3)
MOST_STEPS = 200
DEPENDENT = 1e-18  # share of the square of a normal that counts as none; the soft program spans nine decades
SHRUNK = 1e-3  # share of the square of a normal, of which what is left has lost digits: made orthogonal once more


def walk(x: Vector, M: Memory, equations: int, torques: int, exact: float) -> tuple[int, int]:
    """Move the push to the nearest one that breaks no row and fulfils as many equations as before.

    Args:
        x: The push, where the cost is least under the equations; overwritten.
        M: The memory, rows of torques written.
        equations: How many orthonormal vectors span the equations.
        torques: Number of limited torques.
        exact: What a row may be broken by.

    Returns:
        How it ended, and how many rows of ``active`` the push rests on; where it is hopeless, those that contradict each other.
    """
    n, U, Q, R, u, active, rows = M.sizes.n, M.U, M.Q, M.R, M.u, M.active, rows_of(M)
    d, r, rest, step = M.work[:n], M.work[n : 2 * n], M.work[2 * n : 3 * n], M.work[3 * n : 4 * n]
    count, row, pressed, excess, steep = 0, -1, 0.0, 0.0, 0.0
    for _ in range(MOST_STEPS):
        if row < 0:
            row, excess = worst_row(x, rows, torques, exact)
            if row < 0:
                return FOUND, count
            pressed = 0.0
            write_row(rows, row, rest)
            solve_transposed(U, rest, n)
            steep = split(Q, equations + count, rest, d, n)
        lean_on(R, d, equations, r, count)
        length, leaving = longest_step(u, r, count)
        if steep > 0.0 and excess <= length * steep:
            length, leaving = excess / steep, -1
        elif leaving < 0:
            active[min(count, n - 1)] = row
            return HOPELESS, min(count + 1, n)
        pressed += length
        add(u, -length, r, count)
        if steep > 0.0:
            move(x, U, rest, length, step)
            excess -= length * steep
        if leaving >= 0:
            count -= 1
            remove_normal(Q, R, d, u, active, equations, count, leaving)
            add_row(rest, d[equations + count], Q, equations + count, n)
            steep += d[equations + count] ** 2
            continue
        add_normal(Q, R, d, equations, count, rest, steep)
        u[count], active[count] = pressed, row
        count, row = count + 1, -1
    return LOST, count


def move(x: Vector, U: Matrix, rest: Vector, length: float, step: Vector) -> None:
    """Move the push against a direction in plain coordinates."""
    for i in range(len(x)):
        step[i] = rest[i]
    solve_upper(U, step, len(x))
    add(x, -length, step, len(x))


def longest_step(u: Vector, r: Vector, count: int) -> tuple[float, int]:
    """Return how far the forces of the active rows let the new one grow, and which of them ends it."""
    length, leaving = 1e300, -1
    for j in range(count):
        if r[j] > 0.0 and u[j] < length * r[j]:
            length, leaving = u[j] / r[j], j
    return length, leaving


def split(Q: Matrix, count: int, rest: Vector, d: Vector, n: int) -> float:
    """Split a normal into its parts along orthonormal vectors, and what is left; return the square of that, or zero where it is none."""
    whole = dot(rest, rest, n)
    for j in range(count):
        d[j] = dot_row(Q, j, rest, n)
    for j in range(count):
        add_row(rest, -d[j], Q, j, n)
    steep = dot(rest, rest, n)
    if steep < SHRUNK * whole:
        for j in range(count):
            more = dot_row(Q, j, rest, n)
            add_row(rest, -more, Q, j, n)
            d[j] += more
        steep = dot(rest, rest, n)
    return steep if steep > DEPENDENT * whole and count < n else 0.0


def lean_on(R: Matrix, d: Vector, equations: int, r: Vector, count: int) -> None:
    """Write by which sum of active normals a normal is met, R r = d."""
    for i in range(count - 1, -1, -1):
        r[i] = d[equations + i]
        for j in range(i + 1, count):
            r[i] -= R[i, j] * r[j]
        r[i] /= R[i, i]


def add_normal(Q: Matrix, R: Matrix, d: Vector, equations: int, count: int, rest: Vector, steep: float) -> None:  # noqa: PLR0917
    """Make a normal the next column of R, and what is left of it the next vector of Q."""
    for i in range(count):
        R[i, count] = d[equations + i]
    R[count, count] = write_unit(Q, equations + count, rest, steep)


def write_unit(Q: Matrix, row: int, rest: Vector, square: float) -> float:
    """Write a vector of a certain square, made a unit vector; return its length."""
    length = float(square**0.5)
    per_length = 1.0 / length
    for i in range(Q.shape[1]):
        Q[row, i] = rest[i] * per_length
    return length


def remove_normal(Q: Matrix, R: Matrix, d: Vector, u: Vector, active: Indices, equations: int, count: int, leaving: int) -> None:  # noqa: PLR0917
    """Take a column out of R, of which ``count`` are left, and turn the others back to triangular form, with vectors and what is split."""
    for j in range(leaving, count):
        u[j], active[j] = u[j + 1], active[j + 1]
        for i in range(j + 2):
            R[i, j] = R[i, j + 1]
    for j in range(leaving, count):
        length = (R[j, j] ** 2 + R[j + 1, j] ** 2) ** 0.5
        c, s = R[j, j] / length, R[j + 1, j] / length
        for i in range(j, count):
            R[j, i], R[j + 1, i] = c * R[j, i] + s * R[j + 1, i], c * R[j + 1, i] - s * R[j, i]
        one, other = equations + j, equations + j + 1
        d[one], d[other] = c * d[one] + s * d[other], c * d[other] - s * d[one]
        for i in range(Q.shape[1]):
            Q[one, i], Q[other, i] = c * Q[one, i] + s * Q[other, i], c * Q[other, i] - s * Q[one, i]
