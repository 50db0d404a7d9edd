"""Which points touch, and the rows of their velocities: normal, then two tangents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.contacts.moving_shapes import BoundShape
from humanoid_dynamics.simulation.contacts.shapes import minus_skew, tangents
from humanoid_dynamics.simulation.contacts.terrain import Probe, Terrain
from humanoid_dynamics.simulation.contacts.touch_points import PointTable
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Near:
    """Points near the ground or a shape that moves.

    Attributes:
        key: (k,) place of each pair of point and shape in the memory.
        index: (k,) which points of the table.
        gap: (k,) distance [m].
        axes: (3, k, 3) normal and two tangents of each, in the world.
        J: (3, k, nv) velocity of the touching material point along these axes, per generalized velocity.
        place: (k, 3) where it touches, in the world [m].
        mu: (k,) Coulomb coefficient.
        e: (k,) coefficient of restitution.
        turn: (3, 3) axes of every point where all are alike.
    """

    key: Indices
    index: Indices
    gap: Vector
    axes: Matrix
    J: Matrix
    place: Matrix
    mu: Vector
    e: Vector
    turn: Matrix | None = None


class Detector:
    """Finds the points of a table that are near the ground or a moving shape, with all prepared that does not change."""

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
        self._all = np.arange(len(table))
        self._alike = None if terrain.level is None else np.ascontiguousarray(terrain.level[:, 0])
        self._p_J = np.ascontiguousarray(table.p_J.reshape(-1, 1, 4))
        level = terrain.level
        self._turn = None if level is None else np.hstack([pin.skew(axis) for axis in level[:, 0]])
        self._mu, self._e = table.friction, table.restitution
        if len(terrain.shapes) == 1:
            self._mu = np.minimum(table.friction, terrain.friction[0])
            self._e = np.maximum(table.restitution, terrain.restitution[0])
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
        middles = np.matmul(self._p_J, poses.take(self._joint, 0).reshape(-1, 4, 3))[:, 0]
        found = [self._find_ground(middles, J, within)]
        found += [self._find_mover(slot, middles, poses, J, within) for slot in range(1, len(self._movers) + 1)]
        kept = [near for near in found if near is not None]
        if len(kept) < 2:
            return kept[0] if kept else None
        joined = [np.concatenate([getattr(near, name) for near in kept], axis=axis) for name, axis in JOINED]
        return Near(*joined)

    def _find_ground(self, middles: Matrix, J: Matrix, within: float) -> Near | None:
        terrain = self._terrain
        probe = terrain.probe(middles)
        gap = probe.gap - self._table.radius
        near = gap < within
        self.lowest = float(gap[gap.argmin()])
        count = np.count_nonzero(near)
        if count == len(gap):
            return self._rows(self._all, gap, probe, middles, J)
        if not count:
            return None
        index = near.nonzero()[0]
        return self._rows(index, gap[index], probe, middles[index], J)

    def _find_mover(self, slot: int, middles: Matrix, poses: Matrix, J: Matrix, within: float) -> Near | None:
        table, mover = self._table, self._movers[slot - 1]
        pose = poses[mover.joint]
        R, p = pose[:9].reshape(3, 3).T, pose[9:]
        gap, normal = mover.shape.probe((middles - p) @ R)
        gap = np.where(table.group == mover.group, np.inf, gap - table.radius)
        self.lowest = min(self.lowest, float(gap.min()))
        index = np.flatnonzero(gap < within)
        if not len(index):
            return None
        axes = tangents(normal[index] @ R.T)
        place = middles[index] - table.radius[index, None] * axes[0]
        twist = _twist_rows(axes, place, J)
        rows = twist * (self._support[index] - table.support[mover.joint])
        mu, e = np.minimum(table.friction[index], mover.shape.friction), np.maximum(table.restitution[index], mover.shape.restitution)
        return Near(slot * len(table) + index, index, gap[index], axes, rows, place, mu, e)

    def _rows(self, index: Indices, gap: Vector, probe: Probe, middles: Matrix, J: Matrix) -> Near:
        table, terrain, count = self._table, self._terrain, len(index)
        normal = probe.normal if len(probe.normal) == 1 else probe.normal[index]
        radius = table.radius if index is self._all else table.radius[index]
        place = middles - radius[:, None] * normal
        axes = tangents(normal) if probe.axes is None else probe.axes
        if self._turn is not None:
            wrench = np.empty((3, count, 6))
            wrench[:, :, :3] = axes
            wrench[:, :, 3:] = place.dot(self._turn).reshape(count, 3, 3).transpose(1, 0, 2)
            rows, axes = wrench.reshape(-1, 6).dot(J).reshape(3, count, -1), wrench[:, :, :3]
        else:
            rows = _twist_rows(axes, place, J)
        every = index is self._all
        rows *= self._support if every else self._support[index]
        mu, e = (self._mu, self._e) if every else (self._mu[index], self._e[index])
        if len(terrain.shapes) > 1:
            shape = probe.shape[index]
            mu, e = np.minimum(mu, terrain.friction[shape]), np.maximum(e, terrain.restitution[shape])
        return Near(index, index, gap, axes, rows, place, mu, e, self._alike)


JOINED = (("key", 0), ("index", 0), ("gap", 0), ("axes", 1), ("J", 1), ("place", 0), ("mu", 0), ("e", 0))


def _twist_rows(axes: Matrix, place: Matrix, J: Matrix) -> Matrix:
    """Return (3, k, nv) rows of the velocity at some places along some axes, as if all coordinates moved them."""
    count = len(place)
    wrench = np.empty((3, count, 6))
    wrench[:, :, :3] = axes
    wrench[:, :, 3:] = np.matmul(wrench[:, :, None, :3], minus_skew(place))[:, :, 0, :]
    return np.asarray(wrench.reshape(-1, 6).dot(J).reshape(3, count, -1))
