# SPDX-License-Identifier: Apache-2.0
"""Stages A2 and A4 as loops that numba compiles: which foot stands when, and whether one slides."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.motion.clip import Labels
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

LEVEL, HEIGHT_ON, HEIGHT_OFF, SLOW, SPEED_ON, SPEED_OFF, WORTH = range(7)  # places in the limits
SWING, STANCE, BOTH, ROLLING = range(4)  # places in the least numbers of rows

Past = tuple[tuple[bool, bool], tuple[int, int]]
Stance = tuple[Vector, Vector, Vector, Vector, float]


def label_feet(
    motion: tuple[Matrix, Matrix],
    limits: Vector,
    past: Past,
    least: Indices,
    rolls: Labels,
    out: Labels,
) -> None:
    """Tell which foot stands in each row of a window; see ``contacts.label_window``.

    Args:
        motion: (n, 2) heights [m] and speeds [m/s] of both soles.
        limits: Height below which a sole that is slow stands anyway, heights and speeds at which a foot begins and ends to stand, and how
            many metres of height a speed is worth [s].
        past: Whether each foot stood before the window, and for how many rows.
        least: Rows of a swing and of a contact that are not short, of common standing, and of that where a sole rolls.
        rolls: (n, 2) where one would if the other came down; no rows where soles do not roll.
        out: (m, 2) labels of the last m rows, those of the window; overwritten.
    """
    heights, speeds = motion
    known = len(heights) - len(out)
    seen = np.empty((len(heights), 2), dtype=np.bool_)
    for foot in range(2):
        stands = True
        for i in range(len(heights)):
            stands = past[0][foot] if i == known else stands
            seen[i, foot] = stands = goes_on_standing(
                stands, heights[i, foot], speeds[i, foot], limits
            )
        drop_kind(
            seen[known:, foot], past[0][foot], least[SWING], False, count_off(seen[:known, foot])
        )
        drop_kind(seen[known:, foot], past[0][foot], least[STANCE], True, 0)
    for i in range(len(heights)):
        if not (seen[i, 0] or seen[i, 1]):
            left, right = (
                heights[i, 0] + limits[WORTH] * speeds[i, 0],
                heights[i, 1] + limits[WORTH] * speeds[i, 1],
            )
            seen[i, 1 if right < left else 0] = True
    for foot in range(2):  # what a change of mind leaves of a swing may be none
        drop_kind(
            seen[known:, foot], past[0][foot], least[STANCE], False, count_off(seen[:known, foot])
        )
    hand_over(seen[known:], past, least, rolls, out)


def hand_over(given: Labels, past: Past, least: Indices, rolls: Labels, out: Labels) -> None:
    """Let the load go from foot to foot while both stand; where that leaves next to nothing of a swing nobody waits for its end either."""
    for _ in range(2):
        out[:] = given
        for foot in range(2):
            hold_other(given, foot, past, (least[BOTH], least[ROLLING]), rolls[:, foot], out)
            drop_kind(out[:, foot], past[0][foot], least[STANCE], False, 0)
        for foot in range(2):
            drop_gone(given[:, foot], out[:, foot])


def drop_gone(labels: Labels, left: Labels) -> None:
    """Let a foot stand, in place, in stretches off the ground of which nothing is left."""
    first = 0
    while first < len(labels):
        after, gone = first, True
        while after < len(labels) and not labels[after]:
            gone = gone and left[after]
            after += 1
        for i in range(first, after):
            labels[i] = gone and after < len(labels)
        first = after + 1


def count_off(labels: Labels) -> int:
    """Return for how many rows, up to the last one, a foot has been off."""
    rows = 0
    while rows < len(labels) and not labels[len(labels) - 1 - rows]:
        rows += 1
    return rows


def goes_on_standing(stands: bool, height: float, speed: float, limits: Vector) -> bool:
    """Return whether a foot stands: it begins to where it is low and slow, and ends to where it is clearly high or fast."""
    if (height < limits[LEVEL] and speed < limits[SLOW]) or (
        height < limits[HEIGHT_ON] and speed < limits[SPEED_ON]
    ):
        return True
    return stands and height <= limits[HEIGHT_OFF] and speed <= limits[SPEED_OFF]


def drop_kind(labels: Labels, before: bool, least: int, kind: bool, ago: int) -> None:
    """Turn short stretches of a kind over, in place; what touches an end of the window may go on beyond it and stays.

    Args:
        labels: (n,) labels of one foot.
        before: The label before the window, as it was settled.
        least: Rows of a stretch that is not short.
        kind: The kind.
        ago: How many rows before the window the motion was of that kind, whatever was settled: a stretch does not become short because its
            beginning is past.
    """
    first = 0
    while first < len(labels):
        after = first + 1
        while after < len(labels) and labels[after] == labels[first]:
            after += 1
        inside = after < len(labels) and (first > 0 or before != kind)
        long = after - first + (ago if first == 0 else 0)
        if labels[first] == kind and long < least and inside:
            for i in range(first, after):
                labels[i] = not kind
        first = after


def hold_other(
    given: Labels, foot: int, past: Past, least: tuple[int, int], rolls: Labels, out: Labels
) -> None:
    """Let a foot stand on until the other one has stood for a while, and for longer where it rolls meanwhile."""
    other, first, known = 1 - foot, 0, len(rolls) - len(given)
    while first < len(given):
        after = first + 1
        while after < len(given) and given[after, other] == given[first, other]:
            after += 1
        age = past[1][other] if first == 0 and past[0][other] else 0
        stood = past[0][foot] if first == 0 else given[first - 1, foot]
        if given[first, other] and stood:
            touched = known + first - age
            longer = touched >= 0 and rolls[touched]
            for i in range(first, min(first + least[int(longer)] - age, after)):
                out[i, foot] = True
        first = after


def find_drift(
    feet: tuple[Matrix, Matrix, Labels],
    foot: int,
    stance: Stance,
    turned: float,
    farthest: tuple[float, float],
    out: Matrix,
) -> bool:
    """Tell how far a standing foot of the reference is, seen from the other one, from where it stands.

    Args:
        feet: (n, 2, 3) soles [m], (n, 2) their headings [rad], (n, 2) which stand.
        foot: Which one.
        stance: Where it and the other one stand, where the path of the base was then [m], and the share of the way that is gone.
        turned: How it is turned [rad].
        farthest: Distance [m] and angle [rad] it may be away.
        out: (2, n) distances [m] and angles [rad] while both stand, else zero; overwritten.

    Returns:
        Whether it is too far away before it is lifted.
    """
    place, heading, labels = feet
    mine, other, path, other_path, scale = stance
    away_x = mine[0] - other[0] - (scale - 1.0) * (path[0] - other_path[0])
    away_y = mine[1] - other[1] - (scale - 1.0) * (path[1] - other_path[1])
    both, stands, far = True, True, False
    for i in range(len(labels)):
        both, stands = both and labels[i, 1 - foot], stands and labels[i, foot]
        out[0, i], out[1, i] = 0.0, 0.0
        if both:
            x = place[i, foot, 0] - place[i, 1 - foot, 0] - away_x
            y = place[i, foot, 1] - place[i, 1 - foot, 1] - away_y
            turn = heading[i, foot] - turned
            out[0, i], out[1, i] = (
                math.sqrt(x * x + y * y),
                turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5),
            )
            far = far or (stands and (out[0, i] > farthest[0] or abs(out[1, i]) > farthest[1]))
    return far


def find_longest(places: Matrix, labels: Labels) -> float:
    """Return the longest way a foot goes from one footprint to the next, as far as it is seen; see ``strides``."""
    longest, last = 0.0, len(labels) - 1
    for foot in range(2):
        start = 0
        for i in range(len(labels)):
            if labels[i, foot]:
                start = i
            elif i == last or labels[i + 1, foot]:
                end = min(i + 1, last)
                x, y = (
                    places[end, foot, 0] - places[start, foot, 0],
                    places[end, foot, 1] - places[start, foot, 1],
                )
                longest = max(longest, math.sqrt(x * x + y * y))
    return longest


def count_until_lift(labels: Labels, dt: float, out: Matrix) -> None:
    """Write how long each foot goes on standing; infinite where its end is not seen.

    Args:
        labels: (n, 2) which feet stand.
        dt: Time between rows [s].
        out: (m, 2) times of the first rows [s], m <= n; overwritten.
    """
    for foot in range(2):
        left = math.inf
        for i in range(len(labels) - 1, -1, -1):
            left = left + 1.0 if labels[i, foot] else 0.0
            if i < len(out):
                out[i, foot] = dt * left


def fill_targets(
    rates: Matrix, shift: Matrix, labels: Labels, dt: float, out: tuple[Matrix, ...]
) -> None:
    """Write what targets ask for besides where centre of mass and soles are.

    Args:
        rates: (m + 1, nv) mean velocities since the row before.
        shift: (m, 3) by how much the base moves [m].
        labels: (n, 2) which feet stand.
        dt: Time between rows [s].
        out: (m, nq) configurations, moved, (m, nv) velocities and accelerations, (m, 2) heights [m] and (m, 2, 3) normals of level
            ground, (m, 2) times until feet are lifted [s], and (m, 2) loads that nothing bounds; all but the first are overwritten.
    """
    q, v, a, ground, normal, until, load = out
    for i in range(len(q)):
        for j in range(3):
            q[i, j] += shift[i, j]
        for j in range(v.shape[1]):
            v[i, j], a[i, j] = (
                0.5 * (rates[i, j] + rates[i + 1, j]),
                (rates[i + 1, j] - rates[i, j]) / dt,
            )
        for foot in range(2):
            ground[i, foot], load[i, foot] = 0.0, math.inf
            for j in range(3):
                normal[i, foot, j] = 1.0 if j == 2 else 0.0
    count_until_lift(labels, dt, until)


def find_slower(centres: Matrix, base: Matrix, dt: float, moving: float, out: Vector) -> int:
    """Write how fast the slower foot is wherever the base moves; return how often that is.

    Args:
        centres: (n, 2, 3) middles of both soles [m].
        base: (n, k) configurations, places of the base first [m].
        dt: Time between rows [s].
        moving: Speed of a base that moves [m/s].
        out: (n,) speeds [m/s]; the first ones are overwritten.
    """
    count = 0
    for i in range(len(centres) - 1):
        if math.hypot(base[i + 1, 0] - base[i, 0], base[i + 1, 1] - base[i, 1]) > moving * dt:
            slower = math.inf
            for foot in range(2):
                square = 0.0
                for j in range(3):
                    rate = (centres[i + 1, foot, j] - centres[i, foot, j]) / dt
                    square += rate * rate
                slower = min(slower, math.sqrt(square))
            out[count] = slower
            count += 1
    return count
