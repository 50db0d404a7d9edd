# SPDX-License-Identifier: Apache-2.0
"""Driving a snake: torques that make its head swing about a heading and move ahead, the body following the head's track.

Link n leads.  Rates of its speed and of its turning are the two accelerations torques can choose; every other link repeats, one link length
later, what the link before it did, because the reflection between them passes all amplitudes.  Swinging keeps the body away from the
straight and circular shapes in which torques cannot push; where it passes through one, damping keeps the torques finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake import unfolded
from humanoid_dynamics.papers.snake.chain import STANDARD_GRAVITY, SnakeModel
from humanoid_dynamics.papers.snake.dynamics import PreparedSnake, SnakeStatus, unfold
from humanoid_dynamics.papers.snake.inverse import SnakeTorques, solve_torques
from humanoid_dynamics.papers.snake.wheels import solve_side_forces
from humanoid_dynamics.spatial.arrays import Vector

LEAST_PART = 0.3
"""Part of the torques that is given even where a wheel then slips."""


@dataclass(frozen=True)
class SerpentineGait:
    """How a snake is driven.

    Attributes:
        speed: Speed of the head along itself [m/s].
        swing: Amplitude of the head about the heading [rad].
        period: Period of the swing [s].
        speed_gain: Acceleration per speed error [1/s].
        stiffness: Angular acceleration per heading error [1/s²].
        damping: Angular acceleration per rate error [1/s].
        largest_error: Heading error beyond which the head turns no harder [rad].
        largest_torque: Torque no joint exceeds [N·m].
        singular_value: Singular value of the torque map below which torques are held back [1/m].
    """

    speed: float = 0.3
    swing: float = 0.6
    period: float = 2.0
    speed_gain: float = 2.0
    stiffness: float = 60.0
    damping: float = 12.0
    largest_error: float = 0.5
    largest_torque: float = 2.0
    singular_value: float = 0.3

    def __post_init__(self) -> None:
        for name in ("speed", "swing", "speed_gain", "damping"):
            if not np.isfinite(getattr(self, name)):
                raise ShapeError(name, f"{getattr(self, name)}", "a finite number")
        for name in (
            "period",
            "stiffness",
            "damping",
            "largest_error",
            "largest_torque",
            "singular_value",
        ):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ShapeError(name, f"{getattr(self, name)}", "a positive number")


def compute_head_command(
    gait: SerpentineGait, t: float, heading: float, head: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the accelerations wanted of the head.

    Args:
        gait: How to drive.
        t: Time [s].
        heading: Where to go, angle from the world x axis [rad].
        head: Angle [rad], speed along itself [m/s] and angular velocity [rad/s] of the head.

    Returns:
        Rate of its speed [m/s²] and its angular acceleration [rad/s²].
    """
    theta, speed, omega = head
    rate = 2.0 * np.pi / gait.period
    swing = gait.swing * np.array(
        [np.sin(rate * t), rate * np.cos(rate * t), -(rate**2) * np.sin(rate * t)]
    )
    off = heading - theta
    error = float(
        np.clip(np.arctan2(np.sin(off), np.cos(off)), -gait.largest_error, gait.largest_error)
    ) + float(swing[0])
    turn = swing[2] + gait.damping * (swing[1] - omega) + gait.stiffness * error
    return gait.speed_gain * (gait.speed - speed), float(turn)


def compute_steering_torques(
    model: SnakeModel, gait: SerpentineGait, t: float, heading: float, motion: tuple[Vector, Vector]
) -> SnakeTorques:
    """Return the joint torques that drive a snake toward a heading.

    Args:
        model: The snake.
        gait: How to drive.
        t: Time [s].
        heading: Where to go, angle from the world x axis [rad].
        motion: (n,) absolute angles of the links [rad] and (2,) generalized speeds [m/s, rad/s].

    Returns:
        (n-1,) torques [N·m], scaled down together where one would exceed its limit, then with the status ``SATURATED``.

    Raises:
        ShapeError: If the snake has fewer than three links, whose joints cannot choose speed and turning.
    """
    if model.n < 3:
        raise ShapeError("model.n", f"{model.n}", "at least three links")
    theta, u = motion
    with np.errstate(all="ignore"):
        u_dot = _compute_speed_rates(model, gait, (t, heading), theta, u)
    answer = solve_torques(model, theta, u, u_dot, gait.singular_value)
    peak = float(np.abs(answer.torques).max())
    if peak <= gait.largest_torque:
        return answer
    scaled = answer.torques * (gait.largest_torque / peak)
    reason = f"{peak:.3g} N·m wanted, {gait.largest_torque:.3g} N·m allowed"
    return SnakeTorques(scaled, answer.missing, SnakeStatus.SATURATED, reason, answer.missing_share)


def predict_side_forces(
    model: SnakeModel, motion: tuple[Vector, Vector], torques: Vector
) -> Vector:
    """Return what the wheels will have to carry sideways under given torques.

    Args:
        model: The snake.
        motion: (n,) absolute angles of the links [rad] and (2,) generalized speeds [m/s, rad/s].
        torques: (n-1,) joint torques [N·m].

    Returns:
        (n,) force on each wheel along the left normal of its link [N].
    """
    theta, u = motion
    u_dot = PreparedSnake(model).tick(theta, u, torques).u_dot
    return solve_side_forces(model, theta, u, torques, u_dot).lam


def hold_grip(
    model: SnakeModel, motion: tuple[Vector, Vector], torques: Vector, friction: float
) -> tuple[float, Vector]:
    """Tell which part of given torques lets every wheel keep its grip.

    Side forces change along a straight line from no torque to all of it.  Wheels that would slip without any torque are left alone, and
    no less than ``LEAST_PART`` is taken: a snake without torques would not get out of the shape it is in.

    Args:
        model: The snake.
        motion: (n,) absolute angles of the links [rad] and (2,) generalized speeds [m/s, rad/s].
        torques: (n-1,) joint torques [N·m].
        friction: Coulomb coefficient of the wheels against the ground [-].

    Returns:
        The part, up to 1, and (n,) side forces under it [N].
    """
    idle, pushed = (
        predict_side_forces(model, motion, T) for T in (np.zeros_like(torques), torques)
    )
    bound, change = friction * STANDARD_GRAVITY * model.masses, pushed - idle
    moved = (np.abs(idle) <= bound) & (change != 0.0)
    room = (np.sign(change[moved]) * bound[moved] - idle[moved]) / change[moved]
    part = float(np.clip(room.min(initial=1.0), LEAST_PART, 1.0))
    return part, idle + part * change


def _compute_speed_rates(
    model: SnakeModel, gait: SerpentineGait, goal: tuple[float, float], theta: Vector, u: Vector
) -> Vector:
    """Rates of the generalized speeds, (2,), that give the head the accelerations wanted at a time for a heading."""
    rows, sums = model.rows, model.sums
    c, z = unfold(model, theta)
    v, w = u[0], sums.half_length * u[1]
    omega = np.concatenate((u[1:], unfolded.link_rates(c, z, v, w, rows.lever)))
    V, y = c[-1] * v - z[-1] * w, z[-1] * v + c[-1] * w
    V_dot, omega_dot = compute_head_command(gait, *goal, (theta[-1], V, omega[-1]))
    a = unfolded.angle_rates(omega, rows.mirror)[-1]
    along, across = (
        V_dot + a * y,
        omega_dot / rows.lever[-1] - a * V,
    )  # less the bias, still in the frame of the head
    return np.array(
        [c[-1] * along + z[-1] * across, sums.first_lever * (c[-1] * across - z[-1] * along)]
    )
