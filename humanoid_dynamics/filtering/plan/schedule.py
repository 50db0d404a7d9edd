# SPDX-License-Identifier: Apache-2.0
"""Contact schedule: which soles stand, until when, and which foot swings next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_dynamics.filtering.plan.geometry import WalkGeometry
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.filtering.plan.state import PhaseKind, WalkState
from humanoid_dynamics.spatial.arrays import Vector


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """One phase of the horizon.

    Attributes:
        kind: What stands.
        foot: Foot that swings, or is lifted next.
        duration: What is left of it [s].
        share: Share of it that has passed.
        free: Whether both soles bear as they like, or the load passes from one to the other evenly.
    """

    kind: PhaseKind
    foot: int
    duration: float
    share: float = 0.0
    free: bool = False


class WalkSchedule:
    """Phases of standing and walking; the velocity command starts and ends walking."""

    def __init__(self, geometry: WalkGeometry, settings: PlanSettings) -> None:
        self._settings, rate = settings, geometry.rate
        self._geometry = geometry
        self.swing_time = settings.swing_time / rate
        self.double_time = settings.double_time / rate
        self.start_time = settings.start_time / rate
        self.stand_horizon = settings.stand_horizon / rate

    @property
    def step_time(self) -> float:
        """Time from one touch-down to the next [s]."""
        return self.swing_time + self.double_time

    def list_phases(self, state: WalkState) -> list[PhaseSpan]:
        """Return what is left of the phase that runs, and phases up to the last decided touch-down."""
        kind, foot, s = state.kind, state.foot, self._settings
        if kind is PhaseKind.STAND:
            return [PhaseSpan(kind, foot, self.stand_horizon)]
        least = 0.5 * s.vertical_step
        left = max(state.duration - state.elapsed, least)
        phases = [
            PhaseSpan(kind, foot, left, min(state.elapsed / state.duration, 1.0), state.starts)
        ]
        steps = int(kind is PhaseKind.SINGLE)
        while steps < s.footsteps:
            if phases[-1].kind is PhaseKind.SINGLE:
                foot = 1 - foot
                phases.append(PhaseSpan(PhaseKind.DOUBLE, foot, self.double_time))
            else:
                phases.append(PhaseSpan(PhaseKind.SINGLE, foot, self.swing_time))
                steps += 1
        return phases

    def advance(self, state: WalkState, dt: float, stands: tuple[bool, bool]) -> None:
        """Go on by one tick.

        Args:
            state: The state; its phase is changed.
            dt: Time of the tick [s].
            stands: Whether each sole bears load.
        """
        state.elapsed += dt
        if state.kind is PhaseKind.STAND:
            if self.wants_to_walk(state):
                self.begin_walk(state, self._choose_foot(state.velocity))
        elif state.kind is PhaseKind.DOUBLE:
            if state.elapsed >= state.duration - 0.5 * dt and all(stands):
                self._begin(state, PhaseKind.SINGLE, state.foot, self.swing_time)
        elif state.elapsed >= state.duration - 0.5 * dt and stands[state.foot]:
            state.steps += 1
            if not self.wants_to_walk(state) and self._is_side_by_side(state):
                self._begin(state, PhaseKind.STAND, state.foot, np.inf)
            else:
                self._begin(state, PhaseKind.DOUBLE, 1 - state.foot, self.double_time)

    def begin_walk(self, state: WalkState, foot: int, *, hurry: bool = False) -> None:
        """Leave standing: the load goes to the other foot first."""
        self._begin(state, PhaseKind.DOUBLE, foot, self.double_time if hurry else self.start_time)

    def list_candidates(self, state: WalkState, left: float) -> list[float]:
        """Return other durations of what is left of the phase that runs [s]."""
        s = self._settings
        least = max(s.least_share * self.swing_time - state.elapsed, s.vertical_step)
        if state.kind is PhaseKind.DOUBLE:
            least = s.vertical_step
        return [max(factor * left, least) for factor in s.timing if factor * left > 0.0]

    def wants_to_walk(self, state: WalkState) -> bool:
        """Return whether the command or the limited velocity is more than standing."""
        still = np.array(self._settings.still)
        return bool((np.abs(state.velocity) > still).any())

    def _begin(self, state: WalkState, kind: PhaseKind, foot: int, duration: float) -> None:
        state.starts = state.kind is PhaseKind.STAND
        state.kind, state.foot, state.duration, state.elapsed = kind, foot, duration, 0.0
        state.due = True

    def _choose_foot(self, velocity: Vector) -> int:
        """Return the foot that starts: the one on the side of the motion."""
        sideways = velocity[1] + velocity[2] * self._geometry.width
        return int(sideways < 0.0)

    def _is_side_by_side(self, state: WalkState) -> bool:
        heading = float(state.heading.mean())
        c, s = np.cos(heading), np.sin(heading)
        way = state.foothold[0] - state.foothold[1]
        ahead, across = c * way[0] + s * way[1], c * way[1] - s * way[0]
        near = self._settings.side_by_side
        return bool(abs(ahead) < near and abs(across - self._geometry.width) < near)
