"""Rows, shifts and guesses of the points and limits that take part in a step, written so that numba can compile it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from humanoid_dynamics.simulation.branches import whiten_chain
from humanoid_dynamics.simulation.rows import (
    ALL_SLOW,
    COUNT,
    DT,
    JOINT,
    M_P,
    M_TOUCHES,
    M_U,
    N_AXES,
    N_GAP,
    N_KEY,
    N_MU,
    N_PLACE,
    N_POINT,
    N_SHAPE,
    N_SPEED,
    PASSED,
    S_JOINT,
    SLOWEST,
    SPAN,
    Z_START,
    V,
)
from humanoid_dynamics.simulation.thresholds import CALM, LIMIT_SLACK, NEAR, REACH, WILD_REACH
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Tables: TypeAlias = tuple[Matrix, ...]
L_V, L_Q, L_SIGN, L_BOUND, L_IMPULSE = 0, 1, 2, 3, 4
A_P, A_U, A_WANTED, A_GUESS = 0, 1, 2, 3


class Bench(NamedTuple):
    """All tables of a step.

    Attributes:
        JT: (nv, 6) joint Jacobian of the world.
        L: (nv, nv) factor of the inertia.
        Q: (r, nv) orthonormal basis of the bilateral rows.
        points: Touch points.
        shapes: Shapes.
        dofs: Coordinates.
        near: Near points.
        memory: What touched in the last step.
        limits: Limits of joints.
        answer: Impulses, velocities, shifts and guesses of the rows.
        joints: (nj, 3) joint above, first and last coordinate of each.
        parents: (nv,) coordinate that carries each.
        chosen: Which near points take part, and which limits after them.
        numbers: Numbers in and out.
    """

    JT: Matrix
    L: Matrix
    Q: Matrix
    points: Matrix
    shapes: Matrix
    dofs: Matrix
    near: Matrix
    memory: Matrix
    limits: Matrix
    answer: Matrix
    joints: Indices
    parents: Indices
    chosen: Indices
    numbers: Vector


class Holders(NamedTuple):
    """Joints that touch, and how.

    Attributes:
        W: (n, nv, 6) what the inertia makes of the Jacobian of each, about a point where it touches.
        wrenches: (3m, 6) wrench on its joint of a unit impulse along each row: normals of all points, then both tangents.
        slots: (m,) which of the joints carries each point.
        others: (m,) which of them it touches, -1 for what stands still.
        lasts: (n,) last coordinate of each joint.
        middles: (n, 3) the point its wrenches refer to [m].
    """

    W: Matrix
    wrenches: Matrix
    slots: Indices
    others: Indices
    lasts: Indices
    middles: Matrix


def select_points(bench: Bench) -> int:
    """Write which near points take part in a step, and return their number.

    Args:
        bench: All tables.
    """
    near, numbers = bench.near, bench.numbers
    wild = 0.0
    for i in range(bench.dofs.shape[1]):
        wild = max(wild, abs(bench.dofs[V, i]))
    reach = REACH if wild < CALM else WILD_REACH
    m = 0
    for k in range(int(numbers[COUNT])):
        touches = bench.memory[int(near[k, N_KEY]), M_TOUCHES] > 0.0
        if near[k, N_GAP] + numbers[DT] * near[k, N_SPEED] < reach or (touches and near[k, N_GAP] < NEAR):
            bench.chosen[m] = k
            m += 1
    return m


def select_limits(bench: Bench, q: Vector, m: int) -> int:
    """Write which limits of joints a step could reach after the points that take part, and return the number of both.

    Args:
        bench: All tables.
        q: (nq,) configuration in the middle of the step.
        m: Number of points that take part.
    """
    limits, dt, fastest = bench.limits, bench.numbers[DT], 0.0
    for k in range(len(limits)):
        fastest = max(fastest, abs(bench.dofs[V, int(limits[k, L_V])]))
    slack, found = LIMIT_SLACK + dt * fastest, m
    for k in range(len(limits)):
        speed = limits[k, L_SIGN] * bench.dofs[V, int(limits[k, L_V])]
        if find_limit_gap(limits[k], q) + 2.0 * dt * min(speed, 0.0) < slack:
            bench.chosen[found] = k
            found += 1
    return found


def find_limit_gap(limit: Vector, q: Vector) -> float:
    """Return the distance of a joint from its limit.

    Args:
        limit: Row of the table of limits.
        q: (nq,) configuration.
    """
    return float(limit[L_SIGN] * (q[int(limit[L_Q])] - limit[L_BOUND]))


def whiten_joint(bench: Bench, last: int, middle: Vector, W: Matrix) -> None:
    """Write what the inertia makes of the Jacobian of a joint, six numbers for each coordinate that moves it.

    Args:
        bench: All tables.
        last: Last coordinate of the joint.
        middle: (3,) point that moments and velocities refer to, in the world [m].
        W: (nv, 6) zero; L^-T J^T.
    """
    JT, L, parents = bench.JT, bench.L, bench.parents
    x, y, z = middle[0], middle[1], middle[2]
    i = last
    while i >= 0:
        a, b, c = JT[i, 3], JT[i, 4], JT[i, 5]
        W[i, 0], W[i, 1], W[i, 2] = JT[i, 0] + b * z - c * y, JT[i, 1] + c * x - a * z, JT[i, 2] + a * y - b * x
        W[i, 3], W[i, 4], W[i, 5] = a, b, c
        i = parents[i]
    i = last
    while i >= 0:
        share = 1.0 / L[i, i]
        for k in range(6):
            W[i, k] *= share
        j = parents[i]
        while j >= 0:
            for k in range(6):
                W[j, k] -= L[i, j] * W[i, k]
            j = parents[j]
        i = parents[i]


def list_holders(bench: Bench, slots: Indices, others: Indices, lasts: Indices, middles: Matrix) -> int:
    """List the joints that carry or are touched by a point that takes part; return their number.

    Args:
        bench: All tables.
        slots: (m,) which of these joints carries each point, overwritten.
        others: (m,) which of them it touches, -1 for what stands still, overwritten.
        lasts: (2m,) last coordinate of each, overwritten.
        middles: (2m, 3) a point where it touches [m], overwritten.
    """
    index, used, near = np.full(len(bench.joints), -1), 0, bench.near
    for i in range(len(slots)):
        k = bench.chosen[i]
        carrier, other = int(bench.points[int(near[k, N_POINT]), JOINT]), int(bench.shapes[int(near[k, N_SHAPE]), S_JOINT])
        for joint in (carrier, other):
            if index[joint] < 0 and (joint > 0 or joint == carrier):
                index[joint] = used
                lasts[used] = bench.joints[joint, 2]
                middles[used] = near[k, N_PLACE : N_PLACE + 3]
                used += 1
        slots[i], others[i] = index[carrier], index[other] if other > 0 else -1
    return used


def find_holders(bench: Bench, m: int) -> Holders:
    """Return the joints that carry or are touched by a point that takes part, with the wrenches of all rows of these points.

    Args:
        bench: All tables.
        m: Number of points that take part.
    """
    slots, others = np.empty(m, dtype=np.intp), np.empty(m, dtype=np.intp)
    lasts, middles = np.empty(2 * m, dtype=np.intp), np.empty((2 * m, 3))
    used = list_holders(bench, slots, others, lasts, middles)
    W, wrenches = np.zeros((used, len(bench.parents), 6)), np.empty((3 * m, 6))
    for s in range(used):
        whiten_joint(bench, lasts[s], middles[s], W[s])
    for row in range(3 * m):
        write_wrench(bench.near, (bench.chosen[row % m], row // m), middles, slots[row % m], wrenches[row])
    return Holders(W, wrenches, slots, others, lasts, middles)


def write_wrench(near: Matrix, row: tuple[int, int], middles: Matrix, s: int, wrench: Vector) -> None:
    """Write a unit force along an axis of a near point as a wrench.

    Args:
        near: Table of near points.
        row: Row of the point there, and which axis.
        middles: (n, 3) points that moments refer to [m].
        s: Which of them.
        wrench: (6,) force and moment, overwritten.
    """
    k, axis = row
    a, b, c = near[k, N_AXES + 3 * axis], near[k, N_AXES + 3 * axis + 1], near[k, N_AXES + 3 * axis + 2]
    x, y, z = near[k, N_PLACE] - middles[s, 0], near[k, N_PLACE + 1] - middles[s, 1], near[k, N_PLACE + 2] - middles[s, 2]
    wrench[0], wrench[1], wrench[2] = a, b, c
    wrench[3], wrench[4], wrench[5] = y * c - z * b, z * a - x * c, x * b - y * a


def add_row(W: Matrix, wrench: Vector, sign: float, x: Vector) -> None:
    """Add a wrench on a joint to a row.

    Args:
        W: (nv, 6) whitened Jacobian of the joint.
        wrench: (6,) the wrench.
        sign: 1 or -1.
        x: (nv,) the row.
    """
    a, b, c, d, e, f = wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5]
    for i in range(len(x)):
        x[i] += sign * (a * W[i, 0] + b * W[i, 1] + c * W[i, 2] + d * W[i, 3] + e * W[i, 4] + f * W[i, 5])


def measure_speeds(bench: Bench, holders: Holders, z: Vector, speeds: Vector) -> None:
    """Write the velocities along the rows of all points for a whitened velocity.

    Args:
        bench: All tables.
        holders: Joints that touch.
        z: (nv,) whitened velocity.
        speeds: (3m,) velocities, normals of all points first, then both tangents; overwritten.
    """
    W, wrenches, slots, m = holders.W, holders.wrenches, holders.slots, len(holders.slots)
    twists = np.zeros((len(W), 6))
    for s in range(len(W)):
        i = holders.lasts[s]
        while i >= 0:
            for k in range(6):
                twists[s, k] += W[s, i, k] * z[i]
            i = i - 1 if len(bench.Q) else bench.parents[i]
    for row in range(3 * m):
        s, speed = slots[row % m], 0.0
        for k in range(6):
            speed += wrenches[row, k] * twists[s, k]
        speeds[row] = speed
    if meets_others(holders.others):
        leave_others(bench, holders, twists, speeds)


def meets_others(others: Indices) -> bool:
    """Return whether a point touches something that moves.

    Args:
        others: (m,) joint that each touches, -1 for what stands still.
    """
    last = -1
    for i in range(len(others)):
        last = max(last, others[i])
    return last >= 0


def leave_others(bench: Bench, holders: Holders, twists: Matrix, speeds: Vector) -> None:
    """Take the velocities of what is touched out of those of what touches.

    Args:
        bench: All tables.
        holders: Joints that touch.
        twists: (n, 6) twists of these.
        speeds: (3m,) velocities of the rows, overwritten.
    """
    others, m, wrench = holders.others, len(holders.others), np.empty(6)
    for row in range(3 * m):
        other = others[row % m]
        if other >= 0:
            write_wrench(bench.near, (bench.chosen[row % m], row // m), holders.middles, other, wrench)
            for k in range(6):
                speeds[row] -= wrench[k] * twists[other, k]


def measure_along(near: Matrix, k: int, axis: int, memory: Matrix, first: int) -> float:
    """Return the component along an axis of a near point of what is remembered of it.

    Args:
        near: Table of near points.
        k: Row of the point there.
        axis: Which axis.
        memory: What touched in the last step.
        first: First of three columns there.
    """
    key, column = int(near[k, N_KEY]), N_AXES + 3 * axis
    total = near[k, column] * memory[key, first] + near[k, column + 1] * memory[key, first + 1]
    return float(total + near[k, column + 2] * memory[key, first + 2])


def want_gap(near: Matrix, k: int, touches: bool, numbers: Vector) -> float:
    """Return how fast the gap of a near point may close, as a shift of its normal row.

    Args:
        near: Table of near points.
        k: Row of the point there.
        touches: Whether it carried force in the last step.
        numbers: Numbers in and out.
    """
    dt, gap = numbers[DT], near[k, N_GAP]
    if not touches and near[k, N_SPEED] < -numbers[SLOWEST] and numbers[ALL_SLOW] == 0.0:
        return float(2.0 * (gap + REACH) / dt)  # it may go on to the ground, where an impact awaits it, and not into it
    return float(max(gap, 0.0) / dt)


def want_points(bench: Bench, holders: Holders, mu: Vector, count: int) -> None:
    """Write shifts, guesses and coefficients of all points that take part.

    Args:
        bench: All tables.
        holders: Joints that touch.
        mu: (m,) coefficients, overwritten.
        count: How many points and limits.
    """
    answer, numbers, m = bench.answer, bench.numbers, len(mu)
    share = numbers[DT] / numbers[SPAN]
    before = np.empty(3 * m)
    measure_speeds(bench, holders, bench.dofs[Z_START], before)
    near, memory = bench.near, bench.memory
    for i in range(m):
        k = bench.chosen[i]
        touches = memory[int(near[k, N_KEY]), M_TOUCHES] > 0.0
        mu[i] = near[k, N_MU]
        for axis in range(3):
            place = i if axis == 0 else count + (axis - 1) * m + i
            shift = want_gap(near, k, touches, numbers) if axis == 0 else 0.0
            if touches:  # half of what the row turned by
                shift += 0.5 * (before[axis * m + i] - measure_along(near, k, axis, memory, M_U))
            answer[A_WANTED, place] = shift
            answer[A_GUESS, place] = share * measure_along(near, k, axis, memory, M_P) if touches else 0.0


def build_points(bench: Bench, holders: Holders, B: Matrix, m: int, count: int) -> None:
    """Write the rows of all points that take part.

    Args:
        bench: All tables.
        holders: Joints that touch.
        B: (count + 2m, nv) zero; whitened rows.
        m: How many points.
        count: How many points and limits.
    """
    wrench = np.empty(6)
    for i in range(m):
        for axis in range(3):
            place = i if axis == 0 else count + (axis - 1) * m + i
            add_row(holders.W[holders.slots[i]], holders.wrenches[axis * m + i], 1.0, B[place])
            other = holders.others[i]
            if other >= 0:
                write_wrench(bench.near, (bench.chosen[i], axis), holders.middles, other, wrench)
                add_row(holders.W[other], wrench, -1.0, B[place])


def build_limits(bench: Bench, q: Vector, X: Matrix, m: int, count: int) -> None:
    """Write rows, shifts and guesses of all limits that take part.

    Args:
        bench: All tables.
        q: (nq,) configuration in the middle of the step.
        X: (count - m, nv) zero; whitened rows.
        m: How many points.
        count: How many points and limits.
    """
    numbers = bench.numbers
    for i in range(m, count):
        limit = bench.limits[bench.chosen[i]]
        numbers[PASSED] = max(numbers[PASSED], -find_limit_gap(limit, q))
        X[i - m, int(limit[L_V])] = limit[L_SIGN]
        whiten_chain(bench.L, bench.parents, int(limit[L_V]), X[i - m])
        bench.answer[A_WANTED, i] = max(find_limit_gap(limit, q), 0.0) / numbers[DT]
        bench.answer[A_GUESS, i] = numbers[DT] / numbers[SPAN] * limit[L_IMPULSE]


PARTS = (
    select_points,
    find_limit_gap,
    select_limits,
    whiten_joint,
    list_holders,
    find_holders,
    write_wrench,
    add_row,
    meets_others,
    leave_others,
    measure_speeds,
    measure_along,
    want_gap,
    want_points,
    build_points,
    build_limits,
)
