# SPDX-License-Identifier: Apache-2.0
"""How many rows count: one rule for the whole package."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.spatial.arrays import Vector

LEAST_LEVER = 1e-5  # share of the length of a robot: rows with shorter levers throughout hold nothing that the tree does not hold already
SHORTEST, LONGEST = 1e-6, 1.0  # of lengths that levers are compared with [m]


def measure_length(model: pin.Model) -> float:
    """Return the length that levers of a robot are compared with: its longest link, or largest offset or radius of a mass [m].

    Args:
        model: The model.
    """
    lengths = [SHORTEST]
    for placement, inertia in zip(
        list(model.jointPlacements)[1:], list(model.inertias)[1:], strict=True
    ):
        lengths += [
            float(np.linalg.norm(placement.translation)),
            float(np.linalg.norm(inertia.lever)),
        ]
        if inertia.mass > 0.0:
            lengths.append(
                math.sqrt(max(float(np.trace(inertia.inertia)), 0.0) / (2.0 * float(inertia.mass)))
            )
    return min(max(lengths), LONGEST)


@dataclass(frozen=True)
class RankPolicy:
    """rank = number of singular values above tolerance times the largest, with hysteresis.

    At an architecturally singular closure the position solver stops at a residual e and leaves sigma_min of order sqrt(e); the tolerance
    has to lie above that.

    Attributes:
        closure_residual: Position residual the closures are solved to [m].
        hysteresis: A direction once dropped comes back above this multiple of the tolerance.
    """

    closure_residual: float = 1e-12
    hysteresis: float = 10.0

    @property
    def tolerance(self) -> float:
        """Relative singular value below which a direction does not count."""
        return max(1e-9, 10.0 * math.sqrt(self.closure_residual))

    def rank(self, sigma: Vector, previous: int | None = None, least: float = 0.0) -> int:
        """Return the rank.

        Args:
            sigma: Singular values, largest first.
            previous: Rank of the same rows a moment ago, or None.
            least: Singular value of rows that surely count: all are compared with it where the largest is smaller.

        Returns:
            The number that count; within the hysteresis band the previous number.
        """
        if sigma.size == 0 or sigma[0] == 0.0:
            return 0
        ratio = sigma / max(float(sigma[0]), least)
        loose = int(np.count_nonzero(ratio > self.tolerance))
        if previous is None:
            return loose
        strict = int(np.count_nonzero(ratio > self.hysteresis * self.tolerance))
        return min(max(previous, strict), loose)
