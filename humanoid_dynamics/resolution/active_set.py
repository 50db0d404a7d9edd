# SPDX-License-Identifier: Apache-2.0
"""Nearest point of a polyhedron: the dual active-set method of Goldfarb and Idnani in coordinates in which distance is plain.

From the point of least cost on, the row that is violated most is made to hold, again and again; a row whose force would change its sign
leaves.  The cost rises at every step, so the method ends.  The force x + N z fulfils the equations for every z, and with H = U'U the
columns of U N are orthonormal.  A row a is the normal N'a in the plain coordinates z; orthonormal vectors span the active normals.

``find_ways`` computes N by Householder reflections: a column is U'^-1 V, where V completes the columns of Z to all directions.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.memory import Memory, open_memory
from humanoid_dynamics.resolution.rows import Rows, bend_row, rows_of, worst_row
from humanoid_dynamics.resolution.small import BLOCK, add, add_row, add_rows, dot_row, square
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.fours import FOUR, add_four, four_alike, four_in, put_four_in

APART: tuple[str, ...] = (
    "walk",
    "find_ways",
)  # parts of kernels that are called, not copied to where they are called
IN_ORDER = ("lean_on", "remove_normal")  # parts whose sums are added as they are written

FOUND, HOPELESS, LOST = range(3)
MOST_STEPS = 200
MOST_RETURNS = 2  # to the active rows, which a push drifts off by round-off
DEPENDENT = 1e-18  # share of the square of a normal that counts as none; the soft program spans nine decades
SHRUNK = 1e-3  # share of the square of a normal, of which what is left has lost digits: made orthogonal once more


def walk(
    x: Vector,
    F: Vector,
    I: Indices,  # noqa: E741
    freedoms: int,
    torques: int,
    exact: float,
) -> int:
    """Move the push to the nearest one that breaks no row and fulfils as many equations as before.

    Args:
        x: The push, where the cost is least under the equations; overwritten.
        F: Numbers of the memory, rows of torques and ways to move written.
        I: Indices of the memory.
        freedoms: How many ways to move there are.
        torques: Number of limited torques.
        exact: What a row may be broken by.

    Returns:
        How it ended.
    """
    M, width = open_memory(F, I), fours(freedoms)
    room, N, Q, R, u, active, rows = M.N.shape[1], M.N, M.Q, M.R, M.u, M.active, rows_of(M)
    d, r, rest = M.work[:room], M.work[room : 2 * room], M.work[2 * room : 3 * room]
    count, row, pressed, excess, steep = 0, -1, 0.0, 0.0, 0.0
    for _ in range(MOST_STEPS):
        if row < 0:
            row, excess = next_row(x, rows, M, d, count, width, torques, exact)
            if row < 0:
                return FOUND
            pressed = 0.0
            whole = bend_row(rows, row, N, M.U, rest, width)
            steep = (
                split(Q, count, rest, d, width, whole)
                if count < freedoms
                else meet(Q, count, rest, d, width)
            )
        lean_on(R, d, r, count)
        length, leaving = longest_step(u, r, count)
        if steep > 0.0 and excess <= length * steep:
            length, leaving = excess / steep, -1
        elif leaving < 0:
            return HOPELESS
        pressed += length
        add(u, -length, r, count)
        if steep > 0.0:
            move(x, N, rest, length, width)
            excess -= length * steep
        if leaving >= 0:
            count -= 1
            remove_normal(Q, R, d, u, active, count, leaving, width)
            add_row(rest, d[count], Q, count, width)
            steep += d[count] ** 2
            continue
        add_normal(Q, R, d, count, rest, steep, width)
        u[count], active[count] = pressed, row
        count, row = count + 1, -1
    return LOST


def next_row(
    x: Vector, rows: Rows, M: Memory, d: Vector, count: int, width: int, torques: int, exact: float
) -> tuple[int, float]:
    """Return the row to lean on next and by how much it is broken, minus one where none is with the push on its active rows."""
    row, excess = -1, 0.0
    for turn in range(MOST_RETURNS + 1):
        row, excess = worst_row(x, rows, torques, exact)
        if (
            row >= 0
            or turn == MOST_RETURNS
            or not return_to(x, rows, M, d, count, width, torques, exact)
        ):
            break
    return row, excess


def return_to(
    x: Vector, rows: Rows, M: Memory, d: Vector, count: int, width: int, torques: int, exact: float
) -> bool:
    """Move the push back onto the active rows where it has drifted off their inner side; return whether it had."""
    worst = 0.0
    for j in range(count):
        row, size = M.active[j], len(rows.b)
        d[j] = (
            -rows.y[row] if row < size else -rows.z[(row - size) % 2 * torques + (row - size) // 2]
        )
        worst = max(worst, d[j])
    if not worst > exact:
        return False
    for j in range(count):
        for i in range(j):
            d[j] -= M.R[j, i] * d[i]
        d[j] *= M.R[j, j]
    rest = M.work[2 * len(d) : 3 * len(d)]
    for k in range(width):
        rest[k] = 0.0
    add_rows(rest, d, M.Q, 0, count, width)
    move(x, M.N, rest, -1.0, width)
    return True


def fours(size: int) -> int:
    """Return the least multiple of four that is not less."""
    return FOUR * ((size + FOUR - 1) // FOUR)


def move(x: Vector, N: Matrix, rest: Vector, length: float, width: int) -> None:
    """Move the push against a direction in plain coordinates."""
    for i in range(len(x)):
        x[i] -= length * dot_row(N, i, rest, width)


def longest_step(u: Vector, r: Vector, count: int) -> tuple[float, int]:
    """Return how far the forces of the active rows let the new one grow, and which of them ends it."""
    length, leaving = 1e300, -1
    for j in range(count):
        if r[j] > 0.0 and u[j] < length * r[j]:
            length, leaving = u[j] / r[j], j
    return length, leaving


def split(Q: Matrix, count: int, rest: Vector, d: Vector, width: int, made_of: float) -> float:
    """Split a normal into its parts along orthonormal vectors, and what is left; return the square of that, or zero where it is none."""
    whole = square(rest, width)
    for j in range(count):
        d[j] = -dot_row(Q, j, rest, width)
    add_rows(rest, d, Q, 0, count, width)
    for j in range(count):
        d[j] = -d[j]
    steep = square(rest, width)
    if steep < SHRUNK * whole:
        for j in range(count):
            more = dot_row(Q, j, rest, width)
            add_row(rest, -more, Q, j, width)
            d[j] += more
        steep = square(rest, width)
    return steep if steep > DEPENDENT * max(whole, made_of) else 0.0


def meet(Q: Matrix, count: int, rest: Vector, d: Vector, width: int) -> float:
    """Write the parts of a normal along as many orthonormal vectors as there are ways to move: nothing is left."""
    for j in range(count):
        d[j] = dot_row(Q, j, rest, width)
        add_row(rest, -d[j], Q, j, width)
    return 0.0


def lean_on(R: Matrix, d: Vector, r: Vector, count: int) -> None:
    """Write by which sum of active normals a normal is met: R' r = d, one over the diagonal of R on its diagonal."""
    for i in range(count - 1, -1, -1):
        total = d[i]
        for j in range(i + 1, count):
            total -= R[j, i] * r[j]
        r[i] = total * R[i, i]


