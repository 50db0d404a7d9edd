# SPDX-License-Identifier: Apache-2.0
"""A run in one picture: the bodies at a few instants, and below them the curve that matters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.plotting.canvas import OTHERS, new_figure, save_png, style
from humanoid_dynamics.plotting.silhouette import Outline
from humanoid_dynamics.spatial.arrays import Matrix, Vector

WIDTH, STRIP, GRAPH = 10.8, (1.6, 4.2), 1.9  # inches; a strip is between low and high
GAP, MARGIN, LEAST = 0.06, 0.05, 0.34  # of the width of an instant, of the picture, of its height
BELOW, HEAD = 0.12, 0.35  # for what is said below an instant, of the picture; for the title, inches
FORCE = 0.5  # m; arrow of a force as large as the weight
PALE, FAINT = (
    0.5,
    0.25,
)  # how pale the farthest shape is, how opaque the first of several instants in one place


@dataclass(frozen=True, eq=False)
class Instant:
    """What is seen at one time.

    Attributes:
        t: When [s].
        outlines: Bodies, far ones first.
        ground: What stands still, far things first.
        owners: Figures and objects, in the order of their colours.
        forces: (k, 2, 2) where forces act and how they point, as seen, in shares of the weight.
        label: What is said below it.
    """

    t: float
    outlines: Sequence[Outline]
    ground: Sequence[Outline]
    owners: Sequence[str]
    forces: Matrix
    label: str = ""


@dataclass(frozen=True, eq=False)
class Graph:
    """Curves below the strip.

    Attributes:
        title: What they show, with the number that matters.
        unit: Of all curves.
        t: (n,) instants [s].
        curves: Label -> (n,) numbers.
        marks: Instant [s] -> what happened then.
        level: A number the curves should reach, or None.
    """

    title: str
    unit: str
    t: Vector
    curves: Mapping[str, Vector]
    marks: Mapping[float, str]
    level: float | None = None


def draw_filmstrip(
    title: str, instants: Sequence[Instant], graph: Graph, path: Path, *, together: bool = False
) -> None:
    """Draw a run into a PNG.

    Args:
        title: What it shows.
        instants: The instants.
        graph: The curves.
        path: The file.
        together: Whether all instants are drawn in one place, where the bodies were, instead of side by side.
    """
    with style():
        cells = _lay_out(instants, together=together)
        shape = (1.0 + BELOW) * (cells.high - cells.low) / (cells.right - cells.left)
        height = min(STRIP[1], max(STRIP[0], WIDTH * shape)) + HEAD
        figure = new_figure(WIDTH, height + GRAPH)
        figure.suptitle(title, fontsize=9.5, x=0.01, ha="left")
        strip, below = figure.subplots(2, 1, height_ratios=(height, GRAPH))
        _draw_strip(strip, instants, cells)
        _draw_graph(below, graph, [instant.t for instant in instants])
        save_png(figure, path)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Where instants are drawn.

    Attributes:
        shifts: How far each is moved to the right [m].
        frames: Left and right of what is seen of the ground of each, before it is moved [m].
        left: End of the strip [m].
        right: Other end [m].
        low: Lowest [m].
        high: Highest [m].
    """

    shifts: Vector
    frames: Matrix
    left: float
    right: float
    low: float
    high: float


def _lay_out(instants: Sequence[Instant], *, together: bool) -> _Cells:
    """Lay the instants out side by side in one scale, or all in one place."""
    boxes = [np.vstack([shape.corners for shape in instant.outlines]) for instant in instants]
    lefts, rights = (
        np.array([box[:, 0].min() for box in boxes]),
        np.array([box[:, 0].max() for box in boxes]),
    )
    low, high = (
        min(float(box[:, 1].min()) for box in boxes),
        max(float(box[:, 1].max()) for box in boxes),
    )
    low, high = low - MARGIN * (high - low), high + MARGIN * (high - low)
    if together:
        margin = MARGIN * float(rights.max() - lefts.min())
        left, right = float(lefts.min()) - margin, float(rights.max()) + margin
        return _Cells(
            np.zeros(len(boxes)), np.array([[left, right]] * len(boxes)), left, right, low, high
        )
    wide = (1.0 + GAP) * max(float((rights - lefts).max()), LEAST * (high - low))
    middles = 0.5 * (lefts + rights)
    shifts = wide * np.arange(len(boxes)) - middles
    frames = np.column_stack(
        (middles - 0.5 * wide / (1.0 + GAP), middles + 0.5 * wide / (1.0 + GAP))
    )
    return _Cells(shifts, frames, -0.5 * wide, wide * (len(boxes) - 0.5), low, high)


