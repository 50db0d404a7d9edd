# SPDX-License-Identifier: Apache-2.0
"""Contacts that come and go under limits: below a small share the answer passes over, in proportion, to the one without the contact.

What limits allow jumps where a contact comes or goes: a foot that touches may push, however small the load it is meant to take.  So a
contact with a share below ``fade`` counts by halves: the push is the mean of the one with it, its share ``fade``, and the one without it,
weighed by where the share lies between.  What both fulfil the mean fulfils: limits and the equation of motion are convex.

Where the others cannot bear the motion without the contact, the mean lacks a part of it.  The contact then counts up to five times as
much as its share asks, see ``halves``: from a fifth of ``fade`` on nothing is lost to fading any more.  Below something must be: with a
share of zero it bears nothing, and what has no step cannot give it all that the others lack at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from humanoid_dynamics.spatial.arrays import Vector

LARGEST_FADE = 0.1
FADING_AT_ONCE = 0.5  # share of the load at most, so that a contact that bears more is always left


def fade_of(contacts: int) -> float:
    """Return the share below which a contact fades.

    Args:
        contacts: Number of contacts.
    """
    return min(LARGEST_FADE, FADING_AT_ONCE / max(contacts, 1))


def split_shares(shares: Vector, fade: float) -> Iterator[Vector]:
    """Return shares without contacts that fade: the answer to the given ones is a mean of the answers to these, see ``halves``.

    Args:
        shares: (contacts,) shares of sum one.
        fade: The share below which a contact fades.

    Yields:
        Shares of sum one; the digits of their number to the base of two tell which contacts are left out, none for the first.
    """
    fading = np.flatnonzero((shares > 0.0) & (shares < fade))
    for number in range(2 ** len(fading)):
        some = np.array(shares)
        some[fading] = np.where(number >> np.arange(len(fading)) & 1, 0.0, fade)
        yield some / some.sum()
