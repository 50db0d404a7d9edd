# SPDX-License-Identifier: Apache-2.0
"""The share of the second of two contacts on the ground with which both press inside themselves [BP, eq. 28-29, assumption 2]."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.contact.transfer import find_profile, switch_share
from humanoid_dynamics.resolution.pressed_corners import shrink
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

EASED = 0.05  # share from which on it counts fully where pressure may be; below, less and less: contacts come and go without a step
SAME = 1e-9  # m; what is nearer is one place
OUTSIDE = 1e-3  # m; by how much contacts may press outside rather than let the whole share move: far less than faces are shrunk by
RISE = find_profile("quintic")
STEEPEST_ROLL = (
    2.0 * 1.875
)  # most that a share that rises in two parts changes by, per change of the share asked for
STEEPEST = STEEPEST_ROLL + 1.0 / EASED  # most that any share taken changes by: see ``press_share``
ALONG, ACROSS = read_only(np.eye(2))


def press_share(asked: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool) -> float:
    """Return the share of the second of two contacts.

    It changes by at most ``STEEPEST`` times as much as the share that was asked for: a quintic rises by 15/8 at most, twice as fast in two
    parts; what is nearest moves no farther than what it is nearest to; and it is eased in by at most the whole way in a share of ``EASED``.

    Args:
        asked: The share that was asked for, 0 to 1.
        zmp: (2,) zero-moment point, along the way from the first to the second and across [m].
        one: (k, 2) corners of the first [m].
        other: (k, 2) corners of the second.
        rolls: Whether the share goes through the one for which both press where they face each other, and uses all of both contacts.
    """
    wanted, pressed = want_share(asked, zmp, one, other, rolls)
    return wanted + (pressed - wanted) * min(1.0, asked / EASED, (1.0 - asked) / EASED)


def want_share(
    asked: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool
) -> tuple[float, float]:
    """Return the share that is wanted, and the one nearest to it for which both contacts press inside themselves; see ``press_nearest``."""
    wanted, toe, heel = asked, float(one[:, 0].max()), float(other[:, 0].min())
    if rolls and heel - toe > SAME:
        middle = switch_share(float(zmp[0]), toe, heel)
        wanted = middle * RISE(2.0 * asked) + (1.0 - middle) * RISE(2.0 * asked - 1.0)
    if not rolls:
        one, other = shrink(one), shrink(other)
    return wanted, press_nearest(wanted, zmp, one, other)


def bound_pressed_share(
    asked: float, change: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool
) -> float:
    """Bound how far the share that ``press_share`` returns moves from where it is.

    With the wanted share w, the one p that is nearest to it, and how far it is eased in, r, the share w + r (p - w) moves by no more than
    w, because p moves by no more, and by as much as r moves times p - w.

    Args:
        asked: The share that was asked for, 0 to 1.
        change: How much it may change.
        zmp: As in ``press_share``.
        one: Likewise.
        other: Likewise.
        rolls: Likewise.
    """
    wanted, pressed = want_share(asked, zmp, one, other, rolls)
    eases = min(asked, 1.0 - asked) - change < EASED
    eased = min(change / EASED, 1.0) if eases else 0.0
    return min((STEEPEST_ROLL if rolls else 1.0) * change + eased * abs(pressed - wanted), 1.0)


def press_nearest(wanted: float, zmp: Vector, one: Matrix, other: Matrix) -> float:
    """Return the share s from 0 to 1 of least v(s) + OUTSIDE (s - wanted)^2, where v is how far outside both contacts press, zero inside.

    Where some share presses inside it is the nearest of these, and where none does the one that presses least outside.  The cost is
    strictly convex and continuous in all that it is made of, and so is its least.

    Args:
        wanted: The share of the second contact that is wanted.
        zmp: (2,) zero-moment point [m].
        one: (k, 2) corners of the first contact [m], in order around it.
        other: (k, 2) corners of the second.
    """
    lacking, gain = find_sides(zmp, one, other)
    if not (lacking - wanted * gain).max() > 0.0:
        return wanted
    before, after = (
        int(lacking.argmax()),
        int((lacking - gain).argmax()),
    )  # sides that count before the least, and after it
    share = wanted
    for _ in lacking:
        first, last = (wanted + float(gain[side]) / (2.0 * OUTSIDE) for side in (after, before))
        meet = (
            float(lacking[before] - lacking[after]) / float(gain[before] - gain[after])
            if first < last
            else first
        )
        share = min(max(min(max(meet, first), last), 0.0), 1.0)
        side = int((lacking - share * gain).argmax())
        if side in {before, after}:
            break
        if share < wanted + gain[side] / (2.0 * OUTSIDE):
            before = side
        else:
            after = side
    return share


def find_sides(zmp: Vector, one: Matrix, other: Matrix) -> tuple[Vector, Vector]:
    """Return how far the zero-moment point is outside the mean of two contacts, across each side: lacking - s gain for a share s [m].

    A point is in the mean of both, weighed by share, if it is within its farthest corner in every direction across an edge.

    Args:
        zmp: (2,) zero-moment point [m].
        one: (k, 2) corners of the first contact [m], in order around it.
        other: (k, 2) corners of the second.

    Returns:
        What is lacking without share, and what the whole share gains.  The last side is none: nothing lacking, nothing gained.
    """
    edges = np.vstack(
        (np.roll(one, -1, axis=0) - one, np.roll(other, -1, axis=0) - other, ALONG, ACROSS)
    )
    normals = np.column_stack((edges[:, 1], -edges[:, 0]))
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    normals = normals[lengths > SAME] / lengths[lengths > SAME, None]
    normals = np.vstack((normals, -normals, np.zeros(2)))
    here, there = (one @ normals.T).max(axis=0), (other @ normals.T).max(axis=0)
    return normals @ zmp - here, there - here
