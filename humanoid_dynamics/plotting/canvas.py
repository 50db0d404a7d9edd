# SPDX-License-Identifier: Apache-2.0
"""Matplotlib, as this package uses it: no windows, no global state, equal pictures for equal numbers, small files."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError

DOTS = 80  # per inch
COLKEPT = 64  # of the palette of a picture
LEFT, RIGHT = "#1f6fb4", "#d1581a"
OTHERS = (
    "#1f6fb4",
    "#d1581a",
    "#2a8f4e",
    "#8a56a8",
    "#b8860b",
    "#5f6b73",
    "#c2407c",
    "#17969e",
    "#7a5230",
    "#3b3f99",
)
KEPT = ("backend", "interactive", "toolbar", "date.epoch")  # of the user, and nothing to a picture
STYLE = {
    "font.size": 8.0,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e6e8",
    "grid.linewidth": 0.6,
    "axes.edgecolor": "#8b949b",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 7.0,
    "lines.linewidth": 1.2,
    "axes.formatter.useoffset": False,
    "path.simplify": True,
}


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure with its own canvas.

    Args:
        width: In inches.
        height: In inches.

    Returns:
        A matplotlib figure.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as cause:
        raise MissingExtraError("matplotlib", "plot", "drawing") from cause
    figure = Figure(figsize=(width, height), dpi=DOTS, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def style() -> Any:
    """Return a context in which figures look alike.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context, rcParamsDefault
    except ImportError as cause:
        raise MissingExtraError("matplotlib", "plot", "drawing") from cause
    settings: Any = {name: value for name, value in rcParamsDefault.items() if name not in KEPT}
    settings.update(STYLE)
    return rc_context(settings)


def save_png(figure: Any, path: Path, colours: int = COLKEPT) -> None:
    """Write a figure as a PNG with a palette and no date.

    Args:
        figure: The figure.
        path: The file; missing folders are made.
        colours: Size of the palette.

    Raises:
        HumanoidDynamicsError: If it cannot be written.
    """
    from PIL import Image  # matplotlib brings it

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    buffer.seek(0)
    with Image.open(buffer) as drawn:
        small = drawn.convert("RGB").quantize(
            colours, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        small.save(path, format="PNG", optimize=True)
    except OSError as cause:
        raise HumanoidDynamicsError(f"{path}: cannot be written: {cause}") from cause


def save_gif(
    figure: Any, draw: Callable[[int], object], count: int, seconds: float, path: Path
) -> None:
    """Write pictures of a figure as an animated GIF that begins anew at its end.

    Args:
        figure: The figure.
        draw: Draws a picture into it, by number.
        count: Number of pictures.
        seconds: How long each is shown.
        path: The file; missing folders are made.

    Raises:
        HumanoidDynamicsError: If it cannot be written.
    """
    from PIL import Image  # matplotlib brings it

    pictures = []
    for picture in range(count):
        draw(picture)
        figure.canvas.draw()
        drawn = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
        pictures.append(
            drawn.quantize(COLKEPT, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pictures[0].save(
            path,
            format="GIF",
            save_all=True,
            append_images=pictures[1:],
            duration=max(round(1e3 * seconds), 20),
            loop=0,
        )
    except OSError as cause:
        raise HumanoidDynamicsError(f"{path}: cannot be written: {cause}") from cause
