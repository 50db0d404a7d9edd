# SPDX-License-Identifier: Apache-2.0
"""Which links move without inertia: where the mass matrix is singular, and whose fault it is."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SMALLEST_SHARE = 1e-12
SMALLEST_EIGENVALUE = 1e-11
LARGE_SHARE = 0.3


def find_inertialess(model: pin.Model, joints: tuple[Joint, ...]) -> tuple[str, ...]:
    """Name the links whose motion carries no inertia.

    A coordinate whose own diagonal entry of the mass matrix is nothing beside the largest is without inertia whatever the rest does.
    Otherwise the matrix is scaled to a unit diagonal, so that a light finger is not mistaken for a missing mass, and looked through for
    motions without energy; twice, since a chain may be singular in one pose only by chance, or regular by rounding.

    Args:
        model: The tree.
        joints: Its joints.

    Returns:
        Names of the links, empty for a mass matrix that is positive definite.
    """
    data = model.createData()
    q = pin.neutral(model)
    rng = np.random.default_rng(0)
    for _ in range(2):
        guilty = _without_inertia(_mass_matrix(model, data, q))
        if guilty.any():
            return tuple(joint.child for joint in joints if guilty[joint.v].any())
        q = pin.integrate(model, q, rng.normal(scale=0.3, size=model.nv))
    return ()


def _without_inertia(M: Matrix) -> NDArray[np.bool_]:
    """Return (nv,) whether a coordinate takes part in a motion that carries no energy."""
    diagonal = np.diag(M)
    guilty = diagonal <= SMALLEST_SHARE * diagonal.max(initial=0.0)
    if guilty.any():
        return np.asarray(guilty)
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    still = np.abs(vectors[:, values < SMALLEST_EIGENVALUE])
    return np.asarray((still > LARGE_SHARE * still.max(axis=0, initial=0.0)).any(axis=1))


def _mass_matrix(model: pin.Model, data: pin.Data, q: Vector) -> Matrix:
    upper = np.triu(pin.crba(model, data, q))
    return np.asarray(upper + np.triu(upper, 1).T)
