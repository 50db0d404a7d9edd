# SPDX-License-Identifier: Apache-2.0
"""Steps in time on the configuration manifold, kept on the constraints by re-projection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.constraints.null_space import DynamicsStatus
from humanoid_dynamics.dynamics.closure import close_position
from humanoid_dynamics.dynamics.forward import solve_forward
from humanoid_dynamics.dynamics.impact import project_velocity
from humanoid_dynamics.dynamics.mechanism import Mechanism
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.spatial.arrays import Vector

Torque = Callable[[float, Vector, Vector], Vector]
CLOSED = 1e-13


@dataclass(frozen=True, eq=False)
class StepResult:
    """Where one step leads.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        closure: Scaled position error left [m].
        status: Worst status on the way.
    """

    q: Vector
    v: Vector
    closure: float
    status: DynamicsStatus


def step(
    mechanism: Mechanism,
    q: Vector,
    v: Vector,
    dt: float,
    torque: Torque | None = None,
    *,
    t: float = 0.0,
    method: str = "semi_implicit",
    project: bool = True,
) -> StepResult:
    """Advance a state by one step.

    Args:
        mechanism: The mechanism.
        q: (nq,) configuration.
        v: (nv,) velocity.
        dt: Step [s].
        torque: (t, q, v) -> (na,) motor torques; zero where left out.
        t: Time [s], handed to ``torque``.
        method: ``semi_implicit`` (first order, robust) or ``rkmk4`` (Runge-Kutta-Munthe-Kaas, fourth order).
        project: Whether to close positions and re-project velocities after the step.

    Returns:
        The state after the step.

    Raises:
        UnknownNameError: If the method does not exist.
    """
    if method not in METHODS:
        raise UnknownNameError("integration method", method, METHODS)
    given = torque or _no_torque(mechanism)
    q_next, v_next, status = METHODS[method](
        mechanism, q, v, dt, lambda since, q, v: given(t + since, q, v)
    )
    if not project or mechanism.constraints.size == 0:
        return StepResult(q_next, v_next, np.inf if mechanism.constraints.size else 0.0, status)
    closed = close_position(mechanism, q_next, tolerance=CLOSED, most=5)
    return StepResult(
        closed.q, project_velocity(mechanism, closed.q, v_next), closed.residual, status
    )


def _step_semi_implicit(
    mechanism: Mechanism, q: Vector, v: Vector, dt: float, torque: Torque
) -> tuple[Vector, Vector, DynamicsStatus]:
    """Velocity first, then the configuration with the new velocity."""
    answer = solve_forward(mechanism, q, v, torque(0.0, q, v))
    v_next = v + dt * answer.a
    return pin.integrate(mechanism.robot.model, q, dt * v_next), v_next, answer.status


def _step_rkmk4(
    mechanism: Mechanism, q: Vector, v: Vector, dt: float, torque: Torque
) -> tuple[Vector, Vector, DynamicsStatus]:
    """Classical fourth order for the pair (phi, v) with q + phi on the manifold; phi' = dexp^-1 v.

    Tangent vectors at different q must not be added as they are: that costs the order on every joint that turns in space.
    """
    model, statuses = mechanism.robot.model, []

    def slope(since: float, phi: Vector, speed: Vector) -> tuple[Vector, Vector]:
        here = pin.integrate(model, q, phi)
        answer = solve_forward(mechanism, here, speed, torque(since, here, speed))
        statuses.append(answer.status)
        return np.linalg.solve(pin.dIntegrate(model, q, phi, pin.ARG1), speed), answer.a

    phi_1, a_1 = slope(0.0, np.zeros_like(v), v)
    phi_2, a_2 = slope(dt / 2, dt / 2 * phi_1, v + dt / 2 * a_1)
    phi_3, a_3 = slope(dt / 2, dt / 2 * phi_2, v + dt / 2 * a_2)
    phi_4, a_4 = slope(dt, dt * phi_3, v + dt * a_3)
    phi = dt / 6 * (phi_1 + 2 * phi_2 + 2 * phi_3 + phi_4)
    v_next = v + dt / 6 * (a_1 + 2 * a_2 + 2 * a_3 + a_4)
    return (
        pin.integrate(model, q, phi),
        v_next,
        next((status for status in statuses if status is not DynamicsStatus.OK), DynamicsStatus.OK),
    )


def _no_torque(mechanism: Mechanism) -> Torque:
    zero = np.zeros(len(mechanism.actuated))
    return lambda _t, _q, _v: zero


METHODS = {"semi_implicit": _step_semi_implicit, "rkmk4": _step_rkmk4}
