# SPDX-License-Identifier: Apache-2.0
"""Kernels of forces inside limits: among those that fulfil the equation of motion, or the ones that miss it least.

Limits are rows a'x <= b of contacts and torques.  Where contacts alone cannot produce the motion, forces at their corners are faster than
rows: a force keeps the rows if it is a sum of forces at corners along the edges of their friction pyramids [DF, sec. 4].  There are fewer
of these than rows, and few of them carry load.  One by one the force is taken that reduces the cost most; forces that would have to pull
leave.  This is least squares without negative numbers, once for the equations alone, to learn whether contacts can give what the motion
needs, and once for the nearest force.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.active_set import (
    FOUND,
    HOPELESS,
    LOST,
    MOST_STEPS,
    add_normal,
    find_ways,
    fours,
    lean_on,
    remove_normal,
    split,
    walk,
)
from humanoid_dynamics.resolution.memory import (
    CHOICE,
    EXACT,
    FLOOR,
    TIGHT,
    UNIT_FORCE,
    Memory,
    open_memory,
)
from humanoid_dynamics.resolution.rows import (
    Rows,
    highest,
    larger,
    place_of,
    rows_of,
    worst_row,
    write_excess,
    write_torques,
)
from humanoid_dynamics.resolution.small import (
    add_row,
    add_rows,
    dot_row,
    factor_cholesky,
    solve_transposed,
    solve_upper,
    square,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

APART: tuple[str, ...] = (
    "choose_nearest",
    "press",
    "miss_wrench",
)  # parts of kernels that are called, not copied to where they are called
RARE = ("choose_nearest", "press", "miss_wrench")  # parts that seldom run and are compiled for size

LARGEST = 1e300
AS_IT_IS, HARD, SOFT, FAILED = range(4)  # ways in which a push was found


def choose_inside(
    question: tuple[Matrix, Vector, Vector, Vector, Vector, Vector], M: Memory
) -> int:
    """Choose the push of least cost inside limits; where none fulfils the equation of motion, the one that misses least.

    Args:
        question: What the tick asks; its push fulfils the equation of motion.
        M: The memory, Hessian and linear term written.

    Returns:
        How it was found.
    """
    J, free, _, x, _, _ = question
    write_torques(J, free, M)
    doubtful = find_balance(M) > 0.0
    missing = miss_wrench(J, free, x, M.numbers, M.places) if doubtful else 0
    if not missing:
        if not find_ways(M.numbers, M.places, M.sizes.m):
            return FAILED
        end = walk(
            x,
            M.numbers,
            M.places,
            M.sizes.n - M.sizes.m,
            M.sizes.torques,
            M.settings[EXACT] * M.settings[UNIT_FORCE],
        )
        if end != HOPELESS:
            return HARD if end == FOUND else FAILED
        missing = 0 if doubtful else miss_wrench(J, free, x, M.numbers, M.places)
    return choose_nearest(J, free, x, M.numbers, M.places, missing)


def find_balance(M: Memory) -> float:
    """Return by how much contacts together break rows of pressure and friction: what one breaks less what others have left.

    Load can mostly be moved to where something is left.  Where it is not enough, it is worth to ask first whether contacts can give at all
    what the motion needs, which otherwise is known at the end only.
    """
    balance = 0.0
    for c in range(M.sizes.contacts):
        worst = -LARGEST
        for i in range(M.ends[c], M.ends[c + 1]):
            worst = larger(M.y[i], worst)
        balance += worst
    return balance


def choose_nearest(J: Matrix, free: Vector, x: Vector, F: Vector, I: Indices, missing: int) -> int:  # noqa: E741
    """Choose the push of least soft cost that contacts can give and motors can bear; where none can, that contacts can give.

    Args:
        J: Jacobian of the push.
        free: Torques of free motion.
        x: The push, overwritten.
        F: Numbers of the memory.
        I: Indices of the memory.
        missing: Where contacts alone keep the motion from being met, with how many forces of ``active`` at corners they come nearest to it.

    Returns:
        How it was found.
    """
    M = open_memory(F, I)
    if not prepare_soft(J, free, M):
        return FAILED
    exact = M.settings[EXACT] * size_of(free, M)
    if missing:
        end = press_corners(x, M, missing)
        if (
            end == FOUND
            and worst_row(x, rows_of(M), M.sizes.torques, max(exact, M.settings[TIGHT]))[0] < 0
        ):
            return SOFT
    solve_upper(M.U, M.g, M.sizes.n)
    find_ways(M.numbers, M.places, 0)
    for torques in (M.sizes.torques, 0):
        copy(M.g, x)
        if walk(x, M.numbers, M.places, M.sizes.n, torques, exact) == FOUND:
            return SOFT
    return FAILED


def copy(one: Vector, other: Vector) -> None:
    """Write a vector into another."""
    for i in range(len(one)):
        other[i] = one[i]


def prepare_soft(J: Matrix, free: Vector, M: Memory) -> bool:
    """Write the push x that misses the equation of motion least, but for a small weight of the rule's wish, as U x to ``g``."""
    n, U = M.sizes.n, M.U
    fill_soft(J, free, M)
    if not factor_cholesky(M.K, U, n):
        return False
    solve_transposed(U, M.g, n)
    return True


