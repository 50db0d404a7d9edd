# SPDX-License-Identifier: Apache-2.0
"""Positive definite systems on raw LAPACK, with a plain answer to the question whether the matrix was one."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.spatial.arrays import Matrix


def factor_positive(A: Matrix) -> tuple[Matrix, bool]:
    """Return the upper Cholesky factor of a symmetric matrix, A = U^T U.

    Args:
        A: (n, n) matrix whose upper triangle counts; not changed.

    Returns:
        (n, n) array whose upper triangle is U, and whether A is positive definite.
    """
    if A.shape[0] == 0:
        return np.zeros((0, 0)), True
    U, info = lapack.dpotrf(A, lower=0, clean=0)
    return U, info == 0


def solve_factored(U: Matrix, B: Matrix) -> Matrix:
    """Solve U^T U X = B.

    Args:
        U: (n, n) upper Cholesky factor.
        B: (n,) or (n, p) right-hand side; not changed.

    Returns:
        X, shaped like B.
    """
    if U.shape[0] == 0 or B.size == 0:
        return np.zeros(B.shape)
    return np.asarray(lapack.dpotrs(U, B, lower=0)[0]).reshape(B.shape)


def pivot_ratio(U: Matrix) -> float:
    """Return the largest over the smallest pivot of a Cholesky factor, squared: a lower bound of the condition number of U^T U.

    Args:
        U: (n, n) upper Cholesky factor.

    Returns:
        The ratio, 1 for an empty matrix.
    """
    if U.shape[0] == 0:
        return 1.0
    diagonal = U.diagonal()
    smallest = float(diagonal.min())
    return float(diagonal.max() / smallest) ** 2 if smallest > 0.0 else np.inf
