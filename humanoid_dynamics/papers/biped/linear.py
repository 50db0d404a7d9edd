# SPDX-License-Identifier: Apache-2.0
"""Small linear systems, solved."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector


def solve(A: Matrix, b: Matrix) -> Matrix:
    """Return x with A x = b.

    Args:
        A: (n, n) regular matrix.
        b: (n,) or (n, k) right-hand sides.
    """
    return np.asarray(np.linalg.solve(A, b), dtype=np.float64)


def solve_least_norm(A: Matrix, b: Vector) -> Vector:
    """Return the shortest x with the least |A x - b|: the pseudo-inverse of A times b.

    Args:
        A: (m, n) any matrix.
        b: (m,) right-hand side.
    """
    x, *_ = np.linalg.lstsq(A, b, rcond=None)
    return np.asarray(x, dtype=np.float64)