def fill_soft(J: Matrix, free: Vector, M: Memory) -> None:
    """Write the squares of what the equations miss, and the rule's cost with a small weight: Hessian to ``K``, linear term to ``g``."""
    n, m, K, J_u, trace = M.sizes.n, M.sizes.m, M.K, M.Q, 0.0
    for i in range(n):
        trace += M.H[i, i]
    choice = M.settings[CHOICE] * n / max(trace, 1e-300)
    for i in range(n):
        M.g[i] *= choice
        for j in range(n):
            K[i, j] = choice * M.H[i, j]
        K[i, i] += M.settings[CHOICE] * M.settings[FLOOR]
    weighted = M.work[:m]
    for k in range(m):
        weighted[k] = M.misses[k] * free[M.bearing[k]]
        for i in range(n):
            J_u[k, i] = J[i, M.bearing[k]]
    add_rows(M.g, weighted, J_u, 0, m, n)
    for i in range(n):
        for k in range(m):
            weighted[k] = M.misses[k] * J_u[k, i]
        add_rows(K[i], weighted, J_u, 0, m, n)


def size_of(free: Vector, M: Memory) -> float:
    """Return the largest force that is asked for, or the weight of the robot."""
    largest = float(M.settings[UNIT_FORCE])
    for place in M.bearing:
        largest = max(largest, abs(free[place]))
    for place in M.torques:
        largest = max(largest, abs(free[place]))
    return largest


STILL = 1e-14  # of the largest pull: a pull that is none
SURE = 1e-5  # share of what is needed that is out of reach: far more than round-off
EDGES = 4  # of a friction pyramid
TURNS = 1, 3, 2  # from one of them to the others, the opposite one last
LEVER = 0.01  # m; turns moments into forces: far less than a foot, so that they decide where a contact presses


def miss_wrench(J: Matrix, free: Vector, x: Vector, F: Vector, I: Indices) -> int:  # noqa: E741
    """Tell by which forces at corners contacts come nearest to what the motion needs, if they cannot give it.

    Args:
        J: Jacobian of the push.
        free: Torques of free motion.
        x: A push that fulfils the equations, whatever contacts can give.
        F: Numbers of the memory.
        I: Indices of the memory; the forces are written to ``active``.

    Returns:
        How many forces; zero where contacts can give what is needed, or nearly, or where others push as well.
    """
    M = open_memory(F, I)
    m, n, T, needed, rest = M.sizes.m, M.sizes.n, M.N, M.d, rest_of(M)
    if M.firsts[M.sizes.contacts] != n:
        return 0
    for k in range(fours(m)):
        root = M.misses[k] ** 0.5 if k < m else 0.0
        needed[k] = root * free[M.bearing[k]] if k < m else 0.0
        for i in range(n):
            T[i, k] = root * J[i, M.bearing[k]] if k < m else 0.0
    guessed = guess_forces(x, corners_of(M), M)
    end, count = press(needed, M.numbers, M.places, guessed, m)
    return (
        count if end == FOUND and square(rest, fours(m)) > SURE**2 * square(needed, fours(m)) else 0
    )


def press_corners(x: Vector, M: Memory, guessed: int) -> int:
    """Write the nearest push that contacts can give, whatever they bear.

    Args:
        x: The push, written.
        M: The memory, with the factor U of the cost and the push of least cost y = U x.
        guessed: With how many forces of ``active`` to begin.

    Returns:
        How it ended.
    """
    n, U, T = M.sizes.n, M.U, M.N
    for i in range(n):
        for k in range(i):
            T[i, k] = U[k, i]
        T[i, i] = 1.0 / U[i, i]
        for k in range(i + 1, fours(n)):
            T[i, k] = 0.0
    end, count = press(M.g, M.numbers, M.places, guessed, n)
    write_sum(x, corners_of(M), M.u, M.active, count)
    return end


def corners_of(M: Memory) -> Rows:
    """Return the forces at corners as rows, whose excess is how much the cost falls with each."""
    return Rows(M.corners, M.nothing, M.pull, M.firsts, M.corner_ends, M.T, M.t, M.effort, M.z)


def rest_of(M: Memory) -> Vector:
    """Return what forces leave of what they shall do."""
    room = M.N.shape[1]
    return M.work[3 * room : 4 * room]


def guess_forces(x: Vector, corners: Rows, M: Memory) -> int:
    """Write to ``active`` the corners that contacts press with most, three edges of the first, two of the second, one of the third.

    Forces at two points cannot turn a body about the line between them: more of them would depend on each other.

    Returns:
        How many forces.
    """
    h, count = M.work[: len(x)], 0
    for c in range(M.sizes.contacts):
        for i in range(M.firsts[c], M.firsts[c + 1]):
            h[i] = x[i] if i < M.firsts[c] + 3 else x[i] / LEVER**2
    write_excess(h, corners, 0, M.sizes.contacts)
    for c in range(M.sizes.contacts):
        start, end = M.corner_ends[c], M.corner_ends[c + 1]
        at = highest(corners.y[start:end], 0.0)[1]
        if at >= 0:
            first = start + at - at % EDGES
            least = first
            for force in range(first, first + EDGES):
                least = force if corners.y[force] < corners.y[least] else least
            for i in range(3 - c):  # the edge opposite to the least comes last, see ``turn_edges``
                M.active[count] = first + (least - first + TURNS[i]) % EDGES
                count += 1
    return count


