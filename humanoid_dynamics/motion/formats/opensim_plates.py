# SPDX-License-Identifier: Apache-2.0
"""Force plates by the names OpenSim gives them: `ground_force_vx`, `ground_force_px`, `ground_torque_x`, with the y axis up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humanoid_dynamics.motion.formats.series_file import AXES, Series
from humanoid_dynamics.spatial.arrays import Matrix, read_only

FIRST = "_vx"


def translate_plates(series: Series) -> tuple[Series, tuple[str, ...], dict[str, str]]:
    """Name the columns of OpenSim's plates as ours, `ground_force_Fx` .. `ground_force_Mz`, and turn their y axis up to z.

    Args:
        series: Any table.

    Returns:
        The table with these columns alone, or as it was where it has none of them; the names of the plates; columns by their name in the
            file.

    Raises:
        ClipError: If the point or the torque of a plate is missing.
    """
    plates = tuple(
        name.removesuffix(FIRST)
        for name in series.columns
        if name.endswith(FIRST) and "force" in name
    )
    if not plates:
        return series, (), {}
    triples = [names for plate in plates for names in _columns(series, plate)]
    values = [_turn(series.take(triple)) for triple in triples]
    names = tuple(
        f"{plate}_{part}{axis}" for plate in plates for part in ("F", "P", "M") for axis in AXES
    )
    in_file = dict(zip(names, (name for x, y, z in triples for name in (x, z, y)), strict=True))
    return replace(series, columns=names, values=read_only(np.hstack(values))), plates, in_file


def _columns(series: Series, plate: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of force, point and torque."""
    torque, moment = (plate.replace("force", word) for word in ("torque", "moment"))
    stems = (f"{torque}_", f"{moment}_", f"{moment}_m", f"{torque}_m", f"{plate}_m", f"{plate}_t")
    found = next((stem for stem in stems if stem + "x" in series.columns), stems[0])
    return tuple(
        tuple(stem + axis for axis in AXES) for stem in (f"{plate}_v", f"{plate}_p", found)
    )


def _turn(table: Matrix) -> Matrix:
    """Turn vectors about x so that y becomes z, (n, 3)."""
    return np.column_stack((table[:, 0], -table[:, 2], table[:, 1]))
