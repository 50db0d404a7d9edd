# SPDX-License-Identifier: Apache-2.0
"""Teleoperation along with the world: poses in as they come, consistent motion out at an even rate."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_dynamics.filtering.live.command import Beat, LiveCommand, LiveFilterStatus, Troubles
from humanoid_dynamics.filtering.live.state import LiveState
from humanoid_dynamics.filtering.poses.answer import TeleoperationFrame, TeleoperationStatus
from humanoid_dynamics.filtering.poses.gate import PoseStreamStatus
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

OF_STREAM = {
    PoseStreamStatus.OUTLIER: LiveFilterStatus.POSE_JUMP,
    PoseStreamStatus.FLIPPED: LiveFilterStatus.POSE_JUMP,
    PoseStreamStatus.SWAPPED: LiveFilterStatus.POSE_SWAPPED,
    PoseStreamStatus.STAMP_IN_PAST: LiveFilterStatus.TIME_BACK,
    PoseStreamStatus.FROZEN: LiveFilterStatus.POSE_FROZEN,
    PoseStreamStatus.GAP: LiveFilterStatus.POSE_LOST,
    PoseStreamStatus.LOST: LiveFilterStatus.POSE_LOST,
    PoseStreamStatus.REFUSED: LiveFilterStatus.OUT_OF_REACH,
    PoseStreamStatus.OUT_OF_REACH: LiveFilterStatus.OUT_OF_REACH,
}
REFUSED = (PoseStreamStatus.NOT_FINITE, PoseStreamStatus.NOT_UNIT, PoseStreamStatus.NOT_A_POSE)


class LivePoses:
    """Leads frames of a robot after the poses of an operator.

    Attributes:
        status: How it follows.
        reason: In words.
        state: The state of the robot, where it is used.
        streams: How well each frame is led, in a word.
    """

    def __init__(
        self,
        robot: RobotModel,
        frames: Sequence[str],
        *,
        rate: float = 200.0,
        publish_lead_time: float = 0.02,
        timeout: float = 0.25,
        measures: bool = False,
        relative: bool = False,
        scale: float = 1.0,
    ) -> None:
        """Prepare.

        Args:
            robot: A robot with a free base and two soles.
            frames: Names of what is led.
            rate: Frames per second [Hz].
            publish_lead_time: How long before its time a frame is sent [s].
            timeout: Age at which a state is stale [s].
            measures: Whether it starts each tick from the state of a robot instead of its own.
            relative: Whether motions count from where frame and operator were when the clutch closed.
            scale: Metres of the robot for a metre of the operator, in relative mode.

        Raises:
            UnsupportedRobotError: If the base is not free, there are not two soles, or a frame is named twice.
            UnknownNameError: If there is no frame of a name.
        """
        self.teleoperation = Teleoperation(robot, frames, rate=rate, relative=relative, scale=scale)
        self.robot, self.publish_lead_time = robot, publish_lead_time
        self._troubles = Troubles()
        self.engaged = True
        self.state = LiveState(robot, self._troubles, timeout, used=measures)
        self.restart()

    def restart(self) -> None:
        """Forget all that came."""
        self.teleoperation.restart()
        self.state.forget()
        self._beat = Beat(self.teleoperation.dt)
        self._last: TeleoperationFrame | None = None
        self._began = False
        self.streams = dict.fromkeys(self.teleoperation.names, PoseStreamStatus.WAITING)
        self.status: LiveFilterStatus = LiveFilterStatus.WAITING
        self.reason = "no pose has come"

    def engage(self) -> None:
        """Close the clutch of all frames."""
        self.engaged = True
        self.teleoperation.engage()

    def hold(self) -> None:
        """Open the clutch of all frames: they stay where they are."""
        self.engaged = False
        self.teleoperation.disengage()

    def observe_pose(self, name: str, stamp: float, pose: Vector, now: float) -> PoseStreamStatus:
        """Take a pose; nothing raises.

        Args:
            name: The frame it is for.
            stamp: When it was measured, zero where that is not known [s].
            pose: (7,) place [m] and quaternion x y z w.
            now: The time [s].

        Returns:
            What became of it, see ``PoseGate.take``.
        """
        became = self.teleoperation.update(name, stamp, pose, now)
        if became in REFUSED:
            self._troubles.put(LiveFilterStatus.POSE_REFUSED, f"{name}: {became.description}", now)
        elif became in OF_STREAM:
            self._troubles.put(OF_STREAM[became], f"{name}: {became.description}", now)
        self._began = self._began or became in {PoseStreamStatus.OK, PoseStreamStatus.POSE_JUMP}
        return became

    def refuse_pose(self, reason: str, now: float) -> None:
        """Tell of a pose that was left out before it came here.

        Args:
            reason: Why.
            now: The time [s].
        """
        self._troubles.put(LiveFilterStatus.POSE_REFUSED, reason, now)

    def advance(self, now: float) -> list[LiveCommand]:
        """Return what is due; nothing raises.

        Args:
            now: The time [s].
        """
        beats = self._beat.take(now)
        if beats is None:
            beats = ()
            self.restart()
            (self.engage if self.engaged else self.hold)()
            self._troubles.put(LiveFilterStatus.TIME_BACK, "the clock went back", now)
        commands = []
        for at in beats if self._began and self.state.object_to(now) is None else ():
            tele, start = self.teleoperation, self.state.start()
            if start is None:
                tele.v = self.state.draw(tele.v, tele.dt)
            frame = tele.step(at, start)
            self.state.ask(at + self.publish_lead_time, frame.q, frame.v)
            self._last, self.streams = (
                frame,
                {name: stream.status for name, stream in frame.streams.items()},
            )
            commands.append(
                LiveCommand.of(at + self.publish_lead_time, frame, tele.dt, self.state.drawn)
            )
        self.status, self.reason = self._troubles.tell(now) or self._find_status(now)
        return commands

    def _find_status(self, now: float) -> tuple[LiveFilterStatus, str]:
        if not self._began:
            return LiveFilterStatus.WAITING, "no pose has come"
        missing = self.state.object_to(now)
        if missing is not None:
            return missing
        frame = self._last
        if frame is None:
            return LiveFilterStatus.WAITING, "no pose has come"
        for name, stream in frame.streams.items():
            if stream.status in OF_STREAM:
                return OF_STREAM[stream.status], f"{name}: {stream.reason}"
        if frame.status is not TeleoperationStatus.OK:
            return LiveFilterStatus.RELAXED, frame.reason
        if all(stream.status is PoseStreamStatus.DISENGAGED for stream in frame.streams.values()):
            return LiveFilterStatus.HOLDING, ""
        return LiveFilterStatus.FOLLOWING, ""
