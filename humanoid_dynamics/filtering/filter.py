"""The dynamics filter: any reference in, consistent motion out, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_dynamics.errors import UnsupportedRobotError
from humanoid_dynamics.filtering.certificate import FrameCertificate, FrameJudge
from humanoid_dynamics.filtering.doubt import doubtful_limits
from humanoid_dynamics.filtering.intake import Intake
from humanoid_dynamics.filtering.modes import build_tick
from humanoid_dynamics.filtering.planner import Planner
from humanoid_dynamics.filtering.proportions import measure_proportions
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.start import place_robot
from humanoid_dynamics.filtering.target import Target
from humanoid_dynamics.filtering.tick import Step, TickSettings
from humanoid_dynamics.filtering.track import Track
from humanoid_dynamics.filtering.windows import prepare_windows
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

ROWS_AT_A_TIME = 8
MARGIN = 3  # rows beyond those that are planned


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


class DynamicsFilter:
    """A filter for one robot: ``push`` samples as they come, ``tick`` at an even rate.

    Attributes:
        q: (nq,) configuration now.
        v: (nv,) velocity now.
        delay: By how much a frame is later than the newest sample that it needs [s].
        status: What the last tick had to say.
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
        self.tick_settings = tick
        self._tick = build_tick(mode, robot, self.proportions, tick)
        self._judge = FrameJudge(robot, self.proportions, trust_limits=not self.doubtful, compiled=tick.compiled)
        self.delay = self.settings.lookahead
        prepare_windows()
        self.restart()

    def restart(self) -> None:
        """Forget the stream and the state."""
        self._intake = Intake(self.robot, keep_limits=self.tick_settings.joint_limits)
        self._track = Track(self.robot, self.proportions, self.settings)
        self._planner = Planner(self.robot, self.proportions, self.settings, self._track)
        self._targets: list[Target] = []
        self._tick.restart()
        self.q: Vector = np.array(self.robot.posture)
        self.v: Vector = np.zeros(self.robot.nv)
        self._row, self._started, self._ended = 0, False, False
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
        if status in {"ok", "moved", "limited", "noisy"} and self._intake.q is not None:
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
        if measured is not None:
            self.q, self.v = np.array(measured[0]), np.array(measured[1])
        elif not self._started:
            self.q = place_robot(self.robot, target, keep_limits=self.tick_settings.joint_limits)
        self._started = True
        return self._advance(target, measured is not None)

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
            self._targets = self._planner.plan(ROWS_AT_A_TIME, self._centre() if self._started else None)

    def _centre(self) -> tuple[Vector, Vector]:
        """Return the centre of mass and its velocity."""
        pin.centerOfMass(self.robot.model, self._data, self.q, self.v)
        return np.array(self._data.com[0]), np.array(self._data.vcom[0])

    def _advance(self, target: Target, measured: bool) -> Frame:
        dt = self.settings.dt
        q, v = self.q, self.v
        step: Step = self._tick.step(target, q, v, dt, measured=measured)
        v = v if step.v is None else step.v
        after = v + dt * step.vdot
        q_after = pin.integrate(self.robot.model, q, dt * after)
        certificate = self._judge.judge(q, v, (q_after, after), step)
        if not measured:
            self.q, self.v = q_after, after
        for foot, place, turn in self._tick.landings():
            self._planner.landed(foot, place, turn)
        time = self._track.start + self._row * dt
        self._row += 1
        self.status = "ok" if step.rung == 0 else f"rung {step.rung}"
        return Frame(
            time, self._track.start + target.time, q, v, step.vdot, step.tau, step.wrenches, step.stands, step.rung, certificate, target
        )