def add_normal(
    Q: Matrix, R: Matrix, d: Vector, count: int, rest: Vector, steep: float, width: int
) -> None:
    """Make a normal the next row of R, and what is left of it the next vector of Q."""
    for i in range(count):
        R[count, i] = d[i]
    per_length = 1.0 / float(steep**0.5)
    R[count, count] = per_length
    for i in range(width):
        Q[count, i] = rest[i] * per_length


def remove_normal(
    Q: Matrix,
    R: Matrix,
    d: Vector,
    u: Vector,
    active: Indices,
    count: int,
    leaving: int,
    width: int,
) -> None:
    """Take a row out of R, of which ``count`` are left, and turn the others back to triangular form, with vectors and what is split."""
    nothing = four_alike(0.0)
    for j in range(leaving, count):
        u[j], active[j] = u[j + 1], active[j + 1]
        for i in range(j + 2):
            R[j, i] = R[j + 1, i]
    for j in range(leaving, count):
        slope = R[j, j] * R[j, j + 1]
        s = 1.0 / (1.0 + slope**2) ** 0.5
        c, R[j, j] = slope * s, R[j, j + 1] * s
        for i in range(j + 1, count):
            R[i, j], R[i, j + 1] = c * R[i, j] + s * R[i, j + 1], c * R[i, j + 1] - s * R[i, j]
        d[j], d[j + 1] = c * d[j] + s * d[j + 1], c * d[j + 1] - s * d[j]
        for i in range(0, width, FOUR):
            one, other = four_in(Q, j, i), four_in(Q, j + 1, i)
            put_four_in(Q, j, i, add_four(add_four(nothing, c, one), s, other))
            put_four_in(Q, j + 1, i, add_four(add_four(nothing, c, other), -s, one))


