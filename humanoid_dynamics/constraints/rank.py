"""How many rows count: one rule for the whole package."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.spatial.arrays import Vector


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

    def rank(self, sigma: Vector, previous: int | None = None) -> int:
        """Return the rank.

        Args:
            sigma: Singular values, largest first.
            previous: Rank of the same rows a moment ago, or None.

        Returns:
            The number that count; within the hysteresis band the previous number.
        """
        if sigma.size == 0 or sigma[0] == 0.0:
            return 0
        ratio = sigma / sigma[0]
        loose = int(np.count_nonzero(ratio > self.tolerance))
        if previous is None:
            return loose
        strict = int(np.count_nonzero(ratio > self.hysteresis * self.tolerance))
        return min(max(previous, strict), loose)
