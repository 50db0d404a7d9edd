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
    J = near.J if m == len(near.index) else near.J[:, which]
    gap = near.gap[which]
    flat = J.reshape(3 * m, nv)
    if limits is not None:
        gap = np.concatenate((gap, limits.gap))
        flat = np.concatenate((flat[:m], _unit_rows(limits, nv), flat[m:]))
    axes, place = near.axes[:, which], near.place[which]
    calm = np.zeros(len(gap), dtype=np.bool_)
    return Rows(near.key[which], near.index[which], which, axes, place, flat, near.mu[which], limits, gap, calm)


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
    m, count = len(rows.index), len(rows.gap)
    depth = max(0.0, -float(rows.gap[:m].min())) if m else 0.0
    along = np.concatenate((answer.p[:m], answer.p[count:])).reshape(3, m)
    return Touching(rows.index, rows.place, np.einsum("ak,akj->kj", along, rows.axes), depth, answer)


def _stack_limits(limits: NearLimits, nv: int) -> Rows:
    calm = np.zeros(len(limits.v), dtype=np.bool_)
    J = _unit_rows(limits, nv)
    return Rows(NOBODY, NOBODY, NOBODY, np.zeros((3, 0, 3)), np.zeros((0, 3)), J, np.zeros(0), limits, limits.gap, calm)


def _unit_rows(limits: NearLimits, nv: int) -> Matrix:
    unit = np.zeros((len(limits.v), nv))
    unit[np.arange(len(limits.v)), limits.v] = limits.sign
    return unit
