"""Rows, shifts and guesses of the limits of joints that take part in a step, written so that numba can compile it."""

from __future__ import annotations

from humanoid_dynamics.simulation.contacts.thresholds import LIMIT_SLACK
from humanoid_dynamics.simulation.steps.bench import A_GUESS, A_WANTED, L_BOUND, L_IMPULSE, L_Q, L_SIGN, L_V, Bench
from humanoid_dynamics.simulation.steps.branches import whiten_chain
from humanoid_dynamics.simulation.steps.rows import DT, PASSED, SPAN, V
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def find_limit_gap(limit: Vector, q: Vector) -> float:
    """Return the distance of a joint from its limit.

    Args:
        limit: Row of the table of limits.
        q: (nq,) configuration.
    """
    return float(limit[L_SIGN] * (q[int(limit[L_Q])] - limit[L_BOUND]))


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
        numbers[PASSED] = max(numbers[PASSED], -find_limit_gap(limit, q))
        X[i - m, int(limit[L_V])] = limit[L_SIGN]
        whiten_chain(bench.L, bench.parents, int(limit[L_V]), X[i - m])
        bench.answer[A_WANTED, i] = max(find_limit_gap(limit, q), 0.0) / numbers[DT]
        bench.answer[A_GUESS, i] = numbers[DT] / numbers[SPAN] * limit[L_IMPULSE]


PARTS = (
    find_limit_gap,
    select_limits,
    build_limits,
)
