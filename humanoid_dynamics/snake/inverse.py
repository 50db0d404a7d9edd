"""Joint torques for a wanted acceleration: n - 1 torques, two equations, the answer of least norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.snake import unfolded
from humanoid_dynamics.snake.chain import SnakeModel, SnakeState, check_state
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector

SINGULAR_RATIO = 1e-6
"""Ratio of the two singular values of the torque map below which the weaker direction counts as lost."""

RESIDUAL_RATIO = 1e-9
"""Part of the wanted generalized force that may stay missing in an answer called ``ok``."""


@dataclass(frozen=True, eq=False)
class SnakeTorques:
    """Joint torques and how well they do what was wanted.

    Attributes:
        torques: (n-1,) [N·m].
        missing: (2,) generalized force that no torque gives, along u_1 and along h_1 u_2 [N].
        status: ``ok``; ``actuation_singular`` where the torques cannot give the wanted acceleration; ``invalid_input``.
        reason: Why, or an empty string.
    """

    torques: Vector
    missing: Vector
    status: str = "ok"
    reason: str = ""


def compute_torque_map(model: SnakeModel, theta: Vector) -> Matrix:
    """Return the map from joint torques to the generalized forces along u_1 and h_1 u_2 [SN, eq. 11].

    A straight snake, or one bent to a circular arc, can roll without moving a joint: there the map has rank one, and no torque
    accelerates that motion.

    Args:
        model: The snake.
        theta: (n,) absolute angles of the links [rad].

    Returns:
        (2, n-1) the map [1/m].
    """
    c, z = unfolded.unfold(theta, model.rows.mirror)
    rates = np.zeros((2, model.n))  # angular velocities of the links for unit speeds
    rates[1, 0] = model.sums.first_lever
    rates[0, 1:], rates[1, 1:] = model.rows.lever * z, model.rows.lever * c
    return np.diff(rates, axis=1)


def compute_required_force(model: SnakeModel, theta: Vector, u: Vector, u_dot: Vector) -> Vector:
    """Return the generalized force an acceleration takes, along u_1 and h_1 u_2.

    Args:
        model: The snake.
        theta: (n,) absolute angles of the links [rad].
        u: (2,) generalized speeds [m/s, rad/s].
        u_dot: (2,) their wanted rates [m/s², rad/s²].

    Returns:
        (2,) M u_dot + N w [N].
    """
    m_11, m_12, m_22, n_1, n_2, *_ = unfolded.equation_terms(theta, u, np.zeros(model.n - 1), *model.tables, np.empty(model.n))
    x_1, x_2 = u_dot[0], model.sums.half_length * u_dot[1]
    return np.array([m_11 * x_1 + m_12 * x_2 + n_1, m_12 * x_1 + m_22 * x_2 + n_2])


def inverse_dynamics(model: SnakeModel, state: SnakeState, u_dot: ArrayLike, damping: float = 0.0) -> SnakeTorques:
    """Return the joint torques of least norm for a wanted acceleration.

    Args:
        model: The snake.
        state: Its state.
        u_dot: (2,) wanted rates of the generalized speeds [m/s², rad/s²].
        damping: Singular value of the torque map below which torques are held back rather than let grow [1/m]; zero for the exact answer.

    Returns:
        The torques; near a straight or circular shape what cannot be given is left out and told.
    """
    check_state(model, state)
    return solve_torques(model, state.theta, state.u, check_vector("u_dot", u_dot, 2), damping)


def solve_torques(model: SnakeModel, theta: Vector, u: Vector, u_dot: Vector, damping: float = 0.0) -> SnakeTorques:
    """Answer ``inverse_dynamics`` inside a control loop: nothing is checked, numbers that are not finite give a status.

    Args:
        model: The snake.
        theta: (n,) absolute angles of the links [rad].
        u: (2,) generalized speeds [m/s, rad/s].
        u_dot: (2,) wanted rates [m/s², rad/s²].
        damping: As in ``inverse_dynamics`` [1/m].

    Returns:
        The torques.
    """
    with np.errstate(all="ignore"):
        force = compute_required_force(model, theta, u, u_dot)
    if not np.isfinite(force).all():
        return SnakeTorques(np.zeros(model.n - 1), np.zeros(2), "invalid_input", "theta, u or u_dot is not finite")
    G = compute_torque_map(model, theta)
    squares, axes = np.linalg.eigh(G @ G.T)
    kept = squares > SINGULAR_RATIO**2 * squares[-1]
    inverse = np.where(kept, 1.0, 0.0) / np.where(kept, squares + damping**2, 1.0)
    torques = G.T @ (axes @ (inverse * (axes.T @ force)))
    missing = force - G @ torques
    if np.linalg.norm(missing) <= RESIDUAL_RATIO * max(1.0, float(np.linalg.norm(force))):
        return SnakeTorques(torques, missing)
    return SnakeTorques(torques, missing, "actuation_singular", _tell_why(model.n, bool(kept.all())))


def _tell_why(n: int, has_full_rank: bool) -> str:
    if n < 3:
        return f"{n} link(s) have {n - 1} joint torque(s) for two accelerations"
    return "near a straight or circular shape, damped" if has_full_rank else "straight or circular shape: rolling moves no joint"
