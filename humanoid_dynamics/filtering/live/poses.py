"""Teleoperation along with the world: poses in as they come, consistent motion out at an even rate."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_dynamics.filtering.live.command import Beat, Command, Troubles
from humanoid_dynamics.filtering.live.state import LiveState
from humanoid_dynamics.filtering.poses.answer import TeleoperationFrame
from humanoid_dynamics.filtering.poses.stream import STATUSES as STREAMS
from humanoid_dynamics.filtering.poses.teleoperation import Teleoperation
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.spatial.arrays import Vector

OF_STREAM = {
    "outlier": "pose_jumped",
    "flipped": "pose_jumped",
    "swapped": "pose_swapped",
    "time_backwards": "time_back",
    "frozen": "pose_frozen",
    "gap": "pose_lost",
    "lost": "pose_lost",
    "refused": "out_of_reach",
    "out_of_reach": "out_of_reach",
}
REFUSED = ("not_finite", "not_unit", "not_a_pose")


class LivePoses:
    """Leads frames of a robot after the poses of an operator.

    Attributes:
        status: One of ``live.STATUSES``.
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
        self.streams = dict.fromkeys(self.teleoperation.names, "waiting")
        self.status, self.reason = "waiting", "no pose has come"

    def engage(self) -> None:
        """Close the clutch of all frames."""
        self.engaged = True
        self.teleoperation.engage()

    def hold(self) -> None:
        """Open the clutch of all frames: they stay where they are."""
        self.engaged = False
        self.teleoperation.disengage()

    def observe_pose(self, name: str, stamp: float, pose: Vector, now: float) -> str:
        """Take a pose; nothing raises.

        Args:
            name: The frame it is for.
            stamp: When it was measured, zero where that is not known [s].
            pose: (7,) place [m] and quaternion x y z w.
            now: The time [s].

        Returns:
            What became of it, see ``PoseGate.take``.
        """
        became = self.teleoperation.observe(name, stamp, pose, now)
        if became in REFUSED:
            self._troubles.put("pose_refused", f"{name}: {STREAMS[became]}", now)
        elif became in OF_STREAM:
            self._troubles.put(OF_STREAM[became], f"{name}: {STREAMS[became]}", now)
        self._began = self._began or became in {"ok", "jumped"}
        return became

    def refuse_pose(self, reason: str, now: float) -> None:
        """Tell of a pose that was left out before it came here.

        Args:
            reason: Why.
            now: The time [s].
        """
        self._troubles.put("pose_refused", reason, now)

    def advance(self, now: float) -> list[Command]:
        """Return what is due; nothing raises.

        Args:
            now: The time [s].
        """
        beats = self._beat.take(now)
        if beats is None:
            beats = ()
            self.restart()
            (self.engage if self.engaged else self.hold)()
            self._troubles.put("time_back", "the clock went back", now)
        commands = []
        for at in beats if self._began and self.state.object_to(now) is None else ():
            tele, start = self.teleoperation, self.state.start()
            if start is None:
                tele.v = self.state.draw(tele.v, tele.dt)
            frame = tele.tick(at, start)
            self.state.ask(at + self.publish_lead_time, frame.q, frame.v)
            self._last, self.streams = frame, {name: stream.status for name, stream in frame.streams.items()}
            commands.append(Command.of(at + self.publish_lead_time, frame, tele.dt, self.state.drawn))
        self.status, self.reason = self._troubles.tell(now) or self._find_status(now)
        return commands

    def _find_status(self, now: float) -> tuple[str, str]:
        if not self._began:
            return "waiting", "no pose has come"
        missing = self.state.object_to(now)
        if missing is not None:
            return missing
        frame = self._last
        if frame is None:
            return "waiting", "no pose has come"
        for name, stream in frame.streams.items():
            if stream.status in OF_STREAM:
                return OF_STREAM[stream.status], f"{name}: {stream.reason}"
        if frame.status != "ok":
            return "gave_way", frame.reason
        if all(stream.status == "disengaged" for stream in frame.streams.values()):
            return "holding", ""
        return "following", ""
