# SPDX-License-Identifier: Apache-2.0
"""Contact forces inside their friction pyramids, by non-negative least squares: an extension beyond the paper.

Corner forces are shares, never negative, of the edges of the pyramids.  ``redistribute`` asks whether such forces can carry a motion that
was found without them; ``solve_in_cones`` finds the motion nearest to the wanted one that they can carry, while everything that touches
stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular
from scipy.optimize import nnls

from humanoid_dynamics.papers.dynamics_filter.contacts import Held
from humanoid_dynamics.papers.dynamics_filter.rows import Instant, stack_rows
from humanoid_dynamics.papers.dynamics_filter.solution import Solution
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

SAME_FORCE = 1e-8  # share of the weight
RANK = 1e-9
REFINEMENTS = (
    3  # of the acceleration, which the damping of the base rows leaves off by a share of 1e-9
)


@dataclass(frozen=True, eq=False)
class ConeSolution:
    """A motion with contact forces inside their pyramids.

    Attributes:
        solution: Acceleration, forces of the loops, torques.
        wrenches: (s, 6) what the ground does to the soles, in their own axes [N, N·m].
        left: What the forces could not carry, as a share of the weight; zero up to round-off unless nothing could.
    """

    solution: Solution
    wrenches: Matrix
    left: float


def redistribute(
    instant: Instant, held: Sequence[Held], a: Vector, driven: Indices
) -> ConeSolution | None:
    """Find other forces for the same motion, each inside its pyramid.

    Args:
        instant: The instant.
        held: Corners each sole holds.
        a: (nv,) acceleration.
        driven: (na,) coordinates with a free torque.

    Returns:
        The same motion with these forces; None where there are none.
    """
    pushes = _Pushes(instant, held, driven)
    wanted = (instant.M.dot(a) + instant.h)[pushes.others]
    share, left = nnls(pushes.base, wanted)
    if left > SAME_FORCE * instant.weight:
        return None
    return pushes.finish(a, share, left / instant.weight)


def solve_in_cones(
    instant: Instant,
    held: Sequence[Held],
    wanted: Vector,
    driven: Indices,
    given: Vector | None = None,
) -> ConeSolution:
    """Find the acceleration nearest to the wanted one that corner forces inside their pyramids can carry.

    Args:
        instant: The instant.
        held: Corners each sole holds; they stay at rest.
        wanted: (nv,) desired acceleration.
        driven: (na,) coordinates with a free torque.
        given: (nv - na,) forces of all others; zero where left out.

    Returns:
        The motion.
    """
    balance = stack_rows(instant, held).balance
    pushes = _Pushes(instant, held, driven)
    a, N = _move(balance.J, balance.gamma, wanted)
    M_b, h_b = instant.M[pushes.others], instant.h[pushes.others]
    C = M_b.dot(N)
    gram = C.dot(C.T)
    gram[np.diag_indices_from(gram)] += RANK * max(float(np.trace(gram)) / len(gram), 1e-12)
    factor = cho_factor(gram)
    L = np.triu(factor[0])
    bias = h_b if given is None else h_b - given
    free = M_b.dot(a) + bias
    share, _ = nnls(solve_triangular(L, pushes.base, trans=1), solve_triangular(L, free, trans=1))
    for _ in range(REFINEMENTS):
        missing = M_b.dot(a) + bias - pushes.base.dot(share)
        a = a - N.dot(C.T.dot(cho_solve(factor, missing)))
    missing = M_b.dot(a) + bias - pushes.base.dot(share)
    return pushes.finish(a, share, float(np.abs(missing).max(initial=0.0)) / instant.weight)


class _Pushes:
    """Generalized forces of corner forces, and of loops both ways."""

    def __init__(self, instant: Instant, held: Sequence[Held], driven: Indices) -> None:
        self._instant, self._held, self._driven = instant, held, driven
        self.others = np.setdiff1d(np.arange(len(instant.h)), driven)
        self._wrenches = [
            sole.push(corners) for sole, corners in zip(instant.soles, held, strict=True)
        ]
        columns = [sole.J.T.dot(W) for sole, W in zip(instant.soles, self._wrenches, strict=True)]
        loops = instant.J_loops.T * instant.unit_loops
        self._columns = np.hstack((*columns, loops, -loops))
        self.base = self._columns[self.others]

    def finish(self, a: Vector, share: Vector, left: float) -> ConeSolution:
        """Return the motion with its forces and torques."""
        instant, start = self._instant, 0
        wrenches = np.zeros((len(instant.soles), 6))
        for row, (sole, W) in enumerate(zip(instant.soles, self._wrenches, strict=True)):
            wrenches[row] = sole.seen_from_sole(W.dot(share[start : start + W.shape[1]]))
            start += W.shape[1]
        both = share[start:].reshape(2, -1)
        tau = (instant.M.dot(a) + instant.h - self._columns.dot(share))[self._driven]
        return ConeSolution(
            Solution(a, instant.unit_loops * (both[0] - both[1]), tau), wrenches, left
        )


def _move(J: Matrix, gamma: Vector, wanted: Vector) -> tuple[Vector, Matrix]:
    """Return the acceleration nearest to the wanted one with J a = -gamma, and a basis of what J leaves free."""
    k, nv = J.shape
    if k == 0:
        return wanted, np.eye(nv)
    Q, R, order = qr(J.T, pivoting=True)
    pivots = np.abs(np.diagonal(R))
    rank = int((pivots > RANK * max(float(pivots[0]), 1e-12)).sum())
    miss = (-gamma - J.dot(wanted))[order[:rank]]
    fix = Q[:, :rank].dot(solve_triangular(R[:rank, :rank], miss, trans=1))
    return wanted + fix, Q[:, rank:]
