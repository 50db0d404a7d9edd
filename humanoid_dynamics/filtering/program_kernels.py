"""Filling the tick's program, as loops that numba compiles; the same as ``ReducedProgram`` writes in arrays.

All arrays are those of the program; rows of the wrench under a first sole come before those under a second one.
"""

from __future__ import annotations

from humanoid_dynamics.resolution.small import factor_cholesky, solve_transposed, solve_upper
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

BASE = WRENCH = 6
CORNERS = 4
NAN = float("nan")
COM, HEIGHT, TURN, SWING, LANDING, SWING_TURN, JOINTS, FORCE, NEAR = range(9)  # places in the weights
FIRST, SECOND, ABOVE, LOAD, UNDER, UNDER_SECOND, TORQUES, ROOM = range(8)  # places in the plan

State = tuple[Matrix, Vector, Matrix, Matrix, Matrix, Matrix, Vector]
Wish = tuple[Vector, Vector, Vector, Matrix, Matrix, Matrix, Vector, Vector]
Reduced = tuple[Matrix, Vector, Matrix, Vector, Matrix, Vector, Matrix, Vector, Matrix, Matrix]
Qp = tuple[Matrix, Vector, Matrix, Vector, Vector]
Given = tuple[Indices, Indices, Vector, Matrix, Vector, Vector, Vector]


def fill_program(  # noqa: PLR0917
    state: State, wish: Wish, room: Matrix, given: Given, reduced: Reduced, qp: Qp
) -> None:
    """Write the program of a tick whose first sole stands.

    Args:
        state: M, h, J, drift, to_base, J_com and com_drift of the robot.
        wish: Wishes com, base, joints, soles, up, rise, height and load.
        room: (2, na) least and largest accelerations of joints.
        given: Plan of rows, limited torques, their limits, cones of the soles, units of a wrench, weights, weights of the rows of G.
        reduced: T, t, P, p, S, s, torques and their constant, G, and memory; overwritten.
        qp: H, f, A, lower and upper; overwritten.
    """
    plan, second = given[0], given[0][SECOND]
    _move_base(state, wish, plan[FIRST], reduced)
    _write_torques(state, reduced)
    _write_wrench(state, plan[FIRST], reduced)
    if second >= 0:
        _write_second(state, wish, given, reduced, qp)
    _write_limits(wish, room, given, reduced, qp)
    _write_wishes(state, wish, given, reduced, qp)
    _write_cost(wish, given, reduced, qp)


def add_row(A: Matrix, factor: float, i: int, row: Vector, size: int) -> None:
    """Add a multiple of the first entries of a row to row i of a matrix."""
    for j in range(size):
        A[i, j] += factor * row[j]


def set_row(A: Matrix, i: int, row: Vector, size: int) -> None:
    """Write the first entries of row i of a matrix."""
    for j in range(size):
        A[i, j] = row[j]


def clear_row(A: Matrix, i: int, size: int) -> None:
    """Write zeros to the first entries of row i of a matrix."""
    for j in range(size):
        A[i, j] = 0.0


def _move_base(state: State, wish: Wish, first: int, reduced: Reduced) -> None:
    """T = -B J, t = B (wish - drift): the base accelerates by T va + t."""
    J, drift, B = state[2][first], state[3][first], state[4][first]
    T, t = reduced[0], reduced[1]
    soles = wish[3]
    for i in range(BASE):
        t[i] = 0.0
        clear_row(T, i, T.shape[1])
        for k in range(WRENCH):
            t[i] += B[i, k] * (soles[first, k] - drift[k])
            add_row(T, -B[i, k], i, J[k, BASE:], T.shape[1])


def _write_torques(state: State, reduced: Reduced) -> None:
    """P va + p is the force the base needs; torques are those of a robot that is bolted to the ground at the sole."""
    M, h = state[0], state[1]
    T, t, P, p, tau, rest = reduced[0], reduced[1], reduced[2], reduced[3], reduced[6], reduced[7]
    na = T.shape[1]
    for i in range(BASE):
        p[i] = h[i]
        set_row(P, i, M[i, BASE:], na)
        for k in range(BASE):
            p[i] += M[i, k] * t[k]
            add_row(P, M[i, k], i, T[k], na)
    for i in range(na):
        rest[i] = h[BASE + i]
        set_row(tau, i, M[BASE + i, BASE:], na)
        for k in range(BASE):
            rest[i] += M[BASE + i, k] * t[k] + T[k, i] * p[k]
            for j in range(na):
                tau[i, j] += M[BASE + i, k] * T[k, j] + T[k, i] * P[k, j]


