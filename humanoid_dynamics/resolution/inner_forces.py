# SPDX-License-Identifier: Apache-2.0
"""Forces inside a robot, of gears between joints that mimic each other and of closed loops: eliminated from the equations for contacts.

With contact forces x_c and inner forces y the equations of the coordinates without motor are U'x_c + G'y = b.  Contacts answer alone for
the equations that G does not reach, Z'U'x_c = Z'b with G Z = 0; inner forces then make up for the rest.  A rule about contacts is so
exact whatever mechanism a leg has.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector

RANK = 1e-10  # of the largest singular value, and of one where that is smaller; what is below it reaches nothing
BASE_COORDINATES = {"free_flyer": 6, "planar": 3}


class InnerForces:
    """Elimination of inner forces: make once, ``reduce`` at every tick, then ``complete``."""

    def __init__(self, contacts: int, base: int) -> None:
        """Prepare.

        Args:
            contacts: Number of unknowns that belong to contacts, the first ones.
            base: Number of equations that belong to the base, the first ones; forces between links of one robot do not reach them.
        """
        self._contacts, self._base = contacts, base
        self._ways: tuple[Matrix, Vector, Matrix] = (
            np.zeros((0, 0)),
            np.zeros(0),
            np.zeros((0, 0)),
        )

    def reduce(self, J_u: Matrix) -> Matrix:
        """Return the combinations of equations that contacts alone answer for, as columns (equations, k), those of the base first.

        Args:
            J_u: (size, equations) what contacts and inner forces do.
        """
        U, G = J_u[: self._contacts], J_u[self._contacts :]
        base = (
            self._base if np.abs(G[:, : self._base]).max(initial=0.0) <= RANK else 0
        )  # a loop through the world reaches the base
        left, sigma, right = np.linalg.svd(G[:, base:])
        rank = int(np.count_nonzero(sigma > RANK * sigma.max(initial=1.0)))
        self._ways = left[:, :rank], sigma[:rank], np.hstack((np.zeros((rank, base)), right[:rank]))
        beyond = right[rank:].T
        reached = U[:, base:] @ beyond
        if (
            np.abs(reached).max(initial=0.0) > RANK
        ):  # passive joints that no inner force holds, among them rods that spin idly
            _, sigma, turned = np.linalg.svd(reached)
            beyond = beyond @ turned[: np.count_nonzero(sigma > RANK * max(sigma[0], 1.0))].T
        else:
            beyond = beyond[:, :0]
        Z = np.zeros((J_u.shape[1], base + beyond.shape[1]))
        Z[range(base), range(base)] = 1.0
        Z[base:, base:] = beyond
        return Z

    def complete(self, x: Vector, J_u: Matrix, free: Vector) -> None:
        """Write the least inner forces that make up for what contacts leave.

        Args:
            x: (size,) unknowns, those of contacts given.
            J_u: (size, equations) what they do, as in the last ``reduce``.
            free: (equations,) what is asked.
        """
        left, sigma, right = self._ways
        rest = free - x[: self._contacts] @ J_u[: self._contacts]
        x[self._contacts :] = left @ (right @ rest / sigma)
