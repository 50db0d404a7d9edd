# SPDX-License-Identifier: Apache-2.0
"""Points over one plane, level or a slope: their axes are alike and never change, so all but the moments is prepared."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.simulation.contacts.point_table import PointTable
from humanoid_dynamics.simulation.contacts.shapes import Plane, tangents
from humanoid_dynamics.simulation.contacts.thresholds import CALM, REACH, WILD_REACH
from humanoid_dynamics.simulation.steps.rows import DT, FASTEST
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only

FAR = 1e6  # m


class LevelGround:
    """A plane and the points that may touch it.

    Attributes:
        normal: (3,) normal of the plane.
        offset: Its height along that [m].
        far: (3,) a place far above it [m].
        lowest: Least gap found last [m].
        turn: (6, 6) axes of every point, twice on the diagonal.
        count: Number of points.
        is_square: Whether axes of the plane are those of the world, so that nothing is lost in turning there and back.
    """

    def __init__(self, plane: Plane, table: PointTable, support: Matrix) -> None:
        """Prepare.

        Args:
            plane: The plane.
            table: All touch points.
            support: (n, nv) one where the coordinate moves the point.
        """
        radius = np.where(
            table.axis.any(axis=1), 0.0, table.radius
        )  # what is told of discs is where they are lowest
        self.normal, self.offset, self._height = plane.normal, plane.offset, plane.offset + radius
        self.far = (plane.offset + FAR) * plane.normal
        self._within = radius[:, None] * plane.normal
        self._mu, self._e = (
            np.minimum(table.friction, plane.friction),
            np.maximum(table.restitution, plane.restitution),
        )
        axes = tangents(plane.normal[None])[:, 0]
        self.turn, self.is_square = (
            read_only(np.kron(np.eye(2), axes)),
            bool((np.abs(axes) % 1.0 == 0.0).all()),
        )
        self._moments = np.hstack(
            [pin.skew(axis) for axis in axes]
        )  # p . these = p x axis, one after the other
        self._wrenches = np.zeros((3, len(table), 6))
        self._wrenches[:, :, :3] = axes[:, None]
        self._support, self._all, self.count = support, np.arange(len(table)), len(table)
        self.lowest = np.inf

    def measure(self, middles: Matrix) -> Vector:
        """Return the distance of every point [m].

        Args:
            middles: (n, 3) middles of all points, in the world [m].
        """
        gap: Vector = middles.dot(self.normal)
        gap -= self._height
        return gap

    def select(self, point: Indices) -> tuple[Vector, Matrix, Matrix]:
        """Return coefficients (m,), wrenches (3, m, 6) without moments, and support (m, nv) of some points.

        Args:
            point: (m,) their places in the table.
        """
        return self._mu[point], self._wrenches[:, point], self._support[point]

    def prepare(self, point: Indices | slice) -> tuple[Matrix, Matrix]:
        """Return what gives moments of unit forces along the axes of some points about the origin of the world, and their distances.

        Args:
            point: (m,) their places in the table.

        Returns:
            (10, 3) and (10, m): the first times middles (3, m), less the second, is one row for each number of each moment, all of a row
            of axes before the next number, and one of distances.
        """
        moments = self._moments.reshape(3, 3, 3).transpose(2, 1, 0).reshape(9, 3)
        return np.vstack((moments, self.normal)), np.vstack(
            (moments.dot(self._within[point].T), self._height[point])
        )

    def find_places(self, middles: Matrix, point: Indices | slice) -> Matrix:
        """Return where some points touch (m, 3) [m].

        Args:
            middles: (m, 3) their middles [m].
            point: (m,) their places in the table.
        """
        place: Matrix = middles - self._within[point]
        return place

    def is_reached(
        self,
        places: tuple[Matrix, Vector],
        point: Indices,
        J: Matrix,
        v: Vector,
        numbers: memoryview[float],
    ) -> bool:
        """Return whether any of some points, none of which touched, would come near enough to take part in a step.

        Args:
            places: (k, 3) middles of the points, and (k,) distances [m].
            point: (k,) their places in the table.
            J: (6, nv) joint Jacobian of the world.
            v: (nv,) velocity to expect in the middle of the step.
            numbers: Numbers in and out, one by one.
        """
        middles, gap = places
        wrenches = self._wrenches[0, point]
        wrenches[:, 3:] = (middles - self._within[point]).dot(self._moments[:, :3])
        speed = (wrenches.dot(J) * self._support[point]).dot(v)
        reach = REACH if numbers[FASTEST] < CALM else WILD_REACH
        return bool((gap + numbers[DT] * speed < reach).any())

    def find(self, middles: Matrix, J: Matrix, within: float) -> Near | None:
        """Return the points that are nearer than some distance; None where there are none.

        Args:
            middles: (n, 3) middles of all points, in the world [m].
            J: (6, nv) joint Jacobian of the world.
            within: The distance [m].
        """
        gap = self.measure(middles)
        self.lowest = float(gap[gap.argmin()])
        if self.lowest >= within:
            return None
        if gap[gap.argmax()] < within:
            index, mu, e, wrenches, support = (
                self._all,
                self._mu,
                self._e,
                self._wrenches,
                self._support,
            )
        else:
            index = (gap < within).nonzero()[0]
            gap, middles, e = gap[index], middles[index], self._e[index]
            mu, wrenches, support = self.select(index)
        place = self.find_places(middles, index)
        wrenches[:, :, 3:] = place.dot(self._moments).reshape(-1, 3, 3).transpose(1, 0, 2)
        rows = wrenches.reshape(-1, 6).dot(J).reshape(3, len(index), -1)
        rows *= support
        return Near(index, index, gap, wrenches[:, :, :3], rows, place, mu, e, self.turn)
