"""The dynamics filter: any reference in, consistent motion out, sample by sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.filtering.certificate import FrameCertificate, FrameJudge
from humanoid_dynamics.filtering.conditioning.intake import TAKEN, Intake
from humanoid_dynamics.filtering.conditioning.planner import Planner
from humanoid_dynamics.filtering.conditioning.rehearsal import rehearse
from humanoid_dynamics.filtering.conditioning.track import Track
from humanoid_dynamics.filtering.doubt import doubtful_limits
from humanoid_dynamics.filtering.fallen import FALLEN, FASTEST, Recovery, has_fallen
from humanoid_dynamics.filtering.modes import build_tick
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.start import place_robot
from humanoid_dynamics.filtering.ticks.step import Step
from humanoid_dynamics.filtering.ticks.target import Target
from humanoid_dynamics.filtering.ticks.tick import TickSettings
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

ROWS_AT_A_TIME = 8
MARGIN = 3  # rows beyond those that are planned
BASE = 6
STATUSES = {
    "waiting": "the look-ahead is not there yet",
    "ok": "all limits are kept",
    "rung": "a limit gives way; the number says which of ``step.RUNGS``",
    "state_not_finite": "the measured state is no state; the last one that was is used",
    "fallen": "the robot fell; its posture is held until the reference stands on both soles, then it goes back there and on",
    "ended": "nothing is left",
}


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One frame of consistent motion.

    Attributes:
        time: Its instant, evenly from the start of the reference on [s].
        reference: Instant of the reference it belongs to [s]; behind where time had to stand still before a foot was lifted.
        q: (nq,) configuration.
        v: (nv,) velocity.
        vdot: (nv,) acceleration with which motion goes on.
        tau: (na,) torques of all coordinates but those of the base.
        wrenches: (2, 6) wrenches of the ground on the soles, in axes of each.
        stands: Whether each sole bears load.
        rung: Place on the ladder of the tick: 0 where all limits were kept.
        certificate: How consistent it is.
        target: What was wanted.
        edges: What each standing sole stands on: 0 all of it, 1 the front edge, -1 the rear edge.
    """

    time: float
    reference: float
    q: Vector
    v: Vector
    vdot: Vector
    tau: Vector
    wrenches: Vector
    stands: tuple[bool, bool]
    rung: int
    certificate: FrameCertificate
    target: Target
    edges: tuple[int, int] = (0, 0)


class DynamicsFilter:
    """A filter for one robot: ``push`` samples as they come, ``tick`` at an even rate.

    Attributes:
        q: (nq,) configuration now.
        v: (nv,) velocity now.
        delay: By how much a frame is later than the newest sample that it needs [s].
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
        self.delay = self.settings.lookahead
        self._bound = mode == "balanced" and tick.joint_limits and tick.torque_limits and tick.unilateral
        self._recovery = Recovery(robot, self.settings.dt, keep_limits=tick.joint_limits)
        rehearse(robot, self.proportions, self.settings)
        self.restart()

    def restart(self) -> None:
        """Forget the stream and the state, and a fall."""
        self._recovery.restart()
        self._intake = Intake(self.robot, keep_limits=self.tick_settings.joint_limits)
        self._track = Track(self.robot, self.proportions, self.settings)
        self._planner = Planner(self.proportions, self.settings, self._track)
        self._targets: list[Target] = []
        self._tick.restart()
        self.q: Vector = np.array(self.robot.posture)
        self.v: Vector = np.zeros(self.robot.nv)
        self._row, self._started, self._ended, self._measured = 0, False, False, False
        self.status = "waiting"

    def push(self, time: float, q: Vector) -> str:
        """Take one sample of the reference; nothing raises.

        Args:
            time: Its instant [s].
            q: (nq,) configuration.

        Returns:
            What became of it, see ``Intake.take``.
        """
        status = self._intake.take(time, q)
        if status in TAKEN and self._intake.q is not None:
            self._track.add(self._intake.time, self._intake.q)
            self._prepare()
        return status

    def finish(self) -> None:
        """Say that no sample will follow: what is left comes out, and the reference stands still after its end."""
        self._track.finish()
        self._ended = True

    def tick(self, measured: tuple[Vector, Vector] | None = None) -> Frame | None:
        """Return the next frame; nothing raises.

        Args:
            measured: Configuration and velocity of a robot; the filter's own where None.

        Returns:
            The frame; None where the look-ahead is not there yet, or nothing is left.
        """
        target = self._next_target()
        if target is None:
            self.status = "ended" if self._ended else "waiting"
            return None
        believed = measured is None or self._take_state(measured)
        self._started, self._measured = True, measured is not None
        frame = self._advance(target, measured is not None)
        if frame.rung == FALLEN:
            self.status = "fallen"
        else:
            self.status = "ok" if frame.rung == 0 else f"rung {frame.rung}"
            self.status = self.status if believed else "state_not_finite"
        return frame

    def _take_state(self, measured: tuple[Vector, Vector]) -> bool:
        """Take the state of a robot; return whether it is one."""
        q, v = np.array(measured[0], dtype=np.float64), np.array(measured[1], dtype=np.float64)
        if q.shape != self.q.shape or v.shape != self.v.shape or not (np.isfinite(q).all() and np.isfinite(v).all()):
            return False
        self.q, self.v = q, v
        return True

    def _next_target(self) -> Target | None:
        self._prepare()
        return self._targets.pop(0) if self._targets else None

    def _prepare(self) -> None:
        """Plan the next rows where none are left and the look-ahead is there: at the push that brings it, so that ticks need not."""
        if self._targets:
            return
        ready = self._track.end - self._planner.now
        needed = 0 if self._ended else round(self.settings.lookahead * self.settings.rate)
        if ready >= max(needed, ROWS_AT_A_TIME + MARGIN):
            for foot, place, turn in self._tick.landings():
                self._planner.landed(foot, place, turn)
            self._targets = self._planner.plan(ROWS_AT_A_TIME, self._centre() if self._started and not self._recovery.active else None)
            if not self._started:
                self.q = place_robot(self.robot, self._targets[0], keep_limits=self.tick_settings.joint_limits)
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
        elif recovery.due:  # the first target of a plan that knows nothing of the fall
            recovery.go(q, place_robot(self.robot, target, keep_limits=self.tick_settings.joint_limits))
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
