# SPDX-License-Identifier: Apache-2.0
"""Figures of an estimated run: path, height, velocity, attitude and contacts, with the true motion where it is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.estimation.replay import EstimatedRun
from humanoid_dynamics.estimation.sensor_log import BaseTrack
from humanoid_dynamics.plotting.canvas import OTHERS, new_figure, save_png, style
from humanoid_dynamics.spatial.arrays import Matrix

TRUE = {"color": "#8b949b", "linewidth": 2.0, "label": "true"}
ESTIMATED = {"color": OTHERS[0], "label": "estimated"}
TWO_SIGMA = 2.0


def draw_estimate(run: EstimatedRun, truth: BaseTrack | None, title: str, path: Path) -> None:
    """Draw an estimated run into a PNG.

    Args:
        run: The estimates.
        truth: The true motion, aligned with them; None where it is unknown.
        title: Title of the figure.
        path: The file.

    Raises:
        MissingExtraError: If matplotlib is not installed.
        HumanoidDynamicsError: If the file cannot be written.
    """
    with style():
        figure = new_figure(11.0, 8.0)
        figure.suptitle(title)
        axes = figure.subplots(3, 2)
        _draw_path(axes[0, 0], run, truth)
        t = run.track.times
        _draw_band(axes[0, 1], run, truth, 2, "height [m]")
        for column, ax in enumerate(axes[1]):
            if truth is not None:
                ax.plot(t, truth.twist[:, column], **TRUE)
            ax.plot(t, run.track.twist[:, column], **ESTIMATED)
            ax.set_title(f"velocity along {'xy'[column]} of the base [m/s]")
        _draw_tilt(axes[2, 0], run, truth)
        for column, name in enumerate(run.contacts):
            axes[2, 1].plot(t, run.probability[:, column], color=OTHERS[column], label=name)
        axes[2, 1].set_title("contact probability [-]")
        for ax in axes.flat:
            ax.legend(loc="upper right")
        save_png(figure, path)


def _draw_path(ax: Any, run: EstimatedRun, truth: BaseTrack | None) -> None:
    if truth is not None:
        ax.plot(truth.pose[:, 0], truth.pose[:, 1], **TRUE)
    ax.plot(run.track.pose[:, 0], run.track.pose[:, 1], **ESTIMATED)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title("path of the base [m]")


def _draw_band(
    ax: Any, run: EstimatedRun, truth: BaseTrack | None, column: int, title: str
) -> None:
    t, values = run.track.times, run.track.pose[:, column]
    width = TWO_SIGMA * run.deviation[:, column]
    ax.fill_between(t, values - width, values + width, color=OTHERS[0], alpha=0.15, linewidth=0.0)
    if truth is not None:
        ax.plot(t, truth.pose[:, column], **TRUE)
    ax.plot(t, values, **ESTIMATED)
    ax.set_title(f"{title}, band of two standard deviations")


def _draw_tilt(ax: Any, run: EstimatedRun, truth: BaseTrack | None) -> None:
    """Draw roll and pitch, and those of the truth."""
    for k, name in enumerate(("roll", "pitch")):
        if truth is not None:
            ax.plot(run.track.times, _angles(truth)[:, k], **{**TRUE, "label": f"true {name}"})
        ax.plot(run.track.times, _angles(run.track)[:, k], color=OTHERS[k], label=name)
    ax.set_title("attitude [deg]")


def _angles(track: BaseTrack) -> Matrix:
    return np.degrees([pin.rpy.matrixToRpy(turn) for turn in track.turns])
