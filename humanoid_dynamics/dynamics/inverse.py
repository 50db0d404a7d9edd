"""Inverse dynamics of closed chains in the four steps of the paper [CK, sec. 2.1, 3.1]."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from scipy.linalg import blas

from humanoid_dynamics.constraints.null_space import NullSpace
from humanoid_dynamics.constraints.partition import CoordinatePartition
from humanoid_dynamics.constraints.status import Status
from humanoid_dynamics.dynamics.actuation import MotorPattern, share_by_cost, share_on_coordinates
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

    (1) W and S; (2) tau_O by recursive Newton-Euler on the cut tree; (3) tau_G = W^T tau_O; (4) S^T tau_A = tau_G.

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
    tau_O = pin.rnea(mechanism.kinematics.model, mechanism.kinematics.data, q, v, a)  # (2), first because it shows bad numbers
    if force is not None:
        tau_O = tau_O - force
    if not all_finite(tau_O):
        return _refuse(mechanism)
    motion_residual = _build(mechanism, q, v, a, verify)  # (1)
    tau_G = _gather(mechanism.null_space, tau_O)  # (3)
    tau, unsupported, rank, lam = _solve(mechanism, tau_O, tau_G, weight)  # (4)
    status = _status(rank, len(tau_G), motion_residual)
    for part in (tau, lam, tau_G, unsupported):
        part.flags.writeable = False
    return InverseResult(tau, lam, tau_G, unsupported, motion_residual, rank, status)


def measure_motion(mechanism: Mechanism, v: Vector, a: Vector) -> float:
    """Return how badly a motion breaks the constraints: the norm of scaled J v or J a + gamma at the last update.

    Args:
        mechanism: The mechanism after ``update``.
        v: (nv,) velocity.
        a: (nv,) acceleration.

    Returns:
        The larger of both [m/s, m/s²].
    """
    if not len(mechanism.gamma):
        return 0.0
    slip = mechanism.J.dot(v)
    gap = mechanism.J.dot(a)
    gap += mechanism.gamma
    slip *= mechanism.scale
    gap *= mechanism.scale
    return float(max(blas.dnrm2(slip), blas.dnrm2(gap)))


def _build(mechanism: Mechanism, q: Vector, v: Vector, a: Vector, verify: bool) -> float:
    """Evaluate the constraints; W and S are then held by the null space."""
    if not verify:
        mechanism.place(q)
        return math.inf
    mechanism.update(q, v)
    return measure_motion(mechanism, v, a)


def _gather(space: NullSpace, tau_O: Vector) -> Vector:
    """Return W^T tau_O [CK, eq. 7]; on a partition that is the generalized part and H^T of the dependent part."""
    if isinstance(space, CoordinatePartition) and space.rank:
        tau_G: Vector = tau_O.take(space.dep).dot(space.H)
        tau_G += tau_O.take(space.indep)
    else:
        tau_G = tau_O.dot(space.Gamma)
    return tau_G


def _solve(mechanism: Mechanism, tau_O: Vector, tau_G: Vector, weight: Vector | None) -> tuple[Vector, Vector, int, Vector]:
    """Solve S^T tau = tau_G [CK, eq. 8]; return torques, what they leave undone, rank of S, constraint forces."""
    space, pattern = mechanism.null_space, mechanism.pattern
    if pattern is not None and pattern.complete and isinstance(space, CoordinatePartition):
        return _solve_on_coordinates(mechanism, space, pattern, tau_O, tau_G, weight)
    share = share_torque(build_maps(mechanism)[1], tau_G, weight)
    supplied = np.array(tau_O)
    supplied[mechanism.actuated] -= share.tau
    return share.tau, share.unsupported, share.rank, space.multipliers(supplied)


def _solve_on_coordinates(  # noqa: PLR0917
    mechanism: Mechanism, space: CoordinatePartition, pattern: MotorPattern, tau_O: Vector, tau_G: Vector, weight: Vector | None
) -> tuple[Vector, Vector, int, Vector]:
    """The same where every generalized coordinate has a motor: S = [H_A; E] leaves a small system and nothing undone."""
    H_A = space.H.T.take(pattern.rows, 1).T
    if weight is None:
        tau_dep = share_on_coordinates(H_A, tau_G, pattern.unit)
    else:
        cost = np.zeros(len(mechanism.robot.coordinates))
        cost[mechanism.actuated] = weight
        tau_dep = share_by_cost(H_A, tau_G, cost[space.dep[pattern.rows]], cost[space.indep])
    tau = np.concatenate((tau_dep, tau_G - tau_dep.dot(H_A))).take(pattern.order)
    supplied = tau_O.take(space.dep)
    supplied[pattern.rows] -= tau_dep
    return tau, np.zeros(len(tau_G)), len(tau_G), space.multipliers_of(supplied)


def _status(rank: int, count: int, motion_residual: float) -> Status:
    if MOTION_TOLERANCE < motion_residual < math.inf:
        return Status.INCONSISTENT_INPUT
    return Status.ACTUATION_SINGULAR if rank < count else Status.OK


def _refuse(mechanism: Mechanism) -> InverseResult:
    """Answer numbers that are not finite with no torque and say so."""
    zero = np.zeros(mechanism.nu)
    return InverseResult(
        np.zeros(len(mechanism.actuated)), np.zeros(mechanism.constraints.size), zero, zero, math.inf, 0, Status.INVALID_INPUT
    )
