"""Contact forces of a step from the table of near points: rows, the problem, its solution, and what is remembered of it.

What numba compiles in place of ``friction.py``; tables and their columns are named in ``rows.py``.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from humanoid_dynamics.simulation.branches import whiten_chain
from humanoid_dynamics.simulation.cone_kernel import Cones, certify, settle, soften, stick
from humanoid_dynamics.simulation.rows import (
    ALL_SLOW,
    COMPLEMENTARITY,
    CONE,
    COUNT,
    DEPTH,
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
    NORMALS,
    PAPER,
    PASSED,
    POINTS,
    RESIDUAL,
    ROUNDS,
    S_JOINT,
    SLOWEST,
    SPAN,
    TOUCHING,
    Z_END,
    Z_FREE,
    Z_START,
    V,
)
from humanoid_dynamics.simulation.thresholds import CALM, LIMIT_SLACK, NEAR, REACH, WILD_REACH
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

Tables: TypeAlias = tuple[Matrix, ...]
# columns of the table of limits
L_V, L_Q, L_SIGN, L_BOUND, L_IMPULSE = 0, 1, 2, 3, 4
LIMIT_COLUMNS = 5
HELD = 1e30  # coefficient of friction of what holds
# rows of the table of answers
A_P, A_U, A_WANTED, A_GUESS = 0, 1, 2, 3
ANSWER_ROWS = 4


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


def restrain_row(Q: Matrix, x: Vector) -> None:
    """Take out of a row what the bilateral rows hold.

    Args:
        Q: (r, nv) orthonormal basis of these.
        x: (nv,) the row, overwritten.
    """
    for k in range(len(Q)):
        share = multiply_vectors(Q[k], x)
        for i in range(len(x)):
            x[i] -= share * Q[k, i]


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


def multiply_vectors(x: Vector, y: Vector) -> float:
    """Return the product of two vectors."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


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


def hold_on(cones: Cones, answer: Matrix, m: int, p: Vector, u: Vector) -> bool:
    """Hold all points that touched, without a bound on friction; return whether all of them did and none of them pulls.

    Args:
        cones: The problem, softened.
        answer: Table of answers.
        m: Number of points that take part.
        p: (k,) impulses, overwritten.
        u: (k,) velocities, overwritten.
    """
    for i in range(m):
        if answer[A_GUESS, i] <= 0.0:
            return False
    held = Cones(cones.G, cones.b, np.full(m, HELD), cones.step, cones.normals)
    return bool(stick(held, answer[A_GUESS, : len(p)], p, u))


def hold_start(bench: Bench) -> None:
    """Write the whitened velocity at the end that bilateral rows alone would leave: they hold the mean of start and end.

    Args:
        bench: All tables.
    """
    Q, dofs = bench.Q, bench.dofs
    z = dofs[Z_END]
    z[:] = dofs[Z_FREE]
    for k in range(len(Q)):
        share = multiply_vectors(Q[k], dofs[Z_FREE]) + multiply_vectors(Q[k], dofs[Z_START])
        for i in range(len(z)):
            z[i] -= share * Q[k, i]


def solve_contacts(factors: Tables, tables: Tables, tree: tuple[Indices, ...], q: Vector, numbers: Vector) -> None:
    """Find the contact forces of a step and the whitened velocity at its end.

    Args:
        factors: Joint Jacobian (nv, 6), factor of the inertia (nv, nv), basis of the bilateral rows (r, nv).
        tables: Tables of points, shapes, coordinates, near points, memory, limits and answers.
        tree: Joints, coordinate that carries each, and which points and limits take part (overwritten).
        q: (nq,) configuration in the middle of the step.
        numbers: Numbers in and out.
    """
    JT, L, Q = factors
    points, shapes, dofs, near, memory, limits, answer = tables
    joints, parents, chosen = tree
    bench = Bench(JT, L, Q, points, shapes, dofs, near, memory, limits, answer, joints, parents, chosen, numbers)
    hold_start(bench)
    m = select_points(bench)
    count = select_limits(bench, q, m)
    numbers[POINTS], numbers[NORMALS] = m, count
    numbers[RESIDUAL] = numbers[COMPLEMENTARITY] = numbers[CONE] = numbers[ROUNDS] = 0.0
    numbers[PASSED] = 0.0
    size, z = count + 2 * m, dofs[Z_END]
    if size == 0:
        return
    B, mu = np.zeros((size, len(z))), np.empty(m)
    build_points(bench, B, mu, m, count)
    build_limits(bench, q, B, m, count)
    if len(Q):
        for i in range(size):
            restrain_row(Q, B[i])
    b = np.dot(B, z) + answer[A_WANTED, :size]
    p, u = answer[A_P, :size], answer[A_U, :size]
    cones = Cones(np.dot(B, B.T), b, mu, np.empty(size), count)
    soften(cones, answer[A_GUESS, :size])
    if numbers[PAPER] > 0.0:
        numbers[ROUNDS] = 1.0 if hold_on(cones, answer, m, p, u) else -1.0
    else:
        numbers[RESIDUAL], numbers[ROUNDS] = settle(cones, answer[A_GUESS, :size], p, u)
    numbers[COMPLEMENTARITY], numbers[CONE] = certify(cones, p, u)
    for k in range(size):
        for i in range(len(z)):
            z[i] += p[k] * B[k, i]


def remember(tables: Tables, chosen: Indices, numbers: Vector) -> None:
    """Keep impulses and velocities of points and limits for the next step.

    Args:
        tables: Tables of points, shapes, coordinates, near points, memory, limits and answers.
        chosen: Which near points took part, and which limits after them.
        numbers: Numbers in and out.
    """
    _, _, _, near, memory, limits, answer = tables
    m, count = int(numbers[POINTS]), int(numbers[NORMALS])
    memory[:, M_TOUCHES] = 0.0
    limits[:, L_IMPULSE] = 0.0
    for i in range(m, count):
        limits[chosen[i], L_IMPULSE] = answer[A_P, i]
    deepest, touching = 0.0, 0
    for i in range(m):
        row = near[chosen[i]]
        kept = memory[int(row[N_KEY])]
        deepest = max(deepest, -row[N_GAP])
        if answer[A_P, i] > 0.0:
            kept[M_TOUCHES] = 1.0
            touching += 1
        kept[M_U:] = 0.0
        for axis in range(3):
            place = i if axis == 0 else count + (axis - 1) * m + i
            speed = answer[A_U, place] - answer[A_WANTED, place]
            for k in range(3):
                kept[M_U + k] += speed * row[N_AXES + 3 * axis + k]
                kept[M_P + k] += answer[A_P, place] * row[N_AXES + 3 * axis + k]
    numbers[DEPTH], numbers[TOUCHING], numbers[SPAN] = deepest, touching, numbers[DT]


PARTS = (
    select_points,
    find_limit_gap,
    select_limits,
    whiten_joint,
    whiten_joints,
    write_wrench,
    add_row,
    restrain_row,
    measure_along,
    want,
    multiply_vectors,
    build_points,
    build_limits,
    hold_on,
    hold_start,
)
