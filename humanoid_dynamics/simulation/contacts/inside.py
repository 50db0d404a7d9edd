# SPDX-License-Identifier: Apache-2.0
"""What of bodies is inside a box, a ball or a capsule: what went in past an edge is let pass, and no depth of a contact tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.contacts.discs import probe_discs
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape, carried_by
from humanoid_dynamics.simulation.contacts.point_table import WORLD, PointTable
from humanoid_dynamics.simulation.contacts.shapes import Box, Capsule, Plane, carried_reach
from humanoid_dynamics.simulation.contacts.terrain import Terrain
from humanoid_dynamics.simulation.contacts.thresholds import NEAR
from humanoid_dynamics.spatial.arrays import Matrix, Vector

BETWEEN = np.linspace(-1.0, 1.0, 11)[
    1:-1, None
]  # where lines between the points of a shape are looked at


class Inside(NamedTuple):
    """A body that is inside a solid.

    Attributes:
        link: The link.
        shape: Its shape, or the point that stands for itself.
        solid: What it is inside of: a shape of the terrain, or the link that a shape rides on.
        depth: How deep at least [m].
    """

    link: str
    shape: str
    solid: str
    depth: float

    def __str__(self) -> str:
        return (
            f"shape {self.shape!r} of link {self.link!r}, {self.depth:.3g} m inside {self.solid!r}"
        )


def find_inside(
    robot: RobotModel, q: Vector, table: PointTable, terrain: Terrain, movers: Sequence[BoundShape]
) -> tuple[Inside, ...]:
    """Return what is deeper in a solid than a contact is, the deepest first, by touch points and what lies between those of one shape.

    Args:
        robot: All bodies.
        q: (nq,) where they are.
        table: Their points.
        terrain: What stands still; a plane has no edges to go in by.
        movers: Shapes that ride on bodies.
    """
    standing = [shape for shape in terrain.shapes if not isinstance(shape, Plane)]
    if not table.own or not (standing or movers):
        return ()
    data = robot.data()
    pin.forwardKinematics(robot.model, data, q)
    solids: list[tuple[Box | Capsule, str, int]] = [
        (shape, shape.name, WORLD) for shape in standing
    ]
    solids += [
        (carried_by(mover.shape, data.oMi[mover.joint]), mover.link, mover.group)
        for mover in movers
    ]
    poses = np.array([data.oMi[joint].homogeneous for joint in table.joints])[
        table.owner[: table.own]
    ]
    middles = np.matmul(poses, table.p_J[: table.own])[:, :3, 0]
    axes = np.einsum("nij,nj->ni", poses[:, :3, :3], table.axis[: table.own])
    found = []
    for solid, name, group in solids:
        depth = _measure_depth(solid, table, middles, axes)
        for k in np.flatnonzero((depth > NEAR) & (table.group[: table.own] != group)).tolist():
            found.append(
                Inside(table.links[k], table.shapes[k] or table.names[k], name, float(depth[k]))
            )
    return tuple(sorted(found, key=lambda one: -one.depth))


def _measure_depth(
    solid: Box | Capsule, table: PointTable, middles: Matrix, axes: Matrix
) -> Vector:
    """Return how deep each point is in a solid, or a line from there to another of its shape; zero where neither is [m]."""
    away, radius, (a, b) = middles - solid.X_WB.translation, table.radius[: table.own], table.lines
    reach = carried_reach(solid)
    depth = np.zeros(len(middles))
    near = np.flatnonzero(np.einsum("ij,ij->i", away, away) < (reach + radius) ** 2)
    if len(near):
        depth[near] = np.maximum(radius[near] - solid.probe(middles[near])[0], 0.0)
    discs = near[axes[near].any(axis=1)]
    if len(discs):
        depth[discs] = np.maximum(
            -probe_discs((solid,), middles[discs], radius[discs], axes[discs])[0], 0.0
        )
    mid, half = 0.5 * (away[a] + away[b]), 0.5 * (away[b] - away[a])
    thick = np.where(
        axes[a].any(axis=1) | axes[b].any(axis=1), 0.0, np.minimum(radius[a], radius[b])
    )
    near = np.flatnonzero(
        np.einsum("ij,ij->i", mid, mid)
        < (reach + np.sqrt(np.einsum("ij,ij->i", half, half)) + thick) ** 2
    )
    if len(near):
        ways = (solid.X_WB.translation + mid[near])[:, None] + BETWEEN * half[near][:, None]
        gap = solid.probe(ways.reshape(-1, 3))[0].reshape(-1, len(BETWEEN)).min(axis=1)
        np.maximum.at(depth, a[near], thick[near] - gap)
    return depth
