"""The dynamics filter: any reference in, consistent motion out, sample by sample."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.filtering.certificate import FrameCertificate, FrameJudge
from humanoid_dynamics.filtering.conditioning.intake import HOLD_STEP, TAKEN, Intake, steps_of_hold
from humanoid_dynamics.filtering.conditioning.leash import Leash
from humanoid_dynamics.filtering.conditioning.pace import Pace
from humanoid_dynamics.filtering.conditioning.planner import Planner
from humanoid_dynamics.filtering.conditioning.posture_bound import PostureBound
from humanoid_dynamics.filtering.conditioning.rehearsal import rehearse
from humanoid_dynamics.filtering.conditioning.track import Track
from humanoid_dynamics.filtering.fallen import FALLEN, FASTEST, Recovery, has_fallen
from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.measured import read_state
from humanoid_dynamics.filtering.modes import build_tick
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.start import FirstPlace, Placer
from humanoid_dynamics.filtering.telling import tell_awaited, tell_frame
from humanoid_dynamics.filtering.ticks.step import Step
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

ROWS_AT_A_TIME = 8
NEEDED = ROWS_AT_A_TIME + 3  # rows that a plan needs at least
FEWEST = 3  # rows known with which one more can be planned
PATIENCE = 0.25  # share of the look-ahead that samples may be late before the reference stands still
PAUSE = 0.1  # s; samples that do not come for so long have paused, and are not merely slow
BASE = 6


class DynamicsFilter:
    """A filter for one robot: ``push`` samples as they come, ``tick`` at an even rate.

    From the first frame on every tick has an answer: where samples are late it looks less far ahead, and where they do not come the
    reference stands still until they do.

    Attributes:
        q: (nq,) configuration now.
        v: (nv,) velocity now.
        delay: By how much a frame is later than the newest sample, at most, where samples come as often as ticks; see ``delay_at``;
            what it is now is ``lag`` [s].
        status: What the last tick had to say: a word of ``STATUSES``, the rung with its number.
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
            lookahead: How much of the reference is known beyond the frame that is produced [s].
            settings: Times and lengths of the conditioning.
            tick: How the balanced tick decides.

        Raises:
            UnsupportedRobotError: If the base is not free.
        """
        if robot.root != "free_flyer":
            raise UnsupportedRobotError("the dynamics filter", [robot.root], "needs a robot with a free base, the root is")
        settings = settings or Settings()
        self.settings = settings if lookahead is None else replace(settings, lookahead=lookahead)
        self.robot, self.mode = robot, mode
        self._data = robot.data()
        self.proportions = measure_proportions(robot)
        tick = tick or TickSettings()
        self.doubtful = doubtful_limits(robot)
        if self.doubtful:
            tick = replace(tick, joint_limits=False, torque_limits=False)
        tick = replace(tick, edges=self.settings.edges and mode == "balanced")
        self.tick_settings = tick
        self._tick = build_tick(mode, robot, self.proportions, tick)
        self._judge = FrameJudge(robot, self.proportions, trust_limits=not self.doubtful, compiled=tick.compiled)
        self._bound = mode == "balanced" and tick.joint_limits and tick.torque_limits and tick.unilateral
        self._placer = Placer(robot, keep_limits=tick.joint_limits)
        self._recovery = Recovery(robot, self.settings.dt, self._placer, keep_limits=tick.joint_limits)
        rehearse(robot, self.proportions, self.settings)
        self.restart()
        self.delay = self.delay_at(self.settings.rate)

    def restart(self) -> None:
        """Forget the stream and the state, and a fall."""
        self._recovery.restart()
        bound = PostureBound(self.robot, self.proportions, leaps=self.settings.flights)
        leash = None if self.settings.flights else Leash(self.robot, self.proportions)  # in a leap both soles move alike as well
        self._intake = Intake(self.robot, keep_limits=self.tick_settings.joint_limits, bound=bound, leash=leash)
        self._track = Track(self.robot, self.proportions, self.settings)
        self._planner = Planner(self.proportions, self.settings, self._track)
        self._pace = Pace(self.settings, self._patience)
        self._targets: list[Target] = []
        self._place = FirstPlace(self._placer)
        self._tick.restart()
        self.q: Vector = np.array(self.robot.posture)
        self.v: Vector = np.zeros(self.robot.nv)
        self._row, self._started, self._ended, self._measured = 0, False, False, False
        self._refused, self._stood = "", 0.0
        self.status, self.reason = "waiting", "no sample has come"

    @property
    def _ahead(self) -> int:
        """How many rows are known before the next ones are planned."""
        return max(round(self.settings.lookahead * self.settings.rate), NEEDED)

    @property
    def _patience(self) -> int:
        """How many rows samples may be late before the reference stands still."""
        return round(PATIENCE * self.settings.lookahead * self.settings.rate)

    @property
    def lag(self) -> float:
        """By how much the frame that comes next is later than the newest sample, now [s]; zero before the first sample."""
        if self._intake.q is None:
            return 0.0
        return self._intake.time - self._track.start - (self._planner.now - len(self._targets)) * self.settings.dt

    @property
    def pace(self) -> float:
        """How many times as fast as its stamps say the reference runs at its newest sample, 0.9 to 1.1 [-]."""
        return self._intake.pace

    def delay_at(self, rate: float) -> float:
        """Return by how much a frame is later than the newest sample, at most, where these come evenly.

        The look-ahead, half the window that smooths, and the time until the samples behind it have come.

        Args:
            rate: Samples per second [Hz].

        Returns:
            The bound, which frames that come when they are due keep [s].
        """
        return (self._ahead + self._track.half - 1) * self.settings.dt + self._track.samples_behind / rate

    @property
    def ready(self) -> bool:
        """Whether samples have led to a frame that is not handed out yet: ``while flow.ready: flow.tick()`` takes all there are."""
        return self._place.found and (bool(self._targets) or self._known >= self._least)

    @property
    def _known(self) -> int:
        """How many rows that come next are known."""
        return self._track.end - self._planner.now

    @property
    def _least(self) -> int:
        """How many of them are enough."""
        return NEEDED if self._ended else self._ahead

    def push(self, time: float, q: Vector) -> str:
        """Take one sample of the reference; nothing raises.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.

        Returns:
            What became of it, see ``Intake.take``.
        """
        self._intake.share = self._pace.share
        status = self._intake.take(time, q)
        if status == "jumped" and not (self._started or self._targets) and self._intake.begin_at_rest():
            self._track.restart()
            self._place = FirstPlace(self._placer)
        self._refused = "" if status in TAKEN else status
        if status in TAKEN and self._intake.q is not None:
            self._stood = 0.0
            self._track.add(self._intake.time, self._intake.q)
            if status == "moved":
                self._track.break_off()
        self._prepare()
        return status

    def hold(self, duration: float = 0.1) -> None:
        """Let the reference stand still for some time, before ticks do it by themselves; samples may follow.

        Args:
            duration: The time, 1.5 s at most; what is preset is enough for the next tick [s].
        """
        for step in steps_of_hold(duration):
            self._stand_still(step)
            self._prepare()

    def finish(self) -> None:
        """Say that no sample will follow: what is left comes out, and the reference stands still after its end."""
        self._track.finish()
        self._ended = True
        self._prepare()

    def tick(self, measured: tuple[Vector, Vector] | None = None) -> Frame | None:
        """Return the next frame; nothing raises.

        Where nothing is ready any more it goes on with up to a quarter less of look-ahead, then lets the reference stand still, for as long
        as nothing comes.

        Args:
            measured: Configuration and velocity of a robot; the filter's own where None.

        Returns:
            The frame; None before the first one, and where nothing is left after ``finish``: status and reason say which.
        """
        self._prepare()
        if self._started and not (self._targets or self._ended):
            self._go_without()
        self._watch_pace()
        if not (self._targets and self._place.found):
            seconds = self._known * self.settings.dt, self._ahead * self.settings.dt
            taken = seconds if self._intake.q is not None else None
            self.status, self.reason = tell_awaited(self._refused, taken, planned=bool(self._targets), ended=self._ended)
            return None
        target = self._targets.pop(0)
        state = None if measured is None else read_state(self.robot.model, measured)
        if state is not None:
            self.q, self.v = state
        self._started, self._measured = True, measured is not None
        frame = self._advance(target, measured is not None)
        believed = measured is None or state is not None
        self.status, self.reason = tell_frame(frame, self._refused, self._stood, believed=believed)
        return frame

    def _prepare(self) -> None:
        """Plan the next rows where none are left and the look-ahead is there: at the push that brings it, so that ticks need not."""
        if not self._targets and self._known >= self._least:
            self._plan(ROWS_AT_A_TIME)
        elif not (self._place.begun or self._targets) and self._known >= NEEDED:  # as much as is known
            self._place.begin(Planner(self.proportions, self.settings, self._track).plan(1)[0])
        if not self._place.found:
            self._seek_place()

    def _seek_place(self) -> None:
        """Look for where the robot stands before its first tick, a little at a time where more is to come."""
        if self._place.seek(self._targets[0] if self._targets else None, at_once=self._ended):
            self.q = np.array(self._placer.q)
            self._tick.prepare(self.q, self.v)

    def _plan(self, count: int) -> None:
        for foot, place, turn in self._tick.landings():
            self._planner.landed(foot, place, turn)
        self._targets = self._planner.plan(count, self._centre() if self._started and not self._recovery.active else None)
        if not (self._measured or self._recovery.active):
            self._tick.prepare(self.q, self.v)

    def _go_without(self) -> None:
        """Plan although samples are late: with less look-ahead, and where that is used up with a reference that stands still."""
        least = max(self._ahead - self._patience, FEWEST)
        while self._known < least:
            self._stand_still(HOLD_STEP)
        self._plan(min(ROWS_AT_A_TIME, self._known - FEWEST + 1))

    def _watch_pace(self) -> None:
        if not self._started or self._stood > PAUSE:
            self._pace.restart()
        else:
            self._pace.see(self._known + len(self._targets) - self._ahead)

    def _stand_still(self, time: float) -> None:
        if self._intake.wait(time) and self._intake.q is not None:
            self._stood += time
            self._track.add(self._intake.time, self._intake.q)

    def _centre(self) -> tuple[Vector, Vector]:
        """Return the centre of mass and its velocity."""
        pin.centerOfMass(self.robot.model, self._data, self.q, self.v)
        return np.array(self._data.com[0]), np.array(self._data.vcom[0])

    def _advance(self, target: Target, measured: bool) -> Frame:
        if measured and has_fallen(self.q, self.proportions.pelvis):
            self._recovery.active = True
            return self._frame(target, self.v, self._recovery.brake(self.q, self.v, self._data))
        if self._recovery.active:
            if not measured:
                return self._recover(target)
            self._start_again()  # somebody put the robot on its feet
        return self._go_on(target, measured)

    def _go_on(self, target: Target, measured: bool) -> Frame:
        dt = self.settings.dt
        q, v = self.q, self.v
        step: Step = self._tick.step(target, q, v, dt, measured=measured)
        v = v if step.v is None else step.v
        after = v + dt * step.vdot
        q_after = pin.integrate(self.robot.model, q, dt * after)
        certificate = self._judge.judge(q, v, (q_after, after), step)
        if not measured:
            if not self._is_possible(q_after, after, step, certificate):
                self._lie_down(q)
                return self._recover(target)
            if has_fallen(q, self.proportions.pelvis):
                self._lie_down(q_after)
            else:
                self.q, self.v = q_after, after
        return self._frame(target, v, step, q, certificate)

    def _lie_down(self, q: Vector) -> None:
        """Hold a posture after a fall."""
        self.q, self.v = self._recovery.begin(q), np.zeros(self.robot.nv)
        self._planner.lie_down()

    def _is_possible(self, q: Vector, v: Vector, step: Step, certificate: FrameCertificate) -> bool:
        """Whether what comes next is a number, and inside the limits of joints and motors where these are kept."""
        square = sum(float(part.dot(part)) for part in (q, v, step.vdot, step.tau, step.wrenches.ravel()))
        fast = max(abs(rate) for rate in v[:BASE].tolist())
        return math.isfinite(square) and fast < FASTEST and (certificate.limits_hold or not self._bound)

    def _recover(self, target: Target) -> Frame:
        """Hold the posture, or go on with the way back to both soles."""
        recovery, q = self._recovery, self.q
        if recovery.follow(target, q, last=not self._targets):
            self._planner.restart()
        if recovery.impatient:
            self._intake.wait_standing()
        v, vdot, after, back = recovery.advance(q)
        step = Step(vdot, np.zeros(self.robot.nv - BASE), np.zeros((2, BASE)), (False, False), FALLEN)
        frame = self._frame(target, v, step, q)
        self.q, self.v = after, np.zeros(self.robot.nv)
        if back:
            self._tick.restart()
            recovery.restart()
            self._intake.go_on()
        return frame

    def _start_again(self) -> None:
        """Go on as if motion began here; what is planned already, eight rows at most, passes first."""
        self._recovery.restart()
        self._intake.go_on()
        self._tick.restart()
        self._planner.restart()

    def _frame(self, target: Target, v: Vector, step: Step, q: Vector | None = None, certificate: FrameCertificate | None = None) -> Frame:
        q = self.q if q is None else q
        if certificate is None:
            after = v + self.settings.dt * step.vdot
            certificate = self._judge.judge(q, v, (pin.integrate(self.robot.model, q, self.settings.dt * after), after), step)
        time = self._track.start + self._row * self.settings.dt
        self._row += 1
        reference = self._track.start + target.time
        return Frame(time, reference, q, v, step.vdot, step.tau, step.wrenches, step.stands, step.rung, certificate, target, step.edges)
