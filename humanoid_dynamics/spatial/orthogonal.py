# SPDX-License-Identifier: Apache-2.0
"""Pivoted QR and the complete orthogonal decomposition on raw LAPACK: rank, null space, least squares, never an inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector

BLOCK = 32
_lange: Any = lapack.dlange


def singular_values(A: Matrix) -> Vector:
    """Return the singular values of a matrix, largest first; for reports and for the final word on a rank.

    Args:
        A: (m, n) matrix.

    Returns:
        (min(m, n),) singular values.
    """
    if min(A.shape) == 0:
        return np.zeros(0)
    _, sigma, _, info = lapack.dgesdd(A, compute_uv=0)
    return sigma if info == 0 else np.zeros(min(A.shape))


def pivot_columns(A: Matrix) -> tuple[Indices, Vector]:
    """Order the columns of a matrix so that the leading ones are as independent as a greedy choice can make them.

    Args:
        A: (m, n) matrix; not changed.

    Returns:
        (n,) column order and (min(m, n),) magnitudes of the diagonal of R, non-increasing.
    """
    m, n = A.shape
    if min(m, n) == 0:
        return np.arange(n), np.zeros(0)
    qr, pivots, _, _, _ = lapack.dgeqp3(A, lwork=2 * n + (n + 1) * BLOCK)
    return pivots.astype(np.intp) - 1, np.abs(qr.diagonal())


def apply_q(qr: Matrix, tau: Vector, B: Matrix, transposed: bool) -> Matrix:
    """Return Q B or Q^T B of a QR factorisation, Q square.

    Args:
        qr: (m, k) packed reflectors.
        tau: (k,) their scales.
        B: (m, p) matrix; not changed.
        transposed: Whether Q^T is meant.

    Returns:
        (m, p) product.
    """
    if tau.size == 0 or B.size == 0:
        return np.array(B, dtype=np.float64)
    product, _, _ = lapack.dormqr(
        "L", "T" if transposed else "N", qr[:, : tau.size], tau, B, lwork=max(1, B.shape[1]) * BLOCK
    )
    return np.asarray(product)


def solve_triangular(R: Matrix, B: Matrix, transposed: bool = False) -> Matrix:
    """Solve R X = B or R^T X = B with an upper triangle.

    Args:
        R: (r, r) matrix whose upper triangle counts.
        B: (r, p) or (r,) right-hand side; not changed.
        transposed: Whether R^T is meant.

    Returns:
        X, shaped like B.
    """
    if R.shape[0] == 0 or B.size == 0:
        return np.zeros(B.shape)
    return np.asarray(lapack.dtrtrs(R, B, trans=1 if transposed else 0)[0]).reshape(B.shape)


@dataclass(frozen=True, eq=False)
class CompleteOrthogonal:
    """A = Q1 T^T Z1^T with orthonormal Q1, Z1 and a triangle T: pseudo-inverse, transpose and null space without a singular value.

    Attributes:
        rank: Numerical rank r.
        Q1: (m, r) basis of the range.
        T: (r, r) upper triangle.
        Z: (n, n) orthonormal; its first r columns span the row space, the others the null space.
    """

    rank: int
    Q1: Matrix
    T: Matrix
    Z: Matrix

    @property
    def null_basis(self) -> Matrix:
        """(n, n - r) orthonormal basis of the null space."""
        return self.Z[:, self.rank :]

    def solve(self, b: Matrix) -> Matrix:
        """Return the smallest x that minimises |A x - b|.

        Args:
            b: (m,) or (m, p) right-hand side.

        Returns:
            (n,) or (n, p) solution.
        """
        return self.Z[:, : self.rank] @ solve_triangular(self.T, self.Q1.T @ b, transposed=True)

    def solve_transposed(self, c: Matrix) -> Matrix:
        """Return the smallest y that minimises |A^T y - c|.

        Args:
            c: (n,) or (n, p) right-hand side.

        Returns:
            (m,) or (m, p) solution.
        """
        return self.Q1 @ solve_triangular(self.T, self.Z[:, : self.rank].T @ c)


def decompose(A: Matrix, tolerance: float, rank: int | None = None) -> CompleteOrthogonal:
    """Decompose a matrix completely.

    Args:
        A: (m, n) matrix; not changed.
        tolerance: Diagonal entries of R below tolerance times the first count as zero.
        rank: Rank to use instead of the one the tolerance gives.

    Returns:
        The decomposition.
    """
    m, n = A.shape
    if min(m, n) == 0:
        return CompleteOrthogonal(0, np.zeros((m, 0)), np.zeros((0, 0)), np.eye(n))
    qr, pivots, tau, _, _ = lapack.dgeqp3(A, lwork=2 * n + (n + 1) * BLOCK)
    diagonal = np.abs(qr.diagonal())
    if rank is None:
        rank = int(np.count_nonzero(diagonal > tolerance * diagonal[0]))
    Q1 = apply_q(qr, tau, np.eye(m, rank), transposed=False)
    R = np.zeros((n, rank))
    R[pivots - 1] = np.triu(qr[:rank]).T
    if rank == 0:
        return CompleteOrthogonal(0, Q1, np.zeros((0, 0)), np.eye(n))
    packed, scales, _, _ = lapack.dgeqrf(R, lwork=rank * BLOCK)
    Z = apply_q(packed, scales, np.eye(n), transposed=False)
    return CompleteOrthogonal(rank, Q1, np.triu(packed[:rank]), Z)


def reciprocal_condition(factor: Matrix, norm: float) -> float:
    """Return an estimate of 1 / condition number in the 1-norm from a triangular factorisation.

    Args:
        factor: (n, n) packed L and U of ``dgetrf``.
        norm: 1-norm of the matrix that was factored.

    Returns:
        The estimate, 0 for a singular matrix.
    """
    return float(lapack.dgecon(factor, norm)[0])


def one_norm(A: Matrix) -> float:
    """Return the largest column sum of magnitudes.

    Args:
        A: (m, n) matrix.

    Returns:
        The norm.
    """
    return float(_lange("1", A))
