# SPDX-License-Identifier: Apache-2.0
"""A box that turns about its edge: whether it stays on it, found without the world."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.errors import ShapeError

FINE = 5e-4  # s


def check_edge(
    size: tuple[float, float],
    start: float,
    rate: float,
    seconds: float,
    *,
    gravity: float,
    friction: float,
) -> None:
    """Refuse a box that would be thrown off its edge, or slip there, before it lies on a face again.

    Args:
        size: Its width and its height [m].
        start: How far it is turned at the beginning [rad].
        rate: How fast it turns then [rad/s].
        seconds: How long it is watched [s].
        gravity: Gravity [m/s²].
        friction: Coulomb coefficient.

    Raises:
        ShapeError: If it would, or has no size.
    """
    for field, length in zip(("width", "height"), size, strict=True):
        if not 0.0 < length < np.inf:
            raise ShapeError(field, f"{length:g} m", "a length above zero")
    if not np.isfinite(rate):
        raise ShapeError("rate", f"{rate:g} rad/s", "a finite number")
    arm, upright = 0.5 * np.hypot(*size), np.arctan2(*size)
    turn, gain = (
        start - upright,
        0.75 * gravity / arm,
    )  # a box of even density: moment about its edge 4/3 m arm²
    for _ in range(int(seconds / FINE)):
        half = rate + 0.5 * FINE * gain * np.sin(turn)
        turn += FINE * half
        rate = half + 0.5 * FINE * gain * np.sin(turn)
        if not -upright < turn < 0.5 * np.pi - upright:
            return
        along, up = find_carry(turn, rate, arm, gain)
        if not abs(along) <= friction * (gravity + up):
            raise ShapeError(
                "rate",
                f"{rate:g} rad/s at {turn + upright:.3g} rad",
                "a box that stays on its edge without slipping",
            )


def find_carry(turn: float, rate: float, arm: float, gain: float) -> tuple[float, float]:
    """Return the acceleration of the middle of the box, along the ground and upwards [m/s²].

    Args:
        turn: Angle of its middle from above the edge [rad].
        rate: How fast it turns [rad/s].
        arm: Distance of its middle from the edge [m].
        gain: Angular acceleration where the middle is level with the edge [rad/s²].
    """
    c, s = np.cos(turn), np.sin(turn)
    faster = gain * s
    return float(arm * (c * faster - s * rate**2)), float(-arm * (s * faster + c * rate**2))
