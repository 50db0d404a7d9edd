"""Kane's equations of a snake as questions: how it moves, what its equations are, how it accelerates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.snake import kane, lagrange, newton_euler, unfolded
from humanoid_dynamics.snake.chain import SnakeModel, SnakeState, check_state
from humanoid_dynamics.snake.compiled import Kernel, select_kernel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

MODES = ("linear", "paper", "lagrange", "newton_euler")
"""Ways to the same accelerations: O(n) without N, the paper's O(n²) recursion, and its two O(n³) comparators."""


@dataclass(frozen=True, eq=False)
class KaneEquations:
    """M u_dot + N w = F, two equations whatever the number of links [SN, eq. 8].

    Attributes:
        M: (2, 2) mass matrix [kg, kg·m, kg·m²].
        N: (2, n) bias matrix, or None where only the product was formed.
        bias: (2,) N w [N, N·m].
        F: (2,) generalized force of the joint torques [N, N·m].
    """

    M: Matrix
    N: Matrix | None
    bias: Vector
    F: Vector


@dataclass(frozen=True, eq=False)
class SnakeRates:
    """How the state of a snake changes.

    Attributes:
        u_dot: (2,) rates of the generalized speeds [m/s², rad/s²].
        theta_dot: (n,) angular velocities of the links [rad/s].
        position_dot: (2,) velocity of the centre of link 1 [m/s] in the world.
        status: ``ok``, or ``invalid_input`` where a number was not finite; then all rates are zero.
        reason: What was wrong, or an empty string.
    """

    u_dot: Vector
    theta_dot: Vector
    position_dot: Vector
    status: str = "ok"
    reason: str = ""


def compute_link_speeds(model: SnakeModel, state: SnakeState) -> tuple[Vector, Vector]:
    """Return how fast every link rolls and turns, in closed form [SN, eqs. 6-7].

    V_i² + (h_i w_i)² is the same for all links.

    Args:
        model: The snake.
        state: Its state.

    Returns:
        (n,) speeds along the links [m/s] and (n,) angular velocities [rad/s].
    """
    check_state(model, state)
    chain = model.unfolded
    c, z = unfolded.unfold(state.theta, chain)
    speeds = np.concatenate((state.u[:1], c * state.u[0] - z * (chain.half_length * state.u[1])))
    return speeds, unfolded.link_rates(c, z, state.u, state.theta, chain)


def compute_kinetic_energy(model: SnakeModel, state: SnakeState) -> float:
    """Return the kinetic energy [J].

    Args:
        model: The snake.
        state: Its state.

    Returns:
        The energy.
    """
    speeds, rates = compute_link_speeds(model, state)
    return float(0.5 * (model.masses @ speeds**2 + model.inertias @ rates**2))


def compute_equations(model: SnakeModel, state: SnakeState, torques: ArrayLike, mode: str = "linear") -> KaneEquations:
    """Return the equations of motion.

    Args:
        model: The snake.
        state: Its state.
        torques: (n-1,) joint torques [N·m].
        mode: ``linear`` for O(n) without N, ``paper`` for O(n²) with N written out.

    Returns:
        The equations.

    Raises:
        UnknownNameError: If the mode is neither.
    """
    check_state(model, state)
    T = model.check_torques(torques)
    if mode == "paper":
        M, N, F, w = kane.equations(state.theta, state.u, T, model.links, False)
        return KaneEquations(M, N, N @ w, F)
    if mode != "linear":
        raise UnknownNameError("mode of Kane's equations", mode, MODES[:2])
    chain = model.unfolded
    c, z = unfolded.unfold(state.theta, chain)
    (m_11, m_12, m_22), bias, _omega = unfolded.motion_terms(c, z, state.theta, state.u, chain)
    scale = np.array([1.0, chain.half_length])  # from (u_1, h_1 u_2) back to (u_1, u_2)
    M = np.array([[m_11, m_12], [m_12, m_22]]) * np.outer(scale, scale)
    return KaneEquations(M, None, scale * np.array(bias), scale * np.array(unfolded.torque_force(c, z, T, chain)))


def forward_dynamics(model: SnakeModel, state: SnakeState, torques: ArrayLike, mode: str = "linear") -> SnakeRates:
    """Return the rates of the state under joint torques [SN, eq. 8].

    Args:
        model: The snake.
        state: Its state.
        torques: (n-1,) joint torques [N·m].
        mode: One of ``MODES``; all give the same accelerations.

    Returns:
        The rates.
    """
    check_state(model, state)
    return PreparedSnake(model, mode, compiled=False).tick(state.theta, state.u, model.check_torques(torques))


class PreparedSnake:
    """A snake made ready to be asked many times.

    Holds the kernel, compiled where numba is installed (the first tick then compiles, some seconds, once per machine).
    """

    def __init__(self, model: SnakeModel, mode: str = "linear", compiled: bool | None = None) -> None:
        if mode not in MODES:
            raise UnknownNameError("mode", mode, MODES)
        self.model, self.mode = model, mode
        choices: dict[str, tuple[Kernel, tuple[Any, ...]]] = {
            "linear": (unfolded.forward, (model.unfolded,)),
            "paper": (kane.forward, (model.links, False)),
            "lagrange": (lagrange.forward, (model.links,)),
            "newton_euler": (newton_euler.forward, (model.links,)),
        }
        kernel, self._constants = choices[mode]
        self._kernel = select_kernel(kernel, compiled)

    def tick(self, theta: Vector, u: Vector, torques: Vector) -> SnakeRates:
        """Return the rates of the state under joint torques.

        Args:
            theta: (n,) absolute angles of the links [rad], float64.
            u: (2,) generalized speeds [m/s, rad/s], float64.
            torques: (n-1,) joint torques [N·m], float64.

        Returns:
            The rates; numbers that are not finite give a status, not an exception.

        Raises:
            ShapeError: If an array has the wrong shape.
        """
        n = self.model.n
        if theta.shape != (n,) or u.shape != (2,) or torques.shape != (n - 1,):
            raise ShapeError("theta, u, torques", f"shapes {theta.shape}, {u.shape}, {torques.shape}", f"({n},), (2,), ({n - 1},)")
        u_dot_1, u_dot_2, theta_dot = self._kernel(theta, u, torques, *self._constants)
        if not np.isfinite(u_dot_1 + u_dot_2):  # every input enters both: one number tells
            return SnakeRates(np.zeros(2), np.zeros(n), np.zeros(2), "invalid_input", _tell_what_is_not_finite(theta, u, torques))
        position_dot = np.array([u[0] * np.cos(theta[0]), u[0] * np.sin(theta[0])])
        return SnakeRates(np.array([u_dot_1, u_dot_2]), theta_dot, position_dot)


def _tell_what_is_not_finite(theta: Vector, u: Vector, torques: Vector) -> str:
    bad = [name for name, values in (("theta", theta), ("u", u), ("torques", torques)) if not np.isfinite(values).all()]
    return f"not finite: {', '.join(bad)}" if bad else "the accelerations overflow"
