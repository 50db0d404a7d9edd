# SPDX-License-Identifier: Apache-2.0
"""Time derivatives of the state an integrator works on, by every method and in either precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.snake import kane, lagrange, newton_euler, unfolded
from humanoid_dynamics.papers.snake.chain import SnakeModel
from humanoid_dynamics.papers.snake.dynamics import MODES, select_kernel
from humanoid_dynamics.spatial.arrays import Vector

TorqueLaw: TypeAlias = Callable[[float, Vector, Vector], Vector]
"""Joint torques (n-1,) [N·m] from time [s], theta (n,) [rad] and u (2,) [m/s, rad/s]."""

Floats: TypeAlias = NDArray[Any]
Rate: TypeAlias = Callable[[float, Floats], Floats]


def build_rate(
    model: SnakeModel,
    law: TorqueLaw,
    mode: str = "linear",
    *,
    dtype: DTypeLike = np.float64,
    compiled: bool = True,
) -> Rate:
    """Return the time derivative of the state an integrator works on.

    Kane's modes integrate (theta, x, y, u, work); the comparators (theta, x, y, their rates, work), as Lagrange's method has to.

    Args:
        model: The snake.
        law: Its torques.
        mode: One of ``MODES``.
        dtype: Precision of everything.
        compiled: Whether the kernel is compiled; otherwise its lines are interpreted.

    Returns:
        The derivative.

    Raises:
        UnknownNameError: If there is no such mode.
    """
    if mode not in MODES:
        raise UnknownNameError("mode", mode, MODES)
    links = kane.Links(*(values.astype(dtype) for values in model.links))
    if mode == "linear":
        return _build_kane_rate(
            select_kernel(unfolded.forward, compiled),
            tuple(table.astype(dtype) for table in model.tables),
            law,
            model.n,
        )
    if mode == "paper":
        return _build_kane_rate(select_kernel(kane.forward, compiled), (links, False), law, model.n)
    if mode == "lagrange":
        return _build_lagrange_rate(
            select_kernel(lagrange.accelerations, compiled), links, law, model.n
        )
    return _build_newton_euler_rate(
        select_kernel(newton_euler.accelerations, compiled), links, law, model.n
    )


def _build_kane_rate(
    kernel: Callable[..., Any], constants: tuple[Any, ...], law: TorqueLaw, n: int
) -> Rate:
    def rate(t: float, y: Floats) -> Floats:
        theta, u = y[:n], y[n + 2 : n + 4]
        torques = law(t, theta, u).astype(y.dtype)
        y_dot = np.empty_like(y)
        y_dot[:-1] = kernel(theta, u, torques, *constants)
        y_dot[-1] = torques @ (y_dot[1:n] - y_dot[: n - 1])
        return y_dot

    return rate


def _build_lagrange_rate(
    kernel: Callable[..., Any], links: kane.Links, law: TorqueLaw, n: int
) -> Rate:
    def rate(t: float, y: Floats) -> Floats:
        theta, q_dot = y[:n], y[n + 2 : 2 * n + 4]
        torques = law(t, theta, read_speeds(theta, q_dot)).astype(y.dtype)
        y_dot = np.empty_like(y)
        y_dot[: n + 2] = q_dot
        y_dot[n + 2 : 2 * n + 4] = kernel(theta, q_dot, torques, links)[: n + 2]
        y_dot[2 * n + 4] = torques @ (q_dot[1:n] - q_dot[: n - 1])
        return y_dot

    return rate


def _build_newton_euler_rate(
    kernel: Callable[..., Any], links: kane.Links, law: TorqueLaw, n: int
) -> Rate:
    def serial_kernel(
        theta: Floats, q_dot: Floats, torques: Floats, constants: kane.Links
    ) -> Floats:
        serial = kernel(theta, q_dot, torques, constants)
        return np.concatenate((np.cumsum(serial[2 : n + 2]), serial[:2]))

    return _build_lagrange_rate(serial_kernel, links, law, n)


def read_speeds(theta: Floats, q_dot: Floats) -> Floats:
    """Return the generalized speeds u that rates of all n + 2 coordinates stand for.

    Args:
        theta: (..., n) absolute angles of the links [rad].
        q_dot: (..., n+2) their rates and the velocity of link 1.

    Returns:
        (..., 2) speed of link 1 along itself and its angular velocity.
    """
    along = np.cos(theta[..., 0]) * q_dot[..., -2] + np.sin(theta[..., 0]) * q_dot[..., -1]
    return np.stack((along, q_dot[..., 0]), axis=-1)
