# SPDX-License-Identifier: Apache-2.0
"""Pictures of the dynamics filter: reference and answer as sticks, and below them errors and forces [DF, fig. 7-11]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.filtering.experiments.experiments import FilterExperiment
from humanoid_dynamics.filtering.experiments.run import PaperRun
from humanoid_dynamics.plotting.canvas import new_figure, save_png, style
from humanoid_dynamics.plotting.sticks import draw_sticks, list_sticks
from humanoid_dynamics.spatial.arrays import Vector

SHOWN = 7
BESIDE, BESIDE_HANGING = (
    0.9,
    1.3,
)  # m between figures that stay in their place, from the side and, where they hang, from the front
NARROW = 0.1  # least range of forces that is shown, as a share of the weight
COLORS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown")


def draw_experiment(data: FilterExperiment, folder: Path) -> list[Path]:
    """Draw an experiment.

    Args:
        data: What it gave.
        folder: Where to.

    Returns:
        The file.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    path = folder / f"filter_{data.name}.png"
    with style():
        save_png(_draw(data), path)
    return [path]


def _draw(data: FilterExperiment) -> Any:
    figure = new_figure(10.0, 6.2)
    strip, (errors, forces) = _panels(figure)
    first = next(iter(data.runs.values()))
    _draw_strip(strip, first, data.title)
    for color, (name, run) in zip(COLORS, data.runs.items(), strict=False):
        times = np.array([frame.time for frame in run.frames])
        errors.semilogy(
            times, np.maximum(np.rad2deg(run.joint_error), 1e-6), color=color, lw=1, label=name
        )
        if run.fallen is not None:
            errors.plot([run.fallen], [np.rad2deg(run.joint_error[-1])], "x", color=color)
    errors.set(
        title="joint error against the reference (x: fallen)",
        xlabel="t [s]",
        ylabel="root mean square [deg]",
    )
    errors.legend()
    weight = first.robot.mass * 9.81
    times = np.array([frame.time for frame in first.frames])
    for color, (name, force) in zip(COLORS, _list_forces(first).items(), strict=False):
        forces.plot(times, force / weight, color=color, lw=1, label=name)
    forces.set(
        title=f"forces of contact, {next(iter(data.runs))}",
        xlabel="t [s]",
        ylabel="share of the weight [-]",
    )
    low, high = forces.get_ylim()
    if high - low < NARROW:  # what hardly changes is shown as such, not as its last digits
        forces.set_ylim(0.5 * (low + high - NARROW), 0.5 * (low + high + NARROW))
    forces.legend()
    return figure


def _list_forces(run: PaperRun) -> dict[str, Vector]:
    """Return normal forces of the soles, and forces of balls that hold, such as hands on ropes [N]."""
    surfaces = run.frames[0].surfaces
    found = {
        surface.name: np.array([frame.wrenches[k, 2] for frame in run.frames])
        for k, surface in enumerate(surfaces)
    }
    for k in range(len(run.frames[0].loops) // 3):
        found[f"grasp {k + 1}"] = np.array(
            [np.linalg.norm(frame.loops[3 * k : 3 * k + 3]) for frame in run.frames]
        )
    return found


def _panels(figure: Any) -> tuple[Any, tuple[Any, Any]]:
    grid = figure.add_gridspec(2, 2, height_ratios=(1.3, 1.0))
    return figure.add_subplot(grid[0, :]), (
        figure.add_subplot(grid[1, 0]),
        figure.add_subplot(grid[1, 1]),
    )


def _draw_strip(axes: Any, run: PaperRun, title: str) -> None:
    """Draw some instants side by side: the reference thin, the answer thick; what hangs from the front, below where it hangs from."""
    rows = np.linspace(0, len(run.frames) - 1, SHOWN).astype(int)
    hangs = not run.frames[0].surfaces
    across, beside = (1, BESIDE_HANGING) if hangs else (0, BESIDE)
    places = np.array([run.frames[row].q[across] for row in rows])
    shifts = beside * np.arange(SHOWN) - (places - places[0])
    for row, shift in zip(rows, shifts, strict=True):
        view, answer = (across, 2), run.frames[row].q
        draw_sticks(
            axes, run.robot, run.reference.q[row], view=view, shift=float(shift), color="0.7", lw=1
        )
        draw_sticks(
            axes, run.robot, answer, view=view, shift=float(shift), color="tab:blue", lw=1.4
        )
        heights = np.concatenate([stick[:, 2] for stick in list_sticks(run.robot, answer)])
        text = f"{run.frames[row].time:.2f} s"
        axes.text(
            answer[across] + shift, heights.min() - 0.1, text, ha="center", va="top", fontsize=8
        )
        if hangs:
            middle = answer[across] + shift
            axes.plot(
                [middle - 0.45 * beside, middle + 0.45 * beside],
                [heights.max()] * 2,
                color="0.3",
                lw=3,
            )
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(f"{title}: reference grey, filtered blue", fontsize=10, loc="left")
    axes.margins(y=0.15)
