"""Stages A3: steps that fit the legs of the robot: shorter strides, feet not too far apart."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SHORTEST_SCALE, LEAST_SCALE = 0.5, 0.3  # by itself, and where it is asked for
SOFT = 0.75  # share of the largest distance from which on distances are shortened
STRIDE = 0.05  # m; a swing that goes less far is no stride


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


def longest_stride(places: Matrix, labels: Labels) -> float:
    """Return the longest way a foot goes from one footprint to the next, as far as it is seen.

    Args:
        places: (n, 2, 3) middles of both soles [m].
        labels: (n, 2) which foot stands.

    Returns:
        The way, seen from above [m]; of a swing whose end is not seen yet, what has been seen.
    """
    longest = 0.0
    for foot in (0, 1):
        for first, after, touches in runs(labels[:, foot]):
            if not touches:
                start, end = max(first - 1, 0), min(after, len(labels) - 1)
                longest = max(longest, float(np.hypot(*(places[end, foot, :2] - places[start, foot, :2]))))
    return longest


def soften(distance: Vector, most: float) -> Vector:
    """Return distances none of which reaches a limit: small ones unchanged, large ones pressed together.

    Args:
        distance: (n,) distances [m].
        most: The limit [m].

    Returns:
        (n,) distances [m].
    """
    soft = SOFT * most
    return np.where(distance <= soft, distance, soft + (most - soft) * np.tanh((distance - soft) / (most - soft)))
