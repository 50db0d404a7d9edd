# SPDX-License-Identifier: Apache-2.0
"""The experiment ``snake``: operations, time and error of Kane's equations beside Lagrange's and Newton-Euler's [SN, sec. VI]."""

from __future__ import annotations

from pathlib import Path

from humanoid_dynamics.cli.experiments import EXPERIMENTS, Cell, Effort, Outcome, Sheet
from humanoid_dynamics.papers.snake.counts import sum_paper_steps
from humanoid_dynamics.papers.snake.dynamics import MODES
from humanoid_dynamics.papers.snake.experiment import SnakeExperiment, run_snake_experiment
from humanoid_dynamics.papers.snake.operations import Operations

NAMES = {
    "linear": "Kane, O(n)",
    "paper": "Kane, recursion",
    "lagrange": "Lagrange",
    "newton_euler": "Newton-Euler",
}


def run(effort: Effort) -> Outcome:
    """Make the three comparisons of the paper.

    Args:
        effort: How much work they may take.

    Returns:
        Their tables and pictures.
    """
    data = run_snake_experiment(seconds_per_n=effort.seconds_per_n, watch=effort.watch)
    ways = sorted({row.compiled for row in data.times})
    sheets = (
        _count_sheet(data),
        *(_time_sheet(data, compiled) for compiled in ways),
        _precision_sheet(data),
    )

    def draw(folder: Path) -> list[Path]:
        from humanoid_dynamics.plotting.snake import draw_comparisons

        return draw_comparisons(data, folder)

    return Outcome(
        f"{EXPERIMENTS['snake']} [SN, sec. VI]", sheets, draw, {"ratios": _ratios(data, ways)}
    )


def _count_sheet(data: SnakeExperiment) -> Sheet:
    rows = tuple(
        (NAMES[r.mode], r.n, *_pair(r.printed), *_pair(r.recomputed), *_pair(r.measured))
        for r in data.counts
    )
    worst = max(_share(data, n) for n in sorted({row.n for row in data.counts}))
    return Sheet(
        "operations",
        "operations of one evaluation",
        ("method", "n", "printed M", "printed A", "steps M", "steps A", "here M", "here A"),
        rows,
        (
            "M: multiplications and divisions, A: additions and subtractions. printed: table I of the paper. "
            "steps: what the steps it prints add up to, which is not what it prints as totals. "
            "here: what the code here does, counted with numbers that count; zeros and ones that stand in the equations are free.",
            f"The O(n) form takes 16n-3 M and 14n-13 A, at most {worst:.0%} of the steps of Kane's recursion, for every n from 2 on.",
        ),
    )


def _share(data: SnakeExperiment, n: int) -> float:
    """Operations of the O(n) form over those of the paper's steps."""
    rows = {row.mode: row for row in data.counts if row.n == n}
    paper = rows["paper"].recomputed or rows["paper"].measured
    return rows["linear"].measured.total / paper.total


def _pair(count: Operations | None) -> tuple[Cell, Cell]:
    return (None, None) if count is None else (count.multiplications, count.additions)


def _time_sheet(data: SnakeExperiment, compiled: bool) -> Sheet:
    table = {(row.mode, row.n): row.microseconds for row in data.times if row.compiled == compiled}
    ratio = data.ratio("lagrange", "paper", compiled)
    rows = tuple(
        (n, *(table.get((mode, n)) for mode in MODES), ratio.get(n))
        for n in sorted({n for _, n in table})
    )
    first, last = min(ratio), max(ratio)
    said = f"Lagrange over Kane's recursion: {ratio[first]:.2g} at n = {first}, {ratio[last]:.2g} at n = {last}"
    counted = " and ".join(
        f"{sum_paper_steps('lagrange').at(n).total / sum_paper_steps('kane').at(n).total:.2g}"
        for n in (first, last)
    )
    note = (
        f"ratio, {said}. Short chains cost what a call costs, whatever the method; the ratio grows later than in interpreted loops, and "
        "it is the operation counts, not these times, that show what the methods are worth."
        if compiled
        else f"ratio, {said}; the steps of the paper say {counted}. The ratio is nearly linear in n, as in the paper's figure 3, because "
        "in interpreted loops every operation costs the same. "
        "The O(n) form is a dozen operations on whole arrays: its time is that of the interpreter up to a hundred links."
    )
    return Sheet(
        f"time_{'compiled' if compiled else 'interpreted'}",
        f"processor time of one evaluation, {'compiled by numba' if compiled else 'interpreted'} [us]",
        ("n", *(f"{NAMES[mode]} [us]" for mode in MODES), "Lagrange / Kane"),
        rows,
        (note,),
        ("n", *(NAMES[mode] for mode in MODES), "ratio"),
    )


def _ratios(data: SnakeExperiment, ways: list[bool]) -> dict[str, dict[str, float]]:
    return {
        f"{slow} over {fast}, {'compiled' if compiled else 'interpreted'}": {
            str(n): value for n, value in data.ratio(slow, fast, compiled).items()
        }
        for slow, fast in (("lagrange", "paper"), ("lagrange", "linear"), ("paper", "linear"))
        for compiled in ways
    }


def _precision_sheet(data: SnakeExperiment) -> Sheet:
    rows = tuple(
        (NAMES[row.mode], row.n, row.angle_difference, *row.energy_error[::-1], *row.slip[::-1])
        for row in sorted(data.precision, key=lambda row: row.n)
    )
    gains = {n: _gain(data, n) for n in sorted({row.n for row in data.precision})}
    said = ", ".join(f"{gain:.2g} (n = {n})" for n, gain in gains.items())
    return Sheet(
        "error",
        "the paper's motion in single (32 bits) and double precision (64 bits): largest errors [rad, J, m/s]",
        (
            "method",
            "n",
            "angle 32-64 [rad]",
            "energy 32 [J]",
            "energy 64 [J]",
            "side speed 32 [m/s]",
            "side speed 64 [m/s]",
        ),
        rows,
        (
            f"Energy error of Lagrange's method over Kane's in single precision: {said}. With generalized speeds no wheel can slip.",
            "Angles: five links multiply every rounding, so the order of the two is chance there. In double precision both methods are as "
            "good as the integrator (Runge-Kutta, 2 s in steps of 1 ms). "
            "The paper's table III with its own parameters did not survive; those of its table II are used.",
        ),
        ("method", "n", "angle", "energy 32", "energy 64", "slip 32", "slip 64"),
    )


def _gain(data: SnakeExperiment, n: int) -> float:
    rows = {row.mode: row for row in data.precision if row.n == n}
    return rows["lagrange"].energy_error[1] / rows["linear"].energy_error[1]
