# SPDX-License-Identifier: Apache-2.0
"""Velocity commands: accepted, limited in acceleration, and stopped where they are stale."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.plan.footsteps import FootstepRule
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.filtering.plan.state import WalkState


class VelocityCommand:
    """Limiter of velocity commands."""

    def __init__(self, settings: PlanSettings) -> None:
        self._settings = settings

    def limit(self, state: WalkState, rule: FootstepRule, dt: float) -> None:
        """Move the velocity of a state towards its command by one tick, within the limits of acceleration."""
        s = self._settings
        state.command_age += dt
        goal = rule.limit(state.command) if state.command_age < s.stale_after else np.zeros(3)
        most = dt * np.array(s.acceleration)
        state.velocity = state.velocity + np.clip(goal - state.velocity, -most, most)
        state.course += dt * float(state.velocity[2])
