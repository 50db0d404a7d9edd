# SPDX-License-Identifier: Apache-2.0
"""The dynamics filter: any reference in, consistent motion out, sample by sample."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import ShapeError, UnsupportedRobotError
from humanoid_dynamics.filtering.certificate import FrameCertificate, FrameJudge
from humanoid_dynamics.filtering.conditioning.intake import steps_of_hold
from humanoid_dynamics.filtering.conditioning.sample_clock import SampleStatus
from humanoid_dynamics.filtering.conditioning.warm_up import rehearse
from humanoid_dynamics.filtering.fallen import has_fallen, unheld
from humanoid_dynamics.filtering.frame import FilterStatus, Frame
from humanoid_dynamics.filtering.measured import read_arrays, read_number, read_state
from humanoid_dynamics.filtering.modes import build_tick
from humanoid_dynamics.filtering.prediction import Prediction
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.recovery import Recovery
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.start import Placer
from humanoid_dynamics.filtering.status import tell_frame
from humanoid_dynamics.filtering.target_stream import ROWS_AT_A_TIME, TargetStream
from humanoid_dynamics.filtering.ticks.step import TickAnswer
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

SHORTEST = 0.02  # s; so much of the reference is known anyway once there is enough for a plan
SUNK = 0.01  # m; a robot whose bearing sole is farther from its ground has fallen
FASTEST = 20.0  # m/s or rad/s; a base that is faster is none any more
BASE = 6


class DynamicsFilter:
    """Dynamics filter of one robot: ``update`` with samples as they come, ``step`` at an even rate.

    From the first frame on every tick has an answer: where samples are late it looks less far ahead, and where they do not come the
    reference stands still until they do.

    Attributes:
        q: (nq,) configuration now.
        v: (nv,) velocity now.
        delay: By how much a frame is later than the newest sample, at most, where samples come as often as ticks; see ``delay_at``;
            what it is now is ``lag`` [s].
        status: How the last tick was answered.
        reason: The same in words; what is awaited where there is no frame.
        proportions: Measures of the robot.
        doubtful: Joints whose limits cannot be meant; where there are any no joint and torque limits are kept.
        tick_settings: How the tick decides.
    """

    def __init__(
        self,
        robot: RobotModel,
        mode: str = "balanced",
        *,
        lookahead: float | None = None,
        settings: Settings | None = None,
        tick: TickSettings | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            mode: How a tick is answered: ``balanced`` or ``paper``.
            lookahead: How much of the reference is known beyond the frame that is produced; one tick at least, and what is less than
                0.02 s is as good as that [s].
            settings: Times and lengths of the conditioning.
            tick: How the balanced tick decides.

        Raises:
            UnsupportedRobotError: If the base is not free.
            ShapeError: If the look-ahead is none.
        """
        if robot.root != "free_flyer":
            raise UnsupportedRobotError(
                "the dynamics filter", [robot.root], "requires a floating base, received root"
            )
        settings = settings or Settings()
        settings = settings if lookahead is None else replace(settings, lookahead=lookahead)
        self.settings = replace(settings, lookahead=max(settings.lookahead, SHORTEST))
        self.robot, self.mode = robot, mode
        self._data = robot.data()
        self.proportions = measure_proportions(robot)
        tick = tick or TickSettings()
        self.doubtful = doubtful_limits(robot)
        if self.doubtful:
            tick = replace(tick, joint_limits=False, torque_limits=False)
        tick = replace(tick, edges=self.settings.toe_roll and mode == "balanced")
        self.tick_settings = tick
        self._tick = build_tick(mode, robot, self.proportions, tick)
        self._judge = FrameJudge(robot, self.proportions, trust_limits=not self.doubtful)
        self._bound = (
            mode == "balanced" and tick.joint_limits and tick.torque_limits and tick.unilateral
        )
        self._placer = Placer(robot, keep_limits=tick.joint_limits)
        self._recovery = Recovery(
            robot, self.settings.dt, self._placer, keep_limits=tick.joint_limits
        )
        self._prediction = Prediction(robot.model, self.settings.dt)
        rehearse(robot, self.proportions, self.settings)
        self.restart()
        self.delay = self.delay_at(self.settings.rate)

    def restart(self) -> None:
        """Forget the stream and the state, and a fall."""
        self._recovery.restart()
        self._stream = TargetStream(
            self.robot,
            self.proportions,
            self.settings,
            self._placer,
            keep_limits=self.tick_settings.joint_limits,
        )
        self._tick.restart()
        self._prediction.restart()
        self.q: Vector = np.array(self.robot.posture)
        self.v: Vector = np.zeros(self.robot.nv)
        self._row, self._measured = 0, False
        self.status: FilterStatus = FilterStatus.WAITING
        self.reason = "no sample has come"

    @property
    def lag(self) -> float:
        """By how much the frame that comes next is later than the newest sample, now [s]; zero before the first sample."""
        return self._stream.lag

    @property
    def pace(self) -> float:
        """How many times as fast as its stamps say the reference runs at its newest sample, 0.9 to 1.1 [-]."""
        return self._stream.pace

    @property
    def behind(self) -> float:
        """By how much the newest sample is later than its stamp says [s]: negative where time was left out."""
        return self._stream.behind

    def delay_at(self, rate: float) -> float:
        """Return by how much a frame is later than the newest sample, at most, where these come evenly.

        The look-ahead, half the window that smooths, and the time until the samples behind it have come.

        Args:
            rate: Samples per second [Hz].

        Returns:
            The bound, which frames that come when they are due keep [s].

        Raises:
            ShapeError: If the rate is none.
        """
        if not 0.0 < read_number(rate) < math.inf:
            raise ShapeError("rate", repr(rate), "a positive number of samples per second")
        return self._stream.delay_at(rate)

    @property
    def ready(self) -> bool:
        """Whether a frame is ready: ``while dynamics_filter.ready: dynamics_filter.step()`` takes all there are."""
        return self._stream.ready

    def keep_time(self, late: float, missed: float = 0.0) -> None:
        """Catch up with stamps, up to a tenth faster, for who sends frames by a clock: the backlog does not matter then.

        Args:
            late: By how much frames are sent later than their time says [s].
            missed: How much is to be left out before the next sample [s].
        """
        late, missed = read_number(late), read_number(missed)
        if math.isfinite(late) and math.isfinite(missed):
            self._stream.late = late
            self._stream.leave_out(missed)

    def update(self, time: float, q: Vector) -> SampleStatus:
        """Take one sample of the reference; nothing raises.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.

        Returns:
            Whether it is followed, and how, or why it was rejected.
        """
        status = self._stream.take(time, q)
        self._prepare()
        return status

    def hold(self, duration: float = 0.1) -> None:
        """Let the reference stand still for some time, before ticks do it by themselves; samples may follow.

        Args:
            duration: The time, 1.5 s at most; what is preset is enough for the next tick [s].
        """
        for step in steps_of_hold(duration):
            self._stream.stand_still(step)
            self._prepare()

    def finish(self) -> None:
        """Say that no sample will follow: what is left comes out, and the reference stands still after its end."""
        self._stream.finish()
        self._prepare()

    def step(self, measured: tuple[Vector, Vector] | None = None, age: float = 0.0) -> Frame | None:
        """Return the next frame; nothing raises.

        Where nothing is ready any more it goes on with up to a quarter less of look-ahead, then lets the reference stand still, for as long
        as nothing comes.

        Args:
            measured: Configuration and velocity of a robot; the filter's own where None.
            age: How long ago they were measured: by what was asked for since they are led on, by 0.05 s at most; what is negative or
                no number counts as zero [s].

        Returns:
            The frame; None before the first one, and where nothing is left after ``finish``: status and reason say which.
        """
        self._prepare()
        stream = self._stream
        if stream.started and not (stream.planned or stream.ended):
            self._plan(stream.go_without())
        stream.watch_pace()
        target = stream.next()
        if target is None:
            self.status, self.reason = stream.tell_awaited()
            return None
        state = None if measured is None else read_state(self.robot.model, measured)
        if state is not None:
            self.q, self.v = self._prediction.lead_on(*state, read_number(age))
        self._measured = measured is not None
        frame = self._advance(target, self._measured)
        self._prediction.note(frame.vdot)
        fault = self._name_fault(measured) if state is None and self._measured else None
        self.status, self.reason = tell_frame(frame, stream.refused, stream.stood, fault)
        return frame

    def _name_fault(self, measured: tuple[Vector, Vector] | None) -> FilterStatus:
        """Return why a measured state is not used."""
        if read_arrays(self.robot.model, measured) is None:
            return FilterStatus.STATE_WRONG_SHAPE
        return FilterStatus.STATE_NOT_FINITE

    def _prepare(self) -> None:
        """Plan the next rows where none are left and the look-ahead is there: at the push that brings it, so that ticks need not."""
        stream = self._stream
        if stream.is_due:
            self._plan()
        if not stream.place.found and stream.seek_place():
            self.q = np.array(self._placer.q)
            self._tick.prepare(self.q, self.v)

    def _plan(self, most: int = ROWS_AT_A_TIME) -> None:
        follows = self._stream.started and not self._recovery.active
        self._stream.plan(
            self._tick.landings(),
            self._centre() if follows else None,
            most,
            measured=self._measured,
        )
        if not (self._measured or self._recovery.active):
            self._tick.prepare(self.q, self.v)

    def _centre(self) -> tuple[Vector, Vector]:
        """Return the centre of mass and its velocity."""
        pin.centerOfMass(self.robot.model, self._data, self.q, self.v)
        return np.array(self._data.com[0]), np.array(self._data.vcom[0])

    def _advance(self, target: Target, measured: bool) -> Frame:
        if measured and has_fallen(self.q, self.proportions.pelvis, self.proportions.up):
            self._recovery.active = True
            return self._frame(target, self.v, self._recovery.way.brake(self.q, self.v))
        if self._recovery.active:
            if not measured:
                return self._recover(target)
            self._start_again()  # somebody put the robot on its feet
        return self._go_on(target, measured)

    def _go_on(self, target: Target, measured: bool) -> Frame:
        dt = self.settings.dt
        q, v = self.q, self.v
        step: TickAnswer = self._tick.step(target, q, v, dt, measured=measured)
        v = v if step.v is None else step.v
        after = v + dt * step.vdot
        q_after = pin.integrate(self.robot.model, q, dt * after)
        certificate = self._judge.judge(q, v, (q_after, after), step, target)
        if not measured:
            if not self._is_possible(q_after, after, step, certificate):
                self._lie_down(q)
                return self._recover(target)
            if has_fallen(q, self.proportions.pelvis, self.proportions.up):
                self._lie_down(q_after)
            else:
                self.q, self.v = q_after, after
        return self._frame(target, v, step, q, certificate)

    def _lie_down(self, q: Vector) -> None:
        """Hold a posture after a fall."""
        self.q, self.v = self._recovery.begin(q), np.zeros(self.robot.nv)
        self._stream.lie_down()

    def _is_possible(
        self, q: Vector, v: Vector, step: TickAnswer, certificate: FrameCertificate
    ) -> bool:
        """Whether what comes next is a number, and inside the limits of joints and motors, soles on the ground, where these are kept."""
        square = sum(
            float(part.dot(part)) for part in (q, v, step.vdot, step.tau, step.wrenches.ravel())
        )
        fast = max(abs(rate) for rate in v[:BASE].tolist())
        inside = certificate.limits_hold and certificate.height < SUNK
        return math.isfinite(square) and fast < FASTEST and (inside or not self._bound)

    def _recover(self, target: Target) -> Frame:
        """Hold the posture, or go on with the way back to both soles."""
        recovery, q = self._recovery, self.q
        if recovery.follow(target, q, last=not self._stream.planned):
            self._stream.plan_anew()
        if recovery.impatient:
            self._stream.wait_standing()
        v, vdot, after, back = recovery.advance(q)
        frame = self._frame(target, v, unheld(self.robot, vdot), q)
        self.q, self.v = after, np.zeros(self.robot.nv)
        if back:
            self._tick.restart()
            recovery.restart()
            self._stream.go_on()
        return frame

    def _start_again(self) -> None:
        """Go on as if motion began here; what is planned already, eight rows at most, passes first."""
        self._recovery.restart()
        self._stream.go_on()
        self._tick.restart()
        self._stream.plan_anew()

    def _frame(
        self,
        target: Target,
        v: Vector,
        step: TickAnswer,
        q: Vector | None = None,
        certificate: FrameCertificate | None = None,
    ) -> Frame:
        q = self.q if q is None else q
        if certificate is None:
            after = v + self.settings.dt * step.vdot
            q_after = pin.integrate(self.robot.model, q, self.settings.dt * after)
            certificate = self._judge.judge(q, v, (q_after, after), step, target)
        time = self._stream.start + self._row * self.settings.dt
        self._row += 1
        reference = self._stream.instant_of(target)
        return Frame(
            time,
            reference,
            q,
            v,
            step.vdot,
            step.tau,
            step.wrenches,
            step.stands,
            step.rung,
            certificate,
            target,
            step.edges,
        )
