# SPDX-License-Identifier: Apache-2.0
"""Rows, shifts and guesses of the points that take part in a step, written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.simulation.contacts.approach_kernel import find_reach
from humanoid_dynamics.simulation.contacts.holders import Holders, oppose
from humanoid_dynamics.simulation.contacts.thin_kernel import thin_points
from humanoid_dynamics.simulation.contacts.thresholds import NEAR, REACH
from humanoid_dynamics.simulation.steps.bench import A_GUESS, A_WANTED, Bench
from humanoid_dynamics.simulation.steps.rows import (
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
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


def select_points(bench: Bench) -> int:
    """Write which near points take part in a step, and return their number.

    Args:
        bench: All tables.
    """
    near, numbers = bench.near, bench.numbers
    m, reach = 0, find_reach(bench.dofs)
    for k in range(int(numbers[COUNT])):
        touches = bench.memory[int(near[k, N_KEY]), M_TOUCHES] > 0.0
        if near[k, N_GAP] + numbers[DT] * near[k, N_SPEED] < reach or (
            touches and near[k, N_GAP] < NEAR
        ):
            bench.chosen[m] = k
            m += 1
    return thin_points(bench, m)


def add_row(holders: Holders, s: int, wrenches: Matrix, term: tuple[int, float], x: Vector) -> None:
    """Add a wrench on a joint to a row.

    Args:
        holders: Joints that touch.
        s: Which of them.
        wrenches: (3m, 6) wrenches.
        term: Which of these, and 1 or -1.
        x: (nv,) the row.
    """
    W, (row, sign) = holders.W, term
    a, b, c = sign * wrenches[row, 0], sign * wrenches[row, 1], sign * wrenches[row, 2]
    d, e, f = sign * wrenches[row, 3], sign * wrenches[row, 4], sign * wrenches[row, 5]
    for r in range(holders.depths[s]):
        i = holders.chains[s, r]
        x[i] += (
            a * W[s, i, 0]
            + b * W[s, i, 1]
            + c * W[s, i, 2]
            + d * W[s, i, 3]
            + e * W[s, i, 4]
            + f * W[s, i, 5]
        )


def measure_speeds(bench: Bench, holders: Holders, z: Vector, speeds: Vector) -> None:
    """Write the velocities along the rows of all points for a whitened velocity.

    Args:
        bench: All tables.
        holders: Joints that touch.
        z: (nv,) whitened velocity.
        speeds: (3m,) velocities, normals of all points first, then both tangents; overwritten.
    """
    W, wrenches = holders.W, holders.wrenches
    twists = np.empty((len(W), 6))
    for s in range(len(W)):
        a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for r in range(holders.depths[s]):
            i = holders.chains[s, r]
            a += W[s, i, 0] * z[i]
            b += W[s, i, 1] * z[i]
            c += W[s, i, 2] * z[i]
            d += W[s, i, 3] * z[i]
            e += W[s, i, 4] * z[i]
            f += W[s, i, 5] * z[i]
        twists[s, 0], twists[s, 1], twists[s, 2], twists[s, 3], twists[s, 4], twists[s, 5] = (
            a,
            b,
            c,
            d,
            e,
            f,
        )
    for row in range(len(wrenches)):
        speeds[row] = multiply_wrench(wrenches, row, twists, holders.owners[row])
    if meets_others(holders.others):
        joints, opposite = oppose(bench, holders)
        for row in range(len(joints)):
            if joints[row] >= 0:
                speeds[row] -= multiply_wrench(opposite, row, twists, joints[row])


def multiply_wrench(wrenches: Matrix, row: int, twists: Matrix, s: int) -> float:
    """Return the power of a wrench on a twist.

    Args:
        wrenches: (3m, 6) wrenches.
        row: Which of them.
        twists: (n, 6) twists.
        s: Which of them.
    """
    force = (
        wrenches[row, 0] * twists[s, 0]
        + wrenches[row, 1] * twists[s, 1]
        + wrenches[row, 2] * twists[s, 2]
    )
    return float(
        force
        + wrenches[row, 3] * twists[s, 3]
        + wrenches[row, 4] * twists[s, 4]
        + wrenches[row, 5] * twists[s, 5]
    )


def meets_others(others: Indices) -> bool:
    """Return whether a point touches something that moves.

    Args:
        others: (m,) joint that each touches, -1 for what stands still.
    """
    last = -1
    for i in range(len(others)):
        last = max(last, others[i])
    return last >= 0


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
        return float(
            2.0 * (gap + REACH) / dt
        )  # it may go on to the ground, where an impact awaits it, and not into it
    return float(max(gap, 0.0) / dt)


def want_points(bench: Bench, holders: Holders, mu: Vector) -> None:
    """Write shifts, guesses and coefficients of all points that take part.

    Args:
        bench: All tables.
        holders: Joints that touch.
        mu: (m,) coefficients, overwritten.
    """
    answer, numbers, near, memory, m = (
        bench.answer,
        bench.numbers,
        bench.near,
        bench.memory,
        len(mu),
    )
    share = numbers[DT] / numbers[SPAN]
    before = np.empty(3 * m)
    measure_speeds(bench, holders, bench.dofs[Z_START], before)
    for i in range(m):
        k = bench.chosen[i]
        touches = memory[int(near[k, N_KEY]), M_TOUCHES] > 0.0
        mu[i], answer[A_WANTED, i] = near[k, N_MU], want_gap(near, k, touches, numbers)
        if touches:
            guess_point(bench, holders.places, (i, k), (before, share))
        else:
            answer[A_GUESS, i] = 0.0
            for row in range(m + i, 3 * m, m):
                answer[A_WANTED, holders.places[row]] = answer[A_GUESS, holders.places[row]] = 0.0


def guess_point(
    bench: Bench, places: Indices, point: tuple[int, int], past: tuple[Vector, float]
) -> None:
    """Write the guesses of a point that touched in the last step, and add what its rows turn by until the end of this one.

    They turned from the middle of the last step to that of this one.

    Args:
        bench: All tables.
        places: (3m,) where each row is among those of all points and limits.
        point: The point, and its row in the table of near points.
        past: (3m,) velocities of the rows at the start, and length of this step over that of the last one.
    """
    answer, near, memory = bench.answer, bench.near, bench.memory
    (i, k), (before, share) = point, past
    key = int(near[k, N_KEY])
    u_x, u_y, u_z = memory[key, M_U], memory[key, M_U + 1], memory[key, M_U + 2]
    p_x, p_y, p_z = memory[key, M_P], memory[key, M_P + 1], memory[key, M_P + 2]
    for axis in range(3):
        row, column = axis * (len(places) // 3) + i, N_AXES + 3 * axis
        x, y, z, place = near[k, column], near[k, column + 1], near[k, column + 2], places[row]
        answer[A_GUESS, place] = share * (x * p_x + y * p_y + z * p_z)
        turned = share / (1.0 + share) * (before[row] - x * u_x - y * u_y - z * u_z)
        answer[A_WANTED, place] = turned + answer[A_WANTED, place] if axis == 0 else turned


def build_points(bench: Bench, holders: Holders, B: Matrix) -> None:
    """Write the rows of all points that take part.

    Args:
        bench: All tables.
        holders: Joints that touch.
        B: (3m + c, nv) zero; whitened rows.
    """
    joints, opposite = oppose(bench, holders)
    for row in range(len(joints)):
        place = holders.places[row]
        add_row(holders, holders.owners[row], holders.wrenches, (row, 1.0), B[place])
        if joints[row] >= 0:
            add_row(holders, joints[row], opposite, (row, -1.0), B[place])


PARTS = (
    select_points,
    add_row,
    meets_others,
    multiply_wrench,
    measure_speeds,
    want_gap,
    guess_point,
    want_points,
    build_points,
)
