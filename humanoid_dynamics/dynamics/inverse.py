"""Inverse dynamics of closed chains in the four steps of the paper [CK, sec. 2.1, 3.1]."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.constraints.status import Status
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.dynamics.results import InverseResult
from humanoid_dynamics.dynamics.torque import TorqueShare, share_torque
from humanoid_dynamics.spatial.arrays import Matrix, Vector

MOTION_TOLERANCE = 1e-6
TORQUE_TOLERANCE = 1e-8


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
    mechanism: Mechanism, q: Vector, v: Vector, a: Vector, *, force: Vector | None = None, weight: Vector | None = None
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

    Returns:
        Torques, constraint forces and their standing; a motion that breaks the constraints is flagged and still answered.

    Raises:
        ShapeError: If an array has the wrong size.
    """
    robot = mechanism.robot
    finite = mechanism.check("q", q, robot.nq) and mechanism.check("v", v, robot.nv) and mechanism.check("a", a, robot.nv)
    finite &= force is None or mechanism.check("force", force, robot.nv)
    if not finite:
        return _refuse(mechanism)
    mechanism.update(q, v)
    motion_residual = measure_motion(mechanism, v, a)
    W, S = build_maps(mechanism)
    tau_O = mechanism.tree_torque(a)
    if force is not None:
        tau_O = tau_O - force
    tau_G = tau_O @ W
    share = share_torque(S, tau_G, weight)
    supplied = np.array(tau_O)
    supplied[mechanism.actuated] -= share.tau
    return _report(share, tau_G, mechanism.null_space.multipliers(supplied), motion_residual)


def measure_motion(mechanism: Mechanism, v: Vector, a: Vector) -> float:
    """Return how badly a motion breaks the constraints: the largest entry of scaled J v and J a + gamma at the last update.

    Args:
        mechanism: The mechanism after ``update``.
        v: (nv,) velocity.
        a: (nv,) acceleration.

    Returns:
        The larger of both [m/s, m/s²].
    """
    if mechanism.J.shape[0] == 0:
        return 0.0
    scale, J = mechanism.scale, mechanism.J
    return float(max(np.abs(scale * (J @ v)).max(), np.abs(scale * (J @ a + mechanism.gamma)).max()))


def _report(share: TorqueShare, tau_G: Vector, lam: Vector, motion_residual: float) -> InverseResult:
    residual = float(np.abs(share.unsupported).max(initial=0.0))
    feasible = residual <= TORQUE_TOLERANCE * (1.0 + float(np.abs(tau_G).max(initial=0.0)))
    status = Status.OK
    if share.rank < len(tau_G):
        status = Status.ACTUATION_SINGULAR
    if motion_residual > MOTION_TOLERANCE:
        status = Status.INCONSISTENT_INPUT
    for part in (share.tau, lam, tau_G, share.unsupported):
        part.flags.writeable = False
    redundancy = len(share.tau) - share.rank
    return InverseResult(share.tau, lam, tau_G, share.unsupported, residual, motion_residual, share.rank, redundancy, feasible, status)


def _refuse(mechanism: Mechanism) -> InverseResult:
    """Answer numbers that are not finite with no torque and say so."""
    na, k, nu = len(mechanism.actuated), mechanism.constraints.size, mechanism.nu
    zero = np.zeros(nu)
    return InverseResult(np.zeros(na), np.zeros(k), zero, zero, np.inf, np.inf, 0, na, feasible=False, status=Status.INVALID_INPUT)
