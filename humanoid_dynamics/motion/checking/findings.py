"""What is wrong with a clip: where, when, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Vector

JOINED = 0.1  # s; findings of one kind nearer to each other are one

KINDS: Mapping[str, str] = {
    "pull": "the ground would have to pull",
    "tip": "the centre of pressure would have to lie outside the feet",
    "friction": "a foot would need more friction",
    "torque": "a motor would need more than its limit",
    "position": "a joint leaves its limits",
    "velocity": "a joint is faster than its limit",
    "jump": "a velocity changes all at once",
    "penetration": "a foot is in the ground",
    "slide": "a standing foot slides",
    "flight": "nothing touches the ground while something must",
}
DYNAMIC = ("pull", "tip", "friction", "torque", "flight")
LIMITS = ("torque", "position", "velocity")  # of joints and motors: where these are doubted they are not judged


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong for a while.

    Attributes:
        kind: One of ``KINDS``.
        where: Joint or surface; empty where it is the whole body.
        start: First instant [s].
        end: Last instant [s].
        worst: Instant where it is worst [s].
        value: By how much it is wrong there, in ``unit``.
        unit: Unit of the value.
        text: All of it in words.
    """

    kind: str
    where: str
    start: float
    end: float
    worst: float
    value: float
    unit: str
    text: str


def group(times: Vector, excess: Vector) -> list[tuple[int, int, int]]:
    """Return stretches where something is in excess.

    Args:
        times: (n,) instants [s].
        excess: (n,) by how much; zero or less where nothing is wrong.

    Returns:
        (first row, last row, worst row) of each; stretches near to each other are one.
    """
    wrong: Labels = np.asarray(excess > 0.0)
    found: list[tuple[int, int]] = []
    for first, after, is_wrong in runs(wrong):
        if not is_wrong:
            continue
        if found and times[first] - times[found[-1][1]] < JOINED:
            found[-1] = (found[-1][0], after - 1)
        else:
            found.append((first, after - 1))
    return [(first, last, first + int(np.argmax(excess[first : last + 1]))) for first, last in found]
