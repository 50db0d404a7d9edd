"""The tick's program, as loops that numba compiles: the same as ``ReducedProgram`` writes in arrays, in units where its cost is plain.

The unknowns x are joint accelerations and the wrench under a second sole; y = (x - wish) / root, where root is one over the square root
of what they cost.  Rows of the wrench under a first sole come before those under a second one.
"""

from __future__ import annotations

import math

from humanoid_dynamics.filtering.nearest_kernels import Always, Limits, Work, find_nearest
from humanoid_dynamics.resolution.small import dot, factor_cholesky, solve_transposed, solve_upper
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

BASE = WRENCH = 6
CORNERS = 4
NAN = float("nan")
COM, HEIGHT, TURN, SWING, LANDING, SWING_TURN, JOINTS, FORCE, NEAR = range(9)  # places in the weights
FIRST, SECOND = range(2)  # places in the plan

State = tuple[Matrix, Vector, Matrix, Matrix, Matrix, Matrix, Vector]
Wish = tuple[Vector, Vector, Vector, Matrix, Matrix, Matrix, Vector, Vector]
Extra = tuple[Matrix, Vector, Vector, Matrix, Vector, int]
Given = tuple[Indices, Vector, Matrix, Matrix, Vector, Vector]
Reduced = tuple[Matrix, Matrix, Matrix, Matrix, Matrix]


def solve_program(  # noqa: PLR0917
    state: State, wish: Wish, room: Matrix, given: Given, extra: Extra, reduced: Reduced, rows: tuple[Always, Limits], work: Work, out: Vector
) -> int:
    """Write and solve the program of a tick whose first sole stands.

    Args:
        state: M, h, J, drift, to_base, J_com and com_drift of the robot.
        wish: Wishes com, base, joints, soles, up, rise, height and load.
        room: (2, na) least and largest accelerations of joints.
        given: Plan, largest torques, cones of both soles, units of a wrench, weights.
        extra: Further rows on the accelerations of the robot: soft ones, their values and weights; limits, their least values and how many.
        reduced: T and P, S, constants, vectors, memory of six by six; overwritten.
        rows: Soft rows and equations, and limits; overwritten.
        work: Memory of ``find_nearest``.
        out: (nv + 12 + na,) acceleration, wrenches under both soles, torques; overwritten.

    Returns:
        How it ended, see ``find_nearest``.
    """
    plan, always, limits = given[0], rows[0], rows[1]
    n, na = reduced[1].shape[1], reduced[0].shape[1]
    _move_base(state, wish, plan[FIRST], reduced)
    _write_torques(state, reduced, limits[0])
    _write_wrench(state, given, reduced, limits[0])
    _write_scale(wish, given, reduced)
    soft = _write_wishes(state, wish, given, extra, reduced, always)
    _write_limits(wish, given, extra, reduced, limits)
    root, w, bounds, y = reduced[3][0], reduced[3][1], reduced[3][2:4, :na], reduced[3][4]
    for i in range(na):
        bounds[0, i], bounds[1, i] = (room[0, i] - w[i]) / root[i], (room[1, i] - w[i]) / root[i]
    ended = find_nearest(always, soft, limits, bounds, y[:n], work)
    _read(given, reduced, limits, out)
    return ended


def set_row(A: Matrix, i: int, row: Vector, size: int) -> None:
    """Write the first entries of row i of a matrix, and zeros behind them."""
    for j in range(size):
        A[i, j] = row[j]
    for j in range(size, A.shape[1]):
        A[i, j] = 0.0


def add_products(out: Vector, factors: Vector, A: Matrix, size: int) -> None:
    """Add six multiples of the first rows of a matrix to a row."""
    a, b, c, d, e, f = factors[0], factors[1], factors[2], factors[3], factors[4], factors[5]
    for j in range(size):
        out[j] += a * A[0, j] + b * A[1, j] + c * A[2, j] + d * A[3, j] + e * A[4, j] + f * A[5, j]


