# SPDX-License-Identifier: Apache-2.0
"""From phases, footsteps and height to the horizon of a centroidal plan."""

from __future__ import annotations

import numpy as np

from humanoid_dynamics.filtering.plan.centroidal_kernels import BLEND, HULL, SINGLE, Horizon
from humanoid_dynamics.filtering.plan.footsteps import FootstepRule
from humanoid_dynamics.filtering.plan.geometry import WalkGeometry
from humanoid_dynamics.filtering.plan.schedule import PhaseSpan
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.filtering.plan.state import PhaseKind, WalkState
from humanoid_dynamics.filtering.plan.vertical import VerticalPath
from humanoid_dynamics.spatial.arrays import Indices, Matrix, Vector
from humanoid_dynamics.spatial.polygon import half_planes, hull_of


class HorizonBuilder:
    """Builds horizons; the plan decides the rest."""

    def __init__(self, geometry: WalkGeometry, rule: FootstepRule, settings: PlanSettings) -> None:
        self._geometry, self._rule, self._settings = geometry, rule, settings
        margin = np.minimum(settings.inside, settings.inside_share * geometry.half)
        self._half = geometry.half - margin

    def build(
        self,
        state: WalkState,
        phases: list[PhaseSpan],
        height: VerticalPath,
        start: Matrix,
        momentum: Vector,
    ) -> tuple[Horizon, list[float]]:
        """Return the horizon of some phases and the headings of its footsteps.

        Args:
            state: The state of walking.
            phases: What is left of the phase that runs, and those that follow.
            height: The vertical plan.
            start: (3, 2) centre of mass, its velocity, and the CMP that is used now.
            momentum: (2,) centroidal angular momentum about the horizontal axes [kg·m²/s].
        """
        feet, headings, steps, stance = self._place_footsteps(state, phases)
        blocks, kinds, velocity, legs = self._cut(state, phases, height, feet, headings)
        g = self._geometry
        excess = (momentum - legs) / (g.mass * g.gravity)
        # momentum about y falls where the pressure lies before the pivot, about x it rises where it lies to the left
        start = np.vstack((start, [-excess[1], excess[0]]))
        terminal = self._terminal(state, phases, headings, steps)
        horizon = Horizon(
            blocks,
            kinds,
            feet,
            np.array(steps).reshape(-1, 6),
            np.array(stance, dtype=np.intp),
            self._hull(state),
            start,
            velocity,
            terminal,
        )
        return horizon, headings[2:]

    def _place_footsteps(
        self, state: WalkState, phases: list[PhaseSpan]
    ) -> tuple[Matrix, list[float], list[Vector], list[int]]:
        """Return footholds, headings, nominal ways with bounds, and the foothold of the other foot, step by step."""
        places, headings = [state.foothold[0], state.foothold[1]], state.heading.tolist()
        where, steps, stance, now = [0, 1], [], [], 0.0
        for phase in phases:
            now += phase.duration
            if phase.kind is not PhaseKind.SINGLE:
                continue
            other = where[1 - phase.foot]
            after = state.course + float(state.velocity[2]) * now
            step = self._rule.next(phase.foot, headings[other], after, state.velocity)
            where[phase.foot] = len(places)
            places.append(places[other] + step.way)
            headings.append(step.heading)
            steps.append(np.concatenate((step.way, step.bounds)))
            stance.append(other)
        rows = [
            [*place, np.cos(turn), np.sin(turn), *self._half.min(axis=0)]
            for place, turn in zip(places, headings, strict=True)
        ]
        return np.array(rows), headings, steps, stance

    def _cut(
        self,
        state: WalkState,
        phases: list[PhaseSpan],
        height: VerticalPath,
        feet: Matrix,
        headings: list[float],
    ) -> tuple[Matrix, Indices, Matrix, Vector]:
        """Cut phases into blocks; return them, their contacts, the wished velocity and the legs' momentum at the start."""
        g = self._geometry
        blocks, kinds, velocity = [], [], []
        where, landed, now = [0, 1], 2, 0.0
        speed = _turned(state.velocity, float(state.base[0]))
        before = first = self._leg_momentum(state, phases[0], None, 0.0, speed)
        for number, phase in enumerate(phases):
            count = self._count(number, phase)
            d = phase.duration / count
            for k in range(count):
                z, _, zdd = height.follow(now + 0.5 * d)
                load = 1.0 + zdd / g.gravity
                kind, a, b, share = self._contact(number, phase, where, (k + 0.5) / count)
                end = phase.share + (1.0 - phase.share) * (k + 1.0) / count
                way = None
                if phase.kind is PhaseKind.SINGLE:
                    way = feet[landed, :2] - feet[where[phase.foot], :2]
                after = self._leg_momentum(
                    state if number == 0 else None,
                    phase,
                    way,
                    end,
                    _turned(state.velocity, headings[a]),
                )
                change = (after - before) / (d * load * g.mass * g.gravity)
                blocks.append([d, load * g.gravity / z, load, share, -change[1], change[0]])
                kinds.append([kind, a, b])
                velocity.append(_turned(state.velocity, headings[max(a, b)]))
                now, before = now + d, after
            if phase.kind is PhaseKind.SINGLE:
                where[phase.foot] = landed
                landed += 1
        return np.array(blocks), np.array(kinds, dtype=np.intp), np.array(velocity), first

    def _count(self, number: int, phase: PhaseSpan) -> int:
        s = self._settings
        if phase.kind is PhaseKind.STAND:
            return s.stand_blocks
        if number == 0:
            return max(round(phase.duration / s.block), 1)
        return s.later_blocks[0 if phase.kind is PhaseKind.SINGLE else 1]

    def _contact(
        self, number: int, phase: PhaseSpan, where: list[int], part: float
    ) -> tuple[int, int, int, float]:
        """Return kind, footholds and load fraction of the second one at a part of a phase."""
        foot = phase.foot
        if phase.kind is PhaseKind.STAND:
            return HULL, 0, 1, 0.5
        if phase.kind is PhaseKind.SINGLE:
            return SINGLE, where[1 - foot], where[1 - foot], 0.0
        share = phase.share + (1.0 - phase.share) * part
        free = number == 0 and phase.free
        return (HULL if free else BLEND), where[foot], where[1 - foot], share

    def _leg_momentum(
        self,
        state: WalkState | None,
        phase: PhaseSpan,
        way: Vector | None,
        share: float,
        speed: Vector,
    ) -> Vector:
        """Return the angular momentum of both legs about the horizontal axes, with the body at a speed."""
        total = np.zeros(3)
        for foot in (0, 1):
            v = np.array([-speed[0], -speed[1], 0.0])
            if phase.kind is PhaseKind.SINGLE and foot == phase.foot:
                if state is not None and way is None:
                    v += state.swing[1, :3]
                elif way is not None:
                    rate = 30.0 * (share * (1.0 - share)) ** 2
                    duration = state.duration if state is not None else phase.duration
                    v[:2] += way * rate / duration
            total += self._geometry.swing_momentum[foot] @ v
        return total[:2]

    def _hull(self, state: WalkState) -> Matrix:
        single = state.kind is PhaseKind.SINGLE
        return np.zeros((0, 3)) if single else self.bound_pressure(state)

    def bound_pressure(self, state: WalkState) -> Matrix:
        """Return the half planes of the soles as they stand, (r, 3)."""
        swings = state.foot if state.kind is PhaseKind.SINGLE else None
        corners = []
        for foot in (0, 1):
            if foot == swings:
                continue
            turn = float(state.heading[foot] + self._geometry.toe_out[foot])
            for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
                way = _turned(np.array([x, y]) * self._half[foot], turn)
                corners.append(state.foothold[foot] + way)
        A, b = half_planes(hull_of(np.array(corners)))
        return np.column_stack((A, b))

    def find_free_foot(self, state: WalkState, dcm: Vector) -> int:
        """Return the foot that is lifted to capture a divergent component: the one on its side."""
        way = _turned(dcm - state.foothold.mean(axis=0), -float(state.heading.mean()))
        return int(way[1] < 0.0)

    def _terminal(
        self,
        state: WalkState,
        phases: list[PhaseSpan],
        headings: list[float],
        steps: list[Vector],
    ) -> Vector:
        if not steps:
            return np.zeros(2)
        last = phases[-1]
        return self._rule.find_terminal(last.foot, headings[-1], steps[-1][:2], state.velocity)


def _turned(way: Vector, heading: float) -> Vector:
    c, s = np.cos(heading), np.sin(heading)
    return np.array([c * way[0] - s * way[1], s * way[0] + c * way[1]])
