# SPDX-License-Identifier: Apache-2.0
"""Soles that stand on their front or rear edge: where those are, and what turns freely about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humanoid_dynamics.contact.cone import build_wrench_cone
from humanoid_dynamics.filtering.sole_edges import SoleEdges
from humanoid_dynamics.filtering.ticks.edge_kernels import ABOUT, return_wrench, sit_on_edge
from humanoid_dynamics.filtering.ticks.program import WRENCH, ExtraRows
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.terms import BodyTerms
from humanoid_dynamics.filtering.ticks.wishes import (
    CUSHION,
    HARDEST_LANDING,
    MEASURED_DAMPING,
    Gains,
    Wishes,
)
from humanoid_dynamics.model.surface import ContactSurface
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

DEPTH = 0.001  # m/m; the sole may dip by this much
TURN_WEIGHT = 30.0  # s^4/rad^2; of the wished turn about the edge


def build_edge_cone(sole: ContactSurface, half: float, *, closed: bool) -> Matrix:
    """Return what an edge can carry, as rows on the wrench at its middle.

    Args:
        sole: The sole; its friction counts.
        half: Half the width of the edge [m].
        closed: Whether rows say as well that no moment acts about the edge; otherwise there is no unknown for it.

    Returns:
        (m, 6) rows, cone @ wrench <= 0.
    """
    cone = build_wrench_cone(
        replace(sole, vertices=np.array([[0.0, -half, 0.0], [0.0, half, 0.0]]))
    )
    rows = np.asarray(
        cone.A @ cone.basis.T
    )  # with the origin on the edge its five wrenches are orthonormal
    about = np.eye(WRENCH)[ABOUT]
    return np.vstack((rows, about, -about)) if closed else rows


class EdgeSeat:
    """Turns the terms of soles that stand on an edge into those of that edge, and wrenches back.

    Attributes:
        turn: Rows for the turn of the second sole about its edge: as it is wished for, and off the ground.
    """

    def __init__(self, soles: tuple[SoleEdges, SoleEdges], gains: Gains, nv: int) -> None:
        """Take the memory.

        Args:
            soles: Edges of both soles.
            gains: How deviations are corrected.
            nv: Number of velocities.
        """
        self.turn = ExtraRows(
            np.zeros((1, nv)),
            np.zeros(1),
            np.full(1, TURN_WEIGHT),
            np.zeros((1, nv)),
            np.zeros(1),
            lambda: 1,
        )
        self._soles, self._axes = soles, np.zeros((2, 3, 3))
        numbers = (*gains.stance, MEASURED_DAMPING, HARDEST_LANDING, *gains.swing, CUSHION, DEPTH)
        self._fixed = np.array(numbers)
        self._sit, self._return = (
            compile_kernel(sit_on_edge),
            compile_kernel(return_wrench),
        )

    def seat(
        self,
        foot: int,
        kind: int,
        target: Target,
        terms: BodyTerms,
        wishes: Wishes,
        flat: tuple[Vector, Matrix],
        pull: float,
    ) -> None:
        """Turn the terms of one sole, and what is wished of it.

        Args:
            foot: 0 for the left, 1 for the right.
            kind: ``TOE`` or ``HEEL``.
            target: What is wanted.
            terms: The robot in its state; changed.
            wishes: What is wished for; changed.
            flat: Place and orientation of the sole where it stands flat.
            pull: Share of the stiffness that holds it in place.
        """
        sole = terms.J[foot], terms.drift[foot], terms.twist[foot], terms.to_base[foot]
        wanted = target.sole_turn[foot], target.sole_rate[foot], target.sole_acceleration[foot]
        turn = self.turn
        out = wishes.soles[foot], (turn.G, turn.g, turn.rows, turn.lower), self._axes[foot]
        poses = (terms.place[foot], terms.turn[foot]), flat
        self._sit(sole, poses, self._soles[foot].middle(kind), pull, kind, wanted, self._fixed, out)

    def read(self, foot: int, kind: int, wrench: Vector) -> None:
        """Turn the wrench at an edge into one on the sole, in place.

        Args:
            foot: 0 for the left, 1 for the right.
            kind: ``TOE`` or ``HEEL``.
            wrench: (6,) wrench.
        """
        self._return(wrench, self._soles[foot].middle(kind), self._axes[foot])

    def read_all(self, edges: tuple[int, int], wrenches: Matrix) -> None:
        """Turn the wrenches at edges into those on soles, in place.

        Args:
            edges: What each sole stands on.
            wrenches: (2, 6) wrenches.
        """
        for foot in (0, 1):
            if edges[foot]:
                self.read(foot, edges[foot], wrenches[foot])
