# SPDX-License-Identifier: Apache-2.0
"""Closing what has come apart: positions by Gauss-Newton on the closure error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.kkt import symmetric
from humanoid_dynamics.dynamics.mechanism import Mechanism, all_finite
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.orthogonal import decompose

STEP_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class ClosureResult:
    """A configuration that satisfies the constraints, or the nearest that was found.

    Attributes:
        q: (nq,) configuration.
        residual: Largest entry of the scaled position error [m].
        iterations: Steps taken.
        status: ``INCONSISTENT_INPUT`` where the constraints could not be closed.
    """

    q: Vector
    residual: float
    iterations: int
    status: DynamicsStatus


def close_position(
    mechanism: Mechanism,
    q: Vector,
    *,
    held: Iterable[str] = (),
    tolerance: float = 1e-12,
    most: int = 50,
    weighed: bool = False,
) -> ClosureResult:
    """Move a configuration by as little as possible until all position errors vanish.

    Args:
        mechanism: The mechanism.
        q: (nq,) where to start.
        held: Names of coordinates that may not move.
        tolerance: Residual to reach [m].
        most: Largest number of steps.
        weighed: Whether way is measured by inertia, so that what is light moves and what is heavy stays.

    Returns:
        The configuration and how well it closes.

    Raises:
        UnknownNameError: If a held coordinate does not exist.
    """
    free = _free_coordinates(mechanism, held)
    kinematics, constraints = mechanism.kinematics, mechanism.constraints
    mechanism.check_sizes(q=q, v=kinematics.rest)
    if not all_finite(q):
        return ClosureResult(mechanism.robot.posture, np.inf, 0, DynamicsStatus.INVALID_INPUT)
    best, residual, used = q, np.inf, 0
    for used in range(most + 1):
        kinematics.place(q)
        error = constraints.scale * constraints.error(kinematics)
        size = float(np.abs(error).max(initial=0.0))
        if size < residual:
            best, residual = q, size
        if residual <= tolerance or size > 1e3 * (1.0 + residual) or used == most:
            break
        J = (constraints.scale[:, None] * constraints.jacobian(kinematics))[:, free]
        step = np.zeros(mechanism.robot.nv)
        step[free] = (
            -_solve(mechanism, J, error, free)
            if weighed
            else -decompose(J, STEP_TOLERANCE).solve(error)
        )
        q = pin.integrate(mechanism.robot.model, q, _bounded(step))
    status = (
        DynamicsStatus.OK if residual <= max(tolerance, 1e-9) else DynamicsStatus.INCONSISTENT_INPUT
    )
    return ClosureResult(np.array(best), residual, used, status)


def _solve(mechanism: Mechanism, J: Matrix, error: Vector, free: Indices) -> Vector:
    """Return the way of least kinetic energy that makes an error."""
    L = np.linalg.cholesky(symmetric(mechanism.inertia())[np.ix_(free, free)])
    light = decompose(np.linalg.solve(L, J.T).T, STEP_TOLERANCE).solve(error)
    return np.asarray(np.linalg.solve(L.T, light))


def _bounded(step: Vector) -> Vector:
    """Return the step, shortened so that no coordinate moves by more than half a radian or half a metre."""
    largest = float(np.abs(step).max(initial=0.0))
    return step if largest <= 0.5 else step * (0.5 / largest)


def _free_coordinates(mechanism: Mechanism, held: Iterable[str]) -> Indices:
    coordinates, fixed = mechanism.robot.coordinates, set()
    for name in held:
        if name not in coordinates:
            raise UnknownNameError("coordinate", name, coordinates)
        fixed.add(coordinates.index(name))
    return np.array(
        [index for index in range(mechanism.robot.nv) if index not in fixed], dtype=np.intp
    )
