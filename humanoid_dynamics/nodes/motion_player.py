"""Node ``motion_player``: a clip, a gait or a scenario out, piece by piece, a little before its time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from humanoid_dynamics.contact.planned import loads_of_schedule
from humanoid_dynamics.contact.schedule import ContactSchedule
from humanoid_dynamics.motion.playback import Playback, build_playback
from humanoid_dynamics.nodes.adapter import Act, AdapterNode
from humanoid_dynamics.nodes.messages import write_base_trajectory, write_joint_trajectory
from humanoid_dynamics.nodes.running import keep_rate, run

RATE = 20.0  # Hz
MARGIN = 1.0  # s around the schedule


class MotionPlayerNode(AdapterNode):
    """Sends the points of a motion, each once, ``lead`` before its time."""

    good = ("idle", "playing", "ended", "stopped")

    def __init__(self, **keywords: Any) -> None:
        super().__init__("motion_player", **keywords)
        self._playback: Playback | None = None
        self._start = np.nan
        self._sent = 0

    def prepare(self) -> None:
        """Make the motion."""
        if self.robot is not None:
            self._playback = build_playback(self.robot, self.config.motion, self.config.point_rate)
            self._start = np.nan

    def acts(self) -> Mapping[str, Act]:
        """Return what plays and stops."""
        return {"play": self._play, "stop": self._stop}

    def facts(self) -> Mapping[str, Any]:
        """Return what is played and how far it is."""
        playback = self._playback
        return {} if playback is None else {"motion": playback.name, "points": f"{self._sent} of {len(playback.times)}"}

    def begin(self) -> None:
        """Wait, or play at once."""
        self.tell("idle")
        if self.config.play:
            self._play(None)

    def tick(self) -> None:
        """Send the points whose time has come."""
        with self.lock:
            playback = self._playback
            if not self.active or playback is None:
                return
            now = self.now()
            if np.isfinite(self._start):
                self._send(playback, now)
            self.tell(self.status or "idle", self.reason)

    def _play(self, _request: Any) -> str:
        if self._playback is None:
            return "not configured"
        self._start, self._sent = self.now() + 2.0 * self.config.lead, 0
        if self._playback.schedule is not None:
            self._send_schedule(self._playback, self._playback.schedule)
        self.tell("playing")
        return ""

    def _stop(self, _request: Any) -> str:
        self._start = np.nan
        self.tell("stopped")
        return ""

    def _send(self, playback: Playback, now: float) -> None:
        times = playback.times
        until = int(np.searchsorted(times, now + self.config.lead - self._start, side="right"))
        if until > self._sent:
            part = slice(self._sent, until)
            tables = {name: table[part] for name, table in playback.tables.items()}
            self.out("reference/joints").publish(write_joint_trajectory(playback.joints, self._start, times[part], tables))
            if playback.base is not None and self.robot is not None:
                base = write_base_trajectory(self.robot.links[0], self._start, times[part], playback.base[part])
                self.out("reference/base").publish(base)
            self._sent = until
        if now > self._start + float(times[-1]):
            self._start = np.nan
            if self.config.repeat:
                self._play(None)
            else:
                self.tell("ended")

    def _send_schedule(self, playback: Playback, schedule: ContactSchedule) -> None:
        moved = ContactSchedule(
            tuple(replace(i, start=i.start + self._start, end=i.end + self._start) for i in schedule.intervals), schedule.profile
        )
        times, loads = loads_of_schedule(moved, self._start - MARGIN, self._start + float(playback.times[-1]) + MARGIN)
        message = write_joint_trajectory(schedule.surfaces, float(times[0]), times - times[0], {"positions": loads})
        self.out("reference/contacts").publish(message)


def main() -> None:
    """Run the node."""

    def loop(node: MotionPlayerNode, stop: threading.Event) -> None:
        keep_rate(RATE, stop, node.tick)

    run(MotionPlayerNode, loop)
