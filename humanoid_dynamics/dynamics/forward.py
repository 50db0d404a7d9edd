# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics: from torques to accelerations and constraint forces [CK, eq. 23-24], by Gamma^T M Gamma."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.kkt import solve_kkt, symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism, all_finite
from humanoid_dynamics.dynamics.projection import Projection, project_by
from humanoid_dynamics.dynamics.results import ForwardResult
from humanoid_dynamics.spatial.arrays import Matrix, Vector

ILL_CONDITIONED = 1e12


def solve_forward(
    mechanism: Mechanism, q: Vector, v: Vector, tau: Vector, force: Vector | None = None
) -> ForwardResult:
    """Return how the mechanism accelerates [CK, eq. 23-24].

    u' = M_u^-1 (Gamma^T (S^T tau + f) - h_u), then v' = Gamma u' + beta, then the constraint forces as the smallest lam with
    J^T lam = M v' + h - S^T tau - f.

    Args:
        mechanism: The mechanism.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (na,) motor torques [N, N·m].
        force: (nv,) further generalized force.

    Returns:
        Acceleration, constraint forces and their standing.

    Raises:
        ShapeError: If an array has the wrong size.
        SingularInertiaError: If links without inertia can move freely.
    """
    mechanism.check_sizes(q=q, v=v, tau=tau, force=force)
    M, h = mechanism.kinematics.weigh(q, v)
    resisting = h - mechanism.spread(tau, force)  # an applied force is a bias with its sign turned
    if not all_finite(resisting):
        return _refuse(mechanism)
    mechanism.build_map()
    space = mechanism.null_space
    slowing, ok = _decelerate(project_by(space, M, resisting))
    if not ok:
        return _solve_densely(mechanism, M, resisting)
    a = space.beta - space.Gamma.dot(slowing)
    supplied = blas.dsymv(1.0, M.T, a, beta=1.0, y=resisting, lower=1, overwrite_y=1)
    return _report(mechanism, a, space.multipliers(supplied))


def _decelerate(projected: Projection) -> tuple[Vector, bool]:
    """Solve the projected equation for -u'; tell whether its inertia could be trusted."""
    if projected.Gamma.shape[1] == 0:
        return np.zeros(0), True
    U, slowing, info = lapack.dposv(projected.M_u, projected.h_u, overwrite_a=1)
    if info != 0:
        return slowing, False
    pivots = U.diagonal().tolist()
    return slowing, max(pivots) ** 2 < ILL_CONDITIONED * min(pivots) ** 2


def _solve_densely(mechanism: Mechanism, M: Matrix, resisting: Vector) -> ForwardResult:
    """Take the saddle point where the projected inertia is singular."""
    mechanism.robot.check_inertia("forward dynamics")
    scale = mechanism.scale
    a, lam = solve_kkt(
        symmetric(M),
        resisting,
        scale[:, None] * mechanism.J,
        scale * mechanism.gamma,
        np.zeros(len(resisting)),
    )
    return _report(mechanism, a, scale * lam)


def _report(mechanism: Mechanism, a: Vector, lam: Vector) -> ForwardResult:
    indeterminate = mechanism.null_space.rank < len(lam)
    gap = mechanism.J.dot(a)
    gap += mechanism.gamma
    gap *= mechanism.scale
    a.setflags(write=False)
    lam.setflags(write=False)
    status = DynamicsStatus.INDETERMINATE if indeterminate else DynamicsStatus.OK
    return ForwardResult(a, lam, indeterminate, blas.dnrm2(gap) if len(gap) else 0.0, status)


def _refuse(mechanism: Mechanism) -> ForwardResult:
    """Answer numbers that are not finite with a standstill and say so."""
    return ForwardResult(
        np.zeros(mechanism.robot.nv),
        np.zeros(mechanism.constraints.size),
        False,
        np.inf,
        DynamicsStatus.INVALID_INPUT,
    )
