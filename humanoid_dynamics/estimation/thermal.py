# SPDX-License-Identifier: Apache-2.0
"""Winding and housing temperatures of motors from their torques: two thermal masses in series.

C_w dT_w/dt = P - (T_w - T_h) / R_w            P = (tau / k)^2 (1 + alpha (T_w - 25 degC))
C_h dT_h/dt = (T_w - T_h) / R_w - (T_h - T_a) / R_h
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.estimation.motor_settings import (
    BISECTIONS,
    LONGEST_FORECAST,
    LONGEST_STEP,
    MotorData,
)
from humanoid_dynamics.spatial.arrays import Matrix, Vector


class ThermalModel:
    """Temperatures of the motors of a robot: make once, ``update`` with the torques of every tick.

    Attributes:
        motors: Thermal data.
        winding: (n,) temperatures of the windings [degC].
        housing: (n,) temperatures of the housings [degC].
    """

    def __init__(self, motors: MotorData) -> None:
        """Start at ambient temperature.

        Args:
            motors: Thermal data.

        Raises:
            ShapeError: If a value is not positive, or the limit is not above ambient temperature.
        """
        n = len(motors.constant)
        values = (
            motors.constant,
            motors.winding_resistance,
            motors.housing_resistance,
            motors.winding_capacity,
            motors.housing_capacity,
        )
        parts = [np.broadcast_to(np.asarray(value, float), (n,)) for value in values]
        self._limit = np.broadcast_to(np.asarray(motors.limit, float), (n,))
        if not (all((part > 0.0).all() for part in parts) and (self._limit > motors.ambient).all()):
            raise ShapeError("motor data", str(motors), "positive values and limits above ambient")
        self.motors = motors
        _, R_w, R_h, self._capacity, C_h = parts
        self._rates = np.zeros((n, 2, 2))
        self._rates[:, 0, 0] = -1.0 / (R_w * self._capacity)
        self._rates[:, 0, 1] = 1.0 / (R_w * self._capacity)
        self._rates[:, 1, 0] = 1.0 / (R_w * C_h)
        self._rates[:, 1, 1] = -(1.0 / R_w + 1.0 / R_h) / C_h
        self._step = 0.0  # s; for which the transition is known
        self._transition = np.tile(np.eye(2), (n, 1, 1))
        self.reset()

    def reset(self, winding: Vector | float | None = None) -> None:
        """Set all temperatures.

        Args:
            winding: Temperature of windings and housings [degC]; ambient where None.
        """
        start = self.motors.ambient if winding is None else winding
        self.winding: Vector = np.full(len(self.motors.constant), start, dtype=np.float64)
        self.housing: Vector = self.winding.copy()

    def update(self, tau: Vector, dt: float, measured: Vector | None = None) -> Vector:
        """Advance by one tick; what is not finite is left out.

        Args:
            tau: (n,) torques during the tick [N·m or N].
            dt: Its duration [s].
            measured: (n,) measured winding temperatures, NaN where there is none [degC].

        Returns:
            (n,) winding temperatures [degC].
        """
        tau = np.nan_to_num(np.asarray(tau, float), nan=0.0, posinf=0.0, neginf=0.0)
        left = dt if 0.0 < dt < LONGEST_FORECAST else 0.0
        while left > 0.0:
            step = min(left, LONGEST_STEP)
            self._advance(tau, step)
            left -= step
        if measured is not None:
            known = np.isfinite(measured)
            self.winding[known] = np.asarray(measured)[known]
        return self.winding

    def find_share(self) -> Vector:
        """Return the share of the way from ambient to the limit of each winding, (n,), 0 to 1 and beyond."""
        share: Vector = (self.winding - self.motors.ambient) / (self._limit - self.motors.ambient)
        return share

    def find_time_to_limit(self, tau: Vector) -> Vector:
        """Return the time until each winding reaches its limit with constant loss, (n,) [s]; infinite where it does not.

        Args:
            tau: (n,) root-mean-square torques [N·m or N].
        """
        loss = self.motors.compute_loss(np.asarray(tau, float), self.winding)
        final = self._settle(loss)
        start = np.stack((self.winding, self.housing), axis=1) - final
        values, vectors = np.linalg.eig(self._rates)
        shares = np.linalg.solve(vectors, start[:, :, None])[:, :, 0]
        modes = vectors[:, 0, :] * shares

        def winding_at(times: Vector) -> Vector:
            warm: Vector = final[:, 0] + np.sum(modes * np.exp(values * times[:, None]), axis=1)
            return warm

        low, high = np.zeros(len(loss)), np.full(len(loss), LONGEST_FORECAST)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            over = winding_at(middle) >= self._limit
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        found: Vector = np.where(winding_at(high) >= self._limit, high, np.inf)
        found[self.winding >= self._limit] = 0.0
        return found

    def _settle(self, loss: Vector) -> Matrix:
        """Return winding and housing temperatures after a long time with a loss, (n, 2)."""
        drive = np.stack((loss / self._capacity, np.zeros_like(loss)), axis=1)
        rise: Matrix = -np.linalg.solve(self._rates, drive[:, :, None])[:, :, 0]
        return rise + self.motors.ambient

    def _advance(self, tau: Vector, dt: float) -> None:
        if dt != self._step:
            self._step, self._transition = dt, np.asarray(expm(self._rates * dt))
        final = self._settle(self.motors.compute_loss(tau, self.winding))
        now = np.stack((self.winding, self.housing), axis=1) - final
        after = final + (self._transition @ now[:, :, None])[:, :, 0]
        self.winding, self.housing = after[:, 0].copy(), after[:, 1].copy()