def _move_base(state: State, wish: Wish, first: int, reduced: Reduced) -> None:
    """T = -B J, t = B (wish - drift): the base accelerates by T va + t."""
    J, drift, B = state[2][first], state[3][first], state[4][first]
    T, t, soles = reduced[0][:BASE], reduced[2][0], wish[3]
    na = T.shape[1]
    minus = reduced[2][3]
    for i in range(BASE):
        t[i] = 0.0
        for k in range(WRENCH):
            t[i] += B[i, k] * (soles[first, k] - drift[k])
            minus[k] = -B[i, k]
        for j in range(na):
            T[i, j] = 0.0
        add_products(T[i], minus, J[:, BASE:], na)


def _write_torques(state: State, reduced: Reduced, A: Matrix) -> None:
    """P va + p is the force the base needs; torques are those of a robot that is bolted to the ground at the sole."""
    M, h = state[0], state[1]
    T, P, t, p, rest = reduced[0][:BASE], reduced[0][BASE:], reduced[2][0], reduced[2][1], reduced[3][5]
    na = T.shape[1]
    for i in range(BASE):
        p[i] = h[i] + dot(M[i], t, BASE)
        for j in range(na):
            P[i, j] = M[i, BASE + j]
        add_products(P[i], M[i], T, na)
    column = reduced[2][3]
    for i in range(na):
        for k in range(BASE):
            column[k] = T[k, i]
        rest[i] = h[BASE + i] + dot(M[BASE + i], t, BASE) + dot(column, p, BASE)
        set_row(A, i, M[BASE + i, BASE:], na)
        add_products(A[i], M[BASE + i], T, na)
        add_products(A[i], column, P, na)


def _write_wrench(state: State, given: Given, reduced: Reduced, A: Matrix) -> None:
    """S x + s is the wrench under the first sole, S = B' P behind the joints; what a second one does to it and to the torques."""
    plan, units = given[0], given[4]
    B, P, p, S, s, second = state[4][plan[FIRST]], reduced[0][BASE:], reduced[2][1], reduced[1], reduced[2][2], plan[SECOND]
    na, column = P.shape[1], reduced[2][3]
    for i in range(WRENCH):
        for k in range(BASE):
            column[k] = B[k, i]
        s[i] = dot(column, p, BASE)
        for j in range(S.shape[1]):
            S[i, j] = 0.0
        add_products(S[i], column, P, na)
        if second >= 0:
            for j in range(WRENCH):
                S[i, na + j] = -dot(column, state[2][second, j], BASE) * units[j]
    if second < 0:
        return
    J, T = state[2][second], reduced[0][:BASE]
    rows = reduced[4][:WRENCH]
    for i in range(WRENCH):
        for j in range(na):
            rows[i, j] = J[i, BASE + j]
        add_products(rows[i], J[i], T, na)
        for j in range(na):
            A[j, na + i] = -rows[i, j] * units[i]


def _write_scale(wish: Wish, given: Given, reduced: Reduced) -> None:
    """Write what unknowns are wished to be, and one over the square root of what they cost."""
    weights, root, w, na = given[5], reduced[3][0], reduced[3][1], reduced[0].shape[1]
    for i in range(na):
        w[i], root[i] = wish[2][i], 1.0 / math.sqrt(weights[JOINTS])
    for i in range(na, reduced[1].shape[1]):
        w[i], root[i] = 0.0, 1.0 / math.sqrt(weights[FORCE])


def _share_load(state: State, given: Given, reduced: Reduced, g: Vector) -> None:
    """Wish for the least wrenches under both soles that the wished motion needs."""
    plan, units, P, p, s, w = given[0], given[4], reduced[0][BASE:], reduced[2][1], reduced[2][2], reduced[3][1]
    y, na = reduced[2][3], P.shape[1]
    first, second = state[2][plan[FIRST]], state[2][plan[SECOND]]
    N, U = reduced[4][WRENCH : 2 * WRENCH], reduced[4][2 * WRENCH :]
    for i in range(BASE):
        y[i] = p[i] + dot(P[i], w, na)
        for j in range(i, BASE):
            N[i, j] = 0.0
            for k in range(WRENCH):
                N[i, j] += (first[k, i] * first[k, j] + second[k, i] * second[k, j]) * units[k] ** 2
    if factor_cholesky(N, U, BASE):
        solve_transposed(U, y, BASE)
        solve_upper(U, y, BASE)
    else:
        y[0] = NAN
    for i in range(WRENCH):
        g[i] = dot(first[i], y, BASE) * units[i] ** 2 - s[i]
        w[na + i] = dot(second[i], y, BASE) * units[i]


