# SPDX-License-Identifier: Apache-2.0
"""Arrays as values: float64, contiguous, read-only once they belong to a record."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_dynamics.errors import ShapeError

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
REAL = (float, int, np.floating, np.integer)


def read_only(values: ArrayLike) -> Vector:
    """Copy values into a float64 array that cannot be written to."""
    array = np.array(values, dtype=np.float64, order="C")
    array.flags.writeable = False
    return array


def writable(array: Vector) -> Vector:
    """Return an array that may be written to: itself, or a copy.

    A kernel would be compiled once more for an array that may not, although it writes nothing there.

    Args:
        array: An argument of a kernel.
    """
    return array if array.flags.writeable else array.copy()


def as_real(values: ArrayLike) -> Vector:
    """Return values as float64; not copied where they already are.

    Args:
        values: Real numbers.

    Returns:
        The same numbers.

    Raises:
        TypeError: If they are complex, or none.
        ValueError: If they are no numbers.
    """
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return values
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers")
    return np.asarray(array, dtype=np.float64)


def check_number(field: str, value: object, low: float, high: float, expected: str) -> None:
    """Refuse what is no number, or beyond bounds.

    Args:
        field: Name of the argument, for the message.
        value: What came.
        low: The least it may be.
        high: The most it may be.
        expected: The same in words.

    Raises:
        ShapeError: If it is not.
    """
    if not (isinstance(value, REAL) and low <= value <= high):
        raise ShapeError(field, f"{type(value).__name__} {value!r:.60}", expected)


def check_vector(field: str, values: ArrayLike, size: int) -> Vector:
    """Return values as a finite float64 vector of the given size.

    Args:
        field: Name of the argument, for the message.
        values: (size,) numbers.
        size: Expected length.

    Returns:
        (size,) the same numbers, float64; not copied where they already are.

    Raises:
        ShapeError: If the shape is different, or an entry is complex, masked or not finite.
    """
    try:
        vector = as_real(values)
    except (TypeError, ValueError, OverflowError) as cause:
        raise ShapeError(
            field, f"{type(values).__name__} {values!r:.60}", f"{size} numbers"
        ) from cause
    if isinstance(vector, np.ma.MaskedArray):
        if np.ma.is_masked(vector):
            raise ShapeError(field, "an array with masked numbers", "finite numbers")
        vector = np.asarray(vector)
    if vector.shape != (size,):
        raise ShapeError(field, f"shape {vector.shape}", f"({size},)")
    if not np.isfinite(vector).all():
        bad = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ShapeError(field, f"{vector[bad]} at index {bad}", "finite numbers")
    return vector


def as_slice(indices: Indices) -> slice | Indices:
    """Return indices as a slice where they follow each other: a slice takes a view where an array takes a copy.

    Args:
        indices: (n,) indices, rising.
    """
    if len(indices) and len(indices) == indices[-1] - indices[0] + 1:
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices if len(indices) else slice(0, 0)
