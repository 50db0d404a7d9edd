# SPDX-License-Identifier: Apache-2.0
"""A contact problem and its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

EXACT = 1e-9  # residual that ends the search, as a share of the largest impulse
FINEST = 1e-12  # the same where that leaves the velocity of something light in doubt
CLOSE = 1e-6  # error in velocity that still passes [m/s]
HARD = 1e-7  # error in velocity below which nothing yields [m/s]
MOST_PASSES = 60
NEARER = 0.5  # share of its error that a problem may keep to be worth another pass where it was not solved
STALLED, MOST_STALLS = (
    0.95,
    16,
)  # the same where it was, and how many passes in a row may leave more
STRAIGHT = 0.9  # cosine between two passes that lead straight on
# How far such passes are led on at first, as a multiple of the last; how much farther then; at last.
FAR, FARTHER, FARTHEST = 30.0, 4.0, 1e6
OUTSIDE = 1e-10  # outside a cone of friction by less is round-off [N·s]


class ConeProblem(NamedTuple):
    """Rows, sizes and coefficients of one instant.

    Attributes:
        G: (k, k) velocity of each row per unit of impulse [1/kg, ...]; k = N + 2m.
        b: (k,) velocity of each row without impulses, shifted by what it should be.
        mu: (m,) Coulomb coefficients of the first m normal rows.
        normals: Number N of normal rows.
        owner: (m,) body of each contact, whose contacts yield alike; each contact is one where left out.
        yielding: (k, k) from ``spread_softness``, which is the same for all problems with these rows; found anew where left out.
    """

    G: Matrix
    b: Vector
    mu: Vector
    normals: int
    owner: Indices | None = None
    yielding: Matrix | None = None


class ConeAnswer(NamedTuple):
    """Impulses and how right they are.

    Attributes:
        p: (k,) impulses.
        u: (k,) velocities of the rows with them.
        residual: Distance from a solution, as a velocity of the worst row [m/s].
        complementarity: Largest p_n |u_n| [J].
        cone: Largest |p_t| - mu p_n, zero inside [N·s].
        rounds: Linear systems solved.
        exact: Whether the residual passes.
        handed: Why the procedure of the paper handed the problem to friction; empty where it did not.
    """

    p: Vector
    u: Vector
    residual: float
    complementarity: float
    cone: float
    rounds: int
    exact: bool
    handed: str = ""


Solver = Callable[[ConeProblem, Vector | None], ConeAnswer]
