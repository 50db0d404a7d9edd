"""The two fast ticks as loops: for numba, and readable beside the array form in ``resolver.py`` that they are tested against.

Arguments come in four groups:

* question: ``J`` (n, s) and ``free`` (s,), Jacobian and torques of free motion of the span; ``tau_0`` (nv,) all of these; ``shares``
  (contacts,); and what is written: ``x`` (n,) the push, ``forces`` (nv,) tau_0 - J'x.
* objective: what a rule weighs.
* place: ``K`` (n + m, n + m) and ``d`` (3 n + 2 m,) work space; the first coordinate of the span.
* limits: coordinates without motor and the square of what they may miss; ``rows`` (6, r), rows of each contact on its own unknowns,
  transposed, their bounds, work space of that size, and what they may be broken by; coordinates with a motor, one over their limits, and
  the largest share of one; where the unknowns of each contact start (contacts + 1,), and its rows; its friction and largest load; the
  kind of each row; and from where on a limit of a contact counts as broken.

Both return 0 where the system is singular, else what is wrong first: 1 something is missing, 2 a contact, 3 a motor, 4 nothing.
"""

from __future__ import annotations

from typing import TypeAlias

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Question: TypeAlias = tuple[Matrix, Vector, Vector, Vector, Vector, Vector]
Place: TypeAlias = tuple[Matrix, Vector, int]
Contacts: TypeAlias = tuple[Indices, Indices, Vector, Vector, Indices, float]
Limits: TypeAlias = tuple[Indices, float, Matrix, Vector, Vector, float, Indices, Vector, float, Contacts]

SINGULAR, MISSING, CONTACT, MOTOR, ALL_WELL = range(5)
SOLID, FRICTION, YAW = range(3)  # kinds of rows: pressure and load, friction, yaw


def torque_tick(question: Question, objective: tuple[Indices, Vector, Vector, Matrix, Vector], place: Place, limits: Limits) -> int:
    """Answer by least torques: [[J W J' + H_x, J_u], [J_u', 0]] [x; multipliers] = [J W free; free_u], then judge.

    Args:
        question: What the tick asks.
        objective: Places of the equations in the span (m,), weights of the torques (s,), weights of the push (n,); Hessian and linear term
            of the objective, written.
        place: Work space.
        limits: What the answer is judged by.
    """
    J, free, _, _, x, _ = question
    bearing, weights, h_x, H, g = objective
    K, d, _ = place
    n, m = len(x), len(bearing)
    for i in range(n):
        d[i] = weigh(J, i, weights, free)
        for j in range(i + 1):
            K[i, j] = weigh(J, i, weights, J[j])
        K[i, i] += h_x[i]
        H[i, : i + 1] = K[i, : i + 1]
        H[: i + 1, i] = K[i, : i + 1]
    g[:] = d[:n]
    for i in range(m):
        d[n + i] = free[bearing[i]]
        K[n + i, :n] = J[:, bearing[i]]
        K[n + i, n:] = 0.0
    if not solve_saddle(K, d, n + m):
        return SINGULAR
    x[:] = d[:n]
    return judge(question, place[2], limits)


def share_tick(question: Question, objective: tuple[Indices, int, Indices, Vector, Matrix], place: Place, limits: Limits) -> int:
    """Answer by shares: x = x_t + C J_u mu with J_u' C J_u mu = free_u - J_u' x_t, then judge.

    Args:
        question: What the tick asks.
        objective: Places of the equations in the span (m,); how many coordinates of the span, the first ones, are those of a base that
            slides; the contact that each part of the push belongs to (n,), minus one for a gear; C for a share of one (n,), how much of
            what is left each part takes, below 1 for a force; how the moment of an edge about its normal follows from the two forces along
            it (n, 2), zero elsewhere [m].
        place: Work space.
        limits: What the answer is judged by.
    """
    J, free, _, _, x, _ = question
    bearing, linear, owner, softness, twist = objective
    K, d, _ = place
    n, m = len(x), len(bearing)
    soft = d[2 * len(K) :]
    fill_targets(question, linear, owner, softness, soft)
    add_twist(x, twist)
    fill_shares(J, bearing, soft, K)
    for i in range(m):
        d[i] = free[bearing[i]]
        for k in range(n):
            d[i] -= x[k] * J[k, bearing[i]]
    if not solve_saddle(K, d, m):
        return SINGULAR
    for i in range(n):
        for k in range(m):
            x[i] += soft[i] * J[i, bearing[k]] * d[k]
    return judge(question, place[2], limits)


def weigh(J: Matrix, i: int, weights: Vector, other: Vector) -> float:
    """Return row i of J times the weights times another row."""
    total = 0.0
    for k in range(len(weights)):
        total += J[i, k] * weights[k] * other[k]
    return total


def fill_targets(question: Question, linear: int, owner: Indices, softness: Vector, soft: Vector) -> None:
    """Write C, and the forces by shares into the push."""
    J, free, _, shares, x, _ = question
    for i in range(len(x)):
        share = shares[owner[i]] if owner[i] >= 0 else 1.0
        soft[i] = softness[i] * share
        x[i] = 0.0
        if softness[i] < 1.0:
            for k in range(linear):
                x[i] += share * J[i, k] * free[k]


def add_twist(x: Vector, twist: Matrix) -> None:
    """Write the moments about their normals that edges have for their forces: two rows after those forces."""
    for i in range(4, len(x)):
        if twist[i, 0] != 0.0 or twist[i, 1] != 0.0:
            x[i] = twist[i, 0] * x[i - 4] + twist[i, 1] * x[i - 3]


