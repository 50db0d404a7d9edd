"""Points over one plane, level or a slope: their axes are alike and never change, so all but the moments is prepared."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.simulation.contacts.shapes import Plane, tangents
from humanoid_dynamics.simulation.contacts.touch_points import PointTable
from humanoid_dynamics.spatial.arrays import Matrix, read_only


class LevelGround:
    """A plane and the points that may touch it.

    Attributes:
        lowest: Least gap found last [m].
    """

    def __init__(self, plane: Plane, table: PointTable, support: Matrix) -> None:
        """Prepare.

        Args:
            plane: The plane.
            table: All touch points.
            support: (n, nv) one where the coordinate moves the point.
        """
        self._normal, self._height = plane.normal, plane.offset + table.radius
        self._within = table.radius[:, None] * plane.normal
        self._mu, self._e = np.minimum(table.friction, plane.friction), np.maximum(table.restitution, plane.restitution)
        axes = tangents(plane.normal[None])[:, 0]
        self._turn = read_only(np.kron(np.eye(2), axes))
        self._moments = np.hstack([pin.skew(axis) for axis in axes])  # p . these = p x axis, one after the other
        self._wrenches = np.zeros((3, len(table), 6))
        self._wrenches[:, :, :3] = axes[:, None]
        self._support, self._all = support, np.arange(len(table))
        self.lowest = np.inf

    def find(self, middles: Matrix, J: Matrix, within: float) -> Near | None:
        """Return the points that are nearer than some distance; None where there are none.

        Args:
            middles: (n, 3) middles of all points, in the world [m].
            J: (6, nv) joint Jacobian of the world.
            within: The distance [m].
        """
        gap = middles.dot(self._normal) - self._height
        self.lowest = float(gap[gap.argmin()])
        if self.lowest >= within:
            return None
        place = middles - self._within
        if gap[gap.argmax()] < within:
            index, mu, e, wrenches, support = self._all, self._mu, self._e, self._wrenches, self._support
        else:
            index = (gap < within).nonzero()[0]
            gap, place, mu, e = gap[index], place[index], self._mu[index], self._e[index]
            wrenches, support = self._wrenches[:, index], self._support[index]
        count = len(index)
        wrenches[:, :, 3:] = place.dot(self._moments).reshape(count, 3, 3).transpose(1, 0, 2)
        rows = wrenches.reshape(-1, 6).dot(J).reshape(3, count, -1)
        rows *= support
        return Near(index, index, gap, wrenches[:, :, :3], rows, place, mu, e, self._turn)
