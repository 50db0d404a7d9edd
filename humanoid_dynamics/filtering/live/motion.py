# SPDX-License-Identifier: Apache-2.0
"""The filter along with the world: pieces of a reference in as they come, consistent motion out when it is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from humanoid_dynamics.control.reference import Reference
from humanoid_dynamics.filtering.conditioning.sample_clock import ACCEPTED, SampleStatus
from humanoid_dynamics.filtering.fallen import FALLEN
from humanoid_dynamics.filtering.filter import DynamicsFilter
from humanoid_dynamics.filtering.frame import Frame
from humanoid_dynamics.filtering.live.command import Beat, LiveCommand, LiveFilterStatus, Troubles
from humanoid_dynamics.filtering.live.state import LiveState
from humanoid_dynamics.filtering.settings import Settings
from humanoid_dynamics.filtering.slope import GroundSlope
from humanoid_dynamics.filtering.ticks.step import RUNGS
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Matrix, Vector

NS = 1e-9
SAMPLE = 0.02  # s between samples of the reference
PATIENCE = 0.1  # s; how long the end of a reference waits for the next piece before it is held
ALONE = 0.2  # s; joints that are not joined by a base for so long go without
FAREST = 600.0  # s; a piece that begins later is not meant
LONGEST = 1.0  # s; what was missed for longer is left out, and so much at most is caught up with


class LiveMotion:
    """Follows a reference, by ``delay`` later than it was asked for.

    Attributes:
        status: How it follows.
        reason: In words.
        reference: What was asked for.
        state: The state of the robot, where it is used.
    """

    def __init__(  # noqa: PLR0913
        self,
        robot: RobotModel,
        *,
        rate: float = 200.0,
        mode: str = "balanced",
        delay: float = 1.1,
        publish_lead_time: float = 0.1,
        timeout: float = 0.25,
        measures: bool = False,
        normal: ArrayLike | None = None,
        toe_roll: bool = False,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            rate: Frames per second [Hz].
            mode: How a tick is answered: ``balanced`` or ``paper``.
            delay: How much later than in the reference everything happens [s].
            publish_lead_time: How long before its time a frame is sent [s].
            timeout: Age at which a piece or a state is stale [s].
            measures: Whether it starts each tick from the state of a robot instead of its own.
            normal: (3,) normal of the ground, through the origin; upward where None.
            toe_roll: Whether soles roll over their front edge before lift-off.

        Raises:
            UnsupportedRobotError: If the base is not free, or there are not two soles.
            ShapeError: If the normal is no direction of ground.
        """
        self._slope = None if normal is None else GroundSlope(robot, normal)
        settings = Settings(
            rate=rate, toe_roll=toe_roll, paced=False
        )  # frames are due when their stamps say
        self.filter = DynamicsFilter(
            self._slope.robot if self._slope else robot, mode, settings=settings
        )
        self.robot = robot
        self.delay, self.publish_lead_time, self.timeout = delay, publish_lead_time, timeout
        self._troubles = Troubles()
        self.state = LiveState(robot, self._troubles, timeout, used=measures)
        self.engaged = True
        self.restart()

    def restart(self) -> None:
        """Forget all that came."""
        self.filter.restart()
        self.state.forget()
        self.reference = Reference(
            self.robot, checked=False
        )  # limits and jumps are the business of the filter
        self._beat = Beat(self.filter.settings.dt)
        self._origin = self._cursor = self._came = np.nan
        self._based = False
        self._last: Vector | None = None
        self._shift, self._rung, self._late = 0.0, 0, 0.0
        self._next = np.nan
        self.status: LiveFilterStatus = LiveFilterStatus.WAITING
        self.reason = "no reference has come"

    @property
    def lag(self) -> float:
        """By how much later than in the reference everything happens now [s]: ``delay``, and what was lost and is not caught up with."""
        return self.delay + self._late

    def engage(self) -> None:
        """Follow."""
        self.engaged = True

    def hold(self) -> None:
        """Stay where it is, as soon as it stands."""
        self.engaged = False

    def put_joints(
        self, names: Sequence[str], times: Sequence[int], table: Mapping[str, Matrix], now: float
    ) -> bool:
        """Take a piece of joint trajectory, see ``Reference.put_joints``; nothing raises.

        Args:
            names: Joint names.
            times: Knots [ns].
            table: ``positions``, and where known ``velocities`` and ``accelerations``.
            now: The time [s].
        """
        if not self._is_meant(times, now):
            return False
        if not self.reference.put_joints(names, times, table):
            self._troubles.put(LiveFilterStatus.REFERENCE_REJECTED, self.reference.fault, now)
            return False
        if not np.isfinite(self._came):
            self._came = now
        return True

    def put_base(self, times: Sequence[int], rows: Matrix, now: float) -> bool:
        """Take a piece of the motion of the base, see ``Reference.put_base``; nothing raises.

        Args:
            times: Knots [ns].
            rows: (knots, 13) positions and velocities.
            now: The time [s].
        """
        if not self._is_meant(times, now):
            return False
        if not self.reference.put_base(times, rows):
            self._troubles.put(LiveFilterStatus.REFERENCE_REJECTED, self.reference.fault, now)
            return False
        self._based = True
        return True

    def refuse_reference(self, reason: str, now: float) -> None:
        """Note a piece of the reference that was refused before it came here.

        Args:
            reason: Why.
            now: The time [s].
        """
        self._troubles.put(LiveFilterStatus.REFERENCE_REJECTED, reason, now)

    def advance(self, now: float) -> list[LiveCommand]:
        """Return what is due; nothing raises.

        Args:
            now: The time [s].
        """
        beats = self._beat.take(now)
        if beats is None:
            beats = ()
            self.restart()
            self._troubles.put(LiveFilterStatus.TIME_BACK, "the clock went back", now)
        if not self._begins(now):
            self._judge(now)
            return []
        commands: list[LiveCommand] = []
        if self.state.object_to(now) is None:
            self._sample(now)
            commands = self._produce(now, len(beats))
        self._judge(now)
        return commands

    def _is_meant(self, times: Sequence[int], now: float) -> bool:
        if times and (times[-1] * NS < now - self.timeout or times[0] * NS > now + FAREST):
            what = (
                f"ended {now - times[-1] * NS:.2f} s ago"
                if times[-1] * NS < now
                else f"begins in {times[0] * NS - now:.0f} s"
            )
            self._troubles.put(
                LiveFilterStatus.REFERENCE_STALE, f"a piece of the reference {what}", now
            )
            return False
        return True

    def _begins(self, now: float) -> bool:
        """Return whether there is something to follow, and begin with it."""
        if np.isfinite(self._cursor):
            return True
        if not self.reference.begun or not (self._based or now - self._came > ALONE):
            return False
        self._origin, self._cursor = now, now - SAMPLE
        if self._slope is not None:
            self.reference.at(
                self._cursor
            )  # what follows begins on the slope and not on level ground
        return True

    def _sample(self, now: float) -> None:
        end = self.reference.end
        until = now if now <= end or not self.engaged else max(end, now - PATIENCE)
        missed = until - self._cursor - SAMPLE
        missed = (
            missed if missed > 0.0 and missed + self._shift + self.filter.behind > LONGEST else 0.0
        )
        self._cursor, self._shift = self._cursor + missed, self._shift + missed
        self.filter.keep_time(self._shift, missed)
        while self._cursor + SAMPLE <= until + 1e-9:
            self._cursor += SAMPLE
            asked = self.reference.at(self._cursor).q
            if self.engaged or self._last is None:
                self._last = asked
            asked = self._last if self._slope is None else self._slope.to_ground(self._last)
            became = self.filter.update(self._cursor - self._origin, asked)
            if became in ACCEPTED and became is not SampleStatus.OK:
                self._troubles.put(LiveFilterStatus.LIMITED, became.description, now)
            elif became not in ACCEPTED:
                self._troubles.put(
                    LiveFilterStatus.REFERENCE_REJECTED,
                    f"a posture of the reference was left out: {became}",
                    now,
                )

    def _produce(self, now: float, beats: int) -> list[LiveCommand]:
        commands: list[LiveCommand] = []
        for _ in range(beats):
            if (
                np.isfinite(self._next)
                and now < self._stamp(self._next) - self.publish_lead_time - 1e-9
            ):
                break
            if not np.isfinite(self._next) and now < self._stamp(0.0) - self.publish_lead_time:
                break
            frame = self._tick() if self.filter.ready else None
            if frame is None:
                break
            self._rung = frame.rung
            late = now - self.publish_lead_time - self._stamp(frame.time)
            if late > self.timeout:  # time was lost: all that follows is later
                self._shift += late
            self._next = frame.time + self.filter.settings.dt
            self._late = frame.time + self._shift - frame.reference
            self.state.ask(self._stamp(frame.time), frame.q, frame.v)
            commands.append(
                LiveCommand.of(
                    self._stamp(frame.time), frame, self.filter.settings.dt, self.state.drawn
                )
            )
        return commands

    def _tick(self) -> Frame | None:
        """Return the next frame in axes of the world."""
        state, slope = self.state.start(), self._slope
        if state is None:
            self.filter.v = self.state.draw(self.filter.v, self.filter.settings.dt)
        if slope is None:
            return self.filter.step(state)
        frame = self.filter.step(None if state is None else (slope.to_ground(state[0]), state[1]))
        return None if frame is None else slope.frame_to_world(frame)

    def _stamp(self, time: float) -> float:
        return float(self._origin + time + self.delay + self._shift)

    def _judge(self, now: float) -> None:
        self.status, self.reason = self._troubles.tell(now) or self._find_status(now)

    def _find_status(self, now: float) -> tuple[LiveFilterStatus, str]:
        if not np.isfinite(self._cursor):
            return LiveFilterStatus.WAITING, "no reference has come"
        missing = self.state.object_to(now)
        if missing is not None:
            return missing
        if self._rung == FALLEN:
            return LiveFilterStatus.FALLEN, LiveFilterStatus.FALLEN.description
        if self._rung:
            return LiveFilterStatus.RELAXED, RUNGS[self._rung].replace("_", " ")
        if not self.engaged:
            return LiveFilterStatus.HOLDING, ""
        return (
            LiveFilterStatus.REFERENCE_ENDED
            if now > self.reference.end + PATIENCE
            else LiveFilterStatus.FOLLOWING
        ), ""
