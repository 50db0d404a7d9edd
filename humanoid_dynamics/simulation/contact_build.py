"""Rows, shifts and guesses of the points that take part in a step, written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.bench import A_GUESS, A_WANTED, Bench
from humanoid_dynamics.simulation.holders import Holders, write_wrench
from humanoid_dynamics.simulation.rows import (
    ALL_SLOW,
    COUNT,
    DT,
    M_P,
    M_TOUCHES,
    M_U,
    N_AXES,
    N_GAP,
    N_KEY,
    N_MU,
    N_SPEED,
    SLOWEST,
    SPAN,
    Z_START,
    V,
)
from humanoid_dynamics.simulation.thresholds import CALM, NEAR, REACH, WILD_REACH
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


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


PARTS = (
    select_points,
    add_row,
    meets_others,
    leave_others,
    measure_speeds,
    measure_along,
    want_gap,
    want_points,
    build_points,
)
