# SPDX-License-Identifier: Apache-2.0
"""The paper's three comparisons as data: operations, time, error [SN, sec. VI].

What they show: the operation counts grow as the paper says, and the O(n) form undercuts every one of them.  Time follows the counts where
every operation costs the same, that is in interpreted loops: there Lagrange's method over Kane's recursion grows with the number of links,
as in the paper's figure 3.  Compiled, short chains cost the same whatever the method, and the ratio grows only later; the O(n) form
interpreted is a dozen array operations whose cost hardly depends on n below a hundred links.  In single precision Kane's method keeps the
energy several times better than Lagrange's from ten links on, and cannot slip; with five links, whose motion multiplies every rounding,
the order is chance.  In double precision both are as good as the integrator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns, thread_time_ns
from typing import TypeAlias

import numpy as np

from humanoid_dynamics.papers.snake.chain import SnakeModel
from humanoid_dynamics.papers.snake.counts import (
    METHODS,
    PAPER_TABLE,
    measure_operations,
    sum_paper_steps,
)
from humanoid_dynamics.papers.snake.dynamics import MODES, PreparedSnake
from humanoid_dynamics.papers.snake.operations import Operations
from humanoid_dynamics.papers.snake.simulate import (
    SnakeTrajectory,
    build_paper_state,
    build_paper_torques,
    simulate_snake,
)
from humanoid_dynamics.spatial.arrays import Vector

LINKS = (2, 3, 5, 8, 12, 20, 30)
"""Numbers of links at which all methods are timed."""

LONG_LINKS = (100, 1000, 10_000)
"""Numbers of links at which the O(n) form is timed alone."""

TURNS, BURST = 5, 3
Watch: TypeAlias = Callable[[float], None]


@dataclass(frozen=True)
class CountRow:
    """Operations of one evaluation.

    Attributes:
        mode: ``linear``, ``paper`` (Kane's recursion), ``lagrange`` or ``newton_euler``.
        n: Number of links.
        printed: What table I says, or None where it has no entry.
        recomputed: What the paper's own steps add up to, or None for the O(n) form, which the paper does not have.
        measured: What the code here does.
    """

    mode: str
    n: int
    printed: Operations | None
    recomputed: Operations | None
    measured: Operations


@dataclass(frozen=True)
class TimeRow:
    """Time of one evaluation.

    Attributes:
        mode: One of ``MODES``.
        n: Number of links.
        compiled: Whether numba compiled it.
        microseconds: Processor time, median of several turns [us].
    """

    mode: str
    n: int
    compiled: bool
    microseconds: float


@dataclass(frozen=True, eq=False)
class PrecisionRow:
    """One method in both precisions on the paper's motion.

    Attributes:
        mode: ``linear`` or ``lagrange``.
        n: Number of links.
        double: The motion in float64.
        single: The motion in float32.
    """

    mode: str
    n: int
    double: SnakeTrajectory
    single: SnakeTrajectory

    @property
    def angle_difference(self) -> float:
        """Largest difference of a link angle between the precisions [rad]."""
        return float(np.abs(self.double.theta - self.single.theta).max())

    @property
    def energy_error(self) -> tuple[float, float]:
        """Largest error of the energy function in double and single precision [J]."""
        return tuple(
            float(np.abs(run.energy - run.energy[0]).max()) for run in (self.double, self.single)
        )  # type: ignore[return-value]

    @property
    def slip(self) -> tuple[float, float]:
        """Largest sideways speed of a wheel in double and single precision [m/s]."""
        return float(self.double.slip.max()), float(self.single.slip.max())


@dataclass(frozen=True, eq=False)
class SnakeExperiment:
    """All three comparisons.

    Attributes:
        counts: Operations, by number of links and mode.
        times: Times, by number of links and mode, interpreted and compiled.
        precision: Motions in both precisions.
    """

    counts: tuple[CountRow, ...]
    times: tuple[TimeRow, ...]
    precision: tuple[PrecisionRow, ...]

    def ratio(self, slow: str, fast: str, compiled: bool) -> dict[int, float]:
        """Return how many times longer one mode takes than another.

        Args:
            slow: Mode above the line.
            fast: Mode below it.
            compiled: Which of the two ways of running.

        Returns:
            The ratio by number of links.
        """
        table = {
            (row.mode, row.n): row.microseconds for row in self.times if row.compiled == compiled
        }
        return {
            n: table[slow, n] / table[fast, n]
            for mode, n in table
            if mode == slow and (fast, n) in table
        }


def compare_operations(links: Sequence[int] = (2, 3, 12, 20)) -> tuple[CountRow, ...]:
    """Count the operations of all methods [SN, sec. VI.1].

    Args:
        links: Numbers of links, each at least two.

    Returns:
        One row per number and mode.
    """
    paper_method = {"paper": METHODS[0], "lagrange": METHODS[1], "newton_euler": METHODS[2]}
    rows = []
    for n in links:
        for mode in MODES:
            method = paper_method.get(mode)
            recomputed = sum_paper_steps(method).at(n) if method else None
            rows.append(
                CountRow(
                    mode,
                    n,
                    PAPER_TABLE.get((method or "", n)),
                    recomputed,
                    measure_operations(mode, n),
                )
            )
    return tuple(rows)


def compare_times(
    links: Sequence[int] = LINKS,
    seconds_per_n: float = 0.3,
    modes: Sequence[str] = MODES,
    ways: Sequence[bool] = (False, True),
    watch: Watch | None = None,
) -> tuple[TimeRow, ...]:
    """Time one evaluation of all methods, interpreted and compiled [SN, sec. VI.2]; times are of this machine, at this moment.

    Methods take turns, so that a machine that slows down slows all of them.

    Args:
        links: Numbers of links.
        seconds_per_n: Time spent on each number of links; each method is evaluated at least fifteen times [s].
        modes: Methods, of ``MODES``.
        ways: Whether to compile, each way in turn.
        watch: Called with the part that is done, 0 to 1, now and then.

    Returns:
        One row per number, mode and way of running.
    """
    rows: list[TimeRow] = []
    for done, n in enumerate(links):
        _tell(watch, done / len(links))
        keys = [(mode, compiled) for mode in modes for compiled in ways]
        times = _time_in_turns(
            [PreparedSnake(SnakeModel.uniform(n), *key) for key in keys], seconds_per_n
        )
        rows += [
            TimeRow(mode, n, compiled, time)
            for (mode, compiled), time in zip(keys, times, strict=True)
        ]
    return tuple(rows)


def compare_precision(
    links: Sequence[int] = (5, 10, 12, 20),
    duration: float = 2.0,
    dt: float = 1e-3,
    watch: Watch | None = None,
) -> tuple[PrecisionRow, ...]:
    """Run the paper's motion by Kane's and Lagrange's methods in double and single precision [SN, sec. VI.3].

    The paper's table III, with the numbers of its own runs, did not survive; those of its table II are used.

    Args:
        links: Numbers of links.
        duration: Length of the motion [s].
        dt: Runge-Kutta step [s].
        watch: Called with the part that is done, 0 to 1, now and then.

    Returns:
        One row per number and method.
    """
    rows = []
    for done, (n, mode) in enumerate((n, mode) for n in links for mode in ("linear", "lagrange")):
        _tell(watch, 0.5 * done / len(links))
        model, state, law = SnakeModel.uniform(n), build_paper_state(n), build_paper_torques(n)
        double, single = (
            simulate_snake(model, state, law, duration=duration, dt=dt, mode=mode, dtype=dtype)
            for dtype in (np.float64, np.float32)
        )
        rows.append(PrecisionRow(mode, n, double, single))
    return tuple(rows)


def run_snake_experiment(
    links: Sequence[int] = LINKS,
    duration: float = 2.0,
    seconds_per_n: float = 0.3,
    watch: Watch | None = None,
) -> SnakeExperiment:
    """Make all three comparisons.

    Args:
        links: Numbers of links of the time comparison.
        duration: Length of the motions of the precision comparison [s].
        seconds_per_n: Time spent on timing each number of links [s].
        watch: Called with the part that is done, 0 to 1, now and then.

    Returns:
        The data, to be printed and drawn by others.
    """
    counts = compare_operations()
    times = compare_times(links, seconds_per_n, watch=_part(watch, 0.0, 0.4))
    long = compare_times(LONG_LINKS, seconds_per_n, ("linear",), watch=_part(watch, 0.4, 0.5))
    precision = compare_precision(duration=duration, watch=_part(watch, 0.5, 1.0))
    return SnakeExperiment(counts, times + long, precision)


def _tell(watch: Watch | None, share: float) -> None:
    if watch is not None:
        watch(share)


def _part(watch: Watch | None, begin: float, end: float) -> Watch:
    """What a part of the work tells about itself, as a share of the whole."""
    return lambda share: _tell(watch, begin + (end - begin) * share)


def _time_in_turns(snakes: Sequence[PreparedSnake], seconds: float) -> list[float]:
    """Processor time of an evaluation of each of several snakes of one length, median over the turns [us]."""
    n = snakes[0].model.n
    state = 0.3 * np.sin(np.arange(n)), np.array([0.3, 0.2]), np.full(n - 1, 0.1)
    for snake in snakes:
        snake.tick(*state)  # compiles
    share = seconds / (TURNS * len(snakes))
    times = [[_time_once(snake, state, share) for snake in snakes] for _ in range(TURNS)]
    return [float(np.median(taken)) / 1e3 for taken in zip(*times, strict=True)]


def _time_once(snake: PreparedSnake, state: tuple[Vector, Vector, Vector], seconds: float) -> float:
    """Processor time of an evaluation, repeated for a while [ns]."""
    stop, count = perf_counter_ns() + int(1e9 * seconds), 0
    begin = thread_time_ns()
    while count == 0 or perf_counter_ns() < stop:
        for _ in range(BURST):
            snake.tick(*state)
        count += BURST
    return (thread_time_ns() - begin) / count
