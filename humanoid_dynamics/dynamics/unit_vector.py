# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by unit vectors, as the paper has it [CK, sec. 3.2]: N_F + 1 inverse dynamics, kept for comparison.

Two misprints are corrected: in step (2) and in step (5) the term printed as ``H theta_G''`` is ``H' theta_G'`` of [CK, eq. 22].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.dynamics.inverse import build_maps
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class UnitVectorResult:
    """What the literal algorithm finds on its way.

    Attributes:
        a: (nv,) acceleration of all coordinates.
        theta_G_ddot: (nu,) generalized acceleration.
        A: (nu, nu) inertia with respect to the generalized coordinates [CK, eq. 23].
        b: (nu,) centrifugal, Coriolis and gravity force [CK, eq. 23].
        inverse_dynamics_calls: How often the tree was asked: nu + 1.
    """

    a: Vector
    theta_G_ddot: Vector
    A: Matrix
    b: Vector
    inverse_dynamics_calls: int


def solve_by_unit_vectors(
    mechanism: Mechanism, q: Vector, v: Vector, tau: Vector
) -> UnitVectorResult:
    """Return the acceleration by the five steps of the paper [CK, sec. 3.2].

    Args:
        mechanism: The mechanism.
        q: (nq,) configuration.
        v: (nv,) velocity with J v = 0.
        tau: (na,) motor torques.

    Returns:
        Acceleration, A, b and the number of inverse dynamics.
    """
    mechanism.update(q, v)
    W, S = build_maps(mechanism)
    drift = mechanism.null_space.beta  # H' theta_G' on theta_S, zero on theta_G

    tau_G = S.T @ tau  # (1)
    b = W.T @ mechanism.tree_torque(drift)  # (2)
    columns = [W.T @ mechanism.tree_torque(W[:, i] + drift) - b for i in range(W.shape[1])]  # (3)
    A = np.column_stack(columns) if columns else np.zeros((0, 0))
    theta_G_ddot: Vector = np.asarray(np.linalg.solve(A, tau_G - b), dtype=np.float64)  # (4)
    a = W @ theta_G_ddot + drift  # (5)
    return UnitVectorResult(a, theta_G_ddot, A, b, len(columns) + 1)
