# SPDX-License-Identifier: Apache-2.0
"""Dynamics as a matrix times unknown masses: one link, one joint, or the whole robot [BP, eq. 4, property 3]."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.papers.vdc.decomposition import Decomposition
from humanoid_dynamics.papers.vdc.joint import (
    JOINT_PARAMETERS,
    JointParameters,
    build_joint_regressor,
)
from humanoid_dynamics.papers.vdc.link import build_link_regressor
from humanoid_dynamics.papers.vdc.motion import Frames, LinkMotion
from humanoid_dynamics.papers.vdc.wrench import compute_cut_wrenches, compute_up
from humanoid_dynamics.spatial.arrays import Matrix, Vector


def build_local_regressors(
    decomposition: Decomposition,
    frames: Frames,
    motion: LinkMotion,
    required: LinkMotion | None = None,
) -> Matrix:
    """Build the matrix of every link with f* = Y p.

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        motion: How they move.
        required: How they are required to move; as they do where None.

    Returns:
        (n, 6, 10) matrices, columns in the order of ``LINK_PARAMETERS``.
    """
    wanted = motion if required is None else required
    return build_link_regressor(
        wanted.A, wanted.V, motion.V[:, 3:], compute_up(decomposition, frames)
    )


def collect_regressor(decomposition: Decomposition, frames: Frames, local: Matrix) -> Matrix:
    """Carry the local regressors inward to the joints: the regressor of the whole robot, from its subsystems.

    Args:
        decomposition: The robot, cut.
        frames: Where its links are.
        local: (n, 6, 10) local regressors.

    Returns:
        (nv, 10 n) matrix; times the parameters of all links it gives M a + h without gear inertia.
    """
    count = len(decomposition.links)
    Y = np.zeros((decomposition.robot.nv, 10 * count))
    for i in range(count):
        for k in range(10):
            net = np.zeros((count, 6))
            net[i] = local[i, :, k]
            f = compute_cut_wrenches(decomposition, frames, net)
            for j, cut in enumerate(decomposition.cuts):
                Y[cut.coordinates, 10 * i + k] += frames.S[j].T @ f[j]
    return Y


def build_global_regressor(
    robot: RobotModel,
    q: Vector,
    v: Vector,
    a: Vector,
    joint_parameters: JointParameters | None = None,
) -> Matrix:
    """Build Y with M a + h + tau_f = Y alpha, the Lagrangian form, rows of a free base included [BP, eq. 4].

    Args:
        robot: The robot.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        joint_parameters: Speeds over which Stribeck friction fades; the usual ones where None.

    Returns:
        (nv, 10 n + 5 nv) matrix: ten columns for each link, then five for each coordinate.
    """
    parameters = JointParameters.of(robot) if joint_parameters is None else joint_parameters
    rows = build_joint_regressor(parameters, v, v, a)
    width = len(JOINT_PARAMETERS)
    joints = np.zeros((robot.nv, width * robot.nv))
    for i in range(robot.nv):
        joints[i, width * i : width * (i + 1)] = rows[i]
    return np.hstack(
        (np.asarray(pin.computeJointTorqueRegressor(robot.model, robot.data(), q, v, a)), joints)
    )


def stack_parameters(decomposition: Decomposition) -> Vector:
    """Return the parameters that belong to the columns of ``build_global_regressor``, (10 n + 5 nv,).

    Args:
        decomposition: The robot, cut.
    """
    return np.concatenate(
        (
            decomposition.link_parameters().ravel(),
            decomposition.joint_parameters.as_matrix().ravel(),
        )
    )
