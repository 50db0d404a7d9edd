# SPDX-License-Identifier: Apache-2.0
"""The jump of velocities when soles come down: part one of the contact procedure [DF, sec. 3.4].

Only corners that come down faster than a centimetre per second collide; slower ones are left to stabilisation.  Impulses obey the same
rules as forces: what would pull is let go, and the jump is computed again from the velocity before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import nnls

from humanoid_dynamics.contact.demotion import stay_held
from humanoid_dynamics.papers.dynamics_filter.contacts import Held, Sole
from humanoid_dynamics.papers.dynamics_filter.rows import Instant, Rows, stack_rows
from humanoid_dynamics.spatial.arrays import Matrix, Vector

COLLIDES = 1e-2  # m/s; slower is no collision
MOST_SOLVES = 4
PULL = 1e-6  # share of the largest impulse
SOFT = 1e-12


@dataclass(frozen=True, eq=False)
class Jump:
    """A collision.

    Attributes:
        v: (nv,) velocity after it.
        held: Corners each sole holds after it.
        energy: Change of kinetic energy [J]; never positive.
        solves: Systems solved.
    """

    v: Vector
    held: tuple[Held, ...]
    energy: float
    solves: int


def find_speed(instant: Instant) -> float:
    """Return the largest speed with which a touching corner comes down [m/s].

    Args:
        instant: The instant.
    """
    return max(
        (-float(sole.rise[list(sole.touching)].min()) for sole in instant.soles if sole.touching),
        default=0.0,
    )


def solve_collision(instant: Instant) -> Jump:
    """Let all touching corners come to rest, as far as no impulse pulls.

    Args:
        instant: The instant before.

    Returns:
        The jump.
    """
    U, _ = lapack.dpotrf(instant.M, lower=0, clean=1)
    held = tuple(sole.touching for sole in instant.soles)
    solves, v_plus = 0, instant.v
    while solves < MOST_SOLVES:
        rows = stack_rows(instant, held)
        v_plus, impulses = _stop(U, rows.balance.J, instant.v)
        solves += 1
        keep = _demote(rows, impulses, instant.soles, held)
        if keep == held:
            break
        held = keep
    if _sinks(instant, held, v_plus):
        held = tuple(sole.touching for sole in instant.soles)
        v_plus = _stop_by_law(U, instant, held)
    change = U.dot(v_plus - instant.v)
    energy = 0.5 * float(change.dot(U.dot(v_plus + instant.v)))
    return Jump(v_plus, held, energy, solves)


def _stop(U: Matrix, K: Matrix, v: Vector) -> tuple[Vector, Vector]:
    """Return v - M^-1 K^T (K M^-1 K^T)^+ K v and the impulses."""
    if not len(K):
        return v, np.zeros(0)
    X = lapack.dtrtrs(U, K.T, trans=1)[0]
    G = X.T.dot(X)
    G[np.diag_indices_from(G)] *= 1.0 + SOFT
    impulses = lapack.dposv(G, -K.dot(v))[1]
    return v + lapack.dtrtrs(U, X.dot(impulses))[0], impulses


def _demote(
    rows: Rows, impulses: Vector, soles: Sequence[Sole], held: tuple[Held, ...]
) -> tuple[Held, ...]:
    least = -PULL * float(np.abs(impulses).max(initial=0.0))
    keep = []
    for sole, corners, w in zip(soles, held, rows.wrenches(impulses, soles), strict=True):
        if not corners:
            keep.append(corners)
            continue
        cop = np.array([-w[4], w[3]]) / w[2] if w[2] > 0.0 else np.zeros(2)
        keep.append(
            tuple(
                corners[k]
                for k in stay_held(sole.corners[list(corners), :2], float(w[2]), cop, least)
            )
        )
    return tuple(keep)


def _sinks(instant: Instant, held: tuple[Held, ...], v: Vector) -> bool:
    """Return whether a corner that was let go still comes down."""
    for sole, corners in zip(instant.soles, held, strict=True):
        free = [k for k in sole.touching if k not in corners]
        if free:
            V = sole.J.dot(v)
            rise = sole.arms[free].dot(np.cross(sole.normal, V[3:])) + float(sole.normal.dot(V[:3]))
            if float(rise.min()) < -COLLIDES:
                return True
    return False


def _stop_by_law(U: Matrix, instant: Instant, held: tuple[Held, ...]) -> Vector:
    """Return the velocity after the impulses, inside all friction pyramids, that leave least kinetic energy."""
    pushes = [
        sole.J.T.dot(sole.push(corners)) for sole, corners in zip(instant.soles, held, strict=True)
    ]
    loops = instant.J_loops.T
    X = lapack.dtrtrs(U, np.hstack((*pushes, loops, -loops)), trans=1)[0]
    share, _ = nnls(X, -U.dot(instant.v))
    return np.asarray(instant.v + lapack.dtrtrs(U, X.dot(share))[0])
