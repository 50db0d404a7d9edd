# SPDX-License-Identifier: Apache-2.0
"""Derivatives of joint torques on contacts by configuration, velocity and acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.model.state import State
from humanoid_dynamics.resolution.inverse import InverseDynamics
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector


@dataclass(frozen=True, eq=False)
class TorqueDerivatives:
    """Derivatives of torques; those by the configuration are along its tangent.

    Attributes:
        tau: (na,) torques.
        by_q: (na, nv) derivatives by the configuration.
        by_v: (na, nv) by the velocity.
        by_a: (na, nv) by the acceleration.
    """

    tau: Vector
    by_q: Matrix
    by_v: Matrix
    by_a: Matrix


def differentiate_inverse_dynamics(
    inverse: InverseDynamics, state: State, a: ArrayLike
) -> TorqueDerivatives:
    """Differentiate tau = S (M a + h - J'f) by Pinocchio's derivatives of the recursive Newton-Euler algorithm.

    Contact forces change so that the rows without motor stay fulfilled, by the least change in N and N·m.  This is exact where these
    rows determine the forces, such as on one sole; on several contacts the internal forces are kept.

    Args:
        inverse: Prepared inverse dynamics, which gives the contact forces.
        state: Configuration and velocity.
        a: (nv,) acceleration.

    Raises:
        ShapeError: If a size is wrong or an entry is not finite.
        UnsupportedRobotError: If the robot has loops or mimic joints.
    """
    problem = inverse.problem
    robot, model, data = problem.robot, problem.robot.model, problem.robot.data()
    end = problem.parts[-1].stop if problem.parts else 0
    if problem.size > end:
        raise UnsupportedRobotError(
            "derivatives", [robot.name], "takes no loop or mimic joint, received"
        )
    state.check(robot)
    a = check_vector("a", a, robot.nv)
    answer = inverse.solve(state.q, state.v, a)
    pushes = pin.StdVec_Force()
    pushes.extend([pin.Force.Zero() for _ in range(model.njoints)])
    for contact in problem.contacts:
        frame = model.frames[contact.surface.frame]
        wrench = pin.Force(contact.held @ answer.certificate.f[contact.part])
        pushes[frame.parentJoint] += frame.placement.act(wrench)
    by_q, by_v, M = pin.computeRNEADerivatives(model, data, state.q, state.v, a, pushes)
    M = np.triu(M) + np.triu(M, 1).T
    J, u, d = problem.J, problem.undriven_v, problem.driven_v
    answered = [
        D[d] - J[:, d].T @ np.linalg.lstsq(J[:, u].T, D[u], rcond=None)[0] for D in (by_q, by_v, M)
    ]
    return TorqueDerivatives(answer.tau, *answered)
