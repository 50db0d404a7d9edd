"""The share of the second of two contacts on the ground with which both press inside themselves [BP, eq. 28-29, assumption 2]."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.contact.transfer import find_profile, switch_share
from humanoid_dynamics.resolution.pressed_corners import shrink
from humanoid_dynamics.spatial.arrays import Matrix, Vector, read_only

EASED = 0.05  # share from which on it counts fully where pressure may be; below, less and less: contacts come and go without a step
SAME = 1e-9  # m; what is nearer is one place
RISE = find_profile("quintic")
STEEPEST_ROLL = 2.0 * 1.875  # most that a share that rises in two parts changes by, per change of the share asked for
STEEPEST = STEEPEST_ROLL + 1.0 / EASED  # most that any share taken changes by: see ``press_share``
ALONG, ACROSS = read_only(np.eye(2))


def press_share(asked: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool) -> float:
    """Return the share of the second of two contacts.

    It changes by at most ``STEEPEST`` times as much as the share that was asked for: a quintic rises by 15/8 at most, twice as fast in two
    parts; to keep it between two bounds makes it no steeper; and it is eased in by at most the whole way in a share of ``EASED``.

    Args:
        asked: The share that was asked for, 0 to 1.
        zmp: (2,) zero-moment point, along the way from the first to the second and across [m].
        one: (k, 2) corners of the first [m].
        other: (k, 2) corners of the second.
        rolls: Whether the share goes through the one for which both press where they face each other, and uses all of both contacts.
    """
    wanted, pressed = want_share(asked, zmp, one, other, rolls)
    return wanted + (pressed - wanted) * min(1.0, asked / EASED, (1.0 - asked) / EASED)


def want_share(asked: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool) -> tuple[float, float]:
    """Return the share that is wanted, and the one nearest to it for which both contacts press inside themselves; see ``press_share``."""
    wanted, toe, heel = asked, float(one[:, 0].max()), float(other[:, 0].min())
    if rolls and heel - toe > SAME:
        middle = switch_share(float(zmp[0]), toe, heel)
        wanted = middle * RISE(2.0 * asked) + (1.0 - middle) * RISE(2.0 * asked - 1.0)
    if not rolls:
        one, other = shrink(one), shrink(other)
    low, high = find_pressed_shares(zmp, one, other)
    return wanted, min(max(wanted, low), high) if low <= high else min(max(0.5 * (low + high), 0.0), 1.0)


def bound_pressed_share(asked: float, change: float, zmp: Vector, one: Matrix, other: Matrix, rolls: bool) -> float:  # noqa: PLR0917
    """Bound how far the share that ``press_share`` returns moves from where it is.

    With the wanted share w, the one p that is nearest to it, and how far it is eased in, r, the share w + r (p - w) moves by no more than
    w, because p does not, and by as much as r moves times p - w.

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


def find_pressed_shares(zmp: Vector, one: Matrix, other: Matrix) -> tuple[float, float]:
    """Return least and largest share of the second of two contacts for which both press inside themselves.

    The zero-moment point is in the mean of both, weighed by share, if it is within its farthest corner in every direction across an edge.

    Args:
        zmp: (2,) zero-moment point [m].
        one: (k, 2) corners of the first contact [m], in order around it.
        other: (k, 2) corners of the second.

    Returns:
        The shares; the least is above the largest where there is none.
    """
    edges = np.vstack((np.roll(one, -1, axis=0) - one, np.roll(other, -1, axis=0) - other, ALONG, ACROSS))
    normals = np.column_stack((edges[:, 1], -edges[:, 0]))
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    normals = normals[lengths > SAME] / lengths[lengths > SAME, None]
    normals = np.vstack((normals, -normals))
    here, there = (one @ normals.T).max(axis=0), (other @ normals.T).max(axis=0)
    gain, lacking = there - here, normals @ zmp - here
    least = lacking[gain > SAME] / gain[gain > SAME]
    most = lacking[gain < -SAME] / gain[gain < -SAME]
    return float(np.max(least, initial=0.0)), float(np.min(most, initial=1.0))
