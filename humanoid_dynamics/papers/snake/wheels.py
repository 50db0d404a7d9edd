# SPDX-License-Identifier: Apache-2.0
"""What the wheels carry sideways, and whether the ground can give it: O(n).

The force in joint k, seen from link k, follows the same reflections as the speeds, so in the unfolded chain it is a running sum; that it
ends at zero behind the last link is equation (8) itself, and serves as the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake import unfolded
from humanoid_dynamics.papers.snake.chain import (
    STANDARD_GRAVITY,
    SnakeModel,
    SnakeState,
    check_state,
)
from humanoid_dynamics.papers.snake.dynamics import unfold
from humanoid_dynamics.spatial.arrays import Vector, check_vector


@dataclass(frozen=True, eq=False)
class SideForces:
    """Forces of the ground on the wheels.

    Attributes:
        lam: (n,) force on each wheel along the left normal of its link [N].
        residual: Force left over behind the last link [N]; zero for accelerations that satisfy the equations of motion.
    """

    lam: Vector
    residual: float


def compute_side_forces(
    model: SnakeModel, state: SnakeState, torques: ArrayLike, u_dot: ArrayLike
) -> SideForces:
    """Return the side forces of all wheels.

    Args:
        model: The snake.
        state: Its state.
        torques: (n-1,) joint torques [N·m].
        u_dot: (2,) rates of the generalized speeds under these torques [m/s², rad/s²].

    Returns:
        The forces, equal to the multipliers of Lagrange's equations.
    """
    check_state(model, state)
    return solve_side_forces(
        model, state.theta, state.u, model.check_torques(torques), check_vector("u_dot", u_dot, 2)
    )


def solve_side_forces(
    model: SnakeModel, theta: Vector, u: Vector, torques: Vector, u_dot: Vector
) -> SideForces:
    """Answer ``compute_side_forces`` inside a control loop, where nothing is checked.

    Args:
        model: The snake.
        theta: (n,) absolute angles of the links [rad].
        u: (2,) generalized speeds [m/s, rad/s].
        torques: (n-1,) joint torques [N·m].
        u_dot: (2,) rates of the generalized speeds under these torques [m/s², rad/s²].

    Returns:
        The forces.
    """
    rows, sums = model.rows, model.sums
    c, z = (
        np.concatenate(([first], rest))
        for first, rest in zip((1.0, 0.0), unfold(model, theta), strict=True)
    )
    w = sums.half_length * u[1]
    V, y = c * u[0] - z * w, z * u[0] + c * w  # speed, and s_i h_i w_i
    lever = np.concatenate(([sums.first_lever], rows.lever))
    omega = lever * y
    a = np.concatenate(([0.0], unfolded.angle_rates(omega, rows.mirror)))
    w_dot = sums.half_length * u_dot[1]
    V_dot, y_dot = c * u_dot[0] - z * w_dot - a * y, z * u_dot[0] + c * w_dot + a * V
    along = model.masses * V_dot
    across = model.inertias * lever**2 * y_dot + lever * np.diff(torques, prepend=0.0, append=0.0)
    sum_x, sum_y = np.cumsum(c * along + z * across), np.cumsum(c * across - z * along)
    joint_across = z * sum_x + c * sum_y
    sign = np.sign(lever)
    lam = model.masses * V * omega + sign * (across - 2.0 * joint_across)
    return SideForces(lam, float(np.hypot(sum_x[-1], sum_y[-1])))


def compute_slip_margins(
    model: SnakeModel, lam: Vector, friction: float, gravity: float = STANDARD_GRAVITY
) -> Vector:
    """Return how much side force each wheel has left before it slips; each wheel carries the weight of its own link.

    Args:
        model: The snake.
        lam: (n,) side forces [N].
        friction: Coulomb coefficient of the wheels against the ground [-].
        gravity: Acceleration of gravity [m/s²].

    Returns:
        (n,) friction m_i g - |lam_i| [N]; negative where the wheel slips.

    Raises:
        ShapeError: If friction or gravity is negative or not finite.
    """
    if not (0.0 <= friction < np.inf and 0.0 <= gravity < np.inf):
        raise ShapeError("friction, gravity", f"{friction}, {gravity}", "numbers from zero on")
    return np.asarray(friction * gravity * model.masses - np.abs(check_vector("lam", lam, model.n)))
