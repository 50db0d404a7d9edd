"""A figure to draw on, where matplotlib is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from humanoid_dynamics.errors import MissingExtraError

DPI = 100
GRID = {"color": "0.9", "linewidth": 0.6}


def make_figure(width: float, height: float) -> Any:
    """Return an empty figure of its own, which no window and no other figure knows of.

    Args:
        width: Width [inch].
        height: Height [inch].

    Returns:
        A matplotlib figure.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    try:
        figure = import_module("matplotlib.figure").Figure
    except ImportError as cause:
        raise MissingExtraError("matplotlib", "plot", "a picture") from cause
    return figure(figsize=(width, height), dpi=DPI, layout="constrained")


def label(axes: Any, title: str, x: str, y: str) -> None:
    """Write what a panel shows, with units on its axes.

    Args:
        axes: The panel.
        title: What it shows.
        x: Horizontal axis.
        y: Vertical axis.
    """
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(**GRID)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def save(figure: Any, path: Path) -> Path:
    """Write a figure as PNG, the same bytes for the same picture.

    Args:
        figure: The figure.
        path: The file; missing folders are made.

    Returns:
        The file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="png", metadata={"Software": None})
    return path
