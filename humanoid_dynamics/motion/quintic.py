# SPDX-License-Identifier: Apache-2.0
"""The polynomial that goes from 0 to 1 and is at rest, without acceleration, at both ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.spatial.arrays import Vector


def quintic(s: ArrayLike) -> Vector:
    """Return 10 s^3 - 15 s^4 + 6 s^5, and 0 before and 1 after.

    Args:
        s: Share of the way in time [-].

    Returns:
        Share of the way in space [-].
    """
    s = np.clip(np.asarray(s, dtype=np.float64), 0.0, 1.0)
    return np.asarray(s**3 * (10.0 + s * (6.0 * s - 15.0)))


def quintic_rate(s: ArrayLike) -> Vector:
    """Return the derivative of ``quintic``.

    Args:
        s: Share of the way in time [-].

    Returns:
        Its rate per share of time [-].
    """
    s = np.clip(np.asarray(s, dtype=np.float64), 0.0, 1.0)
    return np.asarray(30.0 * s**2 * (1.0 - s) ** 2)


def quintic_second(s: ArrayLike) -> Vector:
    """Return the second derivative of ``quintic``.

    Args:
        s: Share of the way in time [-].

    Returns:
        Its acceleration per squared share of time [-].
    """
    s = np.clip(np.asarray(s, dtype=np.float64), 0.0, 1.0)
    return np.asarray(60.0 * s * (1.0 - s) * (1.0 - 2.0 * s))


def bump(s: ArrayLike) -> Vector:
    """Return 64 s^3 (1 - s)^3: one in the middle, at rest and without acceleration at both ends.

    Args:
        s: Share of the way in time [-].

    Returns:
        Share of the height [-].
    """
    s = np.clip(np.asarray(s, dtype=np.float64), 0.0, 1.0)
    return np.asarray(64.0 * (s * (1.0 - s)) ** 3)
