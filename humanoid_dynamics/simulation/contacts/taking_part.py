# SPDX-License-Identifier: Apache-2.0
"""Which near points take part in a step or an impact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.contacts.contact_rows import Rows
from humanoid_dynamics.simulation.contacts.joint_limits import NearLimits
from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.simulation.contacts.thin_kernel import FEW_AT_ONCE, STEADY, TILT, TILTS
from humanoid_dynamics.simulation.contacts.thresholds import (
    ARRIVES,
    AT_ONCE,
    CALM,
    NEAR,
    REACH,
    SLOWEST_IMPACT,
    WILD_REACH,
    slowest_impact,
)
from humanoid_dynamics.spatial.arrays import Indices, Vector

Touches = NDArray[np.bool_]
NONE: Touches = np.zeros(0, dtype=np.bool_)


def find_hit(near: Near, speed: Vector, touches: Touches, dt: float) -> float | None:
    """Return when the first point hits, from the start of the step [s]; None if none does.

    Args:
        near: Points near a shape.
        speed: (k,) their velocities along the normals.
        touches: (k,) which of them carried force in the last step.
        dt: Length of the step [s].
    """
    hits = (speed < -slowest_impact(dt)) & (near.gap + 0.5 * dt * speed < 0.0) & ~touches
    if not hits.any():
        return None
    when = (near.gap[hits] - 0.5 * dt * speed[hits]) / -speed[hits]
    return float(min(max(when.min(), 0.0), dt))


def choose_touching(near: Near, speed: Vector, touches: Touches, v: Vector, dt: float) -> Indices:
    """Return which points take part in a step: those that would come near, and those that touched and still are.

    Args:
        near: Points near a shape.
        speed: (k,) their velocities along the normals.
        touches: (k,) which of them carried force in the last step.
        v: (nv,) velocity at the start of the step.
        dt: Length of the step [s].
    """
    arrives = near.gap + dt * speed
    if arrives[arrives.argmax()] < REACH:
        return np.arange(len(arrives))
    reach = REACH if abs(v[np.abs(v).argmax()]) < CALM else WILD_REACH
    return ((arrives < reach) | (touches & (near.gap < NEAR))).nonzero()[0]


def thin_points(
    near: Near, which: Indices, arrives: Vector, touches: Touches, shapes: Indices
) -> Indices:
    """Return few of the many points of each shape: the lowest, and those that a small tilt would make the lowest.

    Args:
        near: Points near a shape.
        which: (m,) which of them take part.
        arrives: (k,) how near they come in the step [m].
        touches: (k,) which of them carried force in the last step.
        shapes: (n,) which shape of its body each point of the table belongs to, zero for shapes of few points.
    """
    if len(which) <= FEW_AT_ONCE:
        return which
    owner, slot = shapes[near.point[which]], near.key[which] // len(shapes)
    keeps, height = owner == 0, arrives[which] - STEADY * touches[which]
    for shape in np.unique(owner[~keeps]):
        own = np.flatnonzero(owner == shape)
        if len(own) <= FEW_AT_ONCE:
            keeps[own] = True
            continue
        for met in np.unique(slot[own]):
            alike = own[slot[own] == met]
            axes = near.axes[1:, which[alike[np.argmin(height[alike])]]]
            heights = height[alike] - TILT * TILTS.dot(axes).dot(near.place[which[alike]].T)
            keeps[alike[np.argmin(heights, axis=1)]] = True
    return np.asarray(which[keeps])


def note_diving(rows: Rows, points: Touches, limits: Touches) -> Rows:
    """Return rows with a note of which points and joints come to where they stop so fast that they hit it, if any does.

    Args:
        rows: The rows.
        points: (m,) which points do; none where empty.
        limits: (c,) which joints do; none where empty.
    """
    if not (points.any() or limits.any()):
        return rows
    diving, m = np.zeros(len(rows.gap), dtype=np.bool_), len(rows.point)
    diving[: len(points)], diving[m : m + len(limits)] = points, limits
    return rows._replace(diving=diving)


def choose_hitting(
    near: Near | None, touches: Touches | None, limits: NearLimits | None, v: Vector
) -> tuple[Indices, NearLimits | None]:
    """Return which points and limits take part in an impact: all that are reached, and where none of these stops, the first to come.

    The time of an impact is found as if points went straight on; what turns fast is not quite there yet, or a little beyond.

    Args:
        near: Points near a shape.
        touches: (k,) which of these carried force in the last step.
        limits: Limits of joints nearby.
        v: (nv,) velocity.
    """
    m, gap, speed, rests = 0, np.zeros(0), np.zeros(0), NONE
    if near is not None and touches is not None:
        m, gap, speed, rests = len(near.gap), near.gap, near.J[0].dot(v), touches
    if limits is not None:
        gap, speed = (
            np.concatenate((gap, limits.gap)),
            np.concatenate((speed, limits.sign * v[limits.v])),
        )
        rests = np.concatenate((rests, np.zeros(len(limits.gap), dtype=np.bool_)))
    hitting = _choose_first(gap, speed, rests)
    return np.flatnonzero(hitting[:m]), None if limits is None else limits.select(hitting[m:])


def _choose_first(gap: Vector, speed: Vector, touches: Touches) -> Touches:
    hitting = (gap < AT_ONCE) | (touches & (gap < NEAR))
    comes = speed < -SLOWEST_IMPACT
    if comes.any() and not (hitting & comes).any():
        when = np.where(comes, np.maximum(gap, 0.0) / np.maximum(-speed, SLOWEST_IMPACT), np.inf)
        hitting |= when <= min(float(when.min()) * 1.01, ARRIVES)
    return np.asarray(hitting)
