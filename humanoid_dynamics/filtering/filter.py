"""The dynamics filter: any reference in, consistent motion out, sample by sample."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.filtering.certificate import FrameCertificate, FrameJudge
from humanoid_dynamics.filtering.conditioning.intake import TAKEN, Intake, steps_of_hold
from humanoid_dynamics.filtering.conditioning.leash import Leash
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
from humanoid_dynamics.filtering.start import Placer
from humanoid_dynamics.filtering.ticks.step import Step
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.model.doubt import doubtful_limits
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

ROWS_AT_A_TIME = 8
SEARCHED = 2  # iterations of a tick that looks for where to stand
NEEDED = ROWS_AT_A_TIME + 3  # rows that a plan needs at least
BASE = 6


class DynamicsFilter:
    """A filter for one robot: ``push`` samples as they come, ``tick`` at an even rate.

    Attributes:
        q: (nq,) configuration now.
        v: (nv,) velocity now.
        delay: By how much a frame is later than the newest sample, at most, where samples come as often as ticks; see ``delay_at`` [s].
        status: What the last tick had to say: a word of ``STATUSES``, the rung with its number.
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
        self._recovery = Recovery(robot, self.settings.dt, keep_limits=tick.joint_limits)
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
        self._targets: list[Target] = []
        self._tick.restart()
        self.q: Vector = np.array(self.robot.posture)
        self.v: Vector = np.zeros(self.robot.nv)
        self._row, self._started, self._ended, self._measured = 0, False, False, False
        self.status = "waiting"

    @property
    def _ahead(self) -> int:
        """How many rows are known before the next ones are planned."""
        return max(round(self.settings.lookahead * self.settings.rate), NEEDED)

    def delay_at(self, rate: float) -> float:
        """Return by how much a frame is later than the newest sample, at most, where these come evenly.

        The look-ahead, half the window that smooths, and the time until the samples behind it have come.

        Args:
            rate: Samples per second [Hz].

        Returns:
            The bound, which frames that come when they are due keep [s].
        """
        return (self._ahead + self._track.half - 1) * self.settings.dt + self._track.samples_behind / rate

    def push(self, time: float, q: Vector) -> str:
        """Take one sample of the reference; nothing raises.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.

        Returns:
            What became of it, see ``Intake.take``.
        """
        status = self._intake.take(time, q)
        if status == "jumped" and not (self._started or self._targets) and self._intake.begin_at_rest():
            self._track.restart()
        if status in TAKEN and self._intake.q is not None:
            self._track.add(self._intake.time, self._intake.q)
            if status == "moved":
                self._track.break_off()
            self._prepare()
        return status

    def hold(self, duration: float) -> None:
        """Let the reference stand still for some time where its sender is silent, so that ticks have an answer; samples may follow.

        Args:
            duration: The time, 1.5 s at most; 0.1 s are enough for the next tick [s].
        """
        for step in steps_of_hold(duration):
            if self._intake.wait(step) and self._intake.q is not None:
                self._track.add(self._intake.time, self._intake.q)
                self._prepare()

    def finish(self) -> None:
        """Say that no sample will follow: what is left comes out, and the reference stands still after its end."""
        self._track.finish()
        self._ended = True

    def tick(self, measured: tuple[Vector, Vector] | None = None) -> Frame | None:
        """Return the next frame; nothing raises.

        Args:
            measured: Configuration and velocity of a robot; the filter's own where None.

        Returns:
            The frame; None where the look-ahead is not there, or nothing is left: the status says which.
        """
        target = self._next_target()
        if target is None:
            self.status = "ended" if self._ended else "silent" if self._started else "waiting"
            return None
        state = None if measured is None else read_state(self.robot.model, measured)
        if state is not None:
            self.q, self.v = state
        self._started, self._measured = True, measured is not None
        frame = self._advance(target, measured is not None)
        self.status = _name_status(frame, believed=measured is None or state is not None)
        return frame

    def _next_target(self) -> Target | None:
        self._prepare()
        return self._targets.pop(0) if self._targets else None

    def _prepare(self) -> None:
        """Plan the next rows where none are left and the look-ahead is there: at the push that brings it, so that ticks need not."""
        if self._targets:
            return
        ready = self._track.end - self._planner.now
        if ready >= (NEEDED if self._ended else self._ahead):
            for foot, place, turn in self._tick.landings():
                self._planner.landed(foot, place, turn)
            self._targets = self._planner.plan(ROWS_AT_A_TIME, self._centre() if self._started and not self._recovery.active else None)
            if not self._started:
                self.q = self._placer.place(self._targets[0])
            if not (self._measured or self._recovery.active):
                self._tick.prepare(self.q, self.v)

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
        may_return = recovery.may_return(target)
        if recovery.returning and not may_return:
            recovery.begin(q)
        elif recovery.due or recovery.looks:
            self._look_where_to_stand(target)
        elif not recovery.returning and not self._targets and may_return:
            self._planner.restart()
            recovery.due = True
        v, vdot, after, back = recovery.advance(q)
        step = Step(vdot, np.zeros(self.robot.nv - BASE), np.zeros((2, BASE)), (False, False), FALLEN)
        frame = self._frame(target, v, step, q)
        self.q, self.v = after, np.zeros(self.robot.nv)
        if back:
            self._tick.restart()
            recovery.restart()
        return frame

    def _look_where_to_stand(self, target: Target) -> None:
        """Look for it, a little at every tick, and set out once it is found."""
        if self._recovery.due:  # the first target of a plan that knows nothing of the fall
            self._placer.begin(target)
            self._recovery.due, self._recovery.looks = False, True
        self._placer.advance(SEARCHED)
        if self._placer.done:
            self._recovery.go(self.q, self._placer.q)

    def _start_again(self) -> None:
        """Go on as if motion began here; what is planned already, eight rows at most, passes first."""
        self._recovery.restart()
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


def _name_status(frame: Frame, *, believed: bool) -> str:
    """Return a word of ``STATUSES``."""
    if frame.rung == FALLEN:
        return "fallen"
    if not believed:
        return "state_not_finite"
    if frame.rung:
        return f"rung {frame.rung}"
    return "ok" if frame.certificate.holds else "outside"
