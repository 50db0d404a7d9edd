# SPDX-License-Identifier: Apache-2.0
"""The door of the stream as loops that numba compiles: samples inside their limits, and how different one is from the last."""

from __future__ import annotations

import math

from humanoid_dynamics.filtering.conditioning.origin import heading_between
from humanoid_dynamics.spatial.arrays import Indices, Vector

TURN = slice(3, 7)  # the quaternion of a base


def measure_sample(sample: Vector, units: Indices) -> tuple[float, float, float, float]:
    """Return the largest number of a base and of its joints, how far a length that is to be one is off, and the square of the base's.

    Args:
        sample: (nq,) what came.
        units: (k, 2) where parts of unit length begin and end.

    Returns:
        The largest numbers are infinite where one is none.
    """
    largest, longest, off, square = 0.0, 0.0, 0.0, 0.0
    for i in range(len(sample)):
        size = abs(sample[i]) if abs(sample[i]) < math.inf else math.inf
        if i < TURN.stop:
            largest = max(largest, size)
        else:
            longest = max(longest, size)
    for k in range(len(units)):
        total = 0.0
        for i in range(units[k, 0], units[k, 1]):
            total += sample[i] * sample[i]
        off = max(off, abs(math.sqrt(total) - 1.0))
    for i in range(TURN.start, TURN.stop):
        square += sample[i] * sample[i]
    return largest, longest, off, square


def let_in(sample: Vector, lower: Vector, upper: Vector) -> None:
    """Give the quaternion of a sample unit length, and move it into its limits, in place.

    Args:
        sample: (nq,) configuration.
        lower: (nq,) least values.
        upper: (nq,) largest values.
    """
    square = 0.0
    for i in range(TURN.start, TURN.stop):
        square += sample[i] * sample[i]
    for i in range(TURN.start, TURN.stop):
        sample[i] /= math.sqrt(square)
    for i in range(len(sample)):
        sample[i] = min(max(sample[i], lower[i]), upper[i])


def count_fast(way: Vector, first: int, speed: Vector, time: float) -> tuple[float, int]:
    """Return the longest of some ways, and how many are longer than can be gone in a time.

    Args:
        way: (nv,) ways.
        first: The first that counts.
        speed: (nv,) largest speeds.
        time: The time [s].
    """
    longest, count = 0.0, 0
    for i in range(first, len(way)):
        longest = max(longest, abs(way[i]))
        if abs(way[i]) > speed[i] * time:
            count += 1
    return longest, count


def see_step(
    way: Vector, last: Vector, speed: Vector, time: float, limits: tuple[float, float]
) -> tuple[int, int, float]:
    """Return how many joints are too fast in a step, how many by far and at once, and how different it is from the last one.

    Args:
        way: Ways of joints from one sample to the next, as many as are looked at.
        last: Their rates of the step before; overwritten by those of this one.
        speed: Their largest speeds.
        time: Time between both samples [s].
        limits: How many times as fast is by far, and how far at once [rad].

    Returns:
        The last is the sum of changes of all rates [1/s].
    """
    many, far, changes = 0, 0, 0.0
    for i in range(len(way)):
        rate = way[i] / time
        change, last[i] = abs(rate - last[i]), rate
        changes += change
        many += int(abs(rate) > speed[i])
        far += int(min(abs(rate), change) > min(limits[0] * speed[i], limits[1] / time))
    return many, far, changes


def find_way(q: Vector, other: Vector) -> tuple[float, float]:
    """Return how far the base goes from one configuration to another [m], and by what angle it is turned about the vertical [rad].

    Args:
        q: (nq,) configuration.
        other: (nq,) likewise.
    """
    square = 0.0
    for i in range(TURN.start):
        square += (other[i] - q[i]) * (other[i] - q[i])
    return math.sqrt(square), abs(heading_between(q, other))


def add_changes(one: Vector, other: Vector) -> float:
    """Return the sum of by how much numbers changed.

    Args:
        one: (n,) numbers.
        other: (n,) numbers.
    """
    total = 0.0
    for i in range(len(one)):
        total += abs(one[i] - other[i])
    return total
