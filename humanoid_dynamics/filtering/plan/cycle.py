# SPDX-License-Identifier: Apache-2.0
"""Renewal of the plans: when, from which candidates, and what is done where none has an answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humanoid_dynamics.filtering.plan.centroidal import CentroidalPath, CentroidalPlan
from humanoid_dynamics.filtering.plan.certificate import (
    PlanCertificate,
    PlanStatus,
    measure_capture_margin,
)
from humanoid_dynamics.filtering.plan.footsteps import FootstepRule
from humanoid_dynamics.filtering.plan.geometry import WalkGeometry
from humanoid_dynamics.filtering.plan.horizon import HorizonBuilder
from humanoid_dynamics.filtering.plan.schedule import PhaseSpan, WalkSchedule
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.filtering.plan.state import PhaseKind, WalkState
from humanoid_dynamics.filtering.plan.vertical import VerticalPlan
from humanoid_dynamics.spatial.arrays import Matrix, Vector


class PlanCycle:
    """Makes plans from a state and keeps the last one in it.

    Fall-back order: new plan; last plan, shifted; plan without limits of friction and angular momentum; bounded centre of mass on the
    schedule that runs; stop on both soles.
    """

    def __init__(
        self, geometry: WalkGeometry, schedule: WalkSchedule, settings: PlanSettings
    ) -> None:
        self._geometry, self._schedule, self._settings = geometry, schedule, settings
        self.rule = FootstepRule(geometry, schedule, settings)
        self._builder = HorizonBuilder(geometry, self.rule, settings)
        self._vertical = VerticalPlan(geometry, settings)
        self._centroidal = CentroidalPlan(geometry, settings)

    def renew(self, state: WalkState, com: Matrix, momentum: Vector) -> None:
        """Make a new plan where one is due: by age, by a change of phase, or by the error of the divergent component.

        Args:
            state: The state; its plan is changed.
            com: (2, 3) centre of mass and its velocity.
            momentum: (3,) centroidal angular momentum [kg·m²/s].
        """
        error = self._measure_error(state, com)
        period, limit = self._settings.period, self._settings.dcm_error
        due = state.due or state.path_age >= period - 1e-9
        if state.path is not None and not due and error <= limit:
            return
        if not due:
            state.count_repair("replanned")
        state.height_path = self._vertical.solve(
            float(com[0, 2]), float(com[1, 2]), self._geometry.height
        )
        start = np.array([com[0, :2], com[1, :2], self._pivot_now(state, com)])
        found = self._choose(state, start, momentum[:2])
        status = self._accept(state, found, start, momentum)
        state.due = False
        if state.kind is PhaseKind.STAND and state.path is not None:
            self._insert_step(state, com)
        slack = state.path.slack if state.path is not None else 0.0
        margin = measure_capture_margin(state, com, self._geometry)
        state.certificate = PlanCertificate(
            status, slack, margin, error, sum(state.repairs.values())
        )

    def follow(self, state: WalkState) -> Matrix:
        """Return the planned centre of mass with two derivatives, (3, 3), one a row."""
        assert state.path is not None
        assert state.height_path is not None
        out = np.empty((3, 3))
        at, _ = self._centroidal.follow(state.path, state.path_age)
        out[:, :2], out[:, 2] = at, state.height_path.follow(state.path_age)
        return out

    def _measure_error(self, state: WalkState, com: Matrix) -> float:
        """Return how far the divergent component is from the plan [m]."""
        if state.path is None:
            return 0.0
        at, _ = self._centroidal.follow(state.path, state.path_age)
        off = at[0] - com[0, :2] + (at[1] - com[1, :2]) / self._geometry.rate
        return float(np.hypot(off[0], off[1]))

    def _pivot_now(self, state: WalkState, com: Matrix) -> Vector:
        if state.path is None:
            return np.asarray(com[0, :2])
        _, block = self._centroidal.follow(state.path, state.path_age)
        return np.asarray(state.path.cmp[block])

    def _choose(
        self, state: WalkState, start: Matrix, momentum: Vector
    ) -> tuple[CentroidalPath | None, list[float]]:
        """Return the path of the best candidate duration of the phase that runs, and headings of its footsteps."""
        phases = self._schedule.list_phases(state)
        best = self._solve(state, phases, start, momentum)
        if best[0] is not None and best[0].slack <= self._settings.slack_tolerance:
            return best
        if state.kind is PhaseKind.STAND:
            return best
        left = phases[0].duration
        for duration in self._schedule.list_candidates(state, left):
            share = state.elapsed / (state.elapsed + duration)
            first = replace(phases[0], duration=duration, share=share)
            path, headings = self._solve(state, [first, *phases[1:]], start, momentum)
            if path is not None and (best[0] is None or path.cost < best[0].cost):
                best, state.duration = (path, headings), state.elapsed + duration
        if state.duration != state.elapsed + left:
            state.count_repair("retimed")
        return best

    def _solve(
        self,
        state: WalkState,
        phases: list[PhaseSpan],
        start: Matrix,
        momentum: Vector,
        *,
        relaxed: bool = False,
    ) -> tuple[CentroidalPath | None, list[float]]:
        assert state.height_path is not None
        horizon, headings = self._builder.build(state, phases, state.height_path, start, momentum)
        return self._centroidal.solve(horizon, relaxed=relaxed), headings

    def _accept(
        self,
        state: WalkState,
        found: tuple[CentroidalPath | None, list[float]],
        start: Matrix,
        momentum: Vector,
    ) -> PlanStatus:
        """Take over a path, or fall back; return how the plan was made."""
        settings, (path, headings) = self._settings, found
        status = PlanStatus.OPTIMAL
        if path is None:
            state.count_repair("fallback")
            last = state.path
            if last is not None and not state.due and state.path_age < settings.shift_limit:
                return PlanStatus.SHIFTED
            phases = self._schedule.list_phases(state)
            path, headings = self._solve(state, phases, start, momentum[:2], relaxed=True)
            status = PlanStatus.RELAXED
        if path is None:
            hull = self._builder.bound_pressure(state)
            path = self._centroidal.keep_bounded(
                start, hull, float(state.phase_left(settings.block))
            )
            state.velocity = np.zeros(3)
            status = PlanStatus.BOUNDED
        elif status is PlanStatus.OPTIMAL and path.slack > settings.slack_tolerance:
            status = PlanStatus.SLACK
        state.path, state.path_age = path, 0.0
        if state.kind is PhaseKind.SINGLE and len(path.footsteps):
            state.landing = np.array([*path.footsteps[0], headings[0]])
        return status

    def _insert_step(self, state: WalkState, com: Matrix) -> None:
        """Begin to walk where standing does not capture the divergent component."""
        assert state.path is not None
        if state.path.slack <= self._settings.capture_slack:
            return
        dcm = com[0, :2] + com[1, :2] / self._geometry.rate
        state.count_repair("inserted_step")
        self._schedule.begin_walk(state, self._builder.find_free_foot(state, dcm), hurry=True)
