# SPDX-License-Identifier: Apache-2.0
"""Swing trajectories: quintic polynomials from where the foot is to where it lands, renewed with every plan."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.plan.geometry import WalkGeometry
from humanoid_dynamics.filtering.plan.references import TaskReferences
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.filtering.plan.state import PhaseKind, WalkState
from humanoid_dynamics.spatial.arrays import Vector


class SwingPlan:
    """Trajectory of the swinging sole: level, from its state to the planned landing, over an apex."""

    def __init__(self, geometry: WalkGeometry, settings: PlanSettings) -> None:
        self._clearance, self._apex = settings.clearance * geometry.leg, settings.apex
        self._speed, self._depth = settings.landing_speed, settings.landing_depth

    def advance(self, state: WalkState, references: TaskReferences, dt: float) -> None:
        """Move the reference of the swinging sole by one tick."""
        if state.kind is not PhaseKind.SINGLE:
            return
        swing, landing = state.swing, state.landing
        goal = references.sole_origin(state.foot, landing[:2], float(landing[2]))
        left = max(state.duration - state.elapsed, dt)
        rise = self._apex * state.duration - state.elapsed
        for i, place in ((0, goal[0]), (1, goal[1]), (3, landing[2])):
            swing[:, i] = follow_quintic_to(swing[:, i], float(place), left, dt)
        if rise > dt:
            top = float(goal[2]) + self._clearance
            swing[:, 2] = follow_quintic_to(swing[:, 2], top, rise, dt)
        elif state.elapsed < state.duration - dt:
            swing[:, 2] = follow_quintic_to(swing[:, 2], float(goal[2]), left, dt, -self._speed)
        else:  # late: the sole goes on down until the ground stops it
            low = float(goal[2]) - self._depth
            swing[:, 2] = max(swing[0, 2] - dt * self._speed, low), -self._speed, 0.0

    def begin_where_due(self, state: WalkState, references: TaskReferences) -> None:
        """Start the reference of the sole where it stands, in the first tick of a swing."""
        if state.kind is PhaseKind.SINGLE and state.elapsed == 0.0:
            foot, heading = state.foot, float(state.heading[state.foot])
            state.swing[:] = 0.0
            state.swing[0, :3] = references.sole_origin(foot, state.foothold[foot], heading)
            state.swing[0, 3] = heading


def follow_quintic_to(
    state: Vector, goal: float, duration: float, time: float, speed: float = 0.0
) -> Vector:
    """Return place, rate and second rate after a time on the quintic that reaches a goal at a speed without acceleration.

    Args:
        state: (3,) place, rate and second rate now.
        goal: Where it arrives.
        duration: When [s].
        time: The time, at most the duration [s].
        speed: Rate on arrival.
    """
    T, t = duration, min(time, duration)
    x, v, a = state
    gap, rate, second = goal - x - v * T - 0.5 * a * T * T, (speed - v - a * T) * T, -a * T * T
    c3 = (10.0 * gap - 4.0 * rate + 0.5 * second) / T**3
    c4 = (-15.0 * gap + 7.0 * rate - second) / T**4
    c5 = (6.0 * gap - 3.0 * rate + 0.5 * second) / T**5
    return np.array(
        [
            x + t * (v + t * (0.5 * a + t * (c3 + t * (c4 + t * c5)))),
            v + t * (a + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5))),
            a + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5)),
        ]
    )
