"""Pictures of the dynamics filter: reference and answer as sticks, and below them errors and forces [DF, fig. 7-11]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.filtering.paper.experiments import FilterExperiment
from humanoid_dynamics.filtering.paper.run import PaperRun
from humanoid_dynamics.plotting.canvas import new_figure, save_png, style
from humanoid_dynamics.plotting.sticks import draw_sticks, list_sticks
from humanoid_dynamics.spatial.arrays import Vector

SHOWN = 7
BESIDE = 0.9  # m between figures that stay in their place
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
        errors.semilogy(times, np.maximum(np.rad2deg(run.joint_error), 1e-6), color=color, lw=1, label=name)
        if run.fallen is not None:
            errors.plot([run.fallen], [np.rad2deg(run.joint_error[-1])], "x", color=color)
    errors.set(title="joint error against the reference (x: fallen)", xlabel="t [s]", ylabel="root mean square [deg]")
    errors.legend()
    weight = first.robot.mass * 9.81
    times = np.array([frame.time for frame in first.frames])
    for color, (name, force) in zip(COLORS, _list_forces(first).items(), strict=False):
        forces.plot(times, force / weight, color=color, lw=1, label=name)
    forces.set(title=f"forces of contact, {next(iter(data.runs))}", xlabel="t [s]", ylabel="share of the weight [-]")
    low, high = forces.get_ylim()
    if high - low < NARROW:  # what hardly changes is shown as such, not as its last digits
        forces.set_ylim(0.5 * (low + high - NARROW), 0.5 * (low + high + NARROW))
    forces.legend()
    return figure


def _list_forces(run: PaperRun) -> dict[str, Vector]:
    """Return normal forces of the soles, and forces of balls that hold, such as hands on ropes [N]."""
    surfaces = run.frames[0].surfaces
    found = {surface.name: np.array([frame.wrenches[k, 2] for frame in run.frames]) for k, surface in enumerate(surfaces)}
    for k in range(len(run.frames[0].loops) // 3):
        found[f"grasp {k + 1}"] = np.array([np.linalg.norm(frame.loops[3 * k : 3 * k + 3]) for frame in run.frames])
    return found


def _panels(figure: Any) -> tuple[Any, tuple[Any, Any]]:
    grid = figure.add_gridspec(2, 2, height_ratios=(1.3, 1.0))
    return figure.add_subplot(grid[0, :]), (figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[1, 1]))


def _draw_strip(axes: Any, run: PaperRun, title: str) -> None:
    """Draw some instants side by side: the reference thin, the answer thick."""
    rows = np.linspace(0, len(run.frames) - 1, SHOWN).astype(int)
    places = np.array([run.frames[row].q[0] for row in rows])
    shifts = BESIDE * np.arange(SHOWN) - (places - places[0])
    for row, shift in zip(rows, shifts, strict=True):
        draw_sticks(axes, run.robot, run.reference.q[row], shift=float(shift), color="0.7", lw=1)
        draw_sticks(axes, run.robot, run.frames[row].q, shift=float(shift), color="tab:blue", lw=1.4)
        lowest = min(float(stick[:, 2].min()) for stick in list_sticks(run.robot, run.frames[row].q))
        text = f"{run.frames[row].time:.2f} s"
        axes.text(run.frames[row].q[0] + shift, lowest - 0.1, text, ha="center", va="top", fontsize=8)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(f"{title}: reference grey, filtered blue", fontsize=10, loc="left")
    axes.margins(y=0.15)
