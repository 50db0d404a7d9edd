# SPDX-License-Identifier: Apache-2.0
"""Which points touch the ground or a shape that moves, and the rows of their velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.contacts.clusters import Looking, Screen
from humanoid_dynamics.simulation.contacts.coming_in import find_deepest, probe_shallow
from humanoid_dynamics.simulation.contacts.contact_rows import NOBODY
from humanoid_dynamics.simulation.contacts.discs import probe_discs, reach
from humanoid_dynamics.simulation.contacts.level_ground import LevelGround
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape
from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.simulation.contacts.point_table import PointTable
from humanoid_dynamics.simulation.contacts.shapes import (
    FACING,
    Plane,
    carried_reach,
    leave_out,
    minus_skew,
    probe_facing,
    tangents,
)
from humanoid_dynamics.simulation.contacts.terrain import Terrain
from humanoid_dynamics.simulation.contacts.thresholds import NEAR
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

FEW = 4  # joints that carry points, up to which one large product costs less than many small ones


class Sight(NamedTuple):
    """Where all points are, and look.

    Attributes:
        poses: (nj, 12) poses of all joints, rotation column by column and translation.
        middles: (n, 3) middles of all points, in the world [m].
        looks: (n, 3) where all points look, in the world; None where none looks anywhere.
        axes: (n, 3) axes of discs, in the world.
    """

    poses: Matrix
    middles: Matrix
    looks: Matrix | None
    axes: Matrix


class Detector:
    """Finds the points of a table that are near the ground or a moving shape, with all prepared that does not change.

    Attributes:
        level: The ground, where that is a plane and nothing else.
        lowest: Least gap found last [m].
    """

    def __init__(
        self, table: PointTable, terrain: Terrain, movers: Sequence[BoundShape] = ()
    ) -> None:
        """Prepare.

        Args:
            table: All touch points.
            terrain: The ground.
            movers: Shapes that move.
        """
        self._table, self._terrain, self._movers = table, terrain, movers
        self._joint = (
            np.array(table.joints, dtype=np.intp)[table.owner]
            if len(table)
            else np.zeros(0, dtype=np.intp)
        )
        self._support = table.support[self._joint]
        self._p_J = np.ascontiguousarray(table.p_J.reshape(-1, 1, 4))
        self._carriers = np.array(table.joints, dtype=np.intp)
        self._blocks = _spread_points(table) if len(table.joints) <= FEW else None
        only = terrain.shapes[0] if len(terrain.shapes) == 1 else None
        self.level = (
            LevelGround(only, table, self._support)
            if isinstance(only, Plane) and len(table)
            else None
        )
        self._own, self._lookers = table.own, np.flatnonzero(table.outward.any(axis=1))
        self._is_disc = np.asarray(table.axis.any(axis=1))
        self._discs, self._screen = self._is_disc.nonzero()[0], Screen(table)
        self.lowest = self._spared = np.inf

    def find(self, poses: Matrix, J: Matrix, looking: Looking) -> Near | None:
        """Return the points that are nearer to the ground or another body than some distance.

        Args:
            poses: (nj, 12) poses of all joints, rotation column by column and translation.
            J: (6, nv) joint Jacobian of the world.
            looking: For what the step looks.

        Returns:
            The points and their rows; None where there are none.
        """
        self.lowest = np.inf
        if not len(self._table):
            return None
        if self.level is not None and not self._movers:
            return self._find_level(self.level, self.place(poses, J, looking), J, looking.within)
        sight = self._see(poses)
        found = [self._find_ground(sight, J, looking)]
        found += [
            self._find_mover(slot, sight, J, looking) for slot in range(1, len(self._movers) + 1)
        ]
        kept = [near for near in found if near is not None]
        if len(kept) < 2:
            return kept[0] if kept else None
        joined = [
            np.concatenate([getattr(near, name) for near in kept], axis=axis)
            for name, axis in JOINED
        ]
        return Near(*joined)

    def place(self, poses: Matrix, J: Matrix, looking: Looking) -> Matrix:
        """Return where the middles of all points are over level ground, and discs lowest (n, 3), in the world [m].

        What belongs to clusters and cannot come to the ground in the step, or looks elsewhere, is said to be far up.

        Args:
            poses: (nj, 12) poses of all joints, rotation column by column and translation.
            J: (6, nv) joint Jacobian of the world.
            looking: For what the step looks.
        """
        level = self.level
        self._spared = np.inf
        if self._screen.is_of_use and level is not None:
            among, limit, self._spared = self._screen.select(poses, J, self._terrain, looking)
            places = self._carry(poses, among)
            middles = np.tile(level.far, (len(self._table), 1))
            near = places.dot(level.normal) - level.offset - self._table.radius[among] < limit
            middles[among[near]] = places[near]
        else:
            middles = self._place_all(poses)
        if level is not None and len(self._discs):
            self._lower(level, middles, self._turn(poses, self._discs, self._table.axis))
        if level is not None and len(self._lookers):
            looks = self._turn(poses, self._lookers, self._table.outward)
            middles[self._lookers[looks.dot(level.normal) > -FACING]] = level.far
        return middles

    def _place_all(self, poses: Matrix) -> Matrix:
        """Return where the middles of all points are (n, 3), in the world [m]."""
        if self._blocks is not None:
            middles: Matrix = self._blocks.dot(poses.take(self._carriers, 0).reshape(-1, 3))
            return middles
        return self._carry(poses, slice(None))

    def _carry(self, poses: Matrix, among: Indices | slice) -> Matrix:
        """Return where the middles of some points are (k, 3), in the world [m]."""
        return np.asarray(
            np.matmul(self._p_J[among], poses.take(self._joint[among], 0).reshape(-1, 4, 3))[:, 0]
        )

    def _turn(self, poses: Matrix, among: Indices | slice, vectors: Matrix) -> Matrix:
        """Return (k, 3) vectors of some points in the world."""
        return np.asarray(
            np.einsum("nj,njk->nk", vectors[among], poses[self._joint[among], :9].reshape(-1, 3, 3))
        )

    def _lower(self, level: LevelGround, middles: Matrix, axes: Matrix) -> None:
        """Put discs where they are lowest over level ground."""
        normals = np.broadcast_to(level.normal, axes.shape)
        middles[self._discs] += reach(self._table.radius[self._discs], axes, normals)

    def _see(self, poses: Matrix) -> Sight:
        """Return where all points are and look."""
        every = slice(None)
        looks = self._turn(poses, every, self._table.outward) if len(self._lookers) else None
        axes = (
            self._turn(poses, every, self._table.axis)
            if len(self._discs)
            else np.zeros((len(self._table), 3))
        )
        return Sight(poses, self._place_all(poses), looks, axes)

    def _find_level(
        self, level: LevelGround, middles: Matrix, J: Matrix, within: float
    ) -> Near | None:
        near = level.find(middles, J, within)
        self.lowest = min(level.lowest, self._spared)
        return near

    def _find_ground(self, sight: Sight, J: Matrix, looking: Looking) -> Near | None:
        """Return the points of bodies that are near the ground; those of the terrain come after them."""
        table, terrain, level = self._table, self._terrain, self.level
        if not self._own:
            return None
        if level is not None:
            return self._find_level(level, self.place(sight.poses, J, looking), J, looking.within)
        among, limit, spared = np.arange(self._own), np.full(self._own, looking.within), np.inf
        if self._screen.is_of_use:
            among, limit, spared = self._screen.select(sight.poses, J, terrain, looking)
            among, limit = among[among < self._own], limit[among < self._own]
        gap, normal, shape, place = self._measure_ground(sight, among, limit)
        deep = np.flatnonzero(gap < -NEAR) if looking.deep is not None else NOBODY
        if len(deep):
            index = among[deep]
            along = _normal_rows(normal[deep], place[deep], J) * self._support[index]
            deepest = find_deepest(looking, along, index)
            gap[deep], normal[deep], shape[deep], place[deep] = self._measure_ground(
                sight, index, limit[deep], deepest
            )
        self.lowest = float(gap.min(initial=spared))
        near = np.flatnonzero(gap < limit)
        if not len(near):
            return None
        index, axes, place = among[near], tangents(normal[near]), place[near]
        rows = _twist_rows(axes, place, J) * self._support[index]
        mu = np.minimum(table.friction[index], terrain.friction[shape[near]])
        e = np.maximum(table.restitution[index], terrain.restitution[shape[near]])
        return Near(index, index, gap[near], axes, rows, place, mu, e)

    def _measure_ground(
        self, sight: Sight, among: Indices, limit: Vector, deepest: Vector | None = None
    ) -> tuple[Vector, Matrix, Indices, Matrix]:
        """Return gaps, normals, shapes of the terrain and places that touch of some points, in none of which they are too deep."""
        terrain, radius, middles = self._terrain, self._table.radius[among], sight.middles[among]
        looks = None if sight.looks is None else sight.looks[among]
        gap, normal, shape = terrain.probe(
            middles, looks, None if deepest is None else radius - deepest
        )
        gap, place = gap - radius, middles - radius[:, None] * normal
        discs = np.flatnonzero(
            self._is_disc[among] & ((gap < limit) if deepest is None else True)
        )  # no ball is nearer than its discs
        if len(discs) and terrain.shapes:
            lying = terrain.shapes, middles[discs], radius[discs], sight.axes[among[discs]]
            gap[discs], normal[discs], shape[discs], place[discs] = (
                probe_discs(*lying) if deepest is None else probe_shallow(*lying, deepest[discs])
            )
        return gap, normal, shape, place

    def _find_mover(self, slot: int, sight: Sight, J: Matrix, looking: Looking) -> Near | None:
        table, mover, middles = self._table, self._movers[slot - 1], sight.middles
        pose = sight.poses[mover.joint]
        R, p = pose[:9].reshape(3, 3).T, pose[9:]
        within = looking.within
        reached = carried_reach(mover.shape) + within
        away = middles - (p + R @ mover.shape.X_WB.translation)
        index = np.flatnonzero(
            (np.einsum("ij,ij->i", away, away) < (reached + table.radius) ** 2)
            & (table.group != mover.group)
        )
        if not len(index):
            return None
        radius, local = table.radius[index], (middles[index] - p) @ R
        gap, normal = probe_facing(
            mover.shape, local, None if sight.looks is None else sight.looks[index] @ R
        )
        gap, place = gap - radius, middles[index] - radius[:, None] * (normal @ R.T)
        discs = np.flatnonzero(self._is_disc[index] & (gap < within))
        if len(discs):
            measured = probe_discs(
                (mover.shape,), local[discs], radius[discs], sight.axes[index[discs]] @ R
            )
            gap[discs], normal[discs], place[discs] = (
                measured[0],
                measured[1],
                measured[3] @ R.T + p,
            )
        deep = np.flatnonzero(gap < -NEAR) if looking.deep is not None else NOBODY
        if len(deep):
            along = _normal_rows(normal[deep] @ R.T, place[deep], J) * (
                self._support[index[deep]] - table.support[mover.joint]
            )
            gap[deep] = leave_out(
                mover.shape,
                gap[deep],
                -find_deepest(looking, along, slot * len(table) + index[deep]),
            )
        self.lowest = min(self.lowest, float(gap.min()))
        near = np.flatnonzero(gap < within)
        if not len(near):
            return None
        index, gap, place = index[near], gap[near], place[near]
        axes = tangents(normal[near] @ R.T)
        twist = _twist_rows(axes, place, J)
        rows = twist * (self._support[index] - table.support[mover.joint])
        mu, e = (
            np.minimum(table.friction[index], mover.shape.friction),
            np.maximum(table.restitution[index], mover.shape.restitution),
        )
        return Near(slot * len(table) + index, index, gap, axes, rows, place, mu, e)


JOINED = (
    ("key", 0),
    ("point", 0),
    ("gap", 0),
    ("axes", 1),
    ("J", 1),
    ("place", 0),
    ("mu", 0),
    ("e", 0),
)


def _spread_points(table: PointTable) -> Matrix:
    """Return (n, 4c) what gives the middles of all points out of the poses of the c joints that carry any: a sum with many zeros."""
    blocks = np.zeros((len(table), len(table.joints), 4))
    blocks[np.arange(len(table)), table.owner] = table.p_J[:, :, 0]
    return blocks.reshape(len(table), 4 * len(table.joints))


def _normal_rows(normal: Matrix, place: Matrix, J: Matrix) -> Matrix:
    """Return (k, nv) rows of the velocity at some places along some normals, as if all coordinates moved them."""
    return np.asarray(np.hstack((normal, np.cross(place, normal))).dot(J))


def _twist_rows(axes: Matrix, place: Matrix, J: Matrix) -> Matrix:
    """Return (3, k, nv) rows of the velocity at some places along some axes, as if all coordinates moved them."""
    count = len(place)
    wrench = np.empty((3, count, 6))
    wrench[:, :, :3] = axes
    wrench[:, :, 3:] = np.matmul(wrench[:, :, None, :3], minus_skew(place))[:, :, 0, :]
    return np.asarray(wrench.reshape(-1, 6).dot(J).reshape(3, count, -1))
