# SPDX-License-Identifier: Apache-2.0
"""Measured contact wrenches over time: force plates, or soles with sensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.errors import ClipError, UnknownNameError, count
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.clip import tell_gap
from humanoid_dynamics.motion.formats.opensim_plates import translate_plates
from humanoid_dynamics.motion.formats.series_file import AXES, Series, read_series
from humanoid_dynamics.spatial.arrays import Matrix, Vector

PARTS = ("F", "P", "M")  # force [N], point [m], free moment there [N·m]
FIRST = "_Fx"
LIGHT = 0.05  # of the weight; what a plate without a point may bear, and is taken as nothing
HELD = 1.5  # samples of the plates by which a motion may be longer than they are


@dataclass(frozen=True, eq=False)
class MeasuredWrenches:
    """What the environment did to links of a robot.

    Attributes:
        origin: The file, for messages.
        times: (n,) instants [s], ascending.
        links: Name of the link that each wrench acts on; the same link may come twice.
        wrenches: (n, links, 6) force and moment about the origin of the world, axes of the world [N, N·m].
        notices: What was assumed.
    """

    origin: str
    times: Vector
    links: tuple[str, ...]
    wrenches: NDArray[np.float64] = field(repr=False)
    notices: tuple[str, ...] = ()

    def covers(self, times: Vector) -> NDArray[np.bool_]:
        """Tell which instants were measured, to one and a half samples beyond the first and last.

        Args:
            times: (m,) instants [s].

        Returns:
            (m,) labels.
        """
        held = HELD * float(np.median(np.diff(self.times))) if len(self.times) > 1 else 0.0
        return np.asarray((times >= self.times[0] - held) & (times <= self.times[-1] + held))

    def at(self, times: Vector) -> NDArray[np.float64]:
        """Return the wrenches at any instants.

        Between two samples forces and moments about the origin go straight.  To interpolate point and force by themselves would make up a
        moment where a foot comes down, because the point of a plate that bears nothing means nothing.

        Args:
            times: (m,) instants [s].

        Returns:
            (m, links, 6) wrenches [N, N·m].
        """
        flat = self.wrenches.reshape(len(self.times), -1)
        columns = [np.interp(times, self.times, column) for column in flat.T]
        return (
            np.column_stack(columns).reshape(len(times), len(self.links), 6)
            if columns
            else np.zeros((len(times), 0, 6))
        )


def load_force_plates(
    path: str | Path, robot: RobotModel, links: Mapping[str, str]
) -> MeasuredWrenches:
    """Read force plates: for each one, such as ``R``, columns ``R_Fx`` .. ``R_Fz``, ``R_Px`` .. ``R_Pz`` and ``R_Mx`` .. ``R_Mz``.

    F is the force on the robot, P where it acts and M the free moment there, all in axes of the world.  OpenSim's own names, such as
    ``ground_force_vx``, ``ground_force_px`` and ``ground_torque_x`` of the plate ``ground_force``, are read with the y axis up.  A plate
    that bears next to nothing may have no point, ``nan``.

    Args:
        path: A table of text, of OpenSim too, or a numpy archive.
        robot: The robot.
        links: Plate -> link of the robot it acts on; a plate that is not named here has the name of its link.  Where some are named, a
            plate that is neither is left out.

    Returns:
        The wrenches, with a notice of the plates that were left out, and of rows without a point.

    Raises:
        ClipError: If a plate, a column or a number is missing or wrong, naming file, line and column.
    """
    series, turned, in_file = translate_plates(read_series(Path(path), gaps=True))
    plates = tuple(name.removesuffix(FIRST) for name in series.columns if name.endswith(FIRST))
    if not plates:
        series.take(("PLATE_Fx",))
    for plate in links:
        if plate not in plates:
            problem = str(UnknownNameError("force plate", plate, plates))
            raise ClipError(series.origin, problem, column=plate + FIRST, line=_header(series))
    left_out = [
        plate
        for plate in plates
        if links and plate not in links and plate not in (*robot.links, *robot.aliases)
    ]
    used = [plate for plate in plates if plate not in left_out]
    targets = tuple(_find_link(plate, robot, links, series, in_file) for plate in used)
    light = LIGHT * robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
    wrenches, told = (
        zip(*(_wrench(series, plate, light, in_file) for plate in used), strict=True)
        if used
        else ((), ())
    )
    notices: tuple[str, ...] = (
        (f"plates {', '.join(turned)}: y is up in the file, as in OpenSim; turned to z",)
        if turned
        else ()
    )
    notices += (
        (f"plates not used: {', '.join(left_out)}; no link was named for them",) if left_out else ()
    )
    notices += tuple(notice for notice in told if notice)
    gap = tell_gap(series.times)
    notices += (f"plates: {gap}; forces go straight in between",) if gap else ()
    return MeasuredWrenches(
        series.origin, series.times, targets, np.stack(wrenches, axis=1), notices
    )


def _header(series: Series) -> int | None:
    return series.lines[0] - 1 if series.lines else None


def _find_link(
    plate: str,
    robot: RobotModel,
    links: Mapping[str, str],
    series: Series,
    in_file: Mapping[str, str],
) -> str:
    name = links.get(plate, plate)
    try:
        robot.link_frame(name)
    except UnknownNameError as cause:
        what = (
            f"plate {plate!r} acts on"
            if plate in links
            else f"no link was given for plate {plate!r}, and it is not one itself:"
        )
        column = in_file.get(plate + FIRST, plate + FIRST)
        raise ClipError(
            series.origin, f"{what} {cause}", column=column, line=_header(series)
        ) from cause
    return name


def _wrench(
    series: Series, plate: str, light: float, in_file: Mapping[str, str]
) -> tuple[Matrix, str]:
    """Return the wrenches of a plate, nothing where it has no point, and a notice of that; refuse it where the plate bears."""
    names = [f"{plate}_{part}{axis}" for part in PARTS for axis in AXES]
    table = np.array(series.take(names))
    gaps = np.isnan(table)
    rows = np.flatnonzero(gaps.any(axis=1))
    sizes = np.linalg.norm(table[rows, :3], axis=1)
    for row, size in zip(rows, sizes, strict=True):
        if not size <= light:  # no number is not
            name = names[int(np.argmax(gaps[row]))]
            where = "" if np.isnan(size) else f" where the plate bears {size:.4g} N"
            raise series.fault(
                int(row), in_file.get(name, name), f"received nan, expected a finite number{where}"
            )
    table[rows] = 0.0
    F, P, M = np.split(table, 3, axis=1)
    told = (
        f"plate {plate}: {count(len(rows), 'row')} without a point, with {sizes.max():.3g} N at most, taken as nothing"
        if len(rows)
        else ""
    )
    return np.hstack((F, np.cross(P, F) + M)), told