def _write_wishes(state: State, wish: Wish, given: Given, extra: Extra, reduced: Reduced, always: Always) -> int:  # noqa: PLR0917
    """Write rows that are to be met as well as they can, and equations behind them; return how many are soft."""
    plan, weights, units, N, b = given[0], given[5], given[4], always[0], always[1]
    T, t, S = reduced[0][:BASE], reduced[2][0], reduced[1]
    na, n, second = T.shape[1], N.shape[1], plan[SECOND]
    if second >= 0:
        _share_load(state, given, reduced, b[BASE : 2 * BASE])
    for i in range(3):
        weigh = math.sqrt(weights[COM if i < 2 else HEIGHT])
        _reduce(state[5][i], wish[0][i] - state[6][i], reduced, N, b, i)
        _finish_soft(weigh, reduced, N, b, i)
        set_row(N, 3 + i, T[3 + i], na)
        b[3 + i] = wish[1][i] - t[3 + i]
        _finish_soft(math.sqrt(weights[TURN]), reduced, N, b, 3 + i)
    foot = second if second >= 0 else 1 - plan[FIRST]
    near = 1.0 + (weights[LANDING] - 1.0) * max(0.0, 1.0 - wish[6][foot] / weights[NEAR])
    for i in range(WRENCH):
        row = BASE + i
        if second >= 0:
            set_row(N, row, S[i], n)
            weigh = math.sqrt(weights[FORCE]) / units[i]
        else:
            _reduce(state[2][foot, i], wish[3][foot, i] - state[3][foot, i], reduced, N, b, row)
            reduced[2][4, i] = wish[3][foot, i] - b[row]
            for j in range(na):
                reduced[4][i, j] = N[row, j]
            weigh = math.sqrt(weights[SWING] * near * (weights[SWING_TURN] if i > 2 else 1.0))
        _finish_soft(weigh, reduced, N, b, row)
    row = 2 * BASE
    for k in range(len(extra[1])):
        _reduce(extra[0][k], extra[1][k], reduced, N, b, row)
        _finish_soft(math.sqrt(extra[2][k]), reduced, N, b, row)
        row += 1
    if second >= 0:
        for i in range(WRENCH):
            _reduce(state[2][second, i], wish[3][second, i] - state[3][second, i], reduced, N, b, row + i)
            _finish_soft(1.0, reduced, N, b, row + i)
    return row


def _reduce(J: Vector, value: float, reduced: Reduced, N: Matrix, b: Vector, row: int) -> None:  # noqa: PLR0917
    """Write a row on the accelerations of the robot as one on the unknowns."""
    T, t = reduced[0][:BASE], reduced[2][0]
    set_row(N, row, J[BASE:], T.shape[1])
    add_products(N[row], J, T, T.shape[1])
    b[row] = value - dot(J, t, BASE)


def _finish_soft(weigh: float, reduced: Reduced, N: Matrix, b: Vector, row: int) -> None:
    """Turn a row on x to one on y, and weigh it."""
    root, w = reduced[3][0], reduced[3][1]
    b[row] = weigh * (b[row] - dot(N[row], w, N.shape[1]))
    for j in range(N.shape[1]):
        N[row, j] *= weigh * root[j]