def find_ways(F: Vector, I: Indices, equations: int) -> bool:  # noqa: E741
    """Write columns N with U N orthonormal and Z'U N = 0, filled up with zeros to whole blocks.

    Args:
        F: Numbers of the memory, U and Z written; what is in Z is lost.
        I: Indices of the memory.
        equations: How many columns of Z count, none or all.

    Returns:
        Whether these do not depend on each other.
    """
    M = open_memory(F, I)
    n, N, per_square = M.sizes.n, M.N, M.work[: M.sizes.n]
    if not reflect_equations(M.Z, M.Q, per_square, equations, n):
        return False
    for first in range(0, n - equations, BLOCK):
        for i in range(n):
            for k in range(first, first + BLOCK):
                N[i, k] = 1.0 if i == equations + k else 0.0
        for j in range(equations - 1, -1, -1):
            reflect_block(M.Q, j, per_square[j], N, first, n)
        solve_block(M.U, N, first, n)
    return True


def reflect_equations(Z: Matrix, Q: Matrix, per_square: Vector, equations: int, n: int) -> bool:
    """Make Z triangular; write the mirrors that do it to the rows of Q, and two over their squares."""
    for j in range(equations):
        per_square[j] = 0.0
    for i in range(n):
        for j in range(equations):
            per_square[j] += Z[i, j] ** 2
    for j in range(equations):
        square = 0.0
        for i in range(j, n):
            Q[j, i] = Z[i, j]
            square += Q[j, i] ** 2
        if not square > DEPENDENT * per_square[j]:
            return False
        length = float(square**0.5)
        per_square[j] = 1.0 / (square + length * abs(Q[j, j]))
        Q[j, j] += length if Q[j, j] > 0.0 else -length
        reflect_block(Q, j, per_square[j], Z, 0, n)
    return True


def reflect_block(Q: Matrix, j: int, per_square: float, N: Matrix, first: int, n: int) -> None:
    """Reflect a block of columns in the mirror of a row of Q."""
    one, two, second = four_alike(0.0), four_alike(0.0), first + FOUR
    for i in range(j, n):
        q = Q[j, i]
        one, two = add_four(one, q, four_in(N, i, first)), add_four(two, q, four_in(N, i, second))
    for i in range(j, n):
        q = -Q[j, i] * per_square
        put_four_in(N, i, first, add_four(four_in(N, i, first), q, one))
        put_four_in(N, i, second, add_four(four_in(N, i, second), q, two))


def solve_block(U: Matrix, N: Matrix, first: int, n: int) -> None:
    """Solve U N = V in place, for a block of columns."""
    nothing, second = four_alike(0.0), first + FOUR
    for i in range(n - 1, -1, -1):
        one, two = (
            add_four(nothing, U[i, i], four_in(N, i, first)),
            add_four(nothing, U[i, i], four_in(N, i, second)),
        )
        put_four_in(N, i, first, one)
        put_four_in(N, i, second, two)
        for j in range(i):
            put_four_in(N, j, first, add_four(four_in(N, j, first), -U[j, i], one))
            put_four_in(N, j, second, add_four(four_in(N, j, second), -U[j, i], two))
