"""Which links move without inertia: where the mass matrix is singular, and whose fault it is."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.joint import Joint
from humanoid_dynamics.spatial.arrays import Matrix

SMALLEST_INERTIA = 1e-10
SMALLEST_EIGENVALUE = 1e-11
LARGE_COMPONENT = 0.3


def find_inertialess(model: pin.Model, joints: tuple[Joint, ...]) -> tuple[str, ...]:
    """Name the links whose motion carries no inertia.

    The mass matrix is scaled to a unit diagonal first, so that a light finger is not mistaken for a missing mass; a coordinate whose
    own diagonal entry is (nearly) zero is without inertia whatever the rest does.

    Args:
        model: The tree.
        joints: Its joints.

    Returns:
        Names of the links, empty for a mass matrix that is positive definite.
    """
    q = pin.neutral(model)
    rng = np.random.default_rng(0)
    for _ in range(2):
        M = _mass_matrix(model, q)
        diagonal = np.diag(M)
        guilty = diagonal < SMALLEST_INERTIA
        if not guilty.any():
            scale = 1.0 / np.sqrt(diagonal)
            values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
            null = np.abs(vectors[:, values < SMALLEST_EIGENVALUE])
            guilty = null.max(axis=1) > LARGE_COMPONENT if null.size else np.zeros(model.nv, dtype=bool)
        if guilty.any():
            return tuple(joint.child for joint in joints if guilty[joint.v].any())
        q = pin.integrate(model, q, rng.normal(scale=0.3, size=model.nv))
    return ()


def _mass_matrix(model: pin.Model, q: Matrix) -> Matrix:
    upper = np.triu(pin.crba(model, model.createData(), q))
    return np.asarray(upper + np.triu(upper, 1).T)
