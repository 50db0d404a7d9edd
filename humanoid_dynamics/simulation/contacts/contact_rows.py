"""Rows of points and limits that take part in a step or an impact, and what came of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.contacts.cones import ConeAnswer
from humanoid_dynamics.simulation.contacts.detection import Near
from humanoid_dynamics.simulation.contacts.joint_limits import NearLimits
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

NOBODY = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that take part in a step or an impact.

    Attributes:
        key: (m,) places of the pairs in the memory.
        index: (m,) points.
        which: (m,) their places among the near ones.
        axes: (3, m, 3) their axes.
        place: (m, 3) where they touch [m].
        J: (N + 2m, nv) normals, limits, then tangents.
        mu: (m,) coefficients.
        limits: Joint limits that take part.
        gap: (N,) distances.
        diving: (N,) which points come down fast: they may go on to the ground, where an impact awaits them, and not into it.
        turn: (3, 3) axes of every point where all are alike.
    """

    key: Indices
    index: Indices
    which: Indices
    axes: Matrix
    place: Matrix
    J: Matrix
    mu: Vector
    limits: NearLimits | None
    gap: Vector
    diving: NDArray[np.bool_]
    turn: Matrix | None = None


@dataclass(frozen=True, eq=False)
class Touching:
    """Forces of a step on the points that took part.

    Attributes:
        index: (m,) points of the table.
        place: (m, 3) where they touch [m].
        impulse: (m, 3) impulse on the body, in the world [N·s].
        depth: Largest depth [m].
        answer: Certificate of the solver; None where nothing touched.
    """

    index: Indices
    place: Matrix
    impulse: Matrix
    depth: float
    answer: ConeAnswer | None


def stack_rows(near: Near | None, which: Indices, limits: NearLimits | None, nv: int) -> Rows | None:
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
    key, index, gap, axes, place, mu = near.key, near.index, near.gap, near.axes, near.place, near.mu
    J = near.J
    if m < len(index):
        key, index, gap, axes, place, mu = key[which], index[which], gap[which], axes[:, which], place[which], mu[which]
        J = J[:, which]
    flat = J.reshape(3 * m, nv)
    if limits is not None:
        gap = np.concatenate((gap, limits.gap))
        flat = np.concatenate((flat[:m], _unit_rows(limits, nv), flat[m:]))
    return Rows(key, index, which, axes, place, flat, mu, limits, gap, np.zeros(len(gap), dtype=np.bool_), near.turn)


def resolve(rows: Rows, vectors: Matrix) -> Matrix:
    """Return (3, m, n) components of vectors along the axes of the points.

    Args:
        rows: The rows.
        vectors: (m, n, 3) vectors in the world.
    """
    if rows.turn is not None:
        return np.asarray(vectors.dot(rows.turn.T).transpose(2, 0, 1))
    return np.asarray(np.einsum("akj,knj->akn", rows.axes, vectors))


def compose(rows: Rows, values: Vector) -> Matrix:
    """Return (m, 3) vectors in the world.

    Args:
        rows: The rows.
        values: (N + 2m,) numbers of all rows.
    """
    m, count = len(rows.index), len(rows.gap)
    along = (values if m == count else np.concatenate((values[:m], values[count:]))).reshape(3, m)
    if rows.turn is not None:
        return np.asarray(along.T.dot(rows.turn))
    return np.asarray(np.einsum("ak,akj->kj", along, rows.axes))


def touch_nothing(near: Near | None) -> Touching:
    """Return that no force acts.

    Args:
        near: Near points.
    """
    depth = max(0.0, -float(near.gap.min())) if near is not None else 0.0
    return Touching(NOBODY, np.zeros((0, 3)), np.zeros((0, 3)), depth, None)


def describe_touching(rows: Rows, answer: ConeAnswer) -> Touching:
    """Return what touched, from rows and impulses.

    Args:
        rows: The rows.
        answer: Their impulses.
    """
    gap = rows.gap[: len(rows.index)]
    depth = max(0.0, -float(gap[gap.argmin()])) if len(gap) else 0.0
    return Touching(rows.index, rows.place, compose(rows, answer.p), depth, answer)


def _stack_limits(limits: NearLimits, nv: int) -> Rows:
    calm = np.zeros(len(limits.v), dtype=np.bool_)
    J = _unit_rows(limits, nv)
    return Rows(NOBODY, NOBODY, NOBODY, np.zeros((3, 0, 3)), np.zeros((0, 3)), J, np.zeros(0), limits, limits.gap, calm)


def _unit_rows(limits: NearLimits, nv: int) -> Matrix:
    unit = np.zeros((len(limits.v), nv))
    unit[np.arange(len(limits.v)), limits.v] = limits.sign
    return unit
