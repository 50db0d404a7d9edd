# SPDX-License-Identifier: Apache-2.0
"""Sheets as figures: panels in a grid, soles from above."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.plotting.canvas import LEFT, OTHERS, RIGHT, new_figure, save_png, style
from humanoid_dynamics.plotting.panels import Panel, Sheet, SolePanel
from humanoid_dynamics.spatial.arrays import Vector

ACROSS = {"joints": 4, "torques": 4, "forces": 1, "cop": 2, "energy": 1, "wheels": 1}
SIZES = {
    "joints": (2.7, 1.55),
    "torques": (2.7, 1.55),
    "forces": (10.8, 2.1),
    "cop": (5.4, 3.2),
    "energy": (10.8, 2.1),
    "wheels": (10.8, 2.1),
}
TITLES = {
    "joints": "joints",
    "torques": "torques of motors and drives",
    "forces": "contact forces",
    "cop": "centre of pressure",
    "energy": "energy",
    "wheels": "wheels",
}
WIDTH, HEAD = 10.8, 0.35
BUCKETS = 1200  # a curve with more samples than a few per pixel is drawn by its smallest and largest in each


def draw_sheets(sheets: Sequence[Sheet], title: str, path: Path) -> None:
    """Draw figures one below the other into a PNG.

    Args:
        sheets: What to draw.
        title: What it is a record of.
        path: The file.
    """
    with style():
        heights = [_rows(sheet) * SIZES[sheet.name][1] + HEAD for sheet in sheets]
        figure = new_figure(WIDTH, sum(heights) + HEAD)
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
        parts = np.atleast_1d(figure.subfigures(len(sheets), 1, height_ratios=heights))
        for part, sheet in zip(parts, sheets, strict=True):
            _draw_sheet(part, sheet)
        save_png(figure, path)


def thin(t: Vector, y: Vector, buckets: int = BUCKETS) -> tuple[Vector, Vector]:
    """Return a curve with fewer samples that looks the same: the smallest and the largest of each bucket.

    Args:
        t: (n,) instants [s].
        y: (n,) numbers.
        buckets: How many.

    Returns:
        Instants and numbers, at most two of each bucket; all of them where there are few.
    """
    if len(t) <= 4 * buckets:
        return t, y
    size = ceil(len(t) / buckets)
    chosen: list[int] = []
    for start in range(0, len(t), size):
        part = y[start : start + size]
        if np.isfinite(part).any():
            chosen += sorted({start + int(np.nanargmin(part)), start + int(np.nanargmax(part))})
        else:
            chosen.append(start)
    return t[chosen], y[chosen]


def _rows(sheet: Sheet) -> int:
    return ceil(len(sheet.panels) / ACROSS[sheet.name])


def _draw_sheet(part: Any, sheet: Sheet) -> None:
    across, rows = ACROSS[sheet.name], _rows(sheet)
    part.suptitle(TITLES[sheet.name], fontsize=9, fontweight="bold", x=0.01, ha="left")
    grid = part.subplots(rows, across, squeeze=False)
    for axes in grid.flat[len(sheet.panels) :]:
        axes.set_visible(False)
    paired = _is_paired(sheet)
    if paired:
        part.legend(handles=_sides(), loc="upper right", ncols=2)
    for k, (axes, panel) in enumerate(zip(grid.flat, sheet.panels, strict=False)):
        if isinstance(panel, SolePanel):
            _draw_sole(axes, panel, sheet.t)
        else:
            _draw_panel(
                axes,
                panel,
                sheet.t,
                legend=not (paired and all(curve.side for curve in panel.curves)),
            )
            if k >= len(sheet.panels) - across:
                axes.set_xlabel("t [s]")
            else:
                axes.tick_params(labelbottom=False)


def _is_paired(sheet: Sheet) -> bool:
    """Return whether panels show left and right of something, so that one legend does for all."""
    return any(
        isinstance(panel, Panel) and [curve.side for curve in panel.curves] == ["left", "right"]
        for panel in sheet.panels
    )


def _sides() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=LEFT, label="left"),
        Line2D([], [], color=RIGHT, linestyle="--", label="right"),
    ]


def _draw_panel(axes: Any, panel: Panel, t: Vector, *, legend: bool) -> None:
    several = (
        len({curve.side for curve in panel.curves}) < len(panel.curves) or len(panel.curves) == 1
    )
    for k, curve in enumerate(panel.curves):
        colour = (
            OTHERS[k % len(OTHERS)]
            if several
            else {"left": LEFT, "right": RIGHT}.get(curve.side, OTHERS[5])
        )
        dashes = "--" if curve.side == "right" and not several else "-"
        axes.plot(*thin(t, curve.values), dashes, color=colour, label=curve.label)
    axes.set_title(f"{panel.title}  [{panel.unit}]", loc="left")
    axes.margins(x=0.0)
    low, high = axes.get_ylim()
    if high - low < 1e-6:  # rounding is no motion
        axes.set_ylim(0.5 * (low + high) - 1e-3, 0.5 * (low + high) + 1e-3)
    if legend and len(panel.curves) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5)) if len(
            panel.curves
        ) > 3 else axes.legend(loc="best", ncols=3)


def _draw_sole(axes: Any, panel: SolePanel, t: Vector) -> None:
    from matplotlib.patches import Polygon

    axes.add_patch(
        Polygon(panel.patch.corners, closed=True, facecolor="#eef2f4", edgecolor="#5f6b73")
    )
    pressed = np.flatnonzero(np.isfinite(panel.cop[:, 0]))
    few = pressed[:: max(1, len(pressed) // (2 * BUCKETS))]
    axes.plot(panel.cop[few, 0], panel.cop[few, 1], color="#b9c2c8", linewidth=0.6)
    dots = axes.scatter(
        panel.cop[few, 0],
        panel.cop[few, 1],
        c=t[few],
        s=5.0,
        cmap="viridis",
        linewidths=0.0,
        zorder=3,
    )
    axes.plot(
        *panel.cop[pressed[-1]],
        "o",
        color=RIGHT,
        markersize=6,
        markerfacecolor="none",
        label="at the end",
    )
    axes.figure.colorbar(dots, ax=axes, label="t [s]", shrink=0.8)
    axes.set_aspect("equal", adjustable="datalim")
    margin = round(1e3 * float(np.nanmin(panel.margin[few])), 1) + 0.0
    axes.set_title(
        f"{panel.title}: x forwards, y to the left [m]; nearest to the edge {margin:.1f} mm",
        loc="left",
    )
    axes.legend(loc="upper right")