def fill_shares(J: Matrix, bearing: Indices, soft: Vector, K: Matrix) -> None:
    """Write the lower triangle of J_u' C J_u into K."""
    for i in range(len(bearing)):
        for j in range(i + 1):
            total = 0.0
            for k in range(len(J)):
                total += J[k, bearing[i]] * soft[k] * J[k, bearing[j]]
            K[i, j] = total


def solve_saddle(K: Matrix, d: Vector, size: int) -> bool:
    """Solve K z = d in place, K = L D L' with a diagonal D of either sign: it exists without pivoting for [[H, G'], [G, 0]], H > 0.

    Args:
        K: Lower triangle of the matrix; overwritten.
        d: Right-hand side, overwritten by the solution, then as much work space.
        size: Size of the system.
    """
    for j in range(size):
        total = K[j, j]
        for k in range(j):
            d[size + k] = K[j, k] * K[k, k]
            total -= K[j, k] * d[size + k]
        if total == 0.0:
            return False
        K[j, j] = total
        for i in range(j + 1, size):
            total = K[i, j]
            for k in range(j):
                total -= K[i, k] * d[size + k]
            K[i, j] = total / K[j, j]
    substitute(K, d, size)
    return True


def substitute(K: Matrix, d: Vector, size: int) -> None:
    """Solve L D L' z = d for a factored K."""
    for i in range(size):
        for k in range(i):
            d[i] -= K[i, k] * d[k]
    for i in range(size - 1, -1, -1):
        d[i] /= K[i, i]
        for k in range(i + 1, size):
            d[i] -= K[k, i] * d[k]


def judge(question: Question, first: int, limits: Limits) -> int:
    """Write the forces and tell what is wrong with them first: something missing, a contact, a motor, nothing.

    Args:
        question: What the tick asks, its push written.
        first: First coordinate of the span.
        limits: What the answer is judged by.
    """
    forces, x = question[5], question[4]
    undriven, tolerance, rows, b, y, tight, driven, per_limit, most_used, contacts = limits
    write_forces(question, first)
    missing, used = 0.0, 0.0
    for i in range(len(undriven)):
        missing += forces[undriven[i]] ** 2
    for i in range(len(driven)):
        used = max(used, abs(forces[driven[i]] * per_limit[i]))
    if not missing <= tolerance:
        return MISSING
    if press(rows, b, x, y, contacts) > tight and is_broken(x, y, contacts):
        return CONTACT
    return MOTOR if used > most_used else ALL_WELL


def write_forces(question: Question, first: int) -> None:
    """Write tau_0 - J'x."""
    J, _, tau_0, _, x, forces = question
    forces[:] = tau_0
    for k in range(len(x)):
        for i in range(J.shape[1]):
            forces[first + i] -= J[k, i] * x[k]


def press(rows: Matrix, b: Vector, x: Vector, y: Vector, contacts: Contacts) -> float:
    """Write the rows of all contacts less their bounds into y and return the largest."""
    firsts, ends = contacts[0], contacts[1]
    y[:] = -b
    for c in range(len(firsts) - 1):
        for k in range(firsts[c + 1] - firsts[c]):
            push = x[firsts[c] + k]
            for i in range(ends[c], ends[c + 1]):
                y[i] += rows[k, i] * push
    worst = -1.0
    for i in range(len(b)):
        worst = max(worst, y[i])
    return worst


def is_broken(x: Vector, y: Vector, contacts: Contacts) -> bool:
    """Whether a contact pulls, slips out of its round cone, tips, bears too much or turns, y being its rows less their bounds."""
    firsts, ends, friction, load, kinds, nothing = contacts
    for c in range(len(friction)):
        along, across, normal = x[firsts[c]], x[firsts[c] + 1], x[firsts[c] + 2]
        slips = (along * along + across * across) ** 0.5 > friction[c] * normal + nothing
        if normal < -nothing or normal > load[c] + nothing or slips:
            return True
        over = [0.0, 0.0, 0.0]
        for i in range(ends[c], ends[c + 1]):
            over[kinds[i]] = max(over[kinds[i]], y[i])
        if over[SOLID] > nothing or (over[FRICTION] <= nothing < over[YAW]):
            return True
    return False


def ask_hard(
    question: tuple[Matrix, Vector, Matrix, Vector],
    places: tuple[Indices, Indices, Vector],
    program: tuple[Matrix, Vector, Matrix, Vector, Vector],
) -> None:
    """Fill a quadratic program: objective, equation of motion in the first rows, torques in the last.

    Args:
        question: J and free as above, Hessian and linear term of the objective.
        places: Places of the equations and of the limited torques in the span, and their limits.
        program: H, f, A, lower and upper of the program, written.
    """
    J, free, H, g = question
    bearing, torques, effort = places
    H_qp, f, A, lower, upper = program
    n, last = len(J), len(A) - len(torques)
    for i in range(n):
        f[i] = -g[i]
        for j in range(n):
            H_qp[i, j] = H[i, j]
        for k in range(len(bearing)):
            A[k, i] = J[i, bearing[k]]
        for k in range(len(torques)):
            A[last + k, i] = J[i, torques[k]]
    for k in range(len(bearing)):
        lower[k] = free[bearing[k]]
        upper[k] = free[bearing[k]]
    for k in range(len(torques)):
        lower[last + k] = free[torques[k]] - effort[k]
        upper[last + k] = free[torques[k]] + effort[k]


PARTS = (weigh, fill_targets, add_twist, fill_shares, substitute, solve_saddle, write_forces, press, is_broken, judge)
