# SPDX-License-Identifier: Apache-2.0
"""What figures consist of: curves in panels, panels in a sheet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.series.layout import Patch
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.polygon import half_planes


@dataclass(frozen=True, eq=False)
class Curve:
    """One line.

    Attributes:
        name: What it is, whole.
        label: What it is called in its panel.
        values: (n,) numbers over the instants of the record.
        side: ``left``, ``right``, or empty.
    """

    name: str
    label: str
    values: Vector
    side: str = ""


@dataclass(frozen=True, eq=False)
class Panel:
    """Axes with curves over time.

    Attributes:
        title: What they show.
        unit: Unit of all curves.
        curves: The curves.
    """

    title: str
    unit: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, eq=False)
class SolePanel:
    """A sole from above, and where the ground pressed on it.

    Attributes:
        patch: The sole.
        cop: (n, 2) centre of pressure in its frame [m]; NaN where nothing pressed.
    """

    patch: Patch
    cop: Matrix

    @property
    def title(self) -> str:
        """Name of the sole."""
        return self.patch.name

    @property
    def margin(self) -> Vector:
        """(n,) distance of the centre of pressure inside the sole [m]; NaN where nothing pressed."""
        A, b = half_planes(self.patch.corners)
        return np.asarray(np.min(b - self.cop @ A.T, axis=1))


@dataclass(frozen=True, eq=False)
class Sheet:
    """One figure.

    Attributes:
        name: One of ``curves.SHEETS``.
        t: (n,) instants [s].
        panels: What it consists of.
    """

    name: str
    t: Vector
    panels: tuple[Panel | SolePanel, ...]

    def numbers(self) -> dict[str, dict[str, dict[str, float | str | None]]]:
        """Return panel -> curve -> smallest, largest and final number, with the unit; None where there is none."""
        return {panel.title: dict(_summarise(panel)) for panel in self.panels}


def _summarise(panel: Panel | SolePanel) -> Iterator[tuple[str, dict[str, float | str | None]]]:
    if isinstance(panel, SolePanel):
        series = {"cop_x": panel.cop[:, 0], "cop_y": panel.cop[:, 1], "margin": panel.margin}
        triples = [(name, values, "m") for name, values in series.items()]
    else:
        triples = [(curve.name, curve.values, panel.unit) for curve in panel.curves]
    for name, values, unit in triples:
        known = values[np.isfinite(values)]
        last = float(values[-1]) if np.isfinite(values[-1]) else None
        ends: tuple[float | None, float | None] = (
            (float(known.min()), float(known.max())) if len(known) else (None, None)
        )
        yield name, {"min": ends[0], "max": ends[1], "final": last, "unit": unit}
