# SPDX-License-Identifier: Apache-2.0
"""Kane's equations of a snake as questions: how it moves, what its equations are, how it accelerates."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import ShapeError, UnknownNameError
from humanoid_dynamics.papers.snake import kane, lagrange, newton_euler, unfolded
from humanoid_dynamics.papers.snake.chain import SnakeModel, SnakeState, check_state
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import Kernel, compile_kernel
from humanoid_dynamics.status import StatusEnum

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


DOUBLE = np.dtype(np.float64)
_pack = tuple.__new__  # of a named tuple in a hot path, three times faster than its own


class SnakeStatus(StatusEnum):
    """How rates, torques or a simulated motion of a snake were computed."""

    OK = "OK", "the result is exact"
    ACTUATION_SINGULAR = (
        "ACTUATION_SINGULAR",
        "joint torques cannot produce the wanted acceleration",
    )
    SATURATED = "SATURATED", "a joint torque exceeded its limit; all are scaled down together"
    INVALID_INPUT = "INVALID_INPUT", "an argument is not finite; the result is zero"
    DIVERGED = "DIVERGED", "a step gave NaN or infinity; the motion ends before it"


class SnakeRates(NamedTuple):
    """How the state of a snake changes.

    Attributes:
        rates: (n+4,) rates of theta [rad/s], position [m/s] and u [m/s², rad/s²], in this order, as integrators hold the state.
        status: ``OK``, or ``INVALID_INPUT`` where a number was not finite; then all rates are zero.
        reason: What was wrong, or an empty string.
    """

    rates: Vector
    status: SnakeStatus = SnakeStatus.OK
    reason: str = ""

    @property
    def theta_dot(self) -> Vector:
        """(n,) angular velocities of the links [rad/s]."""
        return self.rates[:-4]

    @property
    def position_dot(self) -> Vector:
        """(2,) velocity of the centre of link 1 [m/s] in the world."""
        return self.rates[-4:-2]

    @property
    def u_dot(self) -> Vector:
        """(2,) rates of the generalized speeds [m/s², rad/s²]."""
        return self.rates[-2:]


def unfold(model: SnakeModel, theta: Vector) -> tuple[Vector, Vector]:
    """Return cosine and sine of the angles of links 2..n in the unfolded chain.

    Args:
        model: The snake.
        theta: (n,) absolute angles of the links [rad].
    """
    c, z = select_kernel(unfolded.unfold, True)(np.array(theta), model.tables[0][0])
    return c, z


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
    c, z = unfold(model, state.theta)
    v, w = state.u[0], model.sums.half_length * state.u[1]
    omega = unfolded.link_rates(c, z, v, w, model.rows.lever)
    return np.concatenate((state.u[:1], c * v - z * w)), np.concatenate((state.u[1:], omega))


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


def compute_equations(
    model: SnakeModel, state: SnakeState, torques: ArrayLike, mode: str = "linear"
) -> KaneEquations:
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
    c, z = unfold(model, state.theta)
    m_11, m_12, m_22, n_1, n_2, f_1, f_2 = unfolded.equation_terms(
        c, z, state.u, T, model.tables, np.empty(model.n)
    )
    scale = np.array([1.0, model.sums.half_length])  # from (u_1, h_1 u_2) back to (u_1, u_2)
    M = np.array([[m_11, m_12], [m_12, m_22]]) * np.outer(scale, scale)
    return KaneEquations(M, None, scale * np.array([n_1, n_2]), scale * np.array([f_1, f_2]))


def forward_dynamics(
    model: SnakeModel, state: SnakeState, torques: ArrayLike, mode: str = "linear"
) -> SnakeRates:
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
    return PreparedSnake(model, mode, compiled=False).tick(
        state.theta, state.u, model.check_torques(torques)
    )


def select_kernel(kernel: Kernel, compiled: bool) -> Kernel:
    """Return a kernel compiled by numba, or interpreted without the warnings of numpy, for the answer has a status.

    Args:
        kernel: A kernel of this room.
        compiled: Whether to compile it.
    """
    if compiled:
        return compile_kernel(kernel, order_is_free=False)

    def silent(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return kernel(*arguments)

    return silent


class PreparedSnake:
    """A snake prepared for many questions; the first tick compiles, once per machine.

    ``compiled=False`` interprets the same lines.
    """

    def __init__(self, model: SnakeModel, mode: str = "linear", compiled: bool = True) -> None:
        if mode not in MODES:
            raise UnknownNameError("mode", mode, MODES)
        self.model, self.mode = model, mode
        rows, sums = model.tables
        choices: dict[str, tuple[Kernel, tuple[Any, Any]]] = {
            "linear": (unfolded.forward, (rows, sums)),
            "paper": (kane.forward, (model.links, False)),
            "lagrange": (lagrange.forward, (model.links, None)),
            "newton_euler": (newton_euler.forward, (model.links, None)),
        }
        kernel, (self._first, self._second) = choices[mode]
        selected = select_kernel(kernel, compiled)
        self._kernel = selected if self._second is not None else _take_one(selected)
        self._theta, self._u, self._torques = (model.n,), (2,), (model.n - 1,)

    def tick(self, theta: Vector, u: Vector, torques: Vector) -> SnakeRates:
        """Return the rates of the state under joint torques.

        Args:
            theta: (n,) absolute angles of the links [rad]; float64 is quickest, other numbers are turned into it.
            u: (2,) generalized speeds [m/s, rad/s].
            torques: (n-1,) joint torques [N·m].

        Returns:
            The rates; numbers that are not finite give a status, not an exception.

        Raises:
            ShapeError: If an array has the wrong shape.
        """
        if theta.shape != self._theta or u.shape != self._u or torques.shape != self._torques:
            expected = f"{(self._theta, self._u, self._torques)}"
            raise ShapeError(
                "theta, u, torques", f"shapes {(theta.shape, u.shape, torques.shape)}", expected
            )
        if (
            theta.dtype is not DOUBLE or u.dtype is not DOUBLE or torques.dtype is not DOUBLE
        ):  # a kernel is compiled for each type it meets
            theta, u, torques = theta.astype(DOUBLE), u.astype(DOUBLE), torques.astype(DOUBLE)
        rates = self._kernel(theta, u, torques, self._first, self._second)
        if not isfinite(rates[-1]):  # the kernels see to it that this one tells of all
            return SnakeRates(
                np.zeros_like(rates),
                SnakeStatus.INVALID_INPUT,
                _tell_what_is_not_finite(theta, u, torques),
            )
        return _pack(SnakeRates, (rates, SnakeStatus.OK, ""))


def _take_one(kernel: Kernel) -> Kernel:
    """A kernel with one constant, called like those with two."""
    return lambda theta, u, torques, first, _second: kernel(theta, u, torques, first)


def _tell_what_is_not_finite(theta: Vector, u: Vector, torques: Vector) -> str:
    bad = [
        name
        for name, values in (("theta", theta), ("u", u), ("torques", torques))
        if not np.isfinite(values).all()
    ]
    return f"not finite: {', '.join(bad)}" if bad else "the accelerations overflow"
