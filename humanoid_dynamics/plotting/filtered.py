# SPDX-License-Identifier: Apache-2.0
"""A clip before and after the filter: figures, feet from above, centre of mass and zero-moment point; and the same in motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.clip_feed import HOLD
from humanoid_dynamics.filtering.clip_filter import FilteredClip
from humanoid_dynamics.filtering.scoring import CUTOFF
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.motion.checking.zmp import compute_reaction
from humanoid_dynamics.motion.clip import Clip
from humanoid_dynamics.motion.derivatives import differentiate
from humanoid_dynamics.motion.resampling import sample_configurations
from humanoid_dynamics.plotting.canvas import LEFT, RIGHT, new_figure, save_gif, save_png, style
from humanoid_dynamics.plotting.sticks import draw_sticks, join_sticks, list_sticks
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SHOWN, BESIDE = 8, 0.8  # figures in the strip, m between them
RATE = 100.0  # Hz; of the curves
PICTURES, MOST = 12.0, 300  # of a film, per second and in all
FLOOR = 0.1  # m below the ground in a film
FREE = 1.1  # height of a film over that of its figures
BEFORE, AFTER, PIVOT, PIVOT_BEFORE = "0.62", LEFT, RIGHT, "#e8bd9c"


@dataclass(frozen=True, eq=False)
class _Course:
    """One motion, evenly sampled.

    Attributes:
        t: (n,) instants [s].
        q: (n, nq) configurations.
        com: (n, 3) centres of mass [m].
        zmp: (n, 2) zero-moment points on the ground [m]; none where the ground would have to pull.
    """

    t: Vector
    q: Matrix
    com: Matrix
    zmp: Matrix


def draw_filtered(
    clip: Clip, found: FilteredClip, path: Path, watch: Callable[[float], object] | None = None
) -> None:
    """Draw a clip before and after the filter into a PNG.

    Args:
        clip: The clip before.
        found: The clip after.
        path: The file; missing folders are made.
        watch: Called with the share that is done.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    before, after = _courses(clip, found)
    if watch is not None:
        watch(0.5)
    with style():
        figure = new_figure(10.8, 8.4)
        grid = figure.add_gridspec(3, 2, height_ratios=(1.3, 1.25, 1.0))
        _draw_strip(figure.add_subplot(grid[0, :]), clip.robot, before, after)
        _draw_ground(figure.add_subplot(grid[1, :]), found, before, after)
        for k, name in enumerate(("x", "y")):
            _draw_course(figure.add_subplot(grid[2, k]), (before, after), k, name)
        save_png(figure, path)