def _write_limits(wish: Wish, given: Given, extra: Extra, reduced: Reduced, limits: Limits) -> None:
    """Write torques, what the soles can carry, corners above the ground, largest loads, and further limits."""
    plan, effort, units = given[0], given[1], given[4]
    S, s, rest = reduced[1], reduced[2][2], reduced[3][5]
    A, lower, upper = limits[0], limits[1], limits[2]
    na, n, row = reduced[0].shape[1], A.shape[1], reduced[0].shape[1]
    for i in range(na):
        lower[i], upper[i] = -effort[i] - rest[i], effort[i] - rest[i]
    for k in range(len(given[2])):
        set_row(A, row, S[0], 0)
        add_products(A[row], given[2][k], S, n)
        lower[row], upper[row] = -math.inf, -dot(given[2][k], s, WRENCH)
        row += 1
    set_row(A, row, S[2], n)
    lower[row], upper[row] = -math.inf, wish[7][plan[FIRST]] - s[2]
    row += 1
    if plan[SECOND] >= 0:
        for k in range(len(given[3])):
            set_row(A, row, S[0], 0)
            for j in range(WRENCH):
                A[row, na + j] = given[3][k, j] * units[j]
            lower[row], upper[row] = -math.inf, 0.0
            row += 1
        set_row(A, row, S[2], 0)
        A[row, na + 2] = units[2]
        lower[row], upper[row] = -math.inf, wish[7][plan[SECOND]]
        row += 1
    else:
        row = _stay_above(wish, given, reduced, limits, row)
    for k in range(len(extra[4])):
        if k < extra[5]:
            _reduce(extra[3][k], extra[4][k], reduced, A, lower, row)
        else:
            lower[row] = -math.inf
        upper[row] = math.inf
        row += 1
    for k in range(len(lower)):
        _finish_limit(reduced, limits, k)


def _stay_above(wish: Wish, given: Given, reduced: Reduced, limits: Limits, row: int) -> int:
    """Write that the corners of the sole that swings stay above the ground; its motion is in the memory."""
    foot, G, A = 1 - given[0][FIRST], reduced[4], limits[0]
    for c in range(CORNERS):
        up = wish[4][foot, c]
        set_row(A, row, G[0], 0)
        add_products(A[row], up, G, reduced[0].shape[1])
        limits[1][row] = wish[5][foot, c] - dot(up, reduced[2][4], WRENCH)
        limits[2][row] = math.inf
        row += 1
    return row


def _finish_limit(reduced: Reduced, limits: Limits, k: int) -> None:
    """Turn a row on x to one on y."""
    A, lower, upper, size = limits
    root, w, n = reduced[3][0], reduced[3][1], A.shape[1]
    size[k] = 0.0
    if k >= reduced[0].shape[1] and not (math.isfinite(lower[k]) or math.isfinite(upper[k])):
        return
    at, square = 0.0, 0.0
    for j in range(n):
        at += A[k, j] * w[j]
        A[k, j] *= root[j]
        square += A[k, j] * A[k, j]
    lower[k] -= at
    upper[k] -= at
    if k < reduced[0].shape[1]:
        reduced[3][5, k] += at
    if lower[k] > -math.inf or upper[k] < math.inf:
        size[k] = math.sqrt(square)


def _read(given: Given, reduced: Reduced, limits: Limits, out: Vector) -> None:
    """Write what belongs to the solution."""
    plan, units = given[0], given[4]
    T, t, S, s = reduced[0][:BASE], reduced[2][0], reduced[1], reduced[2][2]
    root, x, y, rest = reduced[3][0], reduced[3][1], reduced[3][4], reduced[3][5]
    na, n = T.shape[1], S.shape[1]
    for i in range(n):
        x[i] += root[i] * y[i]
    wrench = BASE + na
    for i in range(BASE):
        out[i] = t[i] + dot(T[i], x, na)
        out[wrench + WRENCH * plan[FIRST] + i] = s[i] + dot(S[i], x, n)
        out[wrench + WRENCH * (1 - plan[FIRST]) + i] = units[i] * x[na + i] if plan[SECOND] >= 0 else 0.0
    for i in range(na):
        out[BASE + i] = x[i]
        out[wrench + 2 * WRENCH + i] = rest[i] + dot(limits[0][i], y, n)
