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


def whiten_joint(JT: Matrix, L: Matrix, parents: Indices, last: int, W: Matrix) -> None:
    """Write what the inertia makes of the Jacobian of a joint, six numbers for each coordinate that moves it.

    Args:
        JT: (nv, 6) joint Jacobian of the world.
        L: (nv, nv) factor of the inertia.
        parents: (nv,) the tree.
        last: Last coordinate of the joint.
        W: (nv, 6) zero; L^-T J^T.
    """
    i = last
    while i >= 0:
        W[i] = JT[i]
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


def whiten_joints(bench: Bench, m: int, slots: Indices) -> Matrix:
    """Return (n, nv, 6) what the inertia makes of the Jacobians of all joints that carry or are touched by a point that takes part.

    Args:
        bench: All tables.
        m: Number of points that take part.
        slots: (nj,) minus one; which matrix belongs to a joint, overwritten.
    """
    used = 0
    for i in range(m):
        row = bench.near[bench.chosen[i]]
        for joint in (int(bench.points[int(row[N_POINT]), JOINT]), int(bench.shapes[int(row[N_SHAPE]), S_JOINT])):
            if joint > 0 and slots[joint] < 0:
                slots[joint] = used
                used += 1
    W = np.zeros((used, len(bench.parents), 6))
    for joint in range(len(slots)):
        if slots[joint] >= 0:
            whiten_joint(bench.JT, bench.L, bench.parents, bench.joints[joint, 2], W[slots[joint]])
    return W


def write_wrench(row: Vector, axis: int, wrench: Vector) -> None:
    """Write a unit force along an axis of a near point as a wrench about the origin of the world.

    Args:
        row: Row of the table of near points.
        axis: Which axis.
        wrench: (6,) force and moment, overwritten.
    """
    a, b, c = row[N_AXES + 3 * axis], row[N_AXES + 3 * axis + 1], row[N_AXES + 3 * axis + 2]
    x, y, z = row[N_PLACE], row[N_PLACE + 1], row[N_PLACE + 2]
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


def want(row: Vector, memory: Vector, before: tuple[float, float, float], numbers: Vector) -> tuple[float, float, float]:
    """Return the shifts of the three rows of a point: how fast a gap may close, and half of what rows turned by.

    Args:
        row: Row of the table of near points.
        memory: What is remembered of it.
        before: Its velocity along its axes at the start of the step.
        numbers: Numbers in and out.
    """
    dt, gap = numbers[DT], row[N_GAP]
    normal = max(gap, 0.0) / dt
    if memory[M_TOUCHES] <= 0.0:
        if row[N_SPEED] < -numbers[SLOWEST] and numbers[ALL_SLOW] == 0.0:
            normal = 2.0 * (gap + REACH) / dt  # it may go on to the ground, where an impact awaits it, and not into it
        return normal, 0.0, 0.0
    return (
        normal + 0.5 * (before[0] - measure_along(row, 0, memory[M_U:])),
        0.5 * (before[1] - measure_along(row, 1, memory[M_U:])),
        0.5 * (before[2] - measure_along(row, 2, memory[M_U:])),
    )


def measure_along(row: Vector, axis: int, x: Vector) -> float:
    """Return the component of a vector along an axis of a near point.

    Args:
        row: Row of the table of near points.
        axis: Which axis.
        x: (3+,) the vector, in the world.
    """
    return float(row[N_AXES + 3 * axis] * x[0] + row[N_AXES + 3 * axis + 1] * x[1] + row[N_AXES + 3 * axis + 2] * x[2])


def build_points(bench: Bench, B: Matrix, mu: Vector, m: int, count: int) -> None:
    """Write rows, shifts, guesses and coefficients of all points that take part.

    Args:
        bench: All tables.
        B: (count + 2m, nv) zero; whitened rows.
        mu: (m,) coefficients, overwritten.
        m: How many points.
        count: How many points and limits.
    """
    answer, numbers = bench.answer, bench.numbers
    share = numbers[DT] / numbers[SPAN]
    slots, wrench = np.full(len(bench.joints), -1), np.empty(6)
    W = whiten_joints(bench, m, slots)
    for i in range(m):
        row = bench.near[bench.chosen[i]]
        joint, other = int(bench.points[int(row[N_POINT]), JOINT]), int(bench.shapes[int(row[N_SHAPE]), S_JOINT])
        for axis in range(3):
            place = i if axis == 0 else count + (axis - 1) * m + i
            write_wrench(row, axis, wrench)
            add_row(W[slots[joint]], wrench, 1.0, B[place])
            if other > 0:
                add_row(W[slots[other]], wrench, -1.0, B[place])
    before = np.dot(B, bench.dofs[Z_START])
    for i in range(m):
        row = bench.near[bench.chosen[i]]
        kept = bench.memory[int(row[N_KEY])]
        places = (i, count + i, count + m + i)
        shift = want(row, kept, (before[i], before[places[1]], before[places[2]]), numbers)
        mu[i] = row[N_MU]
        for axis in range(3):
            answer[A_WANTED, places[axis]] = shift[axis]
            answer[A_GUESS, places[axis]] = share * measure_along(row, axis, kept[M_P:]) if kept[M_TOUCHES] > 0.0 else 0.0


def build_limits(bench: Bench, q: Vector, B: Matrix, m: int, count: int) -> None:
    """Write rows, shifts and guesses of all limits that take part.

    Args:
        bench: All tables.
        q: (nq,) configuration in the middle of the step.
        B: (count + 2m, nv) zero; whitened rows.
        m: How many points.
        count: How many points and limits.
    """
    numbers = bench.numbers
    for i in range(m, count):
        limit = bench.limits[bench.chosen[i]]
        numbers[PASSED] = max(numbers[PASSED], -find_limit_gap(limit, q))
        B[i, int(limit[L_V])] = limit[L_SIGN]
        whiten_chain(bench.L, bench.parents, int(limit[L_V]), B[i])
        bench.answer[A_WANTED, i] = max(find_limit_gap(limit, q), 0.0) / numbers[DT]
        bench.answer[A_GUESS, i] = numbers[DT] / numbers[SPAN] * limit[L_IMPULSE]


PARTS = (
    select_points,
    find_limit_gap,
    select_limits,
    whiten_joint,
    whiten_joints,
    write_wrench,
    add_row,
    measure_along,
    want,
    build_points,
    build_limits,
)
