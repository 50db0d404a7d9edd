# SPDX-License-Identifier: Apache-2.0
"""The figures of the snake paper, what its own counts predict beside what is measured here [SN, sec. VI]."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.papers.snake.chain import SnakeModel, SnakeState, compute_link_positions
from humanoid_dynamics.papers.snake.counts import sum_paper_steps
from humanoid_dynamics.papers.snake.experiment import LINKS, PrecisionRow, SnakeExperiment
from humanoid_dynamics.plotting.canvas import new_figure, save_png, style
from humanoid_dynamics.spatial.arrays import Matrix, Vector

LOOKS = {
    "linear": ("tab:green", "Kane, O(n)"),
    "paper": ("tab:blue", "Kane, the paper's recursion"),
    "lagrange": ("tab:red", "Lagrange"),
    "newton_euler": ("tab:orange", "Newton-Euler"),
}
METHODS = {"paper": "kane", "lagrange": "lagrange", "newton_euler": "newton_euler"}
LEAST = 1e-18  # J; nothing is drawn below it on a logarithmic axis


def draw_comparisons(data: SnakeExperiment, folder: Path) -> list[Path]:
    """Draw all three comparisons.

    Args:
        data: What was measured.
        folder: Where to.

    Returns:
        The files: operations, time, error.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    files = []
    with style():
        for name, draw in (
            ("operations", draw_operations),
            ("time", draw_times),
            ("error", draw_errors),
        ):
            files.append(folder / f"snake_{name}.png")
            save_png(draw(data), files[-1])
    return files


def draw_operations(data: SnakeExperiment) -> Any:
    """Draw how operations grow with the links [SN, tab. I].

    Args:
        data: What was measured.

    Returns:
        The figure.
    """
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    n = range(2, 41)
    for mode, (color, name) in LOOKS.items():
        rows = [row for row in data.counts if row.mode == mode]
        axes.plot(
            [row.n for row in rows],
            [row.measured.total for row in rows],
            "o-",
            color=color,
            ms=4,
            label=f"{name}, measured",
        )
        if mode in METHODS:
            axes.plot(
                n, [sum_paper_steps(METHODS[mode]).at(k).total for k in n], ":", color=color, lw=1
            )
        printed = [(row.n, row.printed.total) for row in rows if row.printed]
        if printed:
            axes.plot(*zip(*printed, strict=True), "x", color=color, ms=8)
    axes.plot([], [], "x", color="0.4", label="table I as printed")
    axes.plot([], [], ":", color="0.4", label="sum of the printed steps")
    axes.set(xscale="log", yscale="log")
    ticks = (2, 3, 5, 10, 20, 40)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_xticks([], minor=True)
    _label(axes, "Operations of one evaluation", "links n", "multiplications + additions")
    axes.legend()
    return figure


def draw_times(data: SnakeExperiment) -> Any:
    """Draw figures 2 and 3 of the paper: predicted by its counts on the left, measured on the right [SN, fig. 2-3].

    Args:
        data: What was measured.

    Returns:
        The figure.
    """
    figure = new_figure(8.0, 5.6)
    (expected, measured), (expected_ratio, measured_ratio) = figure.subplots(2, 2)
    n = range(2, max(LINKS) + 1)
    counts = {
        mode: np.array([sum_paper_steps(METHODS[mode]).at(k).total for k in n])
        for mode in ("paper", "lagrange")
    }
    for mode, total in counts.items():
        expected.plot(n, total / 1e3, color=LOOKS[mode][0], label=LOOKS[mode][1])
    _label(expected, "figure 2, as the paper's counts predict", "links n", "thousand operations")
    for mode in ("lagrange", "paper", "linear"):
        color, name = LOOKS[mode]
        rows = [
            row
            for row in data.times
            if row.mode == mode and not row.compiled and row.n <= max(LINKS)
        ]
        measured.plot(
            [row.n for row in rows],
            [row.microseconds / 1e3 for row in rows],
            "o-",
            ms=3,
            color=color,
            label=name,
        )
    _label(measured, "figure 2, measured, interpreted", "links n", "time [ms]")
    expected_ratio.plot(n, counts["lagrange"] / counts["paper"], color="0.3")
    _label(expected_ratio, "figure 3, as the paper's counts predict", "links n", "Lagrange / Kane")
    for compiled, marks, name in ((False, "o-", "interpreted"), (True, "s--", "compiled")):
        ratio = data.ratio("lagrange", "paper", compiled)
        if ratio:
            measured_ratio.plot(
                list(ratio), list(ratio.values()), marks, ms=3, color="0.3", label=name
            )
    _label(measured_ratio, "figure 3, measured", "links n", "Lagrange / Kane")
    for axes in (expected, measured, measured_ratio):
        axes.legend()
    return figure


