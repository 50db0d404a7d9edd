# SPDX-License-Identifier: Apache-2.0
"""What nature keeps: energy and momentum of the whole mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.dynamics.kkt import symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.spatial.wrench import cross


@dataclass(frozen=True, eq=False)
class Audit:
    """The books at one instant.

    Attributes:
        kinetic: Kinetic energy [J].
        potential: Potential energy of gravity, zero at the world origin [J].
        linear: (3,) linear momentum in the world [kg·m/s].
        angular: (3,) angular momentum about the world origin [kg·m²/s].
        closure: Largest scaled position error of the constraints [m].
        slip: Largest scaled entry of J v [m/s].
    """

    kinetic: float
    potential: float
    linear: Vector
    angular: Vector
    closure: float
    slip: float

    @property
    def energy(self) -> float:
        """Kinetic and potential energy together [J]."""
        return self.kinetic + self.potential


def take_audit(mechanism: Mechanism, q: Vector, v: Vector) -> Audit:
    """Return energy, momentum and the state of the constraints; a chain on a free joint keeps both momenta [SV, sec. 5.2].

    Args:
        mechanism: The mechanism.
        q: (nq,) configuration.
        v: (nv,) velocity.

    Returns:
        The books.
    """
    kinematics, constraints = mechanism.kinematics, mechanism.constraints
    model, data = kinematics.model, kinematics.data
    kinematics.move(q, v)
    closure = np.abs(constraints.scale * constraints.error(kinematics)).max(initial=0.0)
    slip = np.abs(constraints.scale * (constraints.jacobian(kinematics) @ v)).max(initial=0.0)
    M = symmetric(pin.crba(model, data, q))
    potential = float(pin.computePotentialEnergy(model, data, q))
    momentum = pin.computeCentroidalMomentum(model, data, q, v)
    linear = np.array(momentum.linear)
    angular = momentum.angular + cross(data.com[0], linear)
    return Audit(0.5 * float(v @ M @ v), potential, linear, angular, float(closure), float(slip))


def measure_power(
    mechanism: Mechanism, v: Vector, tau: Vector, force: Vector | None = None
) -> float:
    """Return the power motors and applied forces put in, tau^T S v + f^T v [W].

    Args:
        mechanism: The mechanism.
        v: (nv,) velocity.
        tau: (na,) motor torques.
        force: (nv,) further generalized force.

    Returns:
        The power.
    """
    return float(mechanism.spread(tau, force) @ v)
