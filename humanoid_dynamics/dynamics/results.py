# SPDX-License-Identifier: Apache-2.0
"""Answers, each with the numbers that say how right it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True, eq=False)
class ForwardResult:
    """How the mechanism accelerates.

    Attributes:
        a: (nv,) generalized acceleration v' [m/s², rad/s²].
        lam: (k,) constraint forces on the robot [N, N·m]; the smallest that fit where they are not unique.
        indeterminate: Whether the constraint forces are not unique.
        residual: Norm of scaled J v' + gamma [m/s²]: zero unless rows contradict each other.
        status: What became of the question.
    """

    a: Vector
    lam: Vector
    indeterminate: bool
    residual: float
    status: DynamicsStatus


@dataclass(frozen=True, eq=False)
class InverseResult:
    """Which motor torques give the motion.

    Attributes:
        tau: (na,) motor torques [N, N·m], in the order of the actuated coordinates.
        lam: (k,) constraint forces on the robot that go with them [N, N·m].
        tau_G: (nu,) generalized force of the closed chain, W^T tau_O.
        unsupported: (nu,) part of it that no motor torque produces, tau_G - S^T tau.
        motion_residual: Norm of scaled J v and J v' + gamma together: how badly the motion breaks the constraints [m/s, m/s²]; infinite
            where it was not looked at.
        rank_S: Number of generalized forces the motors can produce.
        status: What became of the question.
    """

    tau: Vector
    lam: Vector
    tau_G: Vector
    unsupported: Vector
    motion_residual: float
    rank_S: int
    status: DynamicsStatus

    @property
    def residual(self) -> float:
        """Largest generalized force that no motor torque produces [N, N·m]."""
        return float(np.abs(self.unsupported).max(initial=0.0))

    @property
    def redundancy(self) -> int:
        """Number of independent motor torque patterns that produce no generalized force (internal forces)."""
        return len(self.tau) - self.rank_S

    @property
    def feasible(self) -> bool:
        """Whether the motors produce all of tau_G, to a relative 1e-8."""
        return self.status is not DynamicsStatus.INVALID_INPUT and self.residual <= 1e-8 * (
            1.0 + float(np.abs(self.tau_G).max(initial=0.0))
        )


@dataclass(frozen=True, eq=False)
class ImpactResult:
    """How velocities jump.

    Attributes:
        v_plus: (nv,) velocity after the impact.
        impulse: (k,) impulses on the robot [N·s, N·m·s].
        energy_change: Kinetic energy after minus before [J].
        status: What became of the question.
    """

    v_plus: Vector
    impulse: Vector
    energy_change: float
    status: DynamicsStatus
