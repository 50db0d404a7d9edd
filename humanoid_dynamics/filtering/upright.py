# SPDX-License-Identifier: Apache-2.0
"""How far a base leans from how it is in the resting posture: which of its axes points upward there is its own affair."""

from __future__ import annotations

from humanoid_dynamics.spatial.arrays import Vector

Upward = tuple[float, float, float]
"""Direction upward, in axes of the base."""


def upward_of(q: Vector) -> Upward:
    """Return the direction upward, in axes of the base; as long as the square of the quaternion is.

    Args:
        q: (nq,) configuration.
    """
    x, y, z, w = q[3:7].tolist()
    return 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y


def uprightness(q: Vector, rest: Upward) -> float:
    """Return the cosine of how far the base leans, likewise.

    Args:
        q: (nq,) configuration.
        rest: Direction upward in the resting posture.
    """
    up = upward_of(q)
    return up[0] * rest[0] + up[1] * rest[1] + up[2] * rest[2]
