# SPDX-License-Identifier: Apache-2.0
"""Weights of squares: one number, one for each, or a symmetric, positive definite matrix."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.spatial.arrays import Matrix

Weights: TypeAlias = "float | tuple[float, ...] | tuple[tuple[float, ...], ...]"


def as_value(weights: ArrayLike) -> Weights:
    """Return weights as numbers and tuples, equal to others of the same numbers.

    Args:
        weights: A number, a vector or a matrix.
    """
    listed = np.asarray(weights, dtype=np.float64).tolist()
    return (
        listed
        if isinstance(listed, float)
        else tuple(tuple(row) if isinstance(row, list) else row for row in listed)
    )


def build_weights(name: str, weights: ArrayLike, size: int) -> Matrix:
    """Return weights as a matrix.

    Args:
        name: What they are called where they are refused.
        weights: One positive number, (size,) positive numbers, or a (size, size) symmetric, positive definite matrix.
        size: How many squares there are.

    Returns:
        (size, size) the weights.

    Raises:
        ShapeError: If they are neither.
    """
    values = np.asarray(weights, dtype=np.float64)
    whole = np.diag(np.broadcast_to(values, size)) if values.shape in {(), (size,)} else values
    fits = (
        whole.shape == (size, size)
        and bool(np.isfinite(values).all())
        and np.array_equal(whole, whole.T)
    )
    if (
        not fits
        or not np.all(values.diagonal() > 0.0 if values.ndim > 1 else values > 0.0)
        or (size and lapack.dpotrf(whole)[1])
    ):
        expected = f"a positive, finite number, ({size},) of them, or a symmetric, positive definite ({size}, {size}) matrix"
        raise ShapeError(
            name, f"{values}" if values.ndim == 0 else f"shape {values.shape}", expected
        )
    return np.array(whole)


def is_diagonal(weights: Matrix) -> bool:
    """Whether a matrix of weights is one number for each square.

    Args:
        weights: (n, n) the weights.
    """
    return not np.any(weights - np.diag(weights.diagonal()))
