# SPDX-License-Identifier: Apache-2.0
"""Sums over rows of numbers, and what a basis leaves of them, written so that numba can compile it."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Matrix, Vector


def multiply_rows(x: Vector, y: Vector) -> float:
    """Return the product of two rows.

    Args:
        x: (nv,) the one.
        y: (nv,) the other.
    """
    total = 0.0
    for c in range(len(x)):
        total += x[c] * y[c]
    return total


def take_out(unit: Vector, row: Vector) -> float:
    """Take what lies along a unit vector out of a row, and return how much that was.

    Args:
        unit: (nv,) the vector.
        row: (nv,) overwritten.
    """
    share = multiply_rows(unit, row)
    for c in range(len(unit)):
        row[c] -= share * unit[c]
    return share


def restrain_row(Q: Matrix, row: Vector) -> None:
    """Take out of a row what a basis holds.

    Args:
        Q: (r, nv) the basis, orthonormal.
        row: (nv,) overwritten.
    """
    for k in range(len(Q)):
        take_out(Q[k], row)


def restrain_joint(Q: Matrix, W: Matrix) -> None:
    """Take out of the Jacobian of a joint what a basis holds.

    Args:
        Q: (r, nv) the basis, orthonormal.
        W: (nv, 6) whitened Jacobian, overwritten.
    """
    share = np.empty(6)
    for k in range(len(Q)):
        share[:] = 0.0
        for i in range(len(W)):
            for j in range(6):
                share[j] += Q[k, i] * W[i, j]
        for i in range(len(W)):
            for j in range(6):
                W[i, j] -= share[j] * Q[k, i]


PARTS = (multiply_rows, take_out, restrain_row, restrain_joint)
APART: tuple[str, ...] = (
    "restrain_row",
    "restrain_joint",
)  # of the parts here, those that are not copied to where they are called
