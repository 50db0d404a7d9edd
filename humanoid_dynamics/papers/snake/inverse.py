# SPDX-License-Identifier: Apache-2.0
"""Joint torques for a wanted acceleration: n - 1 torques, two equations, the answer of least norm."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, isfinite

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake import unfolded
from humanoid_dynamics.papers.snake.chain import SnakeModel, SnakeState, check_state
from humanoid_dynamics.papers.snake.dynamics import DOUBLE, SnakeStatus, select_kernel, unfold
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector

RESIDUAL_RATIO = 1e-9
"""Part of the wanted generalized force that may stay missing in an answer called ``ok``."""


@dataclass(frozen=True, eq=False)
class SnakeTorques:
    """Joint torques and how well they do what was wanted.

    Attributes:
        torques: (n-1,) [N·m].
        missing: (2,) generalized force that is left out, along u_1 and along h_1 u_2 [N].
        missing_share: The same as a part of what was wanted, 0 to 1.
        status: ``OK``; ``ACTUATION_SINGULAR`` where the torques cannot give the wanted acceleration; ``SATURATED``; ``INVALID_INPUT``.
        reason: Why, or an empty string.
    """

    torques: Vector
    missing: Vector
    status: SnakeStatus = SnakeStatus.OK
    reason: str = ""
    missing_share: float = 0.0


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
    c, z = unfold(model, theta)
    return np.array(unfolded.torque_map(c, z, model.tables))


def inverse_dynamics(
    model: SnakeModel, state: SnakeState, u_dot: ArrayLike, damping: float = 0.0
) -> SnakeTorques:
    """Return the joint torques of least norm for a wanted acceleration.

    Args:
        model: The snake.
        state: Its state.
        u_dot: (2,) wanted rates of the generalized speeds [m/s², rad/s²].
        damping: Singular value of the torque map below which torques are held back rather than let grow [1/m]; zero for the exact answer.

    Returns:
        The torques; near a straight or circular shape what cannot be given is left out and told.

    Raises:
        ShapeError: If the damping is negative or not finite.
    """
    check_state(model, state)
    _check_damping(damping)
    motion = np.array(state.theta), np.array(state.u)  # writable, as kernels are compiled for
    return solve_torques(model, *motion, check_vector("u_dot", u_dot, 2), damping)


def solve_torques(
    model: SnakeModel, theta: Vector, u: Vector, u_dot: Vector, damping: float = 0.0
) -> SnakeTorques:
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
    kernel = select_kernel(unfolded.invert, True)
    return _read_answer(kernel(theta, u, u_dot, model.tables, damping))


class PreparedInverse:
    """A snake prepared for many questions about torques; the first tick compiles, once per machine."""

    def __init__(self, model: SnakeModel, damping: float = 0.0, compiled: bool = True) -> None:
        """Prepare.

        Args:
            model: The snake.
            damping: As in ``inverse_dynamics`` [1/m].
            compiled: Whether the kernel is compiled; otherwise its lines are interpreted.

        Raises:
            ShapeError: If the damping is negative or not finite.
        """
        _check_damping(damping)
        self.model, self.damping = model, float(damping)
        self._kernel = select_kernel(unfolded.invert, compiled)
        self._shapes = ((model.n,), (2,), (2,))

    def tick(self, theta: Vector, u: Vector, u_dot: Vector) -> SnakeTorques:
        """Return the joint torques of least norm for a wanted acceleration.

        Args:
            theta: (n,) absolute angles of the links [rad]; float64 is quickest, other numbers are turned into it.
            u: (2,) generalized speeds [m/s, rad/s].
            u_dot: (2,) their wanted rates [m/s², rad/s²].

        Returns:
            The torques; numbers that are not finite give a status, not an exception.

        Raises:
            ShapeError: If an array has the wrong shape.
        """
        shapes = theta.shape, u.shape, u_dot.shape
        if shapes != self._shapes:
            raise ShapeError("theta, u, u_dot", f"shapes {shapes}", f"{self._shapes}")
        if theta.dtype is not DOUBLE or u.dtype is not DOUBLE or u_dot.dtype is not DOUBLE:
            theta, u, u_dot = theta.astype(DOUBLE), u.astype(DOUBLE), u_dot.astype(DOUBLE)
        return _read_answer(self._kernel(theta, u, u_dot, self.model.tables, self.damping))


def _check_damping(damping: float) -> None:
    if not 0.0 <= damping < np.inf:
        raise ShapeError("damping", f"{damping}", "a number from zero on")


def _read_answer(answer: Vector) -> SnakeTorques:
    """Make a record of what ``invert`` gives."""
    torques, missing = answer[:-4], answer[-4:-2]
    short = hypot(missing[0], missing[1])
    if short <= RESIDUAL_RATIO * max(1.0, float(answer[-2])):
        return SnakeTorques(torques, missing)  # the rest is rounding
    if not isfinite(short):
        return SnakeTorques(
            np.zeros_like(torques),
            np.zeros(2),
            SnakeStatus.INVALID_INPUT,
            "theta, u or u_dot is not finite",
        )
    return SnakeTorques(
        torques,
        missing,
        SnakeStatus.ACTUATION_SINGULAR,
        _tell_why(len(torques) + 1, answer[-1] > 1.0),
        short / float(answer[-2]),
    )


def _tell_why(n: int, has_full_rank: bool) -> str:
    if n < 3:
        return f"{n} link(s) have {n - 1} joint torque(s) for two accelerations"
    return (
        "near a straight or circular shape, damped"
        if has_full_rank
        else "straight or circular shape: rolling moves no joint"
    )
