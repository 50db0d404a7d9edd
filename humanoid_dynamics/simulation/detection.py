"""Which points touch, and the rows of their velocities: normal, then two tangents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.simulation.terrain import Terrain, minus_skew, tangents
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


def find_near(table: PointTable, terrain: Terrain, data: pin.Data, within: float) -> Near | None:
    """Return the points that are nearer to the ground than some distance.

    Args:
        table: All touch points.
        terrain: The ground.
        data: After ``Terms.evaluate``.
        within: The distance [m].

    Returns:
        The points and their rows; None where there are none.
    """
    if not len(table):
        return None
    poses = np.array([data.oMi[joint].homogeneous for joint in table.joints])
    middles = np.matmul(poses[table.owner], table.p_J)[:, :3, 0]
    probe = terrain.probe(middles)
    gap = probe.gap - table.radius
    index = np.flatnonzero(gap < within)
    if not len(index):
        return None
    normal = probe.normal if len(probe.normal) == 1 else probe.normal[index]
    shape = probe.shape if len(probe.shape) == 1 else probe.shape[index]
    place = middles[index] - table.radius[index, None] * normal
    axes = np.empty((3, len(index), 3))
    axes[:] = tangents(normal) if probe.axes is None else probe.axes
    wrench = np.empty((3, len(index), 6))
    wrench[:, :, :3] = axes
    wrench[:, :, 3:] = np.matmul(axes[:, :, None, :], minus_skew(place))[:, :, 0, :]
    J = wrench.reshape(-1, 6).dot(data.J).reshape(3, len(index), -1)
    J *= table.support[table.owner[index]]
    mu = np.minimum(table.friction[index], terrain.friction[shape])
    return Near(index, gap[index], axes, J, place, mu, np.maximum(table.restitution[index], terrain.restitution[shape]))


class LimitTable:
    """Limits of all joints that have any."""

    def __init__(self, robot: RobotModel) -> None:
        """Collect them.

        Args:
            robot: The robot.
        """
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
        here = q[self._q]
        gap = np.concatenate((here - self._lower, self._upper - here))
        rate = v[self._v]
        slack = LIMIT_SLACK + dt * float(np.abs(rate).max())  # impulses of this very step may throw any joint
        near = np.flatnonzero(gap + 2.0 * dt * np.minimum(self._sign * rate, 0.0) < slack)
        return NearLimits(self._v[near], self._sign[near], gap[near]) if len(near) else None
