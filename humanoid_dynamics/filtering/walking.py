# SPDX-License-Identifier: Apache-2.0
"""Walking by command: a velocity in, consistent motion out, tick by tick."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from humanoid_dynamics.errors import ShapeError, UnsupportedRobotError
from humanoid_dynamics.filtering.fallen import WayBack, has_fallen, unheld
from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.measured import read_number, read_state, read_vector
from humanoid_dynamics.filtering.pipeline import PipelineAnswer, WalkPipeline
from humanoid_dynamics.filtering.plan.certificate import PlanCertificate, PlanStatus
from humanoid_dynamics.filtering.plan.settings import (
    FASTEST,
    LEAST_FORCE,
    RATE,
    RATES,
    WALK_TICK,
    PlanSettings,
)
from humanoid_dynamics.filtering.plan.state import PhaseKind, WalkState
from humanoid_dynamics.filtering.prediction import Prediction
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector
from humanoid_dynamics.status import StatusEnum

NO_PLAN = PlanCertificate(PlanStatus.STOPPING, 0.0, -math.inf, 0.0, 0)


class WalkStatus(StatusEnum):
    """How the last tick of walking by command was answered."""

    STANDING = "STANDING", "the robot stands on both soles; all limits that are checked are kept"
    WALKING = "WALKING", "the robot walks; all limits that are checked are kept"
    COMMAND_STALE = "COMMAND_STALE", "no velocity command comes; the robot is brought to a stop"
    COMMAND_INVALID = (
        "COMMAND_INVALID",
        "the velocity command is not three finite numbers; it is ignored",
    )
    PLAN_FALLBACK = (
        "PLAN_FALLBACK",
        "no optimal plan was found; the plan certificate names the fall-back",
    )
    RELAXED = "RELAXED", "a limit of the tick is relaxed"
    LIMIT_VIOLATED = "LIMIT_VIOLATED", "a limit is violated; the certificate names it"
    STATE_NOT_FINITE = (
        "STATE_NOT_FINITE",
        "the measured state is not finite; the last good one is used",
    )
    FALLEN = "FALLEN", "the robot fell; it is not moved any more until restart"


@dataclass(frozen=True, slots=True, eq=False)
class WalkFrame(Frame):
    """One frame of walking.

    Attributes:
        plan: Certificate of the plan that is followed.
        velocity: (3,) velocity command within the limits of acceleration.
        phase: Contact phase.
    """

    plan: PlanCertificate = NO_PLAN
    velocity: Vector = field(default_factory=lambda: np.zeros(3))
    phase: PhaseKind = PhaseKind.STAND


class WalkingFilter:
    """Walking of one robot by velocity commands: ``step`` at an even rate.

        walking = hd.WalkingFilter(hd.load_robot("g1"))
        frame = walking.step([0.3, 0.0, 0.0])

    Attributes:
        robot: The robot.
        dt: Time between ticks [s].
        status: How the last tick was answered.
        reason: The same in words.
        doubtful: Joints with implausible limits; where there are any, limits of joints and motors are neither kept nor judged.
    """

    def __init__(
        self,
        robot: RobotModel,
        *,
        rate: float = RATE,
        settings: PlanSettings | None = None,
        tick: TickSettings | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two legs of at least six joints.
            rate: Ticks per second [Hz].
            settings: Times, weights and margins of the plans.
            tick: How the tick decides.

        Raises:
            UnsupportedRobotError: If the robot cannot walk by command: the base is not free, a leg has fewer than six joints, or soles are
                not polygons, or one leg does not bear the robot within its torque limits.
            ShapeError: If the rate is not between 50 and 2000 Hz.
        """
        if robot.root != "free_flyer":
            raise UnsupportedRobotError(
                "walking by command", [robot.root], "requires a floating base, received root"
            )
        if not RATES[0] <= read_number(rate) <= RATES[1]:
            raise ShapeError("rate", repr(rate), "a number from 50 to 2000 Hz")
        self.robot, self.dt = robot, 1.0 / rate
        self.doubtful = doubtful_limits(robot)
        tick = tick or WALK_TICK
        if self.doubtful:
            tick = replace(tick, joint_limits=False, torque_limits=False)
        self._pipeline = WalkPipeline(
            robot, self.dt, settings or PlanSettings(), tick, trust=not self.doubtful
        )
        self.proportions, self.geometry = self._pipeline.proportions, self._pipeline.geometry
        if not self.doubtful:
            self._refuse_weak_legs()
        self._prediction = Prediction(robot.model, self.dt)
        self._brake = WayBack(robot, self.dt)
        self.restart()

    def _refuse_weak_legs(self) -> None:
        borne = float(self.geometry.force[-1])
        if borne < LEAST_FORCE:
            raise UnsupportedRobotError(
                "walking by command",
                [f"{borne:.2f} weights"],
                "requires legs that bear the robot alone within their torque limits, received",
            )

    def restart(self) -> None:
        """Stand at the origin."""
        self._state = self._pipeline.begin()
        self._prediction.restart()
        self.status, self.reason = WalkStatus.STANDING, WalkStatus.STANDING.description

    @property
    def q(self) -> Vector:
        """(nq,) configuration now."""
        return self._state.q

    @property
    def v(self) -> Vector:
        """(nv,) velocity now."""
        return self._state.v

    @property
    def steps(self) -> int:
        """Steps made since the start."""
        return self._state.steps

    @property
    def repairs(self) -> dict[str, int]:
        """Changes of schedule and plan by feedback, by name."""
        return self._state.repairs

    @property
    def step_time(self) -> float:
        """Nominal time from one touch-down to the next [s]."""
        return self._pipeline.schedule.step_time

    def copy(self) -> WalkState:
        """Return a copy of everything that lives from tick to tick."""
        state = self._state.copy()
        state.asked, state.footing = self._prediction.asked, self._pipeline.tick.footing.copy()
        return state

    def restore(self, state: WalkState) -> None:
        """Go on from a copy."""
        self._state.restore(state)
        self._prediction.restore(state.asked)
        if state.footing is not None:
            self._pipeline.tick.footing.restore(state.footing)

    def step(
        self,
        velocity: Any = None,
        *,
        measured: tuple[Vector, Vector] | None = None,
        age: float = 0.0,
    ) -> WalkFrame:
        """Return the next frame; nothing raises.

        Args:
            velocity: Command: forward, sideways [m/s] and turning [rad/s] in axes of the robot; None where no new one came.
            measured: Configuration and velocity of a robot; the filter's own where None.
            age: How long ago they were measured [s].
        """
        state, valid = self._state, self._accept(velocity)
        believed = self._take_measured(measured, age)
        p = self.proportions
        if has_fallen(state.q, p.pelvis, p.up):
            state.fallen = True
        elif measured is not None:
            state.fallen = False
        if state.fallen:
            return self._stay_down(measured is not None)
        q, v, velocity_now = state.q, state.v, state.velocity
        answer = self._pipeline.step(state, measured=measured is not None)
        if measured is None:
            if not _is_usable(answer):
                state.fallen = True
                return self._stay_down(False)
            state.q, state.v = answer.q, answer.v
        self._prediction.note(answer.step.vdot)
        state.time += self.dt
        state.path_age += self.dt
        plan = state.certificate or NO_PLAN
        self._name_status(answer, plan, believed=believed, valid=valid)
        step = answer.step
        return WalkFrame(
            state.time - self.dt,
            state.time - self.dt,
            q,
            v if step.v is None else step.v,
            step.vdot,
            step.tau,
            step.wrenches,
            step.stands,
            step.rung,
            answer.certificate,
            answer.target,
            step.edges,
            plan,
            velocity_now,
            state.kind,
        )

    def _accept(self, velocity: Any) -> bool:
        """Take a command over; return whether it is one, or none came."""
        if velocity is None:
            return True
        command = read_vector(velocity)
        if command is None or command.shape != (3,) or not np.isfinite(command).all():
            return False
        self._state.command, self._state.command_age = command, 0.0
        return True

    def _take_measured(self, measured: tuple[Vector, Vector] | None, age: float) -> bool:
        if measured is None:
            return True
        found = read_state(self.robot.model, measured)
        if found is None:
            return False
        self._state.q, self._state.v = self._prediction.lead_on(*found, read_number(age))
        return True

    def _stay_down(self, measured: bool) -> WalkFrame:
        """Answer for a robot that fell: its own state rests, motors of a measured one brake."""
        state, nv = self._state, self.robot.nv
        if measured:
            step = self._brake.brake(state.q, state.v)
        else:
            state.v = np.zeros(nv)
            step = unheld(self.robot, np.zeros(nv))
        state.time += self.dt
        self.status, self.reason = WalkStatus.FALLEN, WalkStatus.FALLEN.description
        target = self._pipeline.references.build(state, np.zeros((3, 3)))
        certificate = self._pipeline.judge.judge(state.q, state.v, (state.q, state.v), step, target)
        time = state.time - self.dt
        return WalkFrame(
            time,
            time,
            state.q,
            state.v,
            step.vdot,
            step.tau,
            step.wrenches,
            step.stands,
            step.rung,
            certificate,
            target,
            plan=NO_PLAN,
            velocity=np.zeros(3),
        )

    def _name_status(
        self, answer: PipelineAnswer, plan: PlanCertificate, *, believed: bool, valid: bool
    ) -> None:
        state = self._state
        stale = state.command_age >= self._pipeline.settings.stale_after
        moves = state.kind is not PhaseKind.STAND
        if not believed:
            self.status = WalkStatus.STATE_NOT_FINITE
        elif answer.step.rung:
            self.status = WalkStatus.RELAXED
        elif not answer.certificate.holds:
            self.status = WalkStatus.LIMIT_VIOLATED
        elif plan.status not in {PlanStatus.OPTIMAL, PlanStatus.SLACK}:
            self.status = WalkStatus.PLAN_FALLBACK
        elif not valid:
            self.status = WalkStatus.COMMAND_INVALID
        elif stale and moves:
            self.status = WalkStatus.COMMAND_STALE
        else:
            self.status = WalkStatus.WALKING if moves else WalkStatus.STANDING
        self.reason = self.status.description
        if self.status is WalkStatus.PLAN_FALLBACK:
            self.reason += f": {plan.status.description}"


def _is_usable(answer: PipelineAnswer) -> bool:
    """Return whether the state after a step is finite, and no faster than any robot."""
    return bool(
        np.isfinite(answer.q).all()
        and np.isfinite(answer.v).all()
        and np.abs(answer.v[:6]).max() < FASTEST
    )
