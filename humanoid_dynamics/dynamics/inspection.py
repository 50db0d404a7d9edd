# SPDX-License-Identifier: Apache-2.0
"""Is a motion physically possible: the question a keyframe is asked [CK, sec. 3.2, 5]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.inverse import solve_inverse
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a sample of a motion would need to be true.

    Attributes:
        closure: Largest scaled position error of the constraints [m].
        motion: Largest scaled entry of J v and J a + gamma [m/s, m/s²].
        base_wrench: (6,) force and moment nobody supplies, at the floating base in world axes [N, N·m]; empty for a fixed base.
        unsupported: (nv,) generalized force that neither motors nor constraints supply.
        tau: (na,) motor torques.
        status: What became of the question.
    """

    closure: float
    motion: float
    base_wrench: Vector
    unsupported: Vector
    tau: Vector
    status: DynamicsStatus


def inspect_motion(mechanism: Mechanism, q: Vector, v: Vector, a: Vector) -> Inspection:
    """Return how far a sample (q, v, a) is from a motion the mechanism can make [CK, sec. 5].

    Args:
        mechanism: The mechanism.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.

    Returns:
        Residuals of closure, motion and balance, and the torques.
    """
    answer = solve_inverse(mechanism, q, v, a)
    if answer.status is DynamicsStatus.INVALID_INPUT:
        nothing = np.zeros(mechanism.robot.nv)
        return Inspection(np.inf, np.inf, nothing[:0], nothing, answer.tau, answer.status)
    kinematics, constraints = mechanism.kinematics, mechanism.constraints
    closure = float(np.abs(constraints.scale * constraints.error(kinematics)).max(initial=0.0))
    unsupported = (
        mechanism.tree_torque(a) - mechanism.spread(answer.tau) - mechanism.J.T @ answer.lam
    )
    return Inspection(
        closure,
        answer.motion_residual,
        _base_wrench(mechanism, unsupported),
        unsupported,
        answer.tau,
        answer.status,
    )


def _base_wrench(mechanism: Mechanism, unsupported: Vector) -> Vector:
    root = mechanism.robot.joints[0] if mechanism.robot.joints else None
    if root is None or root.kind != "free_flyer":
        return np.zeros(0)
    R_WB = mechanism.kinematics.data.oMi[root.index].rotation
    return np.concatenate((R_WB @ unsupported[:3], R_WB @ unsupported[3:6]))
