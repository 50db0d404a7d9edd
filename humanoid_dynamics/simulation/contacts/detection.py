"""Which points touch the ground or a shape that moves, and the rows of their velocities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_dynamics.simulation.contacts.level_ground import LevelGround
from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape
from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.simulation.contacts.shapes import Plane, carried_reach, minus_skew, probe_facing, tangents
from humanoid_dynamics.simulation.contacts.terrain import Terrain
from humanoid_dynamics.simulation.contacts.touch_points import PointTable
from humanoid_dynamics.spatial.arrays import Matrix

FEW = 4  # joints that carry points, up to which one large product costs less than many small ones


class Detector:
    """Finds the points of a table that are near the ground or a moving shape, with all prepared that does not change.

    Attributes:
        level: The ground, where that is a plane and nothing else.
        lowest: Least gap found last [m].
    """

    def __init__(self, table: PointTable, terrain: Terrain, movers: Sequence[BoundShape] = ()) -> None:
        """Prepare.

        Args:
            table: All touch points.
            terrain: The ground.
            movers: Shapes that move.
        """
        self._table, self._terrain, self._movers = table, terrain, movers
        self._joint = np.array(table.joints, dtype=np.intp)[table.owner] if len(table) else np.zeros(0, dtype=np.intp)
        self._support = table.support[self._joint]
        self._p_J = np.ascontiguousarray(table.p_J.reshape(-1, 1, 4))
        self._carriers = np.array(table.joints, dtype=np.intp)
        self._blocks = _spread_points(table) if len(table.joints) <= FEW else None
        only = terrain.shapes[0] if len(terrain.shapes) == 1 else None
        self.level = LevelGround(only, table, self._support) if isinstance(only, Plane) and len(table) else None
        self._own, self._looking = table.own, bool(table.outward.any())
        self.lowest = np.inf

    def find(self, poses: Matrix, J: Matrix, within: float) -> Near | None:
        """Return the points that are nearer to the ground or another body than some distance.

        Args:
            poses: (nj, 12) poses of all joints, rotation column by column and translation.
            J: (6, nv) joint Jacobian of the world.
            within: The distance [m].

        Returns:
            The points and their rows; None where there are none.
        """
        self.lowest = np.inf
        if not len(self._table):
            return None
        middles = self.place(poses)
        if self.level is not None and not self._movers:
            return self._find_level(self.level, middles, J, within)
        looks = self._turn(poses) if self._looking else None
        found = [self._find_ground((middles, looks), J, within)]
        found += [self._find_mover(slot, (middles, looks), poses, J, within) for slot in range(1, len(self._movers) + 1)]
        kept = [near for near in found if near is not None]
        if len(kept) < 2:
            return kept[0] if kept else None
        joined = [np.concatenate([getattr(near, name) for near in kept], axis=axis) for name, axis in JOINED]
        return Near(*joined)

    def place(self, poses: Matrix) -> Matrix:
        """Return where the middles of all points are (n, 3), in the world [m].

        Args:
            poses: (nj, 12) poses of all joints, rotation column by column and translation.
        """
        if self._blocks is not None:
            middles: Matrix = self._blocks.dot(poses.take(self._carriers, 0).reshape(-1, 3))
            return middles
        return np.asarray(np.matmul(self._p_J, poses.take(self._joint, 0).reshape(-1, 4, 3))[:, 0])

    def _turn(self, poses: Matrix) -> Matrix:
        """Return (n, 3) where all points look, in the world."""
        return np.asarray(np.einsum("nj,njk->nk", self._table.outward, poses[self._joint, :9].reshape(-1, 3, 3)))

    def _find_level(self, level: LevelGround, middles: Matrix, J: Matrix, within: float) -> Near | None:
        near = level.find(middles, J, within)
        self.lowest = level.lowest
        return near

    def _find_ground(self, points: tuple[Matrix, Matrix | None], J: Matrix, within: float) -> Near | None:
        """Return the points of bodies that are near the ground; those of the terrain come after them."""
        middles, looks = (None if part is None else part[: self._own] for part in points)
        table, terrain, level = self._table, self._terrain, self.level
        if middles is None or not len(middles):
            return None
        if level is not None:
            return self._find_level(level, middles, J, within)
        gap, normal, shape = terrain.probe(middles, looks)
        gap -= table.radius[: self._own]
        self.lowest = float(gap[gap.argmin()])
        index = np.flatnonzero(gap < within)
        if not len(index):
            return None
        axes = tangents(normal[index])
        place = middles[index] - table.radius[index, None] * axes[0]
        rows = _twist_rows(axes, place, J) * self._support[index]
        mu = np.minimum(table.friction[index], terrain.friction[shape[index]])
        e = np.maximum(table.restitution[index], terrain.restitution[shape[index]])
        return Near(index, index, gap[index], axes, rows, place, mu, e)

    def _find_mover(self, slot: int, points: tuple[Matrix, Matrix | None], poses: Matrix, J: Matrix, within: float) -> Near | None:
        table, mover, (middles, looks) = self._table, self._movers[slot - 1], points
        pose = poses[mover.joint]
        R, p = pose[:9].reshape(3, 3).T, pose[9:]
        reach = carried_reach(mover.shape) + within
        away = middles - (p + R @ mover.shape.X_WB.translation)
        index = np.flatnonzero((np.einsum("ij,ij->i", away, away) < (reach + table.radius) ** 2) & (table.group != mover.group))
        if not len(index):
            return None
        gap, normal = probe_facing(mover.shape, (middles[index] - p) @ R, None if looks is None else looks[index] @ R)
        gap = gap - table.radius[index]
        self.lowest = min(self.lowest, float(gap.min()))
        near = np.flatnonzero(gap < within)
        if not len(near):
            return None
        index, gap = index[near], gap[near]
        axes = tangents(normal[near] @ R.T)
        place = middles[index] - table.radius[index, None] * axes[0]
        twist = _twist_rows(axes, place, J)
        rows = twist * (self._support[index] - table.support[mover.joint])
        mu, e = np.minimum(table.friction[index], mover.shape.friction), np.maximum(table.restitution[index], mover.shape.restitution)
        return Near(slot * len(table) + index, index, gap, axes, rows, place, mu, e)


JOINED = (("key", 0), ("point", 0), ("gap", 0), ("axes", 1), ("J", 1), ("place", 0), ("mu", 0), ("e", 0))


def _spread_points(table: PointTable) -> Matrix:
    """Return (n, 4c) what gives the middles of all points out of the poses of the c joints that carry any: a sum with many zeros."""
    blocks = np.zeros((len(table), len(table.joints), 4))
    blocks[np.arange(len(table)), table.owner] = table.p_J[:, :, 0]
    return blocks.reshape(len(table), 4 * len(table.joints))


def _twist_rows(axes: Matrix, place: Matrix, J: Matrix) -> Matrix:
    """Return (3, k, nv) rows of the velocity at some places along some axes, as if all coordinates moved them."""
    count = len(place)
    wrench = np.empty((3, count, 6))
    wrench[:, :, :3] = axes
    wrench[:, :, 3:] = np.matmul(wrench[:, :, None, :3], minus_skew(place))[:, :, 0, :]
    return np.asarray(wrench.reshape(-1, 6).dot(J).reshape(3, count, -1))
