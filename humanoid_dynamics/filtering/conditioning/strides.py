"""Stages A3: steps that fit the legs of the robot: shorter strides, feet not too far apart."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.conditioning.foothold_kernels import soften_distance
from humanoid_dynamics.spatial.arrays import Vector

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


def soften(distance: Vector, most: float) -> Vector:
    """Return distances none of which reaches a limit: small ones unchanged, large ones pressed together.

    Args:
        distance: (n,) distances [m].
        most: The limit [m].

    Returns:
        (n,) distances [m].
    """
    return np.array([soften_distance(one, most) for one in distance])
