# SPDX-License-Identifier: Apache-2.0
"""Vertical plan: acceleration of the centre of mass at even nodes, inside what legs can push, from one quadratic program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.plan.geometry import WalkGeometry
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.solvers.qp import QpStatus, QpWorkspace
from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True, slots=True, eq=False)
class VerticalPath:
    """Heights of the centre of mass over a horizon.

    Attributes:
        step: Time between nodes [s].
        height: (n + 1,) heights at the nodes [m].
        rate: (n + 1,) vertical velocities [m/s].
        acceleration: (n,) vertical accelerations between them [m/s^2].
    """

    step: float
    height: Vector
    rate: Vector
    acceleration: Vector

    def follow(self, time: float) -> tuple[float, float, float]:
        """Return height, rate and acceleration at a time since the plan was made."""
        k = min(int(time / self.step), len(self.acceleration) - 1)
        t, a = min(time - k * self.step, self.step), float(self.acceleration[k])
        z, v = float(self.height[k]), float(self.rate[k])
        return z + t * (v + 0.5 * a * t), v + a * t, a


class VerticalPlan:
    """Solver of vertical plans.  The Hessian never changes: without active bounds the answer is one product."""

    def __init__(self, geometry: WalkGeometry, settings: PlanSettings) -> None:
        n, dt = settings.vertical_nodes, settings.vertical_step
        self._geometry, self._dt = geometry, dt
        steps = np.arange(1, n + 1)[:, None] - np.arange(n)[None, :]
        self._rates = np.where(steps > 0, dt, 0.0)
        self._places = np.where(steps > 0, (steps - 0.5) * dt * dt, 0.0)
        self._times = dt * np.arange(1, n + 1)
        self._stiff = settings.height_stiffness**4
        self._qp = QpWorkspace(n, 0, n, size=geometry.gravity)
        self._qp.A[:] = np.eye(n)
        self._qp.H[:] = self._stiff * self._places.T @ self._places + np.eye(n)
        self._inverse = np.linalg.solve(self._qp.H, self._places.T) * self._stiff
        self._least = (settings.least_load - 1.0) * geometry.gravity

    def _find_most(self, height: float) -> float:
        """Return the largest acceleration that one leg can give at a height [m/s^2]."""
        g = self._geometry
        return float((np.interp(height, g.force_height, g.force) - 1.0) * g.gravity)

    def solve(self, height: float, rate: float, goal: Vector | float) -> VerticalPath:
        """Return the path from a height and a rate to goals at the nodes."""
        free: Vector = np.asarray(height + rate * self._times, dtype=np.float64)
        a: Vector = np.asarray(self._inverse @ (goal - free), dtype=np.float64)
        most = max(self._find_most(height), 0.0)
        if a.min() < self._least or a.max() > most:
            a = self._solve_bounded(np.asarray(free), goal, a, most)
        return VerticalPath(
            self._dt,
            np.concatenate(([height], free + self._places @ a)),
            np.concatenate(([rate], rate + self._rates @ a)),
            a,
        )

    def _solve_bounded(self, free: Vector, goal: Vector | float, a: Vector, most: float) -> Vector:
        qp = self._qp
        qp.f[:] = self._stiff * (self._places.T @ (free - goal))
        qp.lower[:], qp.upper[:] = self._least, most
        found = qp.solve()
        return found.x if found.status is QpStatus.OPTIMAL else np.clip(a, self._least, most)
