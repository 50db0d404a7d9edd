"""Stages A3: steps that fit the legs of the robot: shorter strides, feet not too far apart."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SHORTEST_SCALE = 0.5
SOFT = 0.75  # share of the largest distance from which on distances are shortened
STRIDE = 0.05  # m; a swing that goes less far is no stride


def choose_scale(longest: float, most: float) -> float:
    """Return the share of the way a robot goes.

    Args:
        longest: Longest stride of the reference [m].
        most: Longest stride of the robot [m].

    Returns:
        Share, at most one [-].
    """
    if longest <= most:
        return 1.0
    return float(np.clip(most / longest, SHORTEST_SCALE, 1.0))


def longest_stride(places: Matrix, labels: Labels) -> float:
    """Return the longest way a foot goes from one footprint to the next.

    Args:
        places: (n, 2, 3) middles of both soles [m].
        labels: (n, 2) which foot stands.

    Returns:
        The way, seen from above [m]; zero where no swing is seen from its start to its end.
    """
    longest = 0.0
    for foot in (0, 1):
        for first, after, touches in runs(labels[:, foot]):
            if not touches and first > 0 and after < len(labels):
                longest = max(longest, float(np.hypot(*(places[after, foot, :2] - places[first - 1, foot, :2]))))
    return longest


def shift_of_path(path: Matrix, scale: float, now: int, shift: Vector) -> Matrix:
    """Return by how much everything moves when the base goes a share of its way.

    Args:
        path: (n, 2) smooth path of the base [m].
        scale: Share of the way from here on [-].
        now: Row up to which shifts are settled.
        shift: (2,) shift of that row [m].

    Returns:
        (n, 2) shifts [m].
    """
    return shift + (scale - 1.0) * (path - path[now])


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


def cap_distance(places: Matrix, most: float) -> Matrix:
    """Move feet towards each other where they are too far apart, both by the same way.

    Args:
        places: (n, 2, 3) places of the soles [m].
        most: Largest distance, seen from above [m].

    Returns:
        (n, 2, 3) places [m].
    """
    apart = places[:, 0, :2] - places[:, 1, :2]
    distance = np.hypot(apart[:, 0], apart[:, 1])
    if not (distance > SOFT * most).any():
        return places
    capped = np.array(places)
    half = 0.5 * (soften(distance, most) / np.maximum(distance, 1e-9) - 1.0)[:, None] * apart
    capped[:, 0, :2] += half
    capped[:, 1, :2] -= half
    return capped
