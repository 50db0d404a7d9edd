"""Contacts that come and go under limits: below a small share the answer passes over, in proportion, to the one without the contact.

What limits allow jumps where a contact comes or goes: a foot that touches may push, however small the load it is meant to take.  So a
contact with a share below ``fade`` counts by halves: the push is the mean of the one with it, its share ``fade``, and the one without it,
weighed by where the share lies between.  What both fulfil the mean fulfils: limits and the equation of motion are convex.  Where the
others cannot bear the motion without the contact, the mean lacks a part of it, whatever all of them can: reasons tell who fades.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

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


def split_shares(shares: Vector, fade: float) -> Iterator[tuple[float, Vector]]:
    """Return shares without contacts that fade, by weight: the answer to the given ones is the mean of the answers to these.

    Args:
        shares: (contacts,) shares of sum one.
        fade: The share below which a contact fades.

    Yields:
        A positive weight, all of sum one, and shares of sum one; the first with all contacts.
    """
    fading = np.flatnonzero((shares > 0.0) & (shares < fade))
    parts = shares[fading] / fade
    for kept in product((True, False), repeat=len(fading)):
        some = np.array(shares)
        some[fading] = np.where(kept, fade, 0.0)
        yield float(np.prod(np.where(kept, parts, 1.0 - parts))), some / some.sum()
