# SPDX-License-Identifier: Apache-2.0
"""Operation counts: what the paper prints, what its steps add up to, and what the code really does [SN, sec. III-VI, tab. I]."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.snake import (
    kane,
    lagrange,
    newton_euler,
    passes,
    triangular,
    unfolded,
)
from humanoid_dynamics.papers.snake.operations import Counter, Operations

METHODS = ("kane", "lagrange", "newton_euler")


class Formula(NamedTuple):
    """Counts as polynomials in the number of links, highest power first.

    Attributes:
        multiplications: Coefficients for M.
        additions: Coefficients for A.
    """

    multiplications: tuple[Fraction, ...]
    additions: tuple[Fraction, ...]

    def at(self, n: int) -> Operations:
        """Return the counts for n links.

        Args:
            n: Number of links.

        Returns:
            The counts; a polynomial that is no whole number there is rounded down.
        """
        return Operations(
            *(int(sum(c * n**power for power, c in enumerate(reversed(side)))) for side in self)
        )


def _formula(multiplications: str, additions: str) -> Formula:
    return Formula(
        *(tuple(Fraction(c) for c in side.split()) for side in (multiplications, additions))
    )


_WHEEL_STEPS = MappingProxyType(
    {
        "wheel rows": _formula("3/2 -3/2 0", "1/2 -1/2 0"),
        "wheel row rates": _formula("3/2 -1/2 0", "1 -1 0"),
        "solve": _formula("4/3 10 44/3 6", "4/3 8 29/3 3"),
    }
)

PAPER_STEPS: Mapping[str, Mapping[str, Formula]] = MappingProxyType(
    {
        "kane": MappingProxyType(
            {
                "speeds V": _formula("3 -3", "1 -1"),
                "speeds w": _formula("4 -4", "1 -1"),
                "partials of V by u": _formula("6 -6", "2 -2"),
                "partials of w by u": _formula("8 -8", "2 -2"),
                "partials of V by q": _formula("3/2 9/2 -9", "1/2 5/2 -5"),
                "partials of w by q": _formula("2 6 -12", "1/2 5/2 -5"),
                "M, N, F": _formula("4 14 -6", "2 10 -13"),
                "solve": _formula("6", "3"),
            }
        ),
        "lagrange": MappingProxyType(
            {
                "inertia matrix": _formula("5/3 5/2 -19/6 -17", "1/6 3/2 4/3 -5"),
                "bias vector": _formula("10 -4", "6 -4"),
                **_WHEEL_STEPS,
            }
        ),
        "newton_euler": MappingProxyType(
            {
                "inertia matrix": _formula("12 56 -27", "7 67 -53"),
                "bias vector": _formula("137 -22", "101 -11"),
                **_WHEEL_STEPS,
            }
        ),
    }
)
"""Counts of the steps as printed."""

PAPER_TOTALS: Mapping[str, Formula] = MappingProxyType(
    {
        "kane": _formula("3 24 -27", "15/2 97/2 -21"),
        "lagrange": _formula("3 31/2 39/2 -11", "3/2 11 31/2 -2"),
        "newton_euler": _formula("4/3 33/2 1057/6 -50", "4/3 25 617/3 -43"),
    }
)
"""Totals as printed in the text.  Kane's and Newton-Euler's stand under the wrong letter, as the numbers of table I show."""

PAPER_TABLE: Mapping[tuple[str, int], Operations] = MappingProxyType(
    {
        ("kane", 3): Operations(192, 72),
        ("kane", 12): Operations(1641, 693),
        ("kane", 20): Operations(3949, 1653),
        ("lagrange", 3): Operations(268, 184),
        ("lagrange", 12): Operations(7639, 4360),
        ("lagrange", 20): Operations(30579, 16708),
        ("newton_euler", 3): Operations(835, 663),
        ("newton_euler", 12): Operations(8329, 6744),
        ("newton_euler", 20): Operations(24737, 20740),
    }
)
"""Numbers of table I as printed."""


def _add(one: tuple[Fraction, ...], other: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    size = max(len(one), len(other))
    return tuple(
        a + b
        for a, b in zip(
            (Fraction(0),) * (size - len(one)) + one,
            (Fraction(0),) * (size - len(other)) + other,
            strict=True,
        )
    )


def sum_paper_steps(method: str) -> Formula:
    """Return what the printed steps of a method add up to [SN, tab. I].

    Args:
        method: One of ``METHODS``.

    Returns:
        The sum, which differs from every printed total.

    Raises:
        UnknownNameError: If there is no such method.
    """
    if method not in PAPER_STEPS:
        raise UnknownNameError("method", method, METHODS)
    total = Formula((Fraction(0),), (Fraction(0),))
    for step in PAPER_STEPS[method].values():
        total = Formula(*(_add(one, other) for one, other in zip(total, step, strict=True)))
    return total


def measure_operations(mode: str, n: int, skip_structure: bool = True) -> Operations:
    """Return how many operations one evaluation of the accelerations takes, joint angles and product N w included [SN, sec. VI.1].

    Args:
        mode: ``linear``, ``paper``, ``lagrange`` or ``newton_euler``.
        n: Number of links.
        skip_structure: Whether operations with a zero or a one that stands in the equations are free.

    Returns:
        The counts, the same for every state.

    Raises:
        UnknownNameError: If there is no such mode.
    """
    counter = Counter(skip_structure)
    theta, u, torques, links = _count_inputs(counter, n)
    if mode == "linear":
        rows, sums = (counter.array(table) for table in unfolded.build_tables(*_plain_links(n)))
        angles = passes.add_up(rows[0], theta)
        unfolded.accelerate(
            np.cos(angles), np.sin(angles), u, torques, (rows, sums), np.empty_like(theta)
        )
    elif mode == "paper":
        kane.accelerate(theta, u, torques, links, False)
    elif mode in {"lagrange", "newton_euler"}:
        comparator = lagrange if mode == "lagrange" else newton_euler
        comparator.accelerations(theta, counter.array(_random(n + 2)), torques, links)
    else:
        raise UnknownNameError("mode", mode, ("linear", "paper", "lagrange", "newton_euler"))
    return counter.read()


def measure_paper_steps(n: int) -> Mapping[str, Operations]:
    """Return what the paper's steps take as written, every operation counted, whatever its operands.

    Args:
        n: Number of links, at least two.

    Returns:
        Counts of the steps of Kane's method, V and w together, of the joint angles and N w, which the paper leaves out, and of the
        triangular decomposition for Lagrange's method.
    """
    counter = Counter()
    theta, u, torques, links = _count_inputs(counter, n)
    tally: dict[str, Operations] = {}
    C, S = kane.shape_cosines(theta)
    tally["joint angles"] = counter.read()
    V, w = kane.link_speeds(C, S, links.h, u)
    tally["speeds"] = counter.read()
    V_u, w_u = kane.speed_partials(C, S, links.h)
    tally["partials by u"] = counter.read()
    V_q, w_q = kane.angle_partials(C, S, links.h, (V, w), False)
    tally["partials by q"] = counter.read()
    weighted = kane.weighted_partials(V_u, w_u, links)
    M, N, F = (
        kane.mass_matrix(V_u, w_u, *weighted),
        kane.bias_matrix(V_q, w_q, *weighted),
        kane.generalized_force(w_u, torques),
    )
    tally["M, N, F"] = counter.read()
    bias = kane.bias_force(N, w)
    right = F[0] - bias[0], F[1] - bias[1]
    tally["N w"] = counter.read()
    unfolded.solve_two(M[0, 0], M[0, 1], M[1, 1], *right)
    tally["solve"] = counter.read()
    size = 2 * n + 2
    triangular.solve_symmetric(counter.array(np.eye(size) + 0.01), counter.array(np.ones(size)))
    tally["triangular decomposition"] = counter.read()
    return MappingProxyType(tally)


def _random(size: int) -> Any:
    return np.random.default_rng(size).uniform(0.5, 1.5, size)


def _plain_links(n: int) -> tuple[Any, Any, Any]:
    return _random(n), 0.01 * _random(n), 0.1 * _random(n)


def _count_inputs(counter: Counter, n: int) -> tuple[Any, Any, Any, kane.Links]:
    links = kane.Links(*(counter.array(values) for values in _plain_links(n)))
    return (
        counter.array(_random(n)),
        counter.array(_random(2)),
        counter.array(_random(n - 1)),
        links,
    )