def _draw_strip(axes: Any, instants: Sequence[Instant], cells: _Cells) -> None:
    together = len(instants) > 1 and not np.ptp(cells.shifts)
    for k, instant in enumerate(instants):
        move = np.array([cells.shifts[k], 0.0])
        if k == 0 or not together:
            _draw_ground(axes, instant, (*cells.frames[k], cells.low, cells.high), move)
        _draw_bodies(
            axes,
            instant,
            move,
            FAINT + (1.0 - FAINT) * (k + 1) / len(instants) if together else 1.0,
        )
        for place, force in [] if together else instant.forces:
            _draw_arrow(axes, place + move, FORCE * force)
        corners = np.vstack([shape.corners for shape in instant.outlines]) + move
        if not together:
            axes.text(
                corners[:, 0].mean(), cells.low, _say(instant), ha="center", va="top", fontsize=8
            )
        else:
            axes.text(
                0.5 * (corners[:, 0].min() + corners[:, 0].max()),
                corners[:, 1].max(),
                _say(instant),
                ha="center",
                va="bottom",
            )
    axes.set_xlim(cells.left, cells.right)
    axes.set_ylim(cells.low - BELOW * (cells.high - cells.low), cells.high)
    axes.set_aspect("equal")
    axes.axis("off")


def _draw_ground(
    axes: Any, instant: Instant, frame: tuple[float, float, float, float], move: Vector
) -> None:
    for shape in instant.ground:
        seen = clip(shape.corners, frame)
        if len(seen) > 2:
            _fill(axes, seen + move, _mix("#b4bcc2", 0.7 - 0.7 * shape.slant), "#8b949b", 1.0)


def _draw_bodies(axes: Any, instant: Instant, move: Vector, opacity: float) -> None:
    depths = np.array([shape.depth for shape in instant.outlines])
    spread = max(float(np.ptp(depths)), 1e-9)
    for shape in instant.outlines:
        colour = OTHERS[list(instant.owners).index(shape.owner) % len(OTHERS)]
        white = (
            0.5 - 0.6 * shape.slant if shape.slant else PALE * (shape.depth - depths.min()) / spread
        )
        _fill(axes, shape.corners + move, _mix(colour, max(0.0, white)), "white", opacity)


def _draw_arrow(axes: Any, place: Vector, way: Vector) -> None:
    look = {
        "arrowstyle": "-|>",
        "color": "#b3202c",
        "linewidth": 1.3,
        "mutation_scale": 8,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", xy=place + way, xytext=place, arrowprops=look)


def _say(instant: Instant) -> str:
    return f"{instant.t:.2f} s" + (f"\n{instant.label}" if instant.label else "")


def _draw_graph(axes: Any, graph: Graph, instants: Sequence[float]) -> None:
    for k, (label, values) in enumerate(graph.curves.items()):
        axes.plot(graph.t, values, color=OTHERS[k % len(OTHERS)], label=label)
    if graph.level is not None:
        axes.axhline(graph.level, color="#5f6b73", linewidth=0.8, linestyle=":")
    axes.plot(
        instants,
        np.zeros(len(instants)),
        "^",
        color="#5f6b73",
        markersize=4,
        transform=axes.get_xaxis_transform(),
        clip_on=False,
    )
    for at, label in graph.marks.items():
        axes.axvline(at, color="#5f6b73", linewidth=0.8)
        axes.annotate(
            label,
            (at, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
            fontsize=7,
        )
    axes.set_title(f"{graph.title}  [{graph.unit}]", loc="left")
    axes.set_xlabel("t [s]")
    axes.margins(x=0.0)
    if len(graph.curves) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def clip(corners: Matrix, frame: tuple[float, float, float, float]) -> Matrix:
    """Cut a convex polygon at the edges of a rectangle (Sutherland and Hodgman).

    Args:
        corners: (k, 2) corners.
        frame: Left, right, low, high.

    Returns:
        (m, 2) corners of what is left; none where nothing is.
    """
    sides: tuple[tuple[int, float, Callable[[float, float], bool]], ...] = (
        (0, frame[0], lambda value, bound: value >= bound),
        (0, frame[1], lambda value, bound: value <= bound),
        (1, frame[2], lambda value, bound: value >= bound),
        (1, frame[3], lambda value, bound: value <= bound),
    )
    points = list(corners)
    for axis, bound, inside in sides:
        kept = []
        for a, b in zip(points[-1:] + points[:-1], points, strict=True):
            if inside(float(a[axis]), bound) != inside(float(b[axis]), bound):
                kept.append(a + (b - a) * (bound - a[axis]) / (b[axis] - a[axis]))
            if inside(float(b[axis]), bound):
                kept.append(b)
        points = kept
    return np.array(points).reshape(-1, 2)


def _fill(axes: Any, corners: Matrix, face: Any, edge: str, opacity: float) -> None:
    from matplotlib.patches import Polygon

    axes.add_patch(
        Polygon(
            corners,
            closed=True,
            facecolor=face,
            edgecolor=edge,
            linewidth=0.4,
            joinstyle="round",
            alpha=opacity,
        )
    )


def _mix(colour: str, white: float) -> tuple[float, float, float]:
    """Return a colour with a share of white."""
    red, green, blue = (
        int(colour[k : k + 2], 16) / 255.0 * (1.0 - white) + white for k in (1, 3, 5)
    )
    return red, green, blue
