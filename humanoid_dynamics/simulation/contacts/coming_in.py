# SPDX-License-Identifier: Apache-2.0
"""How deep points may be in what they came into by a side they can touch: what is deeper went in past an edge, and is let pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.simulation.contacts.clusters import Looking
from humanoid_dynamics.simulation.contacts.discs import probe_discs
from humanoid_dynamics.simulation.contacts.shapes import Shape, leave_out
from humanoid_dynamics.simulation.contacts.thresholds import NEAR
from humanoid_dynamics.simulation.steps.rows import V_MIDDLE, V
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


def find_deepest(looking: Looking, rows: Matrix, key: Indices) -> Vector:
    """Return how deep points may be in a shape that they came into by a side they can touch (k,) [m].

    Args:
        looking: For what the step looks.
        rows: (k, nv) their velocities along the normals of what they are in.
        key: (k,) place of each pair of point and shape in the memory.
    """
    sunk = 0.0 if looking.deep is None else looking.deep[key]
    speeds = rows.dot(looking.dofs[[V_MIDDLE, V]].T)
    return np.asarray(NEAR + sunk + looking.dt * np.maximum(-speeds.min(axis=1), 0.0))


def probe_shallow(
    shapes: Sequence[Shape], middles: Matrix, radius: Vector, axis: Matrix, deepest: Vector
) -> tuple[Vector, Matrix, Indices, Matrix]:
    """Return where discs touch the nearest of those shapes in which they are not too deep; arguments are those of ``probe_discs``.

    Args:
        shapes: At least one shape.
        middles: (k, 3) middles in the frame of the shapes [m].
        radius: (k,) radii [m].
        axis: (k, 3) axes in that frame.
        deepest: (k,) how deep each may be [m].

    Returns:
        (k,) gaps [m], infinite where there is none, (k, 3) normals, (k,) which shapes, and (k, 3) places that touch [m].
    """
    found = [probe_discs((shape,), middles, radius, axis) for shape in shapes]
    gaps = np.array(
        [leave_out(shape, parts[0], -deepest) for shape, parts in zip(shapes, found, strict=True)]
    )
    nearest, rows = np.argmin(gaps, axis=0), np.arange(len(middles))
    normals, places = (np.array([parts[k] for parts in found])[nearest, rows] for k in (1, 3))
    return gaps[nearest, rows], normals, nearest, places