def _write_wrench(state: State, first: int, reduced: Reduced) -> None:
    """S = B' P, s = B' p: the wrench under the first sole."""
    B, P, p, S, s = state[4][first], reduced[2], reduced[3], reduced[4], reduced[5]
    for i in range(WRENCH):
        s[i] = 0.0
        clear_row(S, i, P.shape[1])
        for k in range(BASE):
            s[i] += B[k, i] * p[k]
            add_row(S, B[k, i], i, P[k], P.shape[1])


def _write_second(state: State, wish: Wish, given: Given, reduced: Reduced, qp: Qp) -> None:
    """Write what a second standing sole does: its equations, and its wrench in torques and under the first sole."""
    plan, units = given[0], given[4]
    T, t, S, tau = reduced[0], reduced[1], reduced[4], reduced[6]
    J, B, na, second = state[2][plan[SECOND]], state[4][plan[FIRST]], T.shape[1], plan[SECOND]
    A, lower, upper = qp[2], qp[3], qp[4]
    for i in range(WRENCH):
        right = wish[3][second, i] - state[3][second, i]
        set_row(A, i, J[i, BASE:], na)
        for k in range(BASE):
            right -= J[i, k] * t[k]
            add_row(A, J[i, k], i, T[k], na)
        lower[i] = upper[i] = right
        for j in range(na):
            tau[j, na + i] = -A[i, j] * units[i]
        for j in range(WRENCH):
            S[i, na + j] = 0.0
        for k in range(BASE):
            for j in range(WRENCH):
                S[i, na + j] -= B[k, i] * J[j, k] * units[j]


def _write_limits(wish: Wish, room: Matrix, given: Given, reduced: Reduced, qp: Qp) -> None:
    """Write room of joints, torques, what the first sole can carry, and largest loads."""
    plan, limited, effort, cones = given[0], given[1], given[2], given[3]
    S, s, tau, rest = reduced[4], reduced[5], reduced[6], reduced[7]
    A, lower, upper = qp[2], qp[3], qp[4]
    n = A.shape[1]
    for i in range(room.shape[1]):
        lower[plan[ROOM] + i], upper[plan[ROOM] + i] = room[0, i], room[1, i]
    for k in range(len(limited)):
        row, i = plan[TORQUES] + k, limited[k]
        upper[row], lower[row] = effort[k] - rest[i], -effort[k] - rest[i]
        set_row(A, row, tau[i], n)
    for k in range(len(cones)):
        row = plan[UNDER] + k
        upper[row] = 0.0
        clear_row(A, row, n)
        for i in range(WRENCH):
            upper[row] -= cones[k, i] * s[i]
            add_row(A, cones[k, i], row, S[i], n)
    row = plan[LOAD]
    upper[row] = wish[7][plan[FIRST]] - s[2]
    set_row(A, row, S[2], n)
    if plan[SECOND] >= 0:
        upper[row + 1] = wish[7][plan[SECOND]]


def _write_wishes(state: State, wish: Wish, given: Given, reduced: Reduced, qp: Qp) -> None:
    """Write rows G x = g that are to be met as well as they can: centre of mass, base, and the swinging sole or the split of the load."""
    plan = given[0]
    J_com, com_drift = state[5], state[6]
    T, t, G, g = reduced[0], reduced[1], reduced[8], reduced[9][0]
    na = T.shape[1]
    for i in range(3):
        g[i] = wish[0][i] - com_drift[i]
        g[3 + i] = wish[1][i] - t[3 + i]
        set_row(G, i, J_com[i, BASE:], na)
        set_row(G, 3 + i, T[3 + i], na)
        for k in range(BASE):
            g[i] -= J_com[i, k] * t[k]
            add_row(G, J_com[i, k], i, T[k], na)
    if plan[SECOND] < 0:
        _write_swing(state, wish, given, reduced, qp)
    else:
        _share_load(state, wish, given, reduced)


