# SPDX-License-Identifier: Apache-2.0
"""Closed loops as compiled kernels read them, and what the kernels find of them."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.constraint_set import ConstraintSet
from humanoid_dynamics.constraints.loop import ALIGNED, LoopBlock
from humanoid_dynamics.simulation.steps.loop_kernel import (
    ALIGNED_KIND,
    FREE_KIND,
    L_A,
    L_AXES,
    L_B,
    L_LEAST,
    LOOP_COLUMNS,
    LOOP_PLACES,
    UNIVERSAL_KIND,
)
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


class LoopTable:
    """All bilateral rows of a tree: written by kernels where loops alone make them.

    Attributes:
        generation: Of the constraints that it was laid out for.
        compiled: Whether all rows are those of loops.
        loops: Numbers and whole numbers of the loops, one row each.
        rows: (k, nv) the rows.
        phi: (k,) their position errors.
        found: (k, nv) basis of what they hold, row by row, (k, k) factor and (k,) order.
    """

    def __init__(self, constraints: ConstraintSet, joints: Indices) -> None:
        """Lay it out.

        Args:
            constraints: The rows.
            joints: (nj, 3) joint above, first and last coordinate of each.
        """
        self.generation = constraints.generation
        active = [block for block in constraints if not block.inert]
        loops = [block for block in active if isinstance(block, LoopBlock)]
        self.compiled = len(loops) == len(active)
        numbers, places, row = (
            np.zeros((len(loops), LOOP_COLUMNS)),
            np.zeros((len(loops), LOOP_PLACES), dtype=np.intp),
            0,
        )
        for block, own, place in zip(loops, numbers, places, strict=True):
            own[L_A:L_B], own[L_B:L_LEAST] = _flatten(block.A.X_JF), _flatten(block.B.X_JF)
            least = constraints.least[row : row + len(block.axes)]
            for angular in (0, 1):
                own[L_LEAST + angular] = max(
                    (
                        x
                        for x, axis in zip(least, block.axes, strict=True)
                        if (axis > 2) == bool(angular)
                    ),
                    default=0.0,
                )
            kind = (
                UNIVERSAL_KIND
                if block.kind == "universal"
                else ALIGNED_KIND
                if block.kind in ALIGNED
                else FREE_KIND
            )
            pair, count = (block.A.joint, block.B.joint), len(block.axes)
            place[:L_AXES] = *pair, *(joints[k, 2] for k in pair), row, count, kind
            place[L_AXES : L_AXES + count] = block.axes
            row += count
        k, nv = constraints.size, constraints.robot.nv
        self.loops: tuple[Matrix, Indices] = (numbers, places)
        self.rows: Matrix = np.zeros((k, nv))
        self.phi: Vector = np.zeros(k)
        self.found: tuple[Matrix, Matrix, Indices] = (
            np.zeros((k, nv)),
            np.zeros((k, k)),
            np.zeros(k, dtype=np.intp),
        )


def _flatten(X: pin.SE3) -> Vector:
    """Return (12,) rotation row by row, and translation."""
    return np.concatenate((X.rotation.ravel(), X.translation))
