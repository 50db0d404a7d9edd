# SPDX-License-Identifier: Apache-2.0
"""The tick's program, as loops that numba compiles: in units where its cost is plain.

The unknowns x are joint accelerations and the wrench under a second sole; y = (x - wish) / root, where root is one over the square root
of what they cost.  Rows of the wrench under a first sole come before those under a second one.
"""

from __future__ import annotations

import math

from humanoid_dynamics.filtering.ticks.basis_kernels import Work
from humanoid_dynamics.filtering.ticks.nearest_kernels import (
    FOUND,
    LOST,
    Always,
    Limits,
    find_nearest,
    recall_rows,
    remember_rows,
)
from humanoid_dynamics.filtering.ticks.reduction_kernels import (
    BASE,
    FIRST,
    FREE,
    NAN,
    SECOND,
    WRENCH,
    Given,
    Reduced,
    State,
    Wish,
    add_products,
    fly,
    move_base,
    reduce_rows,
    set_row,
    write_torques,
    write_wrench,
)
from humanoid_dynamics.resolution.small import (
    dot_row,
    dot_rows,
    factor_cholesky,
    solve_transposed,
    solve_upper,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.fours import (
    FOUR,
    add_four,
    four_alike,
    four_in,
    put_four_in,
    sum_four,
)
from humanoid_dynamics.spatial.fours import add_products as multiply_four

CORNERS = 4
SHARE = 1e-6  # of a torque limit, that programs keep inside it
OVER = 0.2  # of the largest load of a sole, that rounding may add: what settles still bears less than counts as load
COM, HEIGHT, TURN, SWING, LANDING, SWING_TURN, JOINTS, FORCE, NEAR, HAIR = range(
    10
)  # places in the weights

APART: tuple[str, ...] = (
    "_scale_row",
    "_write_limits",
    "_write_wishes",
    "can_be",
    "read_answer",
)  # of the parts of kernels here, those that are not copied to where they are called

Extra = tuple[Matrix, Vector, Vector, Matrix, Vector, int]


def solve_program(
    state: State,
    wish: Wish,
    room: Matrix,
    given: Given,
    extra: Extra,
    memory: tuple[Reduced, Always, Limits, Work],
    out: Vector,
) -> int:
    """Write and solve the program of a tick.

    Args:
        state: M, h, J, drift, to_base, J_com and com_drift of the robot.
        wish: References com, base, joints, soles, up, rise, height, load and upright.
        room: (2, na) least and largest accelerations of joints.
        given: Plan, largest torques, cones of both soles, units of the wrenches under both, weights.
        extra: Further rows on the accelerations of the robot: soft ones, their values and weights; limits, their least values and how many.
        memory: T and P, S, constants, vectors, rows, T turned over, weights; soft rows and equations; limits; memory of ``find_nearest``.
        out: (nv + 12 + na,) acceleration, wrenches under both soles, torques; overwritten.

    Returns:
        How it ended, see ``find_nearest``; lost, too, where rounding took more than the hair that contacts, loads and motors are kept
        inside.
    """
    reduced, always, limits, work = memory
    plan = given[0]
    n, na = reduced[1].shape[1], reduced[0].shape[1]
    if plan[FIRST] >= 0:
        move_base(state, wish, plan[FIRST], reduced)
    else:
        fly(state, reduced)
    write_torques(state, reduced, limits[0])
    if plan[FIRST] >= 0:
        write_wrench(state, given, reduced, limits[0])
    _write_scale(wish, given, reduced)
    soft = _write_wishes(state, wish, given, extra, reduced, always)
    _write_limits(wish, given, extra, reduced, limits)
    root, w, bounds, y = reduced[3][0], reduced[3][1], reduced[3][2:4, :na], reduced[3][4]
    for i in range(na):
        bounds[0, i], bounds[1, i] = (room[0, i] - w[i]) / root[i], (room[1, i] - w[i]) / root[i]
    recall_rows(work)
    ended = find_nearest(always, soft, limits, bounds, y[:n], work)
    remember_rows(work)
    read_answer(given, reduced, limits, out)
    return LOST if ended == FOUND and not can_be(given, wish[7], na, out) else ended


def _write_scale(wish: Wish, given: Given, reduced: Reduced) -> None:
    """Write what unknowns are wished to be, and one over the square root of what they cost."""
    weights, root, w, joints, na = (
        given[5],
        reduced[3][0],
        reduced[3][1],
        wish[2],
        reduced[0].shape[1],
    )
    light, heavy = 1.0 / math.sqrt(weights[JOINTS]), 1.0 / math.sqrt(weights[FORCE])
    for i in range(na):
        w[i], root[i] = joints[i], light
    for i in range(na, reduced[1].shape[1]):
        w[i], root[i] = 0.0, heavy


def _share_load(state: State, given: Given, reduced: Reduced, g: Vector) -> None:
    """Wish for the least wrenches under both soles that the wished motion needs."""
    plan, units, P, p, s, w = (
        given[0],
        given[4],
        reduced[0][BASE:],
        reduced[2][1],
        reduced[2][2],
        reduced[3][1],
    )
    y, na = reduced[2][3], P.shape[1]
    first, second = state[2][plan[FIRST]], state[2][plan[SECOND]]
    N, U = reduced[4][WRENCH : 2 * WRENCH], reduced[4][2 * WRENCH :]
    for i in range(BASE):
        y[i] = p[i] + dot_row(P, i, w, na)
        for j in range(i, BASE):
            N[i, j] = 0.0
            for k in range(WRENCH):
                N[i, j] += (
                    first[k, i] * first[k, j] * units[k] ** 2
                    + second[k, i] * second[k, j] * units[WRENCH + k] ** 2
                )
    if factor_cholesky(N, U, BASE):
        solve_transposed(U, y, BASE)
        solve_upper(U, y, BASE)
    else:
        y[0] = NAN
    for i in range(WRENCH):
        g[i] = dot_row(first, i, y, BASE) * units[i] ** 2 - s[i]
        w[na + i] = dot_row(second, i, y, BASE) * units[WRENCH + i]


def _write_wishes(
    state: State, wish: Wish, given: Given, extra: Extra, reduced: Reduced, always: Always
) -> int:
    """Write rows that are to be met as well as they can, and equations behind them; return how many are soft."""
    plan, weights, N, b = given[0], given[5], always[0], always[1]
    T, t, weigh, second = reduced[0][:BASE], reduced[2][0], reduced[6], plan[SECOND]
    reduce_rows(state[5], T, t, 3, N, b, 0)
    for i in range(3):
        b[i] += wish[0][i] - state[6][i]
        set_row(N, 3 + i, T, 3 + i, T.shape[1])
        b[3 + i] = wish[1][i] - t[3 + i]
        weigh[i], weigh[3 + i] = (
            math.sqrt(weights[COM if i < 2 else HEIGHT]),
            math.sqrt(weights[TURN] * wish[8][0]),
        )
    soft, more = BASE, extra[1]
    if second >= 0:
        _write_share(state, given, reduced, N, b)
        soft += WRENCH
    for foot in range(2):
        if plan[FIRST] != foot and second != foot:
            _write_swing(foot, soft - BASE, state, wish, given, reduced, N, b)
            soft += WRENCH
    reduce_rows(extra[0], T, t, len(more), N, b, soft)
    for k in range(len(more)):
        b[soft + k] += more[k]
        weigh[soft + k] = math.sqrt(extra[2][k])
    soft += len(more)
    if second >= 0:
        reduce_rows(state[2][second], T, t, WRENCH, N, b, soft)
        for i in range(WRENCH):
            b[soft + i] += wish[3][second, i] - state[3][second, i]
            weigh[soft + i] = 0.0 if i == plan[FREE] else 1.0  # a row of zeros is left out
    _weigh_rows(N, b, reduced[3], weigh)
    return soft


def _write_share(state: State, given: Given, reduced: Reduced, N: Matrix, b: Vector) -> None:
    """Write the wish for a wrench under the first sole."""
    units, weight, weigh = given[4], math.sqrt(given[5][FORCE]), reduced[6]
    _share_load(state, given, reduced, b[BASE : 2 * BASE])
    for i in range(WRENCH):
        set_row(N, BASE + i, reduced[1], i, N.shape[1])
        weigh[BASE + i] = weight / units[i]


def _write_swing(
    foot: int,
    place: int,
    state: State,
    wish: Wish,
    given: Given,
    reduced: Reduced,
    N: Matrix,
    b: Vector,
) -> None:
    """Write the wish for a sole that swings, and keep how it moves from a place in the memory on."""
    row, weights, weigh, moved = BASE + place, given[5], reduced[6], reduced[2][4 + place // WRENCH]
    near = weights[SWING] * (
        1.0 + (weights[LANDING] - 1.0) * max(0.0, 1.0 - wish[6][foot] / weights[NEAR])
    )
    reduce_rows(state[2][foot], reduced[0][:BASE], reduced[2][0], WRENCH, N, b, row)
    for i in range(WRENCH):
        moved[i] = state[3][foot, i] - b[row + i]
        b[row + i] = wish[3][foot, i] - moved[i]
        set_row(reduced[4], place + i, N, row + i, reduced[0].shape[1])
        weigh[row + i] = math.sqrt(near * (weights[SWING_TURN] if i > 2 else 1.0))


def _weigh_rows(N: Matrix, b: Vector, vectors: Matrix, weigh: Vector) -> None:
    """Turn rows on x to rows on y, and weigh them."""
    for k in range(len(b)):
        at, _ = _scale_row(N, k, vectors, weigh[k])
        b[k] = weigh[k] * (b[k] - at)


def _scale_row(A: Matrix, k: int, vectors: Matrix, weight: float) -> tuple[float, float]:
    """Turn a row on x to one on y, weighed; return its product with what is wished, and the square of what it has become."""
    at, square = four_alike(0.0), four_alike(0.0)
    nothing = four_alike(0.0)
    for j in range(0, A.shape[1], FOUR):
        numbers = four_in(A, k, j)
        at = multiply_four(at, numbers, four_in(vectors, 1, j))
        scaled = add_four(nothing, weight, multiply_four(nothing, numbers, four_in(vectors, 0, j)))
        square = multiply_four(square, scaled, scaled)
        put_four_in(A, k, j, scaled)
    return sum_four(at), sum_four(square)


def _write_limits(wish: Wish, given: Given, extra: Extra, reduced: Reduced, limits: Limits) -> None:
    """Write torques, what the soles can carry, corners above the ground, largest loads, and further limits."""
    plan, effort, units = given[0], given[1], given[4]
    S, s, rest = reduced[1], reduced[2][2], reduced[3][5]
    A, lower, upper = limits[0], limits[1], limits[2]
    na, row = reduced[0].shape[1], reduced[0].shape[1]
    for i in range(na):
        lower[i], upper[i] = -effort[i] - rest[i], effort[i] - rest[i]
    hair = given[5][HAIR]
    if plan[FIRST] >= 0:
        row = _write_cone(given[2], S, s, hair, limits, row)
        set_row(A, row, S, 2, A.shape[1])
        lower[row], upper[row] = -math.inf, wish[7][plan[FIRST]] - s[2]
        row += 1
    if plan[SECOND] >= 0:
        for k in range(len(given[3])):
            set_row(A, row, S, 0, 0)
            for j in range(WRENCH):
                A[row, na + j] = given[3][k, j] * units[WRENCH + j]
            lower[row], upper[row] = -math.inf, hair * given[3][k, 2]
            row += 1
        set_row(A, row, S, 2, 0)
        A[row, na + 2] = units[WRENCH + 2]
        lower[row], upper[row] = -math.inf, wish[7][plan[SECOND]]
        row += 1
    place = 0
    for foot in range(2):
        if plan[FIRST] != foot and plan[SECOND] != foot:
            row = _stay_above(foot, place, wish, reduced, limits, row)
            place += WRENCH
    reduce_rows(extra[3], reduced[0][:BASE], reduced[2][0], extra[5], A, lower, row)
    for k in range(len(extra[4])):
        lower[row + k] = lower[row + k] + extra[4][k] if k < extra[5] else -math.inf
        upper[row + k] = math.inf
    _scale_limits(limits, reduced[3], na)


def _write_cone(cone: Matrix, S: Matrix, s: Vector, hair: float, limits: Limits, row: int) -> int:
    """Write what the first sole can carry with a hair less push than it has; return the next row."""
    A, lower, upper, n = limits[0], limits[1], limits[2], S.shape[1]
    for k in range(len(cone)):
        for j in range(n):
            A[row, j] = 0.0
        add_products(A, row, cone, k, S, n)
        lower[row], upper[row] = -math.inf, hair * cone[k, 2] - dot_row(cone, k, s, WRENCH)
        row += 1
    return row


def _stay_above(
    foot: int, place: int, wish: Wish, reduced: Reduced, limits: Limits, row: int
) -> int:
    """Write that the corners of a sole that swings stay above the ground; its motion is in the memory, from a place on."""
    G, A, up = reduced[4][place : place + WRENCH], limits[0], wish[4][foot]
    for c in range(CORNERS):
        set_row(A, row, G, 0, 0)
        add_products(A, row, up, c, G, reduced[0].shape[1])
        moved = dot_rows(up, c, reduced[2], 4 + place // WRENCH, WRENCH)
        limits[1][row], limits[2][row] = wish[5][foot, c] - moved, math.inf
        row += 1
    return row


def _scale_limits(limits: Limits, vectors: Matrix, torques: int) -> None:
    """Turn limits on x to limits on y, and measure their rows; a row without limit is as good as none."""
    A, lower, upper, size = limits
    for k in range(len(lower)):
        size[k] = 0.0
        limited = lower[k] > -math.inf or upper[k] < math.inf
        if limited or k < torques:
            at, square = _scale_row(A, k, vectors, 1.0)
            lower[k] -= at
            upper[k] -= at
            if k < torques:
                vectors[5, k] += at
            if limited:
                size[k] = math.sqrt(square)


def read_answer(given: Given, reduced: Reduced, limits: Limits, out: Vector) -> None:
    """Write what belongs to the solution."""
    plan, units = given[0], given[4]
    T, t, S, s = reduced[0][:BASE], reduced[2][0], reduced[1], reduced[2][2]
    A, root, w, y, rest, x = (
        limits[0],
        reduced[3][0],
        reduced[3][1],
        reduced[3][4],
        reduced[3][5],
        reduced[3][6],
    )
    na, n = T.shape[1], S.shape[1]
    for i in range(n):
        x[i] = w[i] + root[i] * y[i]
    wrench = BASE + na
    for i in range(2 * WRENCH):
        out[wrench + i] = 0.0
    for i in range(BASE):
        out[i] = t[i] + dot_row(T, i, x, na)
        if plan[FIRST] >= 0:
            out[wrench + WRENCH * plan[FIRST] + i] = s[i] + dot_row(S, i, x, n)
        if plan[SECOND] >= 0:
            out[wrench + WRENCH * plan[SECOND] + i] = units[WRENCH + i] * x[na + i]
    for i in range(na):
        out[BASE + i] = x[i]
        out[wrench + 2 * WRENCH + i] = rest[i] + dot_row(A, i, y, n)


def can_be(given: Given, load: Vector, na: int, out: Vector) -> bool:
    """Return whether the soles can carry what was written, and may, and motors turn so."""
    plan, effort, cones, wrench = given[0], given[1], (given[2], given[3]), out[BASE + na :]
    for k in range(na):
        if abs(wrench[2 * WRENCH + k]) > effort[k] * (1.0 + SHARE):
            return False
    for sole in (FIRST, SECOND):
        if plan[sole] >= 0 and wrench[WRENCH * plan[sole] + 2] > (1.0 + OVER) * load[plan[sole]]:
            return False
        for k in range(len(cones[sole])):
            pushed = 0.0
            for i in range(WRENCH):
                pushed += cones[sole][k, i] * wrench[WRENCH * plan[sole] + i]
            if pushed > 0.0:
                return False
    return True
