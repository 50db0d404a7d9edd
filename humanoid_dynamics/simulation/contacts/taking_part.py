"""Which near points take part in a step or an impact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_dynamics.simulation.contacts.contact_rows import Rows
from humanoid_dynamics.simulation.contacts.near import Near
from humanoid_dynamics.simulation.contacts.thresholds import ARRIVES, AT_ONCE, CALM, NEAR, REACH, SLOWEST_IMPACT, WILD_REACH, slowest_impact
from humanoid_dynamics.spatial.arrays import Indices, Vector

Touches = NDArray[np.bool_]


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


def note_diving(rows: Rows, speed: Vector, touches: Touches, dt: float) -> Rows:
    """Return rows with a note of which points come down fast, if any does.

    Args:
        rows: The rows.
        speed: (k,) velocities of all near points along their normals.
        touches: (k,) which of these carried force in the last step.
        dt: Length of the step [s].
    """
    slowest = slowest_impact(dt)
    if speed[speed.argmin()] >= -slowest:
        return rows
    diving = np.zeros(len(rows.gap), dtype=np.bool_)
    diving[: len(rows.point)] = (speed[rows.which] < -slowest) & ~touches[rows.which]
    return rows._replace(diving=diving) if diving.any() else rows


def choose_hitting(near: Near, speed: Vector, touches: Touches) -> Indices:
    """Return which points take part in an impact: all at the ground, and where none of them comes down, the first one to arrive.

    The time of an impact is found as if points went straight on; what turns fast is not quite there yet, or a little beyond.

    Args:
        near: Points near a shape.
        speed: (k,) their velocities along the normals.
        touches: (k,) which of them carried force in the last step.
    """
    hitting = (near.gap < AT_ONCE) | (touches & (near.gap < NEAR))
    comes = speed < -SLOWEST_IMPACT
    if comes.any() and not (hitting & comes).any():
        when = np.where(comes, np.maximum(near.gap, 0.0) / np.maximum(-speed, SLOWEST_IMPACT), np.inf)
        hitting |= when <= min(float(when.min()) * 1.01, ARRIVES)
    return np.flatnonzero(hitting)
