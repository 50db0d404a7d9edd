# SPDX-License-Identifier: Apache-2.0
"""Rows, shifts and guesses of the limits of joints that take part in a step, written so that numba can compile it."""

from __future__ import annotations

from humanoid_dynamics.simulation.contacts.thresholds import AT_ONCE, LIMIT_SLACK, REACH, SHORT_LINK
from humanoid_dynamics.simulation.steps.bench import (
    A_GUESS,
    A_WANTED,
    L_BOUND,
    L_IMPULSE,
    L_Q,
    L_SIGN,
    L_V,
    Bench,
)
from humanoid_dynamics.simulation.steps.branches import whiten_chain
from humanoid_dynamics.simulation.steps.rows import ALL_SLOW, DT, PASSED, SLOWEST, SPAN, V_MIDDLE, V
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def find_limit_gap(limit: Vector, q: Vector) -> float:
    """Return the distance of a joint from its limit.

    Args:
        limit: Row of the table of limits.
        q: (nq,) configuration.
    """
    return float(limit[L_SIGN] * (q[int(limit[L_Q])] - limit[L_BOUND]))


def dives(limit: Vector, gap: float, dofs: Matrix, numbers: Vector) -> bool:
    """Return whether a joint comes to its limit so fast that it hits it; what rests there does not, however hard it is pressed on.

    Args:
        limit: Row of the table of limits.
        gap: Distance of the joint from it, in the middle of the step.
        dofs: Table of the coordinates.
        numbers: Numbers in and out.
    """
    slowest, i = numbers[SLOWEST] / SHORT_LINK, int(limit[L_V])
    began = limit[L_SIGN] * dofs[V, i]
    rests = gap - 0.5 * numbers[DT] * began < AT_ONCE and began >= -slowest
    return bool(limit[L_SIGN] * dofs[V_MIDDLE, i] < -slowest and not rests)


def stops(limits: Matrix, dofs: Matrix, q: Vector, numbers: Vector) -> bool:
    """Return whether a joint hits its limit in a step.

    Args:
        limits: Table of limits.
        dofs: Table of the coordinates.
        q: (nq,) configuration in the middle of the step.
        numbers: Numbers in and out.
    """
    for k in range(len(limits)):
        limit = limits[k]
        way = (
            limit[L_SIGN]
            * numbers[DT]
            * (dofs[V_MIDDLE, int(limit[L_V])] - 0.5 * dofs[V, int(limit[L_V])])
        )
        gap = find_limit_gap(limit, q)
        if gap + way < 0.0 and dives(limit, gap, dofs, numbers):
            return True
    return False


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
        gap = find_limit_gap(limit, q)
        numbers[PASSED] = max(numbers[PASSED], -gap)
        X[i - m, int(limit[L_V])] = limit[L_SIGN]
        whiten_chain(bench.L, bench.parents, int(limit[L_V]), X[i - m])
        if numbers[ALL_SLOW] == 0.0 and dives(limit, gap, bench.dofs, numbers):
            bench.answer[A_WANTED, i] = 2.0 * (gap + REACH) / numbers[DT]
        else:
            bench.answer[A_WANTED, i] = max(gap, 0.0) / numbers[DT]
        bench.answer[A_GUESS, i] = numbers[DT] / numbers[SPAN] * limit[L_IMPULSE]


PARTS = (
    find_limit_gap,
    dives,
    stops,
    select_limits,
    build_limits,
)
