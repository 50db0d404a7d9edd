# SPDX-License-Identifier: Apache-2.0
"""Stages A3: steps that fit the legs of the robot: shorter strides, feet not too far apart."""

from __future__ import annotations

SHORTEST_SCALE, LEAST_SCALE = 0.5, 0.3  # by itself, and where it is asked for


def choose_scale(longest: float, most: float, shorter: float = 0.0) -> float:
    """Return the share of the way a robot goes.

    Args:
        longest: Longest stride of the reference [m].
        most: Longest stride of the robot [m].
        shorter: What is taken off the share.

    Returns:
        Share, at most one [-].
    """
    share = 1.0 if longest <= most else max(most / longest, SHORTEST_SCALE)
    return float(max(share - shorter, LEAST_SCALE))
