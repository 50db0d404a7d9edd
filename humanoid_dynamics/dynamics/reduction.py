# SPDX-License-Identifier: Apache-2.0
"""The balance of forces of a robot with closed loops, its loops eliminated: what rules that choose contact forces work on.

On the tree, tau_O = S_O^T tau + J_c^T w + J_L^T lam, with motors, contact forces and forces in the loops.  Motions that keep the loops
closed are v = W u; along them loop forces do no work, so that W^T tau_O = S^T tau + (J_c W)^T w holds without lam [CK, eq. 3-8].
"""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.dynamics.inverse import build_maps
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class ReducedBalance:
    """act_map^T tau + contact_map^T w = tau_G, one equation for each freedom the loops leave.

    Attributes:
        tau_G: (nu,) generalized force of the motion.
        act_map: (na, nu) velocity of every motor per generalized velocity; the S of [CK, eq. 6].
        contact_map: (r, nu) velocity of every contact row per generalized velocity.
        tau_O: (nv,) joint forces of the cut tree for the same motion.
        motion_residual: How badly the motion breaks the loops [m/s, m/s²].
    """

    tau_G: Vector
    act_map: Matrix
    contact_map: Matrix
    tau_O: Vector
    motion_residual: float


def reduce_balance(
    mechanism: Mechanism, q: Vector, v: Vector, a: Vector, J_contact: Matrix
) -> ReducedBalance:
    """Return the balance of forces of a motion in the freedoms the loops leave.

    Args:
        mechanism: The mechanism whose constraints are the loops and gears of the robot, not its contacts.
        q: (nq,) configuration, closed.
        v: (nv,) velocity that keeps the loops closed.
        a: (nv,) acceleration that keeps the loops closed.
        J_contact: (r, nv) velocities along which contacts push, in coordinates of the tree.

    Returns:
        The balance; without loops it is that of the tree.

    Raises:
        ShapeError: If an array has the wrong size.
    """
    mechanism.check_sizes(q=q, v=v, a=a)
    tau_O = mechanism.kinematics.balance(q, v, a)
    mechanism.build_map(drift=False)
    W, S = build_maps(mechanism)
    return ReducedBalance(
        tau_O @ W, S, J_contact @ W, tau_O, mechanism.constraints.breach(mechanism.kinematics)
    )


def recover_loop_forces(
    mechanism: Mechanism, balance: ReducedBalance, tau: Vector, J_contact: Matrix, w: Vector
) -> Vector:
    """Return the forces in the loops that go with motor torques and contact forces.

    Args:
        mechanism: The mechanism, not asked anything else since ``reduce_balance``.
        balance: What ``reduce_balance`` returned.
        tau: (na,) motor torques.
        J_contact: (r, nv) as given to ``reduce_balance``.
        w: (r,) contact forces.

    Returns:
        (k,) forces of the constraint rows on the robot; the smallest where several fit.
    """
    lam: Vector = mechanism.null_space.multipliers(
        balance.tau_O - mechanism.spread(tau) - J_contact.T @ w
    )
    return lam
