# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics of closed chains in the four steps of the paper [CK, sec. 2.1, 3.1]."""

from __future__ import annotations

import math

import numpy as np

from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.constraints.partition import CoordinatePartition
from humanoid_dynamics.dynamics.actuation import MotorPattern, balance_internally
from humanoid_dynamics.dynamics.mechanism import Mechanism, all_finite
from humanoid_dynamics.dynamics.results import InverseResult
from humanoid_dynamics.dynamics.torque import share_torque
from humanoid_dynamics.spatial.arrays import Matrix, Vector

MOTION_TOLERANCE = 1e-6


def build_maps(mechanism: Mechanism) -> tuple[Matrix, Matrix]:
    """Return W = d theta_O / d theta_G and S = d theta_A / d theta_G [CK, eq. 4, 6] at the last update.

    Row i of W is row j of H where coordinate i is the j-th dependent one, and a unit row where it is a generalized coordinate
    [CK, fig. 5]; S collects the rows of the motors [CK, fig. 6].  That is Gamma itself and its actuated rows.

    Args:
        mechanism: The mechanism after ``place`` or ``update``.

    Returns:
        (nv, nu) W and (na, nu) S.
    """
    W = mechanism.null_space.Gamma
    return W, W[mechanism.actuated]


def dependency(mechanism: Mechanism) -> Matrix:
    """Return H = -J_S^-1 J_G [CK, eq. 18] at the last update.

    Args:
        mechanism: The mechanism, with a coordinate partition as its null space.

    Returns:
        (m, nu) rates of the dependent coordinates per rate of the generalized ones.
    """
    H: Matrix = mechanism.null_space.Gamma[mechanism.null_space.dep]
    return H


def solve_inverse(
    mechanism: Mechanism,
    q: Vector,
    v: Vector,
    a: Vector,
    *,
    force: Vector | None = None,
    weight: Vector | None = None,
    verify: bool = True,
) -> InverseResult:
    """Return the motor torques of a motion of the closed chain.

    (1) W and S [CK, eq. 4, 6]; (2) tau_O by recursive Newton-Euler on the cut tree; (3) tau_G = W^T tau_O [CK, eq. 3, 7]; (4)
    S^T tau_A = tau_G [CK, eq. 5, 8-9].

    Args:
        mechanism: The mechanism.
        q: (nq,) configuration, closed.
        v: (nv,) velocity with J v = 0.
        a: (nv,) acceleration with J a = -gamma.
        force: (nv,) known generalized force of passive joints, springs, friction, pushes.
        weight: (na,) cost of each motor's squared torque, where there are more motors than freedoms.
        verify: Whether to look if the motion fits the constraints; leave out only where whoever made it vouches for it.

    Returns:
        Torques, constraint forces and their standing; a motion that breaks the constraints is flagged and still answered.

    Raises:
        ShapeError: If an array has the wrong size.
    """
    mechanism.check_sizes(q=q, v=v, a=a, force=force)
    tau_O = mechanism.kinematics.balance(q, v, a)  # (2), first because it shows bad numbers
    if force is not None:
        tau_O = tau_O - force
    if not all_finite(tau_O):
        return _refuse(mechanism)
    mechanism.build_map(drift=False)  # (1); W and S are then held by the null space
    motion_residual = mechanism.constraints.breach(mechanism.kinematics) if verify else math.inf
    tau_G, tau, unsupported, rank, lam = _solve(mechanism, tau_O, weight)  # (3), (4)
    status = _status(rank, len(tau_G), motion_residual)
    for part in (tau, lam, tau_G):
        part.setflags(write=False)
    return InverseResult(tau, lam, tau_G, unsupported, motion_residual, rank, status)


def _solve(
    mechanism: Mechanism, tau_O: Vector, weight: Vector | None
) -> tuple[Vector, Vector, Vector, int, Vector]:
    """Return W^T tau_O [CK, eq. 7], torques with S^T tau = tau_G [CK, eq. 8], what they leave undone, rank of S, constraint forces."""
    space, pattern = mechanism.null_space, mechanism.pattern
    if pattern is not None and pattern.complete and isinstance(space, CoordinatePartition):
        return _solve_on_coordinates(mechanism, space, pattern, tau_O, weight)
    tau_G = tau_O.dot(space.Gamma)
    share = share_torque(build_maps(mechanism)[1], tau_G, weight)
    share.unsupported.setflags(write=False)
    supplied = np.array(tau_O)
    supplied[mechanism.actuated] -= share.tau
    return tau_G, share.tau, share.unsupported, share.rank, space.multipliers(supplied)


def _solve_on_coordinates(
    mechanism: Mechanism,
    space: CoordinatePartition,
    pattern: MotorPattern,
    tau_O: Vector,
    weight: Vector | None,
) -> tuple[Vector, Vector, Vector, int, Vector]:
    """The same where every generalized coordinate has a motor; one solution with J_S^T gives all there is.

    Let the constraints carry all that tau_O asks of dependent coordinates, J_S^T lam = tau_S: what is left, tau_O - J^T lam, is zero
    there and tau_G on the generalized coordinates.  Constraint forces that ask a unit torque of a motor on a dependent coordinate are
    the internal forces of the mechanism: added in any amount they move nothing.
    """
    tau_O.take(space.dep, out=pattern.wanted[:, 0], mode="clip")
    forces = space.multipliers_of(pattern.wanted)
    torques = forces.T.dot(mechanism.J)
    lam, left = forces[:, 0], tau_O - torques[0]
    tau_G = left.take(space.indep)
    if len(torques) > 1:
        cost = None if weight is None else mechanism.spread(weight)
        shares = balance_internally(left, torques[1:], cost)
        lam = lam - forces[:, 1:].dot(shares)
        left += shares.dot(torques[1:])
    return tau_G, left.take(mechanism.actuated), pattern.nothing, len(tau_G), lam


def _status(rank: int, count: int, motion_residual: float) -> DynamicsStatus:
    if MOTION_TOLERANCE < motion_residual < math.inf:
        return DynamicsStatus.INCONSISTENT_INPUT
    return DynamicsStatus.ACTUATION_SINGULAR if rank < count else DynamicsStatus.OK


def _refuse(mechanism: Mechanism) -> InverseResult:
    """Answer numbers that are not finite with no torque and say so."""
    zero = np.zeros(mechanism.nu)
    return InverseResult(
        np.zeros(len(mechanism.actuated)),
        np.zeros(mechanism.constraints.size),
        zero,
        zero,
        math.inf,
        0,
        DynamicsStatus.INVALID_INPUT,
    )
