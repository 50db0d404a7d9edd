# SPDX-License-Identifier: Apache-2.0
"""A snake in time: fixed steps in either precision, or a reference trajectory to the last digits."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.papers.snake.chain import SnakeModel, SnakeState, check_state
from humanoid_dynamics.papers.snake.dynamics import SnakeStatus, compute_link_speeds
from humanoid_dynamics.papers.snake.rates import Floats, Rate, TorqueLaw, build_rate, read_speeds
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only

PRECISIONS = (np.float64, np.float32)


@dataclass(frozen=True, eq=False)
class SnakeTrajectory:
    """A motion and the books kept on it.

    Attributes:
        t: (k,) times [s].
        theta: (k, n) absolute angles of the links [rad].
        u: (k, 2) generalized speeds [m/s, rad/s].
        position: (k, 2) centre of link 1 [m] in the world.
        kinetic: (k,) kinetic energy [J].
        work: (k,) work of the joint torques, integrated with the motion [J].
        slip: (k,) largest sideways speed of any wheel [m/s]; zero by construction with generalized speeds.
        status: ``OK``, or ``DIVERGED`` where a step gave numbers that are not finite; the record ends before it.
    """

    t: Vector
    theta: Matrix
    u: Matrix
    position: Matrix
    kinetic: Vector
    work: Vector
    slip: Vector
    status: SnakeStatus = SnakeStatus.OK

    @property
    def energy(self) -> Vector:
        """(k,) the energy function S: kinetic energy less work, constant in an exact solution [SN, sec. VI.3] [J]."""
        return self.kinetic - self.work

    def state(self, index: int) -> SnakeState:
        """Return the state at one of the times.

        Args:
            index: Which of the times.

        Returns:
            The state.
        """
        return SnakeState(self.theta[index], self.u[index], self.position[index])


def build_paper_torques(n: int) -> TorqueLaw:
    """Return the torques of the paper's experiments, T_k = sin(t) / (n - k) [SN, tab. II].

    Args:
        n: Number of links.

    Returns:
        The law.
    """
    weights = 1.0 / np.arange(n - 1, 0, -1)
    return lambda t, _theta, _u: np.sin(t) * weights


def build_paper_state(n: int) -> SnakeState:
    """Return the initial state of the paper's experiments: at rest, links at +-30 degrees in turn [SN, tab. II].

    Args:
        n: Number of links.

    Returns:
        The state.
    """
    return SnakeState(np.pi / 6.0 * np.where(np.arange(n) % 2 == 0, -1.0, 1.0), np.zeros(2))


def step_rk4(rate: Rate, t: float, y: Floats, dt: float) -> Floats:
    """Return the state one classical Runge-Kutta step later, in the precision of y.

    Args:
        rate: Time derivative of the state.
        t: Time [s].
        y: (N,) state.
        dt: Step [s].

    Returns:
        (N,) the next state.
    """
    number = y.dtype.type
    half, sixth = number(0.5 * dt), number(dt / 6.0)
    k_1 = rate(t, y)
    k_2 = rate(t + 0.5 * dt, y + half * k_1)
    k_3 = rate(t + 0.5 * dt, y + half * k_2)
    k_4 = rate(t + dt, y + number(dt) * k_3)
    y_next: Floats = y + sixth * (k_1 + (k_2 + k_3) + (k_2 + k_3) + k_4)
    return y_next


def simulate_snake(
    model: SnakeModel,
    state: SnakeState,
    law: TorqueLaw,
    *,
    duration: float,
    dt: float = 1e-3,
    mode: str = "linear",
    dtype: DTypeLike = np.float64,
    compiled: bool = True,
) -> SnakeTrajectory:
    """Integrate with classical Runge-Kutta steps.

    Args:
        model: The snake.
        state: Where it starts.
        law: Its torques.
        duration: How long [s].
        dt: Step [s].
        mode: One of ``MODES``.
        dtype: Precision of state, constants and arithmetic, float64 or float32.
        compiled: Whether the kernel is compiled; otherwise its lines are interpreted.

    Returns:
        The motion at every step.

    Raises:
        ShapeError: If there is not at least one step, the precision is another, or the law does not give one torque per joint.
    """
    steps = round(duration / dt) if dt > 0.0 and isfinite(duration / dt) else 0
    if steps < 1:
        raise ShapeError(
            "duration, dt", f"{duration} s, {dt} s", "positive numbers, at least one step"
        )
    if dtype not in PRECISIONS:
        raise ShapeError("dtype", f"{np.dtype(dtype)}", "float64 or float32")
    _check_law(model, state, law)
    rate = build_rate(model, law, mode, dtype=dtype, compiled=compiled)
    history = np.empty((steps + 1, _start(model, state, mode).size), dtype)
    history[0] = _start(model, state, mode)
    for i in range(steps):
        with np.errstate(all="ignore"):
            history[i + 1] = step_rk4(rate, i * dt, history[i], dt)
        if not np.isfinite(history[i + 1]).all():
            return _build_trajectory(
                model,
                dt * np.arange(i + 1, dtype=np.float64),
                history[: i + 1],
                SnakeStatus.DIVERGED,
            )
    return _build_trajectory(
        model, dt * np.arange(steps + 1, dtype=np.float64), history, SnakeStatus.OK
    )


def compute_reference(
    model: SnakeModel,
    state: SnakeState,
    law: TorqueLaw,
    times: ArrayLike,
    *,
    mode: str = "linear",
    compiled: bool = True,
) -> SnakeTrajectory:
    """Integrate with DOP853 at tolerances near the last digit.

    Args:
        model: The snake.
        state: Where it starts, at time 0.
        law: Its torques.
        times: (k,) increasing times at which the motion is wanted [s].
        mode: One of ``MODES``.
        compiled: Whether the kernel is compiled; otherwise its lines are interpreted.

    Returns:
        The motion at these times; with the status ``DIVERGED`` at those before numbers that are not finite.

    Raises:
        ShapeError: If times do not increase from zero on, or the law does not give one torque per joint.
    """
    t = check_vector("times", times, max(1, np.size(times)))
    if t[0] < 0.0 or t[-1] <= 0.0 or (np.diff(t) <= 0.0).any():
        raise ShapeError(
            "times",
            f"{t[0]:g} to {t[-1]:g} s",
            "increasing times, none before zero, the last above it",
        )
    _check_law(model, state, law)
    rate, start = build_rate(model, law, mode, compiled=compiled), _start(model, state, mode)
    if not np.isfinite(
        rate(0.0, start)
    ).all():  # the integrator would look for a first step for ever
        return _build_trajectory(model, np.zeros(1), start[None], SnakeStatus.DIVERGED)
    from scipy.integrate import solve_ivp  # takes a while to load, for which every world would wait

    solution = solve_ivp(
        rate, (0.0, float(t[-1])), start, "DOP853", t_eval=t, rtol=1e-12, atol=1e-14
    )
    status = SnakeStatus.OK if solution.success else SnakeStatus.DIVERGED
    return _build_trajectory(model, solution.t, solution.y.T, status)


def _check_law(model: SnakeModel, state: SnakeState, law: TorqueLaw) -> None:
    check_state(model, state)
    torques = law(0.0, state.theta, state.u)
    if np.shape(torques) != (model.n - 1,) or not isinstance(torques, np.ndarray):
        raise ShapeError(
            "law",
            f"{type(torques).__name__} of shape {np.shape(torques)}",
            f"array of shape ({model.n - 1},)",
        )


def _start(model: SnakeModel, state: SnakeState, mode: str) -> Vector:
    check_state(model, state)
    if mode in ("linear", "paper"):
        return np.concatenate((state.theta, state.position, state.u, [0.0]))
    omega = compute_link_speeds(model, state)[1]
    velocity = state.u[0] * np.array([np.cos(state.theta[0]), np.sin(state.theta[0])])
    return np.concatenate((state.theta, state.position, omega, velocity, [0.0]))


def _build_trajectory(
    model: SnakeModel, t: Vector, history: Floats, status: SnakeStatus
) -> SnakeTrajectory:
    """Keep the books in double precision, whatever the precision of the motion."""
    n = model.n
    y = history.astype(np.float64)
    theta, position, rest = y[:, :n], y[:, n : n + 2], y[:, n + 2 : -1]
    if rest.shape[1] == 2:
        u = rest
        rates = np.array(
            [
                np.concatenate(compute_link_speeds(model, SnakeState(*pair)))
                for pair in zip(theta, u, strict=True)
            ]
        )
        along, omega, across = rates[:, :n], rates[:, n:], np.zeros_like(theta)
    else:
        u, omega = read_speeds(theta, rest), rest[:, :n]
        along, across = _split_velocities(model, theta, rest)
    kinetic = 0.5 * ((along**2 + across**2) @ model.masses + omega**2 @ model.inertias)
    records = (t, theta, u, position, kinetic, y[:, -1], np.abs(across).max(axis=1))
    t, theta, u, position, kinetic, work, slip = (read_only(record) for record in records)
    return SnakeTrajectory(t, theta, u, position, kinetic, work, slip, status)


def _split_velocities(model: SnakeModel, theta: Matrix, q_dot: Matrix) -> tuple[Matrix, Matrix]:
    """Velocities of all centres, (k, n) along and (k, n) across their links, from rates that may break the wheels' constraints."""
    cos, sin = np.cos(theta), np.sin(theta)
    swing = model.half_lengths * q_dot[:, : model.n]
    x, y = (
        np.cumsum(np.concatenate((start[:, None], part[:, :-1] + part[:, 1:]), axis=1), axis=1)
        for start, part in ((q_dot[:, -2], -swing * sin), (q_dot[:, -1], swing * cos))
    )
    return x * cos + y * sin, y * cos - x * sin