def press(needed: Vector, F: Vector, I: Indices, guessed: int, most: int) -> tuple[int, int]:  # noqa: E741
    """Find the forces whose sum is nearest to what is needed, in the coordinates of T, which is ``N`` of the memory.

    Args:
        needed: What they shall do.
        F: Numbers of the memory; forces are written to ``active``, what they bear to ``u``.
        I: Indices of the memory.
        guessed: With how many forces of ``active`` to begin.
        most: How many can differ.

    Returns:
        How it ended, and how many forces there are.
    """
    M = open_memory(F, I)
    width, room, T, Q, R, u, active = fours(most), M.N.shape[1], M.N, M.Q, M.R, M.u, M.active
    d, r, b, rest, normal = (
        M.work[:room],
        M.work[room : 2 * room],
        M.work[2 * room : 3 * room],
        rest_of(M),
        M.work[4 * room : 5 * room],
    )
    corners, count = corners_of(M), 0
    for i in range(width):
        rest[i] = needed[i] if i < most else 0.0
    still = STILL * square(rest, width) ** 0.5
    for step in range(MOST_STEPS):
        force, steep = active[step] if step < guessed else -1, 0.0
        if step >= guessed and count < most:
            force, still = find_strongest(corners, T, rest, normal, still, width)
        if force >= 0 and count < most:
            write_force(corners, force, T, normal, width)
            steep = split(Q, count, normal, d, width, 0.0)
        if steep > 0.0:
            add_normal(Q, R, d, count, normal, steep, width)
            b[count], u[count], active[count] = dot_row(Q, count, rest, width), 0.0, force
            add_row(rest, -b[count], Q, count, width)
            count += 1
        elif step >= guessed:
            return FOUND, count
        turn_edges(R, b, r, active, count if step + 1 == guessed else 0)
        leaving = settle(R, b, r, u, count) if step + 1 >= guessed else -1
        while leaving >= 0:
            count -= 1
            remove_normal(Q, R, b, u, active, count, leaving, width)
            add_row(rest, b[count], Q, count, width)
            leaving = settle(R, b, r, u, count)
    return LOST, count


def turn_edges(R: Matrix, b: Vector, r: Vector, active: Indices, count: int) -> None:
    """Take the fourth edge of a corner for the third one, between the others, where that would have to pull: a + b = c + d."""
    lean_on(R, b, r, count)
    for i in range(2, count):
        corner = active[i] // EDGES
        if r[i] < 0.0 and active[i - 1] // EDGES == corner and active[i - 2] // EDGES == corner:
            active[i] = EDGES * corner + (active[i] + 2) % EDGES
            for j in range(i - 2):
                R[i, j] = R[i - 2, j] + R[i - 1, j] - R[i, j]
            R[i, i - 2] = 1.0 / R[i - 2, i - 2] + R[i - 1, i - 2] - R[i, i - 2]
            R[i, i - 1] = 1.0 / R[i - 1, i - 1] - R[i, i - 1]
            R[i, i] = -R[i, i]


def find_strongest(
    corners: Rows, T: Matrix, rest: Vector, h: Vector, still: float, width: int
) -> tuple[int, float]:
    """Return the force that lets the cost fall most, minus one where none does, and what counts as no pull from here on."""
    for i in range(len(T)):
        h[i] = dot_row(T, i, rest, width)
    write_excess(h, corners, 0, len(corners.firsts) - 1)
    pull, force = highest(corners.y, still)
    return force, max(still, STILL * pull)


def settle(R: Matrix, b: Vector, r: Vector, u: Vector, count: int) -> int:
    """Let forces bear what brings them nearest, until the first would have to pull; return which, minus one where none has to."""
    lean_on(R, b, r, count)
    length, leaving = 1.0, -1
    for i in range(count):
        if r[i] <= 0.0 and u[i] <= length * (u[i] - r[i]):
            length, leaving = u[i] / max(u[i] - r[i], 1e-300), i
    for i in range(count):
        u[i] += length * (r[i] - u[i])
    return leaving


def write_force(corners: Rows, force: int, T: Matrix, normal: Vector, width: int) -> None:
    """Write what a force at a corner does."""
    first, size = place_of(corners, force)
    for k in range(width):
        normal[k] = 0.0
    add_rows(normal, corners.A[:, force], T, first, size, width)


def write_sum(x: Vector, corners: Rows, u: Vector, active: Indices, count: int) -> None:
    """Write the push of forces at corners."""
    for i in range(len(x)):
        x[i] = 0.0
    for j in range(count):
        first, size = place_of(corners, active[j])
        for i in range(size):
            x[first + i] += u[j] * corners.A[i, active[j]]
