"""Forward dynamics: from torques to accelerations and constraint forces [CK, eq. 23-24], by Gamma^T M Gamma."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from humanoid_dynamics.constraints.status import Status
from humanoid_dynamics.dynamics.kkt import solve_kkt, symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.project import Projection, project
from humanoid_dynamics.dynamics.results import ForwardResult
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.cholesky import factor_positive, pivot_ratio, solve_factored

ILL_CONDITIONED = 1e12


def solve_forward(mechanism: Mechanism, q: Vector, v: Vector, tau: Vector, force: Vector | None = None) -> ForwardResult:
    """Return how the mechanism accelerates.

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
    robot = mechanism.robot
    finite = mechanism.check("q", q, robot.nq) and mechanism.check("v", v, robot.nv)
    finite &= mechanism.check("tau", tau, len(mechanism.actuated)) and (force is None or mechanism.check("force", force, robot.nv))
    if not finite:
        return _refuse(mechanism)
    mechanism.update(q, v)
    M, h = mechanism.inertia(), mechanism.bias()
    applied = mechanism.spread(tau, force)
    space = mechanism.null_space
    projected = project(M, h, space.Gamma, space.beta)
    u_dot, ok = _accelerate(projected, space.Gamma, applied)
    if not ok:
        return _solve_densely(mechanism, M, h, applied)
    a, supplied = space.beta, projected.bias - applied
    if len(u_dot):
        a = a + space.Gamma @ u_dot
        supplied += projected.M_Gamma @ u_dot
    return _report(mechanism, np.array(a), space.multipliers(supplied))


def _accelerate(projected: Projection, Gamma: Matrix, applied: Vector) -> tuple[Vector, bool]:
    """Solve the projected equation; tell whether its inertia could be trusted."""
    if Gamma.shape[1] == 0:
        return np.zeros(0), True
    U, positive = factor_positive(projected.M_u)
    if not positive or pivot_ratio(U) > ILL_CONDITIONED:
        return np.zeros(0), False
    return solve_factored(U, blas.dgemv(1.0, Gamma, applied, trans=1) - projected.h_u), True


def _solve_densely(mechanism: Mechanism, M: Matrix, h: Vector, applied: Vector) -> ForwardResult:
    """Take the saddle point where the projected inertia is singular."""
    mechanism.robot.check_inertia("forward dynamics")
    scale = mechanism.scale
    a, lam = solve_kkt(symmetric(M), h, scale[:, None] * mechanism.J, scale * mechanism.gamma, applied)
    return _report(mechanism, a, scale * lam)


def _report(mechanism: Mechanism, a: Vector, lam: Vector) -> ForwardResult:
    count = mechanism.J.shape[0]
    indeterminate = mechanism.null_space.rank < count
    residual = np.abs(mechanism.scale * (mechanism.J @ a + mechanism.gamma)).max() if count else 0.0
    a.flags.writeable = False
    lam.flags.writeable = False
    return ForwardResult(a, lam, indeterminate, float(residual), Status.INDETERMINATE if indeterminate else Status.OK)


def _refuse(mechanism: Mechanism) -> ForwardResult:
    """Answer numbers that are not finite with a standstill and say so."""
    return ForwardResult(np.zeros(mechanism.robot.nv), np.zeros(mechanism.constraints.size), False, np.inf, Status.INVALID_INPUT)
