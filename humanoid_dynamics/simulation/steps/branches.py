# SPDX-License-Identifier: Apache-2.0
"""The inertia factored along the branches of the tree: M = L^T L, where L has an entry only where one coordinate carries another.

A row of a contact or a joint is zero but on one chain from a body to the root, and so is what the factor makes of it: nothing else is
computed [Featherstone, Rigid Body Dynamics Algorithms, sec. 6.5].  z = L v are velocities for which the inertia is one.  The functions
are written so that numba can compile them, and run as they are without; ``parents`` names the coordinate that carries each, or -1.
"""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector


def factor(M: Matrix, extra: Vector, parents: Indices, L: Matrix) -> bool:
    """Factor an inertia.

    Args:
        M: (nv, nv) inertia, of which the lower triangle counts.
        extra: (nv,) what is added to its diagonal.
        parents: (nv,) the tree.
        L: (nv, nv) the factor, overwritten where one coordinate carries another.

    Returns:
        Whether the inertia is positive definite.
    """
    for i in range(len(parents)):
        L[i, i] = M[i, i] + extra[i]
        j = parents[i]
        while j >= 0:
            L[i, j] = M[i, j]
            j = parents[j]
    for k in range(len(parents) - 1, -1, -1):
        if not L[k, k] > 0.0:
            return False
        L[k, k] = np.sqrt(L[k, k])
        share = 1.0 / L[k, k]
        i = parents[k]
        while i >= 0:
            L[k, i] *= share
            i = parents[i]
        i = parents[k]
        while i >= 0:
            j = i
            while j >= 0:
                L[i, j] -= L[k, i] * L[k, j]
                j = parents[j]
            i = parents[i]
    return True


def whiten_chain(L: Matrix, parents: Indices, last: int, x: Vector) -> None:
    """Overwrite x with L^-T x, where x is zero but on the chain from a coordinate to the root.

    Args:
        L: (nv, nv) factor.
        parents: (nv,) the tree.
        last: The coordinate; -1 for an empty chain.
        x: (nv,) row or force.
    """
    i = last
    while i >= 0:
        x[i] /= L[i, i]
        j = parents[i]
        while j >= 0:
            x[j] -= L[i, j] * x[i]
            j = parents[j]
        i = parents[i]


def whiten_all(L: Matrix, parents: Indices, x: Vector) -> None:
    """Overwrite x with L^-T x.

    Args:
        L: (nv, nv) factor.
        parents: (nv,) the tree.
        x: (nv,) row or force.
    """
    for i in range(len(parents) - 1, -1, -1):
        if x[i] != 0.0:
            x[i] /= L[i, i]
            j = parents[i]
            while j >= 0:
                x[j] -= L[i, j] * x[i]
                j = parents[j]


def whiten_rows(L: Matrix, parents: Indices, X: Matrix) -> None:
    """Overwrite every row of X with L^-T of it.

    Args:
        L: (nv, nv) factor.
        parents: (nv,) the tree.
        X: (k, nv) rows or forces.
    """
    for k in range(len(X)):
        whiten_all(L, parents, X[k])


def find_velocity(L: Matrix, parents: Indices, z: Vector, v: Vector) -> None:
    """Write v = L^-1 z.

    Args:
        L: (nv, nv) factor.
        parents: (nv,) the tree.
        z: (nv,) whitened velocity.
        v: (nv,) velocity, overwritten.
    """
    for i in range(len(parents)):
        rest = z[i]
        j = parents[i]
        while j >= 0:
            rest -= L[i, j] * v[j]
            j = parents[j]
        v[i] = rest / L[i, i]


def find_momentum(L: Matrix, parents: Indices, v: Vector, z: Vector) -> None:
    """Write z = L v.

    Args:
        L: (nv, nv) factor.
        parents: (nv,) the tree.
        v: (nv,) velocity.
        z: (nv,) whitened velocity, overwritten.
    """
    for i in range(len(parents)):
        total = L[i, i] * v[i]
        j = parents[i]
        while j >= 0:
            total += L[i, j] * v[j]
            j = parents[j]
        z[i] = total


PARTS = (factor, whiten_chain, whiten_all, find_velocity, find_momentum)
