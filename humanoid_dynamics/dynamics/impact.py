# SPDX-License-Identifier: Apache-2.0
"""Velocity jumps when constraints begin to hold: one solution for all of them at once [SV, sec. 4.3].

v+ is the velocity nearest to v, measured by kinetic energy, that meets every row.  It is found in the null space of the rows, so that
redundant rows and links without inertia do no harm; v+ = v - M^-1 K^T (K M^-1 K^T)^+ (1 + e) K v is the same [SV, eq. 15-16, 20].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.kkt import symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism, all_finite
from humanoid_dynamics.dynamics.projection import project
from humanoid_dynamics.dynamics.results import ImpactResult
from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.cholesky import factor_positive, solve_factored
from humanoid_dynamics.spatial.orthogonal import decompose


def solve_impact(
    mechanism: Mechanism, q: Vector, v: Vector, restitution: Mapping[str, float] | None = None
) -> ImpactResult:
    """Return how velocities jump so that all rows of the mechanism hold, old and new in one batch [SV, sec. 4.3].

    Args:
        mechanism: The mechanism, new constraints already added.
        q: (nq,) configuration.
        v: (nv,) velocity before.
        restitution: Block name -> coefficient e of its unilateral rows, K v+ = -e K v; zero for all others.

    Returns:
        Velocity after, impulses, change of kinetic energy.

    Raises:
        UnknownNameError: If restitution names a block that is not there.
        HumanoidDynamicsError: If a coefficient lies outside [0, 1] or belongs to a block that cannot bounce.
    """
    robot = mechanism.robot
    mechanism.check_sizes(q=q, v=v)
    if not all_finite(q, v):
        return ImpactResult(
            np.zeros(robot.nv),
            np.zeros(mechanism.constraints.size),
            0.0,
            DynamicsStatus.INVALID_INPUT,
        )
    mechanism.place(q)
    rebound = _restitution_of_rows(mechanism, restitution or {}) * (mechanism.J @ v)
    space = mechanism.null_space
    space.update(mechanism.kinematics, mechanism.J, rebound, mechanism.scale)  # J beta = -e J v
    M = symmetric(mechanism.inertia())
    projected = project(M, np.zeros(robot.nv), space.Gamma, space.beta)
    U, positive = factor_positive(projected.M_u)
    momentum = M @ v
    u = _solve(U, positive, projected.M_u, space.Gamma.T @ momentum - projected.h_u)
    v_plus = space.Gamma @ u + space.beta
    impulse = space.multipliers(M @ v_plus - momentum)
    change = 0.5 * float((v_plus - v) @ (M @ v_plus + momentum))
    return ImpactResult(
        v_plus,
        impulse,
        change,
        DynamicsStatus.OK if space.rank == len(impulse) else DynamicsStatus.INDETERMINATE,
    )


def project_velocity(mechanism: Mechanism, q: Vector, v: Vector) -> Vector:
    """Return the velocity nearest to v in the sense of kinetic energy that meets all rows.

    Args:
        mechanism: The mechanism.
        q: (nq,) configuration.
        v: (nv,) velocity.

    Returns:
        (nv,) Gamma (Gamma^T M Gamma)^-1 Gamma^T M v.
    """
    return solve_impact(mechanism, q, v).v_plus


def _solve(U: Matrix, positive: bool, M_u: Matrix, rhs: Vector) -> Vector:
    """Solve the projected momentum balance; the smallest u where some motion carries no inertia."""
    if positive:
        return solve_factored(U, rhs)
    return decompose(M_u, 1e-12).solve(rhs)


def _restitution_of_rows(mechanism: Mechanism, restitution: Mapping[str, float]) -> Vector:
    rows = np.zeros(mechanism.constraints.size)
    blocks = {block.name: block for block in mechanism.constraints}
    for name, e in restitution.items():
        if name not in blocks:
            raise UnknownNameError("constraint", name, blocks)
        if not 0.0 <= e <= 1.0:
            raise HumanoidDynamicsError(
                f"restitution of {name!r}: received {e}, expected a number between 0 and 1"
            )
        if not any(blocks[name].unilateral):
            raise HumanoidDynamicsError(
                f"restitution of {name!r}: all its rows are bilateral, so restitution does not apply"
            )
        rows[mechanism.constraints.rows_of(name)] = e * np.array(blocks[name].unilateral)
    return rows