def _write_swing(state: State, wish: Wish, given: Given, reduced: Reduced, qp: Qp) -> None:
    plan, weights, W = given[0], given[5], given[6]
    foot = 1 - plan[FIRST]
    J, drift, soles, up, rise = state[2][foot], state[3][foot], wish[3][foot], wish[4][foot], wish[5][foot]
    T, t, G, g = reduced[0], reduced[1], reduced[8], reduced[9][0]
    A, lower, na = qp[2], qp[3], T.shape[1]
    near = 1.0 + (weights[LANDING] - 1.0) * max(0.0, 1.0 - wish[6][foot] / weights[NEAR])
    for i in range(WRENCH):
        row = BASE + i
        W[row] = weights[SWING] * near * (weights[SWING_TURN] if i > 2 else 1.0)
        g[row] = soles[i] - drift[i]
        set_row(G, row, J[i, BASE:], na)
        for k in range(BASE):
            g[row] -= J[i, k] * t[k]
            add_row(G, J[i, k], row, T[k], na)
    for c in range(CORNERS):
        row = plan[ABOVE] + c
        lower[row] = rise[c]
        clear_row(A, row, na)
        for i in range(WRENCH):
            lower[row] -= up[c, i] * (soles[i] - g[BASE + i])
            add_row(A, up[c, i], row, G[BASE + i], na)


def _share_load(state: State, wish: Wish, given: Given, reduced: Reduced) -> None:
    """Wish for the least wrenches under both soles that the wished motion needs."""
    plan, units = given[0], given[4]
    P, p, S, s, G, memory = reduced[2], reduced[3], reduced[4], reduced[5], reduced[8], reduced[9]
    joints, g, y = wish[2], memory[0], memory[1]
    first, second = state[2][plan[FIRST]], state[2][plan[SECOND]]
    N, U = memory[2 : 2 + BASE], memory[2 + BASE : 2 + 2 * BASE]
    for i in range(BASE):
        y[i] = p[i]
        for j in range(P.shape[1]):
            y[i] += P[i, j] * joints[j]
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
        one, other = 0.0, 0.0
        for k in range(BASE):
            one += first[i, k] * y[k]
            other += second[i, k] * y[k]
        g[BASE + i] = one * units[i] ** 2 - s[i]
        g[BASE + WRENCH + i] = other * units[i]
        set_row(G, BASE + i, S[i], S.shape[1])


def _write_cost(wish: Wish, given: Given, reduced: Reduced, qp: Qp) -> None:
    """H = G' W G and weights of the unknowns, f = -G' W g and theirs."""
    weights, W = given[5], given[6]
    G, g, na = reduced[8], reduced[9][0], reduced[0].shape[1]
    H, f, n = qp[0], qp[1], reduced[8].shape[1]
    for i in range(n):
        for j in range(i, n):
            H[i, j] = 0.0
        if i < na:
            H[i, i], f[i] = weights[JOINTS], -weights[JOINTS] * wish[2][i]
        else:
            H[i, i], f[i] = weights[FORCE], -weights[FORCE] * g[BASE + WRENCH + i - na]
        for k in range(len(W)):
            factor = W[k] * G[k, i]
            f[i] -= factor * g[k]
            for j in range(i, n):
                H[i, j] += factor * G[k, j]
        for j in range(i):
            H[i, j] = H[j, i]


def read_program(x: Vector, given: Given, reduced: Reduced, out: Vector) -> None:
    """Write acceleration, wrenches under both soles and torques that belong to a solution, one after the other.

    Args:
        x: (n,) solution.
        given: See ``fill_program``.
        reduced: See ``fill_program``.
        out: (nv + 12 + na,) the answer.
    """
    plan, units = given[0], given[4]
    T, t, S, s, tau, rest = reduced[0], reduced[1], reduced[4], reduced[5], reduced[6], reduced[7]
    na, n = T.shape[1], len(x)
    wrench = BASE + na
    for i in range(BASE):
        out[i] = t[i]
        pressed = s[i]
        for j in range(na):
            out[i] += T[i, j] * x[j]
        for j in range(n):
            pressed += S[i, j] * x[j]
        out[wrench + WRENCH * plan[FIRST] + i] = pressed
        out[wrench + WRENCH * (1 - plan[FIRST]) + i] = units[i] * x[na + i] if plan[SECOND] >= 0 else 0.0
    for i in range(na):
        out[BASE + i] = x[i]
        total = rest[i]
        for j in range(n):
            total += tau[i, j] * x[j]
        out[wrench + 2 * WRENCH + i] = total
