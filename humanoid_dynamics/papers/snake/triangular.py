# SPDX-License-Identifier: Apache-2.0
"""Triangular decomposition of a symmetric system, the way the paper solves Lagrange's equations."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.papers.snake.unfolded import Numbers


def factor_symmetric(K: Numbers) -> tuple[Numbers, Numbers]:
    """L with unit diagonal, below the diagonal, and d, such that K = L diag(d) L'."""
    size = K.shape[0]
    L, d = np.zeros((size, size), K.dtype), np.zeros(size, K.dtype)
    for j in range(size):
        for i in range(j):
            total = K[j, i]
            for k in range(i):
                total = total - L[j, k] * L[i, k]  # row j holds L d until its diagonal is reached
            L[j, i] = total
        pivot = K[j, j]
        for i in range(j):
            scaled = L[j, i] / d[i]
            pivot = pivot - scaled * L[j, i]
            L[j, i] = scaled
        d[j] = pivot
    return L, d


def solve_symmetric(K: Numbers, b: Numbers) -> Numbers:
    """Solve K x = b by K = L D L' without pivoting.

    Exists for [[M, A'], [A, 0]] with M positive definite and A of full row rank.  Needs (N³ + 9N² - 4N) / 6 multiplications and divisions
    and (N³ + 6N² - 7N) / 6 additions, the numbers the paper gives for N = 2n + 2.
    """
    L, d = factor_symmetric(K)
    x = b.copy()
    for j in range(b.size):
        for i in range(j):
            x[j] = x[j] - L[j, i] * x[i]
    for j in range(b.size - 1, -1, -1):
        x[j] = x[j] / d[j]
        for i in range(j + 1, b.size):
            x[j] = x[j] - L[i, j] * x[i]
    return x
