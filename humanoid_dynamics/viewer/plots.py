# SPDX-License-Identifier: Apache-2.0
"""The plots beside the drawing: forces, the torques of chosen motors, residual and margins."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import viser
from viser import uplot

from humanoid_dynamics.viewer.limbs import group_motors
from humanoid_dynamics.viewer.picture import Picture
from humanoid_dynamics.viewer.session import Sample

HISTORY = 300
HEIGHT = 140  # pixels
PADDING = (
    10,
    24,
    0,
    20,
)  # pixels above, right, below, left: room for the uppermost number, and for long ones
LABEL_SPACE = 20  # pixels between numbers at the side, small enough that a plot has two
COLOURS = ("#d63e34", "#1e6edc", "#3f9a55", "#b07a1e", "#7a4fb0", "#1799a8", "#c2419a", "#444444")
NO_TICKS = uplot.Axis_Ticks(show=False)  # the grid tells as much
FORCES, TORQUES = "N", "N·m"
CURSOR, CURSOR_COLOUR = "now", "#888888"
SMALLEST_SHARE = 0.01
# Smallest range of values in a plot by unit, and whether it is measured by the weight: for moments and energies with an arm of 1 m.
SMALLEST_SPANS = MappingProxyType(
    {
        "N": (SMALLEST_SHARE, True),
        "N·m": (SMALLEST_SHARE, True),
        "J": (SMALLEST_SHARE, True),
        "m": (0.005, False),
        "s": (0.001, False),
    }
)
ROOM = 0.1  # of the range, above and below the values
USED = 0.4  # of a range that values use at least; below that a smaller one is chosen
Range = tuple[float, float]
Curves = dict[str, np.ndarray[Any, np.dtype[np.float64]]]


class Plots:
    """One plot for each quantity, and for each side of the limb whose torques are asked for."""

    def __init__(
        self,
        server: viser.ViserServer,
        motors: tuple[str, ...],
        weight: float,
        course: Sequence[Sample] = (),
    ) -> None:
        """Begin.

        Args:
            server: The server of the page.
            motors: Motors whose torques are told.
            weight: Weight of the robot, which scales are measured by [N].
            course: Samples of a whole record, which is shown with a cursor at the present time; empty for the last ten seconds.
        """
        self._server, self._groups = server, group_motors(motors)
        self._history: deque[Sample] = deque(course, maxlen=None if course else HISTORY)
        self._whole, self._now, self._weight = bool(course), 0.0, weight
        self._plots: dict[str, Any] = {}
        self._ranges: dict[str, Range] = {}
        self._chosen = self._drawn = next(iter(self._groups), "")
        gui = server.gui
        self._forces = gui.add_folder("Forces", visible=False)  # until something touches
        self._torques = gui.add_folder("Torques") if motors else None
        if self._torques is not None:
            with self._torques:
                choice = gui.add_dropdown("Motors", tuple(self._groups), initial_value=self._chosen)
                choice.on_update(lambda _: self._choose(str(choice.value)))
        self._others = gui.add_folder("Residual, margins, energy")

    def put(self, picture: Picture) -> None:
        """Take the numbers of a picture; where time goes back, curves begin anew, but those of a whole record."""
        self._now = picture.t
        if self._whole:
            return
        if picture.t < (self._history[-1][0] if self._history else 0.0):
            self._history.clear()
        if self._history and picture.t == self._history[-1][0]:
            self._history.pop()  # time stands still: a plot without a range of time cannot be drawn
        self._history.append((picture.t, dict(picture.numbers), dict(picture.torques)))

    def draw(self) -> None:
        """Bring the plots up to date."""
        times = np.array([t for t, _, _ in self._history])
        if len(times) < 2:
            return
        for title, curves in self._group_numbers().items():
            self._draw_plot(
                self._forces
                if title.endswith(f"[{FORCES}]") and "force" in title
                else self._others,
                title,
                times,
                curves,
            )
        if self._torques is not None:
            self._draw_torques(self._torques, times)

    def _choose(self, group: str) -> None:
        if group in self._groups:
            self._chosen = group

    def _draw_torques(self, folder: Any, times: Any) -> None:
        if self._chosen != self._drawn:
            for title in self._groups[self._drawn]:
                plot = self._plots.pop(f"{title} [{TORQUES}]", None)
                if plot is not None:
                    plot.remove()
            self._drawn = self._chosen
        for title, motors in self._groups[self._drawn].items():
            curves = {
                name: np.array([torques.get(motor, 0.0) for _, _, torques in self._history])
                for motor, name in motors.items()
            }
            if any(values.any() for values in curves.values()):
                self._draw_plot(folder, f"{title} [{TORQUES}]", times, curves)

    def _group_numbers(self) -> dict[str, Curves]:
        """Return title -> curve -> numbers; what is called ``normal force, left [N]`` is the curve ``left`` of ``normal force [N]``."""
        plots: dict[str, Curves] = {}
        for name in dict.fromkeys(name for _, numbers, _ in self._history for name in numbers):
            quantity, _, unit = name.partition(" [")
            what, _, of = quantity.partition(", ")
            values = np.array([numbers.get(name, 0.0) for _, numbers, _ in self._history])
            plots.setdefault(f"{what} [{unit}", {})[of or what] = values
        return plots

    def _draw_plot(self, folder: Any, title: str, times: Any, curves: Curves) -> None:
        low, high = fit_range(curves.values(), self._smallest_span(title), self._ranges.get(title))
        scaled = self._ranges.get(title) == (low, high)
        self._ranges[title] = low, high
        data = (times, *curves.values())
        if self._whole:
            data, curves = add_cursor(data, self._now, low, high), {**curves, CURSOR: times}
        plot = self._plots.get(title)
        if plot is not None and len(plot.data) == len(data):
            plot.data = data
            if not scaled:
                plot.scales = _scales(low, high)
            return
        if plot is not None:
            plot.remove()
        folder.visible = True
        with folder:
            self._plots[title] = self._add_plot(title, tuple(curves), data, _scales(low, high))

    def _smallest_span(self, title: str) -> float:
        """Return the smallest range of values a plot shows, so that no rounding error fills it."""
        share, of_weight = SMALLEST_SPANS.get(
            title.rpartition("[")[2].rstrip("]"), (SMALLEST_SHARE, False)
        )
        return share * self._weight if of_weight and self._weight > 0.0 else share

    def _add_plot(
        self, title: str, names: tuple[str, ...], data: tuple[Any, ...], scales: dict[str, Any]
    ) -> Any:
        series = [uplot.Series(label="t [s]")]
        series += [
            uplot.Series(
                label=name,
                stroke=CURSOR_COLOUR if name == CURSOR else COLOURS[k % len(COLOURS)],
                width=1 if name == CURSOR else 2,
            )
            for k, name in enumerate(names)
        ]
        return self._server.gui.add_uplot(
            data,
            tuple(series),
            title=title,
            scales=scales,
            axes=(uplot.Axis(ticks=NO_TICKS), uplot.Axis(ticks=NO_TICKS, space=LABEL_SPACE)),
            height=HEIGHT,
            padding=PADDING,
            legend=uplot.Legend(show=True),
        )


def fit_range(curves: Iterable[Any], smallest: float, before: Range | None = None) -> Range:
    """Return the range of values a plot shows.

    Args:
        curves: Values of each curve; NaN and infinity do not count.
        smallest: The smallest range.
        before: The range until now; it stays while all values are in it and fill enough of it.
    """
    values = np.concatenate([np.zeros(0), *curves])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    span = max((1.0 + 2.0 * ROOM) * (high - low), smallest)
    if (
        before is not None
        and before[0] <= low
        and high <= before[1]
        and span >= USED * (before[1] - before[0])
    ):
        return before
    middle = 0.5 * (low + high)
    return middle - 0.5 * span, middle + 0.5 * span


def add_cursor(data: tuple[Any, ...], now: float, low: float, high: float) -> tuple[Any, ...]:
    """Return curves of a record and one more: a vertical line at the present time.

    Args:
        data: Times, ascending, and the values of each curve.
        now: The present time [s].
        low: Lower end of the line.
        high: Upper end of the line.
    """
    times = data[0]
    now = float(np.clip(now, times[0], times[-1]))
    row = int(np.searchsorted(times, now))
    curves = [np.insert(curve, row, [np.interp(now, times, curve)] * 3) for curve in data]
    line = np.full(len(curves[0]), low)
    line[row + 1] = high
    return (*curves, line)


def _scales(low: float, high: float) -> dict[str, Any]:
    return {"x": uplot.Scale(time=False), "y": uplot.Scale(range=(low, high))}
