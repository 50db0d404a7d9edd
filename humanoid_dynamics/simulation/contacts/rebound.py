# SPDX-License-Identifier: Apache-2.0
"""Restitution: Newton's where it creates no energy, and as much of it as creates none elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_dynamics.simulation.contacts.cone_problem import ConeAnswer
from humanoid_dynamics.simulation.contacts.contact_rows import Rows
from humanoid_dynamics.simulation.contacts.law import ContactLaw
from humanoid_dynamics.simulation.contacts.thresholds import CARRIES, SLOWEST_IMPACT
from humanoid_dynamics.spatial.arrays import Matrix, Vector

ROUND_OFF = 1e-9  # created energy below this share of the kinetic energy is round-off
BISECTIONS = 6


class Rebound(NamedTuple):
    """What an impact does.

    Attributes:
        answer: Its impulses.
        after: (k,) velocity of each row after it.
        change: What it changed in kinetic energy [J].
        wanted: (N,) velocity that normals and limits are to part with.
    """

    answer: ConeAnswer
    after: Vector
    change: float
    wanted: Vector

    def miss(self, after: Vector) -> float:
        """Return by how much velocities after the impact miss its law: wanted where an impulse acts, at least that elsewhere [m/s].

        Args:
            after: (N,) velocity of normals and limits.
        """
        left = after - self.wanted
        return float(
            np.where(
                self.answer.p[: len(left)] > CARRIES, np.abs(left), np.maximum(-left, 0.0)
            ).max(initial=0.0)
        )


def find_rebound(
    law: ContactLaw, rows: Rows, G: Matrix, before: Vector, e: Vector, *, kinetic: float
) -> Rebound:
    """Find an impact with restitution.

    Several contacts with friction can create energy with the restitution they ask for.  The same share of it is taken from all of them
    then: the largest that creates none, to within a few bisections.

    Args:
        law: Law of contact.
        rows: Rows that take part.
        G: (k, k) velocity of each row per unit of impulse.
        before: (k,) velocity of each row before.
        e: (m,) restitution of each point.
        kinetic: Kinetic energy before [J].
    """
    m, bounce = len(rows.point), np.zeros(len(before))
    bounce[:m] = e * np.minimum(before[:m], 0.0) * (before[:m] < -SLOWEST_IMPACT)
    most = ROUND_OFF * kinetic
    rebound = _collide(law, rows, G, before, bounce)
    if not bounce.any() or rebound.change <= most:
        return rebound
    best, low, high = _collide(law, rows, G, before, np.zeros(len(before))), 0.0, 1.0
    for _ in range(BISECTIONS):
        share = 0.5 * (low + high)
        rebound = _collide(law, rows, G, before, share * bounce)
        if rebound.change <= most:
            best, low = rebound, share
        else:
            high = share
    return best


def _collide(law: ContactLaw, rows: Rows, G: Matrix, before: Vector, bounce: Vector) -> Rebound:
    """Find an impact after which rows part with what they are to bounce by."""
    answer = law.solve(law.pose(rows, G, before + bounce), rows, None)
    return Rebound(
        answer,
        answer.u - bounce,
        0.5 * float(answer.p.dot(before + answer.u - bounce)),
        -bounce[: len(rows.gap)],
    )