def draw_errors(data: SnakeExperiment) -> Any:
    """Draw figures 4 to 6 of the paper: how far single precision strays, and the error of the energy function [SN, fig. 4-6].

    Args:
        data: What was measured.

    Returns:
        The figure.
    """
    figure = new_figure(10.0, 3.6)
    panels = figure.subplots(1, 3)
    shades = dict(
        zip(
            sorted({row.n for row in data.precision}),
            ("C0", "C1", "C2", "C3", "C4", "C5"),
            strict=False,
        )
    )
    for row in sorted(data.precision, key=lambda row: row.n):
        axes = panels[0] if row.mode == "linear" else panels[1]
        t, gap = _gap(row)
        axes.semilogy(t, np.maximum(gap, LEAST), color=shades[row.n], lw=1, label=f"n = {row.n}")
        error = np.abs(row.single.energy - row.single.energy[0])
        line = "-" if row.mode == "linear" else ":"
        panels[2].semilogy(
            row.single.t, np.maximum(_envelope(error), LEAST), line, color=shades[row.n], lw=1.2
        )
    _label(panels[0], "figure 4, Kane", "t [s]", "angle, single - double [rad]")
    _label(panels[1], "figure 5, Lagrange", "t [s]", "angle, single - double [rad]")
    _label(panels[2], "figure 6, energy, single precision", "t [s]", "largest error so far [J]")
    panels[2].plot([], [], "-", color="0.4", label="Kane")
    panels[2].plot([], [], ":", color="0.4", label="Lagrange")
    low, high = 1e-8, max(axes.get_ylim()[1] for axes in panels[:2])
    for axes in panels[:2]:
        axes.set_ylim(low, high)
    panels[2].set_ylim(bottom=1e-11)
    for axes in panels:
        axes.legend()
    return figure


def draw_drive(
    model: SnakeModel,
    t: Vector,
    states: Sequence[SnakeState],
    *,
    aim: Vector,
    forces: Matrix,
    bound: float,
) -> Any:
    """Draw how a snake follows its heading: from above, its angles, and what its wheels carry.

    Args:
        model: The snake.
        t: (k,) times [s].
        states: (k) states.
        aim: (k,) heading the head swings about [rad].
        forces: (k, n) side forces [N].
        bound: Side force at which a wheel slips [N].

    Returns:
        The figure.
    """
    figure = new_figure(9.0, 4.0)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.3, 1.0))
    above, angle, force = (
        figure.add_subplot(grid[:, 0]),
        figure.add_subplot(grid[0, 1]),
        figure.add_subplot(grid[1, 1]),
    )
    ends = [_ends(model, state) for state in states]
    above.plot(
        *np.array([points[-1] for points in ends]).T, color="0.75", lw=0.8, label="way of the nose"
    )
    for k in np.linspace(0, len(t) - 1, 6).astype(int):
        above.plot(*ends[k].T, "-", lw=3, solid_joinstyle="round", label=f"t = {t[k]:.0f} s")
    above.set_aspect("equal")
    _label(above, "from above", "x [m]", "y [m]")
    angle.plot(t, [state.theta[-1] for state in states], lw=0.8, label="head")
    angle.plot(t, aim, label="aim")
    _label(angle, "angle of the head", "t [s]", "[rad]")
    force.plot(t, np.abs(forces).max(axis=1), lw=0.8, label="largest of the wheels")
    force.axhline(bound, color="0.4", ls=":", label="a wheel slips")
    force.set_ylim(bottom=0.0)
    _label(force, "side force", "t [s]", "[N]")
    for axes in (above, angle, force):
        axes.legend()
    return figure


def _ends(model: SnakeModel, state: SnakeState) -> Matrix:
    """Tail, joints and nose, (n+1, 2) [m]."""
    centres = compute_link_positions(model, state)
    half = model.half_lengths[:, None] * np.column_stack((np.cos(state.theta), np.sin(state.theta)))
    return np.vstack((centres - half, centres[-1:] + half[-1:]))


def _label(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _gap(row: PrecisionRow) -> tuple[Any, Any]:
    """Times, and how far the worst link is from the motion in double precision."""
    size = min(len(row.single.t), len(row.double.t))
    return row.double.t[:size], np.abs(row.double.theta[:size] - row.single.theta[:size]).max(
        axis=1
    )


def _envelope(values: Any) -> Any:
    """The largest value so far."""
    return np.maximum.accumulate(values)
