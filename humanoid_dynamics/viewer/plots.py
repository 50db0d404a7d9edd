"""The plots beside the drawing: forces, the torques of chosen motors, residual and margins."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import viser
from viser import uplot

from humanoid_dynamics.viewer.limbs import group_motors
from humanoid_dynamics.viewer.picture import Picture

HISTORY = 300
HEIGHT = 140  # pixels
PADDING = (10, 24, 0, 20)  # pixels above, right, below, left: room for the uppermost number, and for long ones
LABEL_SPACE = 20  # pixels between numbers at the side, small enough that a plot has two
COLOURS = ("#d63e34", "#1e6edc", "#3f9a55", "#b07a1e", "#7a4fb0", "#1799a8", "#c2419a", "#444444")
NO_TICKS = uplot.Axis_Ticks(show=False)  # the grid tells as much
FORCES, TORQUES = "N", "N·m"
Curves = dict[str, np.ndarray[Any, np.dtype[np.float64]]]


class Plots:
    """One plot for each quantity, and for each side of the limb whose torques are asked for."""

    def __init__(self, server: viser.ViserServer, motors: tuple[str, ...]) -> None:
        """Begin.

        Args:
            server: The server of the page.
            motors: Motors whose torques are told.
        """
        self._server, self._groups = server, group_motors(motors)
        self._history: deque[tuple[float, dict[str, float], dict[str, float]]] = deque(maxlen=HISTORY)
        self._plots: dict[str, Any] = {}
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
        """Take the numbers of a picture; time that goes back begins anew."""
        if picture.t < (self._history[-1][0] if self._history else 0.0):
            self._history.clear()
        self._history.append((picture.t, dict(picture.numbers), dict(picture.torques)))

    def draw(self) -> None:
        """Bring the plots up to date."""
        times = np.array([t for t, _, _ in self._history])
        if len(times) < 2:
            return
        for title, curves in self._group_numbers().items():
            self._draw_plot(self._forces if title.endswith(f"[{FORCES}]") and "force" in title else self._others, title, times, curves)
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
            curves = {name: np.array([torques.get(motor, 0.0) for _, _, torques in self._history]) for motor, name in motors.items()}
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
        data = (times, *curves.values())
        plot = self._plots.get(title)
        if plot is not None and len(plot.data) == len(data):
            plot.data = data
            return
        if plot is not None:
            plot.remove()
        folder.visible = True
        with folder:
            self._plots[title] = self._add_plot(title, tuple(curves), data)

    def _add_plot(self, title: str, names: tuple[str, ...], data: tuple[Any, ...]) -> Any:
        series = [uplot.Series(label="t [s]")]
        series += [uplot.Series(label=name, stroke=COLOURS[k % len(COLOURS)], width=2) for k, name in enumerate(names)]
        return self._server.gui.add_uplot(
            data,
            tuple(series),
            title=title,
            scales={"x": uplot.Scale(time=False)},
            axes=(uplot.Axis(ticks=NO_TICKS), uplot.Axis(ticks=NO_TICKS, space=LABEL_SPACE)),
            height=HEIGHT,
            padding=PADDING,
            legend=uplot.Legend(show=True),
        )
