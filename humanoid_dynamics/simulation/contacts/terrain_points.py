# SPDX-License-Identifier: Apache-2.0
"""Points along the edges of boxes that stand still, so that boxes that ride on bodies may lie across an edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from humanoid_dynamics.model.robot import Notice, RobotModel
from humanoid_dynamics.model.surface import DEFAULT_FRICTION
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape, MovingShape
from humanoid_dynamics.simulation.contacts.point_table import WORLD, PointTable
from humanoid_dynamics.simulation.contacts.shapes import Box, Capsule, Shape
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

SHARE = 4.0  # points along the smallest size of what moves
MOST = 1000  # points of the whole terrain
HIDDEN = 1e-6  # points nearer to another shape of the terrain than this are inside it or on it [m]


def add_edges(
    table: PointTable, terrain: Sequence[Shape], movers: Sequence[BoundShape]
) -> PointTable:
    """Return a table with the edges of the terrain behind the points of the bodies, where something moves that could lie across one.

    Args:
        table: Touch points of the bodies.
        terrain: What stands still.
        movers: Shapes that move.
    """
    solids = [mover.shape for mover in movers]
    spacing = _choose_spacing(terrain, solids)[1]
    rows = [
        (shape, *row)
        for shape in terrain
        if isinstance(shape, Box)
        for row in _list_open(shape, terrain, spacing)
    ]
    if not rows:
        return table
    count, smooth = len(rows), all(np.isfinite(solid.friction) for solid in solids)
    names = tuple(f"{shape.name}.edge{k}" for k, (shape, _, _) in enumerate(rows))
    friction = [
        shape.friction if smooth or np.isfinite(shape.friction) else DEFAULT_FRICTION
        for shape, _, _ in rows
    ]
    places = np.array([[*place, 1.0] for _, place, _ in rows])
    return replace(
        table,
        names=table.names + names,
        links=table.links + tuple(shape.name for shape, _, _ in rows),
        shapes=table.shapes + tuple(shape.name for shape, _, _ in rows),
        joints=(*table.joints, 0),
        owner=np.concatenate((table.owner, np.full(count, len(table.joints), dtype=np.intp))),
        p_J=read_only(np.concatenate((table.p_J, places.reshape(-1, 4, 1)))),
        radius=read_only(np.concatenate((table.radius, np.zeros(count)))),
        friction=read_only(np.concatenate((table.friction, friction))),
        restitution=read_only(
            np.concatenate((table.restitution, [shape.restitution for shape, _, _ in rows]))
        ),
        group=np.concatenate((table.group, np.full(count, WORLD, dtype=np.intp))),
        outward=read_only(np.concatenate((table.outward, [outward for _, _, outward in rows]))),
        axis=read_only(np.concatenate((table.axis, np.zeros((count, 3))))),
    )


def note_edges(
    robot: RobotModel, terrain: Sequence[Shape], shapes: Sequence[MovingShape]
) -> RobotModel:
    """Return the robot with a warning where edges of the terrain are too long for two points below the smallest size of what moves.

    Args:
        robot: The robot.
        terrain: What stands still.
        shapes: Shapes that ride on it.
    """
    wanted, spacing = _choose_spacing(terrain, [moving.shape for moving in shapes])
    if not spacing > 2.0 * wanted:
        return robot
    smallest = min(
        (moving for moving in shapes if _size(moving.shape) < np.inf),
        key=lambda moving: _size(moving.shape),
    )
    said = f"edges of the terrain have a point every {spacing:.2g} m, not every {wanted:.2g} m: it may go through an edge between them"
    return replace(
        robot, notices=(*robot.notices, Notice("warning", f"link {smallest.link}", said))
    )


def _size(shape: Box | Capsule) -> float:
    """Return the smallest size of a shape; infinite for a ball, which touches as it is."""
    if isinstance(shape, Box):
        return 2.0 * float(np.min(shape.half))
    return 2.0 * shape.radius if shape.length else np.inf


def _choose_spacing(
    terrain: Sequence[Shape], solids: Sequence[Box | Capsule]
) -> tuple[float, float]:
    """Return the distance of points that is wanted and the one that can be had; infinite where nothing may lie across an edge."""
    wanted = min((_size(solid) for solid in solids), default=np.inf) / SHARE
    if wanted == np.inf:
        return np.inf, np.inf
    edges = np.array([8.0 * shape.half for shape in terrain if isinstance(shape, Box)])
    return wanted, max(wanted, float(edges.sum()) / MOST)


def _list_open(box: Box, terrain: Sequence[Shape], spacing: float) -> list[tuple[Vector, Vector]]:
    """Return points along the edges of a box that no other shape hides, in the world, each with the direction in which it looks."""
    if spacing == np.inf:
        return []
    local = _list_local(box, spacing)
    sides = np.where(np.abs(local) == box.half, np.sign(local), 0.0)
    places = local @ box.X_WB.rotation.T + box.X_WB.translation
    outward = (sides / np.linalg.norm(sides, axis=1)[:, None]) @ box.X_WB.rotation.T
    hidden = np.zeros(len(places), dtype=np.bool_)
    for other in terrain:
        if other is not box:
            hidden |= other.probe(places)[0] < HIDDEN
    return list(zip(places[~hidden], outward[~hidden], strict=True))


def _list_local(box: Box, spacing: float) -> Matrix:
    """Return (n, 3) points along the edges of a box in its own frame, each corner once."""
    found = []
    for axis in range(3):
        steps = np.linspace(-1.0, 1.0, 1 + int(np.ceil(2.0 * box.half[axis] / spacing)))
        for ends in product((-1.0, 1.0), (-1.0, 1.0)):
            found += [(*ends[:axis], along, *ends[axis:]) for along in steps.tolist()]
    return np.array(list(dict.fromkeys(found))) * box.half
