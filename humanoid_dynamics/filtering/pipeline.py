# SPDX-License-Identifier: Apache-2.0
"""The plan-first filter on one page.

velocity command -> WalkSchedule -> VerticalPlan -> CentroidalPlan -> swing trajectories -> task references -> tick -> certificate -> state
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_dynamics.filtering.certificate import FrameCertificate, FrameJudge
from humanoid_dynamics.filtering.plan.command import VelocityCommand
from humanoid_dynamics.filtering.plan.cycle import PlanCycle
from humanoid_dynamics.filtering.plan.geometry import measure_geometry
from humanoid_dynamics.filtering.plan.leg_motion import LegMotion
from humanoid_dynamics.filtering.plan.references import TaskReferences
from humanoid_dynamics.filtering.plan.schedule import WalkSchedule
from humanoid_dynamics.filtering.plan.settings import PlanSettings
from humanoid_dynamics.filtering.plan.state import WalkState
from humanoid_dynamics.filtering.plan.swing import SwingPlan
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.ticks.step import TickAnswer
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.tick import BalancedTick, TickSettings
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class PipelineAnswer:
    """What one step of the pipeline answers: references, answer of the tick, its certificate, and the state after it."""

    target: Target
    step: TickAnswer
    certificate: FrameCertificate
    q: Vector
    v: Vector


class WalkPipeline:
    """All stages for one robot; what lives from step to step is in a ``WalkState``."""

    def __init__(
        self,
        robot: RobotModel,
        dt: float,
        settings: PlanSettings,
        tick: TickSettings,
        *,
        trust: bool,
    ) -> None:
        self.robot, self.dt, self.settings = robot, dt, settings
        self.proportions = measure_proportions(robot)
        self.geometry, start = measure_geometry(robot, self.proportions, settings)
        self.command = VelocityCommand(settings)
        self.schedule = WalkSchedule(self.geometry, settings)
        self.plans = PlanCycle(self.geometry, self.schedule, settings)
        self.swing = SwingPlan(self.geometry, settings)
        self.references = TaskReferences(robot, self.geometry, start, settings)
        self.legs = LegMotion(robot, self.geometry, tick.gains)
        self.tick = BalancedTick(robot, tick, self.proportions)
        self.judge = FrameJudge(robot, self.proportions, trust_limits=trust)
        self._start, self._data = start, robot.data()

    def begin(self) -> WalkState:
        """Return the state of standing at the origin."""
        self.tick.restart()
        state = WalkState(np.array(self._start), np.zeros(self.robot.nv))
        state.foothold[:, 1] = 0.5 * self.geometry.width, -0.5 * self.geometry.width
        return state

    def step(self, state: WalkState, *, measured: bool = False) -> PipelineAnswer:
        """Advance a state by one tick; nothing raises."""
        com, momentum = self._read_body(state)
        self.command.limit(state, self.plans.rule, self.dt)
        self.plans.renew(state, com, momentum)
        self.swing.advance(state, self.references, self.dt)
        self.references.turn_base(state, self.dt)
        target = self.references.build(state, self.plans.follow(state))
        self.tick.prepare(state.q, state.v)
        self.legs.complete(target, state.q, state.v, self.tick.terms)
        step = self.tick.step(target, state.q, state.v, self.dt, measured=measured)
        answer = self._certify(state, target, step)
        self._note_landings(state)
        self.schedule.advance(state, self.dt, step.stands)
        self.swing.begin_where_due(state, self.references)
        return answer

    def _read_body(self, state: WalkState) -> tuple[Matrix, Vector]:
        """Return centre of mass and its velocity, and centroidal angular momentum."""
        model, data = self.robot.model, self._data
        pin.computeCentroidalMomentum(model, data, state.q, state.v)
        com = np.array([data.com[0], data.hg.linear / self.geometry.mass])
        return com, np.array(data.hg.angular)

    def _certify(self, state: WalkState, target: Target, step: TickAnswer) -> PipelineAnswer:
        v = state.v if step.v is None else step.v
        after = v + self.dt * step.vdot
        q = np.asarray(pin.integrate(self.robot.model, state.q, self.dt * after))
        certificate = self.judge.judge(state.q, v, (q, after), step, target)
        return PipelineAnswer(target, step, certificate, q, after)

    def _note_landings(self, state: WalkState) -> None:
        """Take over where soles stand."""
        for foot, place, turn in self.tick.landings():
            self.references.note_landing(state, foot, place, turn)
