# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a clip: where, when, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.motion.clip import Clip, Labels
from humanoid_dynamics.motion.schedule import runs
from humanoid_dynamics.spatial.arrays import Matrix, Vector

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
LIMITS = (
    "torque",
    "position",
    "velocity",
)  # of joints and motors: where these are doubted they are not judged


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
    return [
        (first, last, first + int(np.argmax(excess[first : last + 1]))) for first, last in found
    ]


def tell(
    clip: Clip, what: tuple[str, str, str], rows: tuple[int, int, int], value: float, text: str
) -> Finding:
    """Return a finding.

    Args:
        clip: The clip.
        what: Kind, where, and unit of the value.
        rows: First, last and worst row.
        value: By how much it is wrong in the worst row.
        text: What is wrong, in words.
    """
    kind, where, unit = what
    first, last, worst = (float(clip.times[row]) for row in rows)
    return Finding(kind, where, first, last, worst, value, unit, f"{worst:.2f} s: {text}")


def tell_columns(
    clip: Clip,
    kind: str,
    names: Sequence[str],
    excess: Matrix,
    said: tuple[str, str, float | Vector],
) -> tuple[Labels, list[Finding]]:
    """Return where something is in excess, and what there is to say of it.

    Args:
        clip: The clip.
        kind: One of ``KINDS``.
        names: What the columns belong to.
        excess: (n, k) by how much; zero or less where nothing is wrong.
        said: Unit, words behind the name with room for a number, and what the excess is counted from, for all columns or each.

    Returns:
        (n,) whether any column is in excess, and the findings.
    """
    found = []
    values = excess + said[2]
    for k in np.flatnonzero(np.any(excess > 0.0, axis=0)):
        for first, last, worst in group(clip.times, excess[:, k]):
            value = float(values[worst, k])
            text = f"{names[int(k)]} {said[1].format(value)}"
            found.append(
                tell(clip, (kind, names[int(k)], said[0]), (first, last, worst), value, text)
            )
    return np.any(excess > 0.0, axis=1), found