def film_filtered(
    clip: Clip, found: FilteredClip, path: Path, watch: Callable[[float], object] | None = None
) -> None:
    """Write a film of a clip before (grey) and after the filter (coloured), seen from the side and from the front, as an animated GIF.

    Args:
        clip: The clip before.
        found: The clip after.
        path: The file; missing folders are made.
        watch: Called with the share that is done.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    before, after = _courses(clip, found)
    count = max(min(int(after.t[-1] * PICTURES), MOST), 2)
    rows = np.linspace(0, len(after.t) - 1, count).astype(int)
    with style():
        figure = new_figure(7.2, 3.6)
        wide = _measure_width(clip.robot, np.vstack((before.q[rows], after.q[rows])))
        panels = [_Panel(figure.add_subplot(1, 2, k + 1), clip.robot, k, wide) for k in (0, 1)]

        def draw(picture: int) -> None:
            if watch is not None:
                watch(picture / count)
            row = int(rows[picture])
            for panel in panels:
                panel.show(before, after, row)
            panels[0].axes.set_title(f"{after.t[row]:.2f} s: before grey, after blue", loc="left")
            if (
                picture == 1
            ):  # where panels are is found with the first picture, and takes as long as to draw one
                figure.set_layout_engine("none")

        save_gif(figure, draw, count, float(after.t[-1] - after.t[0]) / count, path)


def _courses(clip: Clip, found: FilteredClip) -> tuple[_Course, _Course]:
    """Return both motions at the same instants: what was asked for then, and what came."""
    frames = found.frames[
        :: max(round((len(found.frames) - 1) / max(found.clip.duration * RATE, 1.0)), 1)
    ]
    t = np.array([frame.time for frame in frames])
    paced = HOLD + found.attempt.slower * clip.duration
    asked = np.array([min(frame.reference, paced) for frame in frames]) - HOLD
    q = sample_configurations(clip, clip.times[0] + asked / found.attempt.slower)
    before = Clip(clip.robot, t, q)
    q, v, a = (np.array([getattr(frame, name) for frame in frames]) for name in ("q", "v", "vdot"))
    after = Clip(clip.robot, t, q, v, a)
    return _follow(before.q, differentiate(before, CUTOFF)), _follow(after.q, after)


def _follow(q: Matrix, moving: Clip) -> _Course:
    robot, t = moving.robot, moving.times
    reaction, data = compute_reaction(moving), robot.data()
    com = np.array([pin.centerOfMass(robot.model, data, row).copy() for row in q])
    zmp = np.where(reaction.force[:, 2:] > 0.05 * robot.mass * 9.81, reaction.zmp, np.nan)
    return _Course(t, q, com, zmp)


def _draw_strip(axes: Any, robot: RobotModel, before: _Course, after: _Course) -> None:
    """Draw some instants side by side."""
    for place, row in enumerate(np.linspace(0, len(after.t) - 1, SHOWN).astype(int)):
        shift = BESIDE * place - float(after.q[row, 0])
        draw_sticks(
            axes,
            robot,
            before.q[row],
            shift=BESIDE * place - float(before.q[row, 0]),
            color=BEFORE,
            lw=1,
        )
        draw_sticks(axes, robot, after.q[row], shift=shift, color=AFTER, lw=1.4)
        lowest = min(float(stick[:, 2].min()) for stick in list_sticks(robot, after.q[row]))
        axes.text(
            BESIDE * place, lowest - 0.1, f"{after.t[row]:.2f} s", ha="center", va="top", fontsize=8
        )
    axes.set(
        aspect="equal", title="figures, from the side, each in its place: before grey, after blue"
    )
    axes.set_axis_off()
    axes.margins(y=0.12)


def _draw_ground(axes: Any, found: FilteredClip, before: _Course, after: _Course) -> None:
    """Draw what is on the ground, from above: soles where they stood, both paths and both zero-moment points."""
    for foot, outline in _prints(found):
        axes.fill(
            *outline.T,
            facecolor=(LEFT, RIGHT)[foot],
            alpha=0.18,
            edgecolor=(LEFT, RIGHT)[foot],
            lw=0.6,
        )
    axes.plot(*before.zmp.T, color=PIVOT_BEFORE, lw=0.8, label="zero-moment point before")
    axes.plot(*after.zmp.T, color=PIVOT, lw=0.9, label="zero-moment point after")
    axes.plot(*before.com[:, :2].T, color=BEFORE, lw=1.2, label="centre of mass before")
    axes.plot(*after.com[:, :2].T, color=AFTER, lw=1.4, label="centre of mass after")
    corners = np.vstack([outline for _, outline in _prints(found)] + [after.com[:, :2]])
    low, high = corners.min(axis=0) - 0.15, corners.max(axis=0) + 0.15
    axes.set(
        xlim=(low[0], high[0]),
        ylim=(low[1], high[1]),
        aspect="equal",
        xlabel="x [m]",
        ylabel="y [m]",
    )
    axes.set(title="from above: soles where they stood after the filter, left blue, right orange")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))


def _prints(found: FilteredClip) -> list[tuple[int, Matrix]]:
    """Return the outlines of all stances, once each, with their feet."""
    model, data = found.clip.robot.model, found.clip.robot.data()
    prints = []
    for foot, sole in enumerate(find_soles(found.clip.robot)):
        stood = False
        for frame in found.frames:
            if frame.stands[foot] and not stood:
                pin.framesForwardKinematics(model, data, frame.q)
                prints.append(
                    (
                        foot,
                        np.array(
                            [data.oMf[sole.frame].act(corner)[:2] for corner in sole.vertices]
                        ),
                    )
                )
            stood = frame.stands[foot]
    return prints


def _draw_course(axes: Any, courses: tuple[_Course, _Course], k: int, name: str) -> None:
    before, after = courses
    axes.plot(before.t, before.zmp[:, k], color=PIVOT_BEFORE, lw=0.8)
    axes.plot(after.t, after.zmp[:, k], color=PIVOT, lw=0.9)
    axes.plot(before.t, before.com[:, k], color=BEFORE)
    axes.plot(after.t, after.com[:, k], color=AFTER)
    ends = np.concatenate((after.zmp[:, k], after.com[:, k], before.com[:, k]))
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    axes.set(
        xlabel="t [s]",
        ylabel=f"{name} [m]",
        ylim=(low - 0.1, high + 0.1),
        title=f"centre of mass and zero-moment point, {name}",
    )


def _measure_width(robot: RobotModel, q: Matrix) -> float:
    """Return how much is to be seen to either side of a figure [m]: all it ever is high."""
    tallest = max(float(stick[:, 2].max()) for row in q for stick in list_sticks(robot, row))
    return 0.5 * FREE * max(tallest, 0.0) + FLOOR


class _Panel:
    """One view of a film: its lines are made once, and moved."""

    def __init__(self, axes: Any, robot: RobotModel, across: int, wide: float) -> None:
        self.axes, self._robot, self._across, self._wide = axes, robot, across, wide
        looks = ({"color": BEFORE, "lw": 1.2}, {"color": AFTER, "lw": 1.8})
        self._figures = [axes.plot([], [], solid_capstyle="round", **look)[0] for look in looks]
        (self._com,) = axes.plot([], [], "o", color=AFTER, ms=4)
        (self._zmp,) = axes.plot([], [], "^", color=PIVOT, ms=5)
        axes.axhline(0.0, color="0.8", lw=0.8)
        axes.set(xlim=(-wide, wide), ylim=(-FLOOR, 2.0 * wide - FLOOR), aspect="equal")
        axes.locator_params(axis="x", nbins=5)
        axes.set_title(("from the side", "from the front")[across], loc="right")

    def show(self, before: _Course, after: _Course, row: int) -> None:
        """Show one instant."""
        k = self._across
        middle = float(after.q[row, k])
        for line, course in zip(self._figures, (before, after), strict=True):
            sticks = join_sticks(list_sticks(self._robot, course.q[row]))
            line.set_data(sticks[:, k] + middle - float(course.q[row, k]), sticks[:, 2])
        self._com.set_data(after.com[row, k : k + 1], after.com[row, 2:])
        self._zmp.set_data(after.zmp[row, k : k + 1], [0.0])
        self.axes.set_xlim(middle - self._wide, middle + self._wide)
