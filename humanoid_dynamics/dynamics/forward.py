"""Forward dynamics: from torques to accelerations and constraint forces [CK, eq. 23-24], by Gamma^T M Gamma."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from humanoid_dynamics.constraints.status import Status
from humanoid_dynamics.dynamics.kkt import solve_kkt, symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism, all_finite
from humanoid_dynamics.dynamics.project import Projection, project
from humanoid_dynamics.dynamics.results import ForwardResult
from humanoid_dynamics.spatial.arrays import Matrix, Vector

ILL_CONDITIONED = 1e12


def solve_forward(mechanism: Mechanism, q: Vector, v: Vector, tau: Vector, force: Vector | None = None) -> ForwardResult:
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
    applied = mechanism.spread(tau, force)
    if not all_finite(h, applied):
        return _refuse(mechanism)
    mechanism.build_map()
    space = mechanism.null_space
    projected = project(M, h, space.Gamma, space.beta)
    u_dot, ok = _accelerate(projected, space.Gamma, applied)
    if not ok:
        return _solve_densely(mechanism, M, h, applied)
    a, supplied = np.array(space.beta), projected.bias - applied
    if len(u_dot):
        a += space.Gamma.dot(u_dot)
        supplied += projected.M_Gamma.dot(u_dot)
    return _report(mechanism, a, space.multipliers(supplied))


def _accelerate(projected: Projection, Gamma: Matrix, applied: Vector) -> tuple[Vector, bool]:
    """Solve the projected equation; tell whether its inertia could be trusted."""
    if Gamma.shape[1] == 0:
        return np.zeros(0), True
    U, u_dot, info = lapack.dposv(projected.M_u, applied.dot(Gamma) - projected.h_u, overwrite_a=1)
    if info != 0:
        return u_dot, False
    pivots = U.diagonal().tolist()
    return u_dot, max(pivots) ** 2 < ILL_CONDITIONED * min(pivots) ** 2


def _solve_densely(mechanism: Mechanism, M: Matrix, h: Vector, applied: Vector) -> ForwardResult:
    """Take the saddle point where the projected inertia is singular."""
    mechanism.robot.check_inertia("forward dynamics")
    scale = mechanism.scale
    a, lam = solve_kkt(symmetric(M), h, scale[:, None] * mechanism.J, scale * mechanism.gamma, applied)
    return _report(mechanism, a, scale * lam)


def _report(mechanism: Mechanism, a: Vector, lam: Vector) -> ForwardResult:
    indeterminate = mechanism.null_space.rank < len(lam)
    gap = mechanism.J.dot(a)
    gap += mechanism.gamma
    gap *= mechanism.scale
    a.setflags(write=False)
    lam.setflags(write=False)
    return ForwardResult(a, lam, indeterminate, blas.dnrm2(gap) if len(gap) else 0.0, Status.INDETERMINATE if indeterminate else Status.OK)


def _refuse(mechanism: Mechanism) -> ForwardResult:
    """Answer numbers that are not finite with a standstill and say so."""
    return ForwardResult(np.zeros(mechanism.robot.nv), np.zeros(mechanism.constraints.size), False, np.inf, Status.INVALID_INPUT)
