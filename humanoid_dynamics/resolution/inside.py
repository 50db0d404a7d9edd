"""The push inside limits, compiled: first among those that fulfil the equation of motion, then the one that misses it least.

With x = x_0 + T'y the cost of a push is |y|^2 / 2, so that all that is left are rows a'x <= b: those of contacts, and torques.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.active_set import DEPENDENT, FOUND, HOPELESS, LOST, walk
from humanoid_dynamics.resolution.memory import CHOICE, EXACT, FLOOR, UNIT_FORCE, Memory
from humanoid_dynamics.resolution.small import add, dot, factor_cholesky, set_unit, solve_transposed, solve_upper
from humanoid_dynamics.spatial.arrays import Matrix, Vector

AS_IT_IS, HARD, SOFT, FAILED = range(4)  # ways in which a push was found


def choose_inside(question: tuple[Matrix, Vector, Vector, Vector, Vector, Vector], M: Memory) -> int:
    """Choose the push of least cost inside limits; where none fulfils the equation of motion, the one that misses least.

    Args:
        question: What the tick asks; its push fulfils the equation of motion.
        M: The memory, Hessian and linear term written.

    Returns:
        How it was found.
    """
    J, free, _, x, _, _ = question
    end, known = LOST, 0
    k = prepare_hard(M)
    if k >= 0:
        end, known = walk(J, free, x, M, k, M.sizes.torques, M.settings[EXACT] * M.settings[UNIT_FORCE], 0)
    if end == FOUND:
        return HARD
    if end == HOPELESS and prepare_soft(J, free, M):
        for torques in (M.sizes.torques, 0):
            for i in range(len(x)):
                x[i] = M.g[i]
            known = keep_contacts(M, known) if torques == 0 else known
            end, known = walk(J, free, x, M, M.sizes.n, torques, M.settings[EXACT] * size_of(free, M), known)
            if end == FOUND:
                return SOFT
    return FAILED


def keep_contacts(M: Memory, known: int) -> int:
    """Take the rows of torques out of the active ones; return how many are left."""
    left = 0
    for i in range(known):
        if M.active[i] < M.sizes.rows:
            M.active[left] = M.active[i]
            left += 1
    return left


def prepare_hard(M: Memory) -> int:
    """Write the directions that keep the equation of motion, orthonormal in the metric of the Hessian.

    The columns of Z = U'^-1 J_u are brought to triangular form by mirrors, kept as rows; what these make of the last unit vectors is
    orthogonal to all.

    Returns:
        How many directions there are; minus one where the equations depend on each other.
    """
    n, m, U, Z, T = M.sizes.n, M.sizes.m, M.U, M.Z, M.T
    for j in range(m):
        z = M.mirrors[j]
        for i in range(n):
            z[i] = Z[i, j]
        whole = dot(z, z, n)
        for i in range(j):
            mirror(M.mirrors[i], M.u[i], z, i, n)
        left = z[j:]
        square = dot(left, left, n - j)
        if not square > DEPENDENT * whole:
            return -1
        length = square**0.5 if z[j] < 0.0 else -(square**0.5)
        M.u[j] = 1.0 / (square - length * z[j])
        z[j] -= length
    set_unit(T, n - m, m)
    for k in range(n - m):
        t = T[k]
        for j in range(m - 1, -1, -1):
            mirror(M.mirrors[j], M.u[j], t, j, n)
        solve_upper(U, t, n)
    return n - m


def mirror(z: Vector, scale: float, t: Vector, first: int, n: int) -> None:
    """Mirror t in z, of which the entries from the first on count."""
    along = 0.0
    for i in range(first, n):
        along += z[i] * t[i]
    along *= scale
    for i in range(first, n):
        t[i] -= along * z[i]


def prepare_soft(J: Matrix, free: Vector, M: Memory) -> bool:
    """Write the push that misses the equation of motion least, but for a small weight of the rule's wish, to ``g``; all directions."""
    n, U, T = M.sizes.n, M.U, M.T
    fill_soft(J, free, M)
    if not factor_cholesky(M.K, U, n):
        return False
    solve_transposed(U, M.g, n)
    solve_upper(U, M.g, n)
    set_unit(T, n, 0)
    for k in range(n):
        solve_upper(U, T[k], k + 1)
    return True


def fill_soft(J: Matrix, free: Vector, M: Memory) -> None:
    """Write the squares of what the equations miss, and the rule's cost with a small weight: Hessian to ``K``, linear term to ``g``."""
    n, K, column, trace = M.sizes.n, M.K, M.work[: M.sizes.n], 0.0
    for i in range(n):
        trace += M.H[i, i]
    choice = M.settings[CHOICE] * n / max(trace, 1e-300)
    for i in range(n):
        M.g[i] *= choice
        for j in range(i, n):
            K[i, j] = choice * M.H[i, j]
        K[i, i] += M.settings[CHOICE] * M.settings[FLOOR]
    for k in range(M.sizes.m):
        for i in range(n):
            column[i] = J[i, M.bearing[k]]
        add(M.g, M.misses[k] * free[M.bearing[k]], column, n)
        for i in range(n):
            add(K[i], M.misses[k] * column[i], column, n)


def size_of(free: Vector, M: Memory) -> float:
    """Return the largest force that is asked for, or the weight of the robot."""
    largest = float(M.settings[UNIT_FORCE])
    for place in M.bearing:
        largest = max(largest, abs(free[place]))
    for place in M.torques:
        largest = max(largest, abs(free[place]))
    return largest
