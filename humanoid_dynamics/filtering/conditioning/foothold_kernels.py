# SPDX-License-Identifier: Apache-2.0
"""Stage A5, footholds, as loops that numba compiles."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SOFT = 0.75  # share of the largest distance from which on distances are shortened
LEAST = 1e-9  # m
SCALE, WIDEST, SEEN, AHEAD = range(4)  # places in the limits

Feet = tuple[Matrix, Matrix, Matrix, Labels]


def soften_distance(distance: float, most: float) -> float:
    """Return a distance that does not reach a limit: a small one unchanged, a large one pressed together."""
    soft = SOFT * most
    return (
        distance
        if distance <= soft
        else soft + (most - soft) * math.tanh((distance - soft) / (most - soft))
    )


def find_print(
    feet: Feet, rows: tuple[int, int, int], last: Matrix, limits: Vector, out: Vector
) -> None:
    """Write where a foot stands in a stretch.

    Args:
        feet: (n, 2, 3) soles [m], (n, 2) their headings [rad], (n, 2) path of the base [m], (n, 2) which feet stand.
        rows: First row, row after the last, and the foot.
        last: (2, 4) where both feet stand or stood last, seen from above, and where the path was then [m].
        limits: Share of the way that is gone, largest distance between the feet [m], rows of common standing that tell, and what part of
            a distance ahead counts.
        out: (5,) place seen from above [m], heading [rad], place of the path [m]; overwritten.
    """
    place, heading, path, labels = feet
    first, after, foot = rows
    other, sine, cosine = 1 - foot, 0.0, 0.0
    out[:] = 0.0
    for i in range(first, after):
        sine, cosine = sine + math.sin(heading[i, foot]), cosine + math.cos(heading[i, foot])
        out[3], out[4] = (
            out[3] + path[i, 0] / (after - first),
            out[4] + path[i, 1] / (after - first),
        )
    out[2] = math.atan2(sine, cosine)
    both = 0
    while both < min(after - first, int(limits[SEEN])) and labels[first + both, other]:
        both += 1
    if (
        both == 0 and not labels[max(first - 1, 0), other]
    ):  # out of the air: as far as the reference goes
        for j in range(2):
            out[j] = last[foot, j] - place[0, foot, j]
            for i in range(first, after):
                out[j] += place[i, foot, j] / (after - first)
    else:
        step_from(place, (first, first + max(both, 1), foot), last[other], limits, out)


def step_from(
    place: Matrix, rows: tuple[int, int, int], other: Vector, limits: Vector, out: Vector
) -> None:
    """Write where a foot stands, seen from where the other one does, by the rows in which both stand."""
    first, after, foot = rows
    for j in range(2):
        for i in range(first, after):
            out[j] += (place[i, foot, j] - place[i, 1 - foot, j]) / (after - first)
        out[j] += (limits[SCALE] - 1.0) * (out[3 + j] - other[2 + j])
    ahead = math.cos(out[2]) * out[0] + math.sin(out[2]) * out[1]
    sideways = math.cos(out[2]) * out[1] - math.sin(out[2]) * out[0]
    distance = math.hypot(limits[AHEAD] * ahead, sideways)
    share = soften_distance(distance, limits[WIDEST]) / max(distance, LEAST)
    for j in range(2):
        out[j] = other[j] + share * out[j]


def find_offsets(place: Matrix, stances: Matrix, out: Matrix) -> None:
    """Write by how much a reference must move so that its standing feet are where feet stand.

    Args:
        place: (n, 2, 3) soles [m].
        stances: (k, 5) first row, row after the last, foot and place seen from above [m] of each stretch.
        out: (n, 2) ways [m]; where no foot stands, on a straight line between.
    """
    n = len(out)
    count, known = np.zeros(n), -1
    out[:] = 0.0
    for k in range(len(stances)):
        foot = int(stances[k, 2])
        for i in range(int(stances[k, 0]), min(int(stances[k, 1]), n)):
            count[i] += 1.0
            for j in range(2):
                out[i, j] += stances[k, 3 + j] - place[i, foot, j]
    for i in range(n):
        if count[i] > 0.0:
            out[i, 0], out[i, 1] = out[i, 0] / count[i], out[i, 1] / count[i]
            fill_line(known, i, out)
            known = i
    for m in range(known + 1, n if known >= 0 else 0):
        out[m, 0], out[m, 1] = out[known, 0], out[known, 1]


def fill_line(first: int, last: int, out: Matrix) -> None:
    """Write the rows between two that are known on a straight line; the last one again where there is no first."""
    for m in range(first + 1, last):
        share = (m - first) / (last - first) if first >= 0 else 1.0
        for j in range(2):
            start = out[first, j] if first >= 0 else out[last, j]
            out[m, j] = start + share * (out[last, j] - start)
