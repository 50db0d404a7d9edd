"""Which points touch, and the rows of their velocities: normal, then two tangents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.terrain import Probe, Terrain, minus_skew, tangents
from humanoid_dynamics.simulation.touch_points import PointTable
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LIMIT_SLACK = 2e-3  # a limit nearer than this is watched [rad or m]


@dataclass(frozen=True, eq=False)
class Near:
    """Points near the ground.

    Attributes:
        index: (k,) which points of the table.
        gap: (k,) distance from the ground [m].
        axes: (3, k, 3) normal and two tangents of each, in the world.
        J: (3, k, nv) velocity of the touching material point along these axes, per generalized velocity.
        place: (k, 3) where it touches, in the world [m].
        mu: (k,) Coulomb coefficient.
        e: (k,) coefficient of restitution.
    """

    index: Indices
    gap: Vector
    axes: Matrix
    J: Matrix
    place: Matrix
    mu: Vector
    e: Vector


@dataclass(frozen=True, eq=False)
class NearLimits:
    """Joints near a limit.

    Attributes:
        v: (k,) their velocity coordinates.
        sign: (k,) 1 at a lower limit, -1 at an upper one.
        gap: (k,) distance from it [rad or m].
    """

    v: Indices
    sign: Vector
    gap: Vector

    @property
    def side(self) -> Indices:
        """(k,) zero at a lower limit, one at an upper one."""
        side: Indices = (self.sign < 0.0).astype(np.intp)
        return side


class Detector:
    """Finds the points of a table that are near the ground, with all prepared that does not change."""

    def __init__(self, table: PointTable, terrain: Terrain) -> None:
        """Prepare.

        Args:
            table: All touch points.
            terrain: The ground.
        """
        self._table, self._terrain = table, terrain
        self._support = table.support[table.owner] if len(table) else np.zeros((0, 0))
        self._all = np.arange(len(table))
        level = terrain.level
        self._turn = None if level is None else np.hstack([pin.skew(axis) for axis in level[:, 0]])
        self._mu, self._e = table.friction, table.restitution
        if len(terrain.shapes) == 1:
            self._mu = np.minimum(table.friction, terrain.friction[0])
            self._e = np.maximum(table.restitution, terrain.restitution[0])

    def find(self, data: pin.Data, within: float) -> Near | None:
        """Return the points that are nearer to the ground than some distance.

        Args:
            data: After ``Terms.evaluate``.
            within: The distance [m].

        Returns:
            The points and their rows; None where there are none.
        """
        table = self._table
        if not len(table):
            return None
        poses = np.array([data.oMi[joint].homogeneous for joint in table.joints])
        middles = np.matmul(poses[table.owner], table.p_J)[:, :3, 0]
        probe = self._terrain.probe(middles)
        gap = probe.gap - table.radius
        near = gap < within
        if near.all():
            return self._rows(self._all, gap, probe, middles, data)
        index = np.flatnonzero(near)
        return self._rows(index, gap[index], probe, middles[index], data) if len(index) else None

    def _rows(self, index: Indices, gap: Vector, probe: Probe, middles: Matrix, data: pin.Data) -> Near:
        table, terrain, count = self._table, self._terrain, len(index)
        normal = probe.normal if len(probe.normal) == 1 else probe.normal[index]
        place = middles - table.radius[index, None] * normal
        wrench = np.empty((3, count, 6))
        axes = tangents(normal) if probe.axes is None else probe.axes
        wrench[:, :, :3] = axes
        if self._turn is not None:
            wrench[:, :, 3:] = place.dot(self._turn).reshape(count, 3, 3).transpose(1, 0, 2)
        else:
            wrench[:, :, 3:] = np.matmul(wrench[:, :, None, :3], minus_skew(place))[:, :, 0, :]
        J = wrench.reshape(-1, 6).dot(data.J).reshape(3, count, -1)
        J *= self._support[index]
        mu, e = self._mu[index], self._e[index]
        if len(terrain.shapes) > 1:
            shape = probe.shape[index]
            mu, e = np.minimum(mu, terrain.friction[shape]), np.maximum(e, terrain.restitution[shape])
        return Near(index, gap, wrench[:, :, :3], J, place, mu, e)


class LimitTable:
    """Limits of all joints that have any."""

    def __init__(self, robot: RobotModel) -> None:
        """Collect them.

        Args:
            robot: The robot.
        """
        self.nv = robot.nv
        single = [joint for joint in robot.joints if joint.v.stop - joint.v.start == 1 == joint.q.stop - joint.q.start]
        bounded = [j for j in single if np.isfinite(robot.limits.lower[j.q.start]) or np.isfinite(robot.limits.upper[j.q.start])]
        self._q = np.array([joint.q.start for joint in bounded], dtype=np.intp)
        v = np.array([joint.v.start for joint in bounded], dtype=np.intp)
        self._lower, self._upper = robot.limits.lower[self._q], robot.limits.upper[self._q]
        self._v = np.concatenate((v, v))
        self._sign = np.concatenate((np.ones(len(v)), -np.ones(len(v))))

    def find_near(self, q: Vector, v: Vector, dt: float) -> NearLimits | None:
        """Return the limits a step could reach.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            dt: Length of the step [s].

        Returns:
            The limits; None where there are none.
        """
        if not len(self._q):
            return None
        here, rate = q[self._q], v[self._v]
        gap = np.concatenate((here - self._lower, self._upper - here))
        slack = LIMIT_SLACK + dt * float(np.abs(rate).max())  # impulses of this very step may throw any joint
        near = np.flatnonzero(gap + 2.0 * dt * np.minimum(self._sign * rate, 0.0) < slack)
        return NearLimits(self._v[near], self._sign[near], gap[near]) if len(near) else None
