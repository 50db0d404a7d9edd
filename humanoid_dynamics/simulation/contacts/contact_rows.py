# SPDX-License-Identifier: Apache-2.0
"""Rows of points and limits that take part in a step or an impact, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.contacts.cone_problem import ConeAnswer
from humanoid_dynamics.simulation.contacts.joint_limits import NearLimits
from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

NOBODY = np.zeros(0, dtype=np.intp)
LEAST_WEIGHT = 1e-12  # N·s; so that the place of a point without impulse is a mean too


class Rows(NamedTuple):
    """Rows that take part in a step or an impact.

    Attributes:
        key: (m,) places of the pairs in the memory.
        point: (m,) places of the points in the table.
        which: (m,) their places among the near ones.
        axes: (3, m, 3) their axes.
        place: (m, 3) where they touch [m].
        J: (N + 2m, nv) normals, limits, then tangents.
        mu: (m,) coefficients.
        limits: Joint limits that take part.
        gap: (N,) distances.
        turn: (6, 6) axes of every point, twice on the diagonal, where all are alike.
        diving: (N,) which points come down fast: they may go on to the ground, where an impact awaits them, and not into it; None for none.
    """

    key: Indices
    point: Indices
    which: Indices
    axes: Matrix
    place: Matrix
    J: Matrix
    mu: Vector
    limits: NearLimits | None
    gap: Vector
    turn: Matrix | None = None
    diving: NDArray[np.bool_] | None = None


class Touching(NamedTuple):
    """Forces of a step on the points that took part.

    Attributes:
        point: (m,) places of the points in the table.
        place: (m, 3) where they touch [m].
        impulse: (m, 3) impulse on the body, in the world [N·s].
        depth: Largest depth [m].
        answer: Certificate of the solver; None where nothing touched.
        met: (m,) what each point touches: zero for what stands still, else the place of the moving shape, counted from one.
    """

    point: Indices
    place: Matrix
    impulse: Matrix
    depth: float
    answer: ConeAnswer | None
    met: Indices


def stack_rows(
    near: Near | None, which: Indices, limits: NearLimits | None, nv: int
) -> Rows | None:
    """Return the rows of some points and limits; None where there are none.

    Args:
        near: Near points.
        which: Those of them that take part.
        limits: Limits that take part.
        nv: Number of coordinates.
    """
    m = len(which)
    if near is None or m == 0:
        return None if limits is None else _stack_limits(limits, nv)
    key, point, gap, axes, J, place, mu = (
        near.key,
        near.point,
        near.gap,
        near.axes,
        near.J,
        near.place,
        near.mu,
    )
    if m < len(point):
        key, point, gap, axes, J, place, mu = (
            key[which],
            point[which],
            gap[which],
            axes[:, which],
            J[:, which],
            place[which],
            mu[which],
        )
    flat = J.reshape(3 * m, nv)
    if limits is not None:
        gap = np.concatenate((gap, limits.gap))
        flat = np.concatenate((flat[:m], _unit_rows(limits, nv), flat[m:]))
    return Rows(key, point, which, axes, place, flat, mu, limits, gap, near.turn)


def select_points(rows: Rows, values: Matrix) -> Matrix:
    """Return (..., 3m) numbers of the rows of points, without those of limits.

    Args:
        rows: The rows.
        values: (..., N + 2m) numbers of all rows.
    """
    m, count = len(rows.point), len(rows.gap)
    return values if m == count else np.concatenate((values[..., :m], values[..., count:]), axis=-1)


def resolve(rows: Rows, vectors: Matrix) -> Matrix:
    """Return (2, 3m) components of two vectors at each point along its axes.

    Args:
        rows: The rows.
        vectors: (m, 6) vectors in the world.
    """
    if rows.turn is not None:
        return np.asarray(rows.turn.dot(vectors.T).reshape(2, -1))
    return np.asarray(
        np.einsum("akj,knj->nak", rows.axes, vectors.reshape(-1, 2, 3)).reshape(2, -1)
    )


def compose(rows: Rows, along: Matrix) -> Matrix:
    """Return (m, 6) two vectors at each point, in the world.

    Args:
        rows: The rows.
        along: (2, 3m) their components along the axes of the points.
    """
    m = len(rows.point)
    if rows.turn is not None:
        return np.asarray(along.reshape(6, m).T.dot(rows.turn))
    return np.asarray(np.einsum("nak,akj->knj", along.reshape(2, 3, m), rows.axes).reshape(m, 6))


def touch_nothing(near: Near | None) -> Touching:
    """Return that no force acts.

    Args:
        near: Near points.
    """
    depth = max(0.0, -float(near.gap.min())) if near is not None else 0.0
    return Touching(NOBODY, np.zeros((0, 3)), np.zeros((0, 3)), depth, None, NOBODY)


def sum_touching(touched: Touching, owner: Indices, sums: Matrix) -> None:
    """Sum the impulses on the points of each surface.

    Args:
        touched: What touched.
        owner: (points,) surface of each point, -1 where there is none.
        sums: (surfaces, 6) impulse [N·s] and its moment about the origin of the world; written.
    """
    wrenches = np.hstack((touched.impulse, np.cross(touched.place, touched.impulse)))
    own = owner[touched.point]
    sums[:] = 0.0
    np.add.at(sums, own[own >= 0], wrenches[own >= 0])


def merge_touching(parts: Sequence[Touching]) -> Touching:
    """Return the forces of all parts of a step as those of one: one entry for each pair of a point and what it touches.

    Args:
        parts: What touched in each part, its impacts included.

    Returns:
        Sums of impulses, at the mean of the places weighted by impulse; the certificate is that of the last part.
    """
    if len(parts) < 2:
        return parts[0] if parts else touch_nothing(None)
    point, met = (
        np.concatenate([part.point for part in parts]),
        np.concatenate([part.met for part in parts]),
    )
    place, impulse = (
        np.concatenate([part.place for part in parts]),
        np.concatenate([part.impulse for part in parts]),
    )
    pairs, group = np.unique(np.stack((point, met)), axis=1, return_inverse=True)
    group = group.ravel()
    sums, places, weights = (
        np.zeros((pairs.shape[1], 3)),
        np.zeros((pairs.shape[1], 3)),
        np.zeros(pairs.shape[1]),
    )
    weight = np.linalg.norm(impulse, axis=1) + LEAST_WEIGHT
    np.add.at(sums, group, impulse)
    np.add.at(places, group, weight[:, None] * place)
    np.add.at(weights, group, weight)
    return Touching(
        pairs[0],
        places / weights[:, None],
        sums,
        max(part.depth for part in parts),
        parts[-1].answer,
        pairs[1],
    )


def _stack_limits(limits: NearLimits, nv: int) -> Rows:
    return Rows(
        NOBODY,
        NOBODY,
        NOBODY,
        np.zeros((3, 0, 3)),
        np.zeros((0, 3)),
        _unit_rows(limits, nv),
        np.zeros(0),
        limits,
        limits.gap,
    )


def _unit_rows(limits: NearLimits, nv: int) -> Matrix:
    unit = np.zeros((len(limits.v), nv))
    unit[np.arange(len(limits.v)), limits.v] = limits.sign
    return unit
