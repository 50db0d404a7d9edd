"""Answers, each with the numbers that say how right it is."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_dynamics.constraints.status import Status
from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True, eq=False)
class ForwardResult:
    """How the mechanism accelerates.

    Attributes:
        a: (nv,) generalized acceleration v' [m/s², rad/s²].
        lam: (k,) constraint forces on the robot [N, N·m]; the smallest that fit where they are not unique.
        indeterminate: Whether the constraint forces are not unique.
        residual: Largest entry of scaled J v' + gamma [m/s²]: zero unless rows contradict each other.
        status: What became of the question.
    """

    a: Vector
    lam: Vector
    indeterminate: bool
    residual: float
    status: Status


@dataclass(frozen=True, eq=False)
class InverseResult:
    """Which motor torques give the motion.

    Attributes:
        tau: (na,) motor torques [N, N·m], in the order of the actuated coordinates.
        lam: (k,) constraint forces on the robot that go with them [N, N·m].
        tau_G: (nu,) generalized force of the closed chain, W^T tau_O.
        unsupported: (nu,) part of it that no motor torque produces, tau_G - S^T tau.
        residual: Largest entry of ``unsupported``.
        motion_residual: Largest entry of scaled J v and J v' + gamma: how badly the motion breaks the constraints.
        rank_S: Number of generalized forces the motors can produce.
        redundancy: Number of motor torque patterns that produce none (internal forces).
        feasible: Whether the motors produce all of tau_G.
        status: What became of the question.
    """

    tau: Vector
    lam: Vector
    tau_G: Vector
    unsupported: Vector
    residual: float
    motion_residual: float
    rank_S: int
    redundancy: int
    feasible: bool
    status: Status


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
    status: Status
