# SPDX-License-Identifier: Apache-2.0
"""Least squares under equality constraints, small and dense."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.spatial.arrays import Matrix, Vector

RANK_TOLERANCE = 1e-9
ACCEPTED_RESIDUAL = 1e-10
WORST_CONDITION = 1e13  # beyond it the factorised system does not tell a rank from noise


@dataclass(frozen=True, eq=False)
class ConstrainedMinimum:
    """The minimum of a quadratic under linear equations.

    Attributes:
        x: (n,) the minimum.
        residual: (m,) what the equations miss, zero where they can be met.
        rank: Rank of the equations.
        path: ``kkt`` or, where that system was singular, ``svd``; ``none`` where there is nothing to choose.
    """

    x: Vector
    residual: Vector
    rank: int
    path: str


def solve_constrained(H: Matrix, g: Vector, A: Matrix, b: Vector) -> ConstrainedMinimum:
    """Minimise x'Hx/2 - g'x among the x with A x = b, or with least |A x - b| where there is no such x.

    Args:
        H: (n, n) symmetric, positive definite.
        g: (n,) linear term.
        A: (m, n) equations, of any rank.
        b: (m,) their right-hand sides.

    Returns:
        The minimum; never an exception, whatever the rank.
    """
    m, n = A.shape
    if n == 0:
        return ConstrainedMinimum(np.zeros(0), np.array(b), 0, "none")
    K = np.zeros((n + m, n + m), order="F")
    K[:n, :n], K[n:, :n], K[:n, n:] = H, A, A.T
    factors, pivots, solution, info = lapack.dsysv(K, np.concatenate((g, b)), lower=1)
    if info == 0:
        x = solution[:n]
        residual = b - A @ x
        met = np.max(np.abs(residual), initial=0.0) <= ACCEPTED_RESIDUAL * (
            1.0 + np.max(np.abs(b), initial=0.0)
        )
        if (
            met
            and lapack.dsycon(factors, pivots, np.max(np.abs(K).sum(axis=0)), lower=1)[0]
            * WORST_CONDITION
            > 1.0
        ):
            return ConstrainedMinimum(x, residual, m, "kkt")
    return _solve_in_null_space(H, g, A, b)


def _solve_in_null_space(H: Matrix, g: Vector, A: Matrix, b: Vector) -> ConstrainedMinimum:
    U, sigma, Vt = np.linalg.svd(A, full_matrices=True)
    rank = int(np.sum(sigma > RANK_TOLERANCE * sigma[0])) if sigma.size and sigma[0] > 0.0 else 0
    x = Vt[:rank].T @ ((U[:, :rank].T @ b) / sigma[:rank])
    N = Vt[rank:].T
    if N.shape[1]:
        _, y, _ = lapack.dposv(N.T @ H @ N, N.T @ (g - H @ x))
        x = x + N @ y
    return ConstrainedMinimum(x, b - A @ x, rank, "svd")
