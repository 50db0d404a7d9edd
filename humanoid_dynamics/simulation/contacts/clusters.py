# SPDX-License-Identifier: Apache-2.0
"""Points that lie together, so that many that are far from everything cost no more than one."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.contacts.hull_points import TOGETHER
from humanoid_dynamics.simulation.contacts.point_table import WORLD, PointTable
from humanoid_dynamics.simulation.contacts.terrain import Terrain
from humanoid_dynamics.simulation.contacts.thresholds import CALM, NEAR, REACH, WILD_REACH
from humanoid_dynamics.simulation.steps.rows import V_MIDDLE, V
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector, read_only

FEW = 5  # points, of which fewer are looked at one by one


class Clusters(NamedTuple):
    """Points of one shape each, which follow one another and lie together, and a ball that holds them.

    Attributes:
        first: (c,) the first point of each.
        end: (c,) the one after the last.
        joint: (c,) joint that carries it.
        p_J: (c, 3) middle of the ball in the joint [m].
        radius: (c,) its radius [m].
        number: (n,) which cluster each point of the table belongs to, counted from one; zero for none.
        shape: (n,) which shape of a body each belongs to, counted from one; zero for shapes of few points, and for the terrain.
    """

    first: Indices
    end: Indices
    joint: Indices
    p_J: Matrix
    radius: Vector
    number: Indices
    shape: Indices


def find_clusters(table: PointTable) -> Clusters:
    """Return the clusters of a table; points of shapes with few are in none, nor are corners of contact surfaces, which all bear load.

    Args:
        table: All touch points.
    """
    shapes = list(zip(table.owner.tolist(), table.shapes, strict=True))
    bounds = [
        k for k in range(len(shapes) + 1) if k in {0, len(shapes)} or shapes[k] != shapes[k - 1]
    ]
    spans, middles, radii = [], [], []
    number, shape = np.zeros((2, len(table)), dtype=np.intp)
    for a, b in pairwise(bounds):
        if not table.shapes[a]:
            continue
        if b - a >= FEW and table.group[a] != WORLD:
            shape[a:b] = shape.max() + 1
        spans += [
            (k, min(k + TOGETHER, b))
            for k in range(a, b, TOGETHER)
            if min(k + TOGETHER, b) - k >= FEW
        ]
    for k, (a, b) in enumerate(spans):
        number[a:b] = k + 1
        middle, radius = _enclose(table, a, b)
        middles.append(middle)
        radii.append(radius)
    first, end = (np.array([span[k] for span in spans], dtype=np.intp) for k in (0, 1))
    joints = np.array(table.joints, dtype=np.intp)[table.owner[first]] if len(first) else first
    return Clusters(
        first, end, joints, read_only(np.reshape(middles, (-1, 3))), read_only(radii), number, shape
    )


def find_joint_balls(table: PointTable) -> tuple[Indices, Indices, Matrix, Vector]:
    """Return a ball for each run of many points on one joint: what is far from the ground as a whole costs one look.

    Args:
        table: All touch points.

    Returns:
        (r,) the first point of each run, (r,) the one after its last, (r, 3) middle of the ball in the joint and (r,) its radius [m].
    """
    carriers = list(zip(table.owner.tolist(), table.group.tolist(), strict=True))
    bounds = [
        k
        for k in range(len(carriers) + 1)
        if k in {0, len(carriers)} or carriers[k] != carriers[k - 1]
    ]
    spans = [(a, b) for a, b in pairwise(bounds) if b - a >= FEW and table.group[a] != WORLD]
    balls = [_enclose(table, a, b) for a, b in spans]
    first, end = (np.array([span[k] for span in spans], dtype=np.intp) for k in (0, 1))
    return (
        first,
        end,
        np.reshape([ball[0] for ball in balls], (-1, 3)),
        np.array([ball[1] for ball in balls]),
    )


def _enclose(table: PointTable, a: int, b: int) -> tuple[Vector, float]:
    """Return middle and radius of a ball that holds some points of one joint [m]."""
    p = table.p_J[a:b, :3, 0]
    middle: Vector = (p.min(axis=0) + p.max(axis=0)) / 2.0
    return middle, float((np.linalg.norm(p - middle, axis=1) + table.radius[a:b]).max())


class Looking(NamedTuple):
    """For what a step looks.

    Attributes:
        within: How near points have to be [m].
        dofs: Table of the coordinates.
        dt: Length of the step [s].
        deep: (pairs,) how deep points were in the last step [m]; None to find points however deep.
    """

    within: float
    dofs: Matrix
    dt: float
    deep: Vector | None = None


class Screen:
    """Tells which points of a table are worth a look."""

    def __init__(self, table: PointTable) -> None:
        """Prepare.

        Args:
            table: All touch points.
        """
        self._clusters = find_clusters(table)
        self._support = table.support[self._clusters.joint]
        self.is_of_use = len(self._clusters.first) > 0

    def select(
        self, poses: Matrix, J: Matrix, terrain: Terrain, looking: Looking
    ) -> tuple[Indices, Vector, float]:
        """Return the points that are in no cluster, or in one that may be near the ground and may come to it in the step.

        Args:
            poses: (nj, 12) poses of all joints, rotation column by column and translation.
            J: (6, nv) joint Jacobian of the world.
            terrain: The ground.
            looking: For what the step looks.

        Returns:
            (k,) places of the points, (k,) how near each has to be [m], and how near the others may be at the least [m].
        """
        clusters = self._clusters
        carriers = poses.take(clusters.joint, 0)
        middles = (
            np.einsum("cj,cjk->ck", clusters.p_J, carriers[:, :9].reshape(-1, 3, 3))
            + carriers[:, 9:]
        )
        gap = terrain.probe(middles)[0] - clusters.radius
        reach = max(NEAR, REACH if np.abs(looking.dofs[V]).max() < CALM else WILD_REACH)
        limit = np.minimum(
            looking.within, reach + looking.dt * self._find_fastest(middles, J, looking.dofs)
        )
        near = np.append(True, gap < limit)
        index = np.flatnonzero(near[clusters.number])
        return (
            index,
            np.append(looking.within, limit)[clusters.number[index]],
            float(limit[gap < looking.within].min(initial=np.inf)),
        )

    def _find_fastest(self, middles: Matrix, J: Matrix, dofs: Matrix) -> Vector:
        """Return (c,) how fast anything in each ball is at most, in the middle of the step or at its start [m/s]."""
        speeds = []
        for v in (dofs[V_MIDDLE], dofs[V]):
            twist = self._support.dot((J * v).T)
            linear = twist[:, :3] + np.cross(twist[:, 3:], middles)
            speeds.append(
                np.linalg.norm(linear, axis=1)
                + self._clusters.radius * np.linalg.norm(twist[:, 3:], axis=1)
            )
        return np.asarray(np.maximum(*speeds))
