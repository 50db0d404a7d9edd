# SPDX-License-Identifier: Apache-2.0
"""Node ``motion_player``: a clip, a gait or a scenario out, piece by piece, a little before its time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
from std_msgs.msg import Empty

from humanoid_dynamics.contact.planned import loads_of_schedule
from humanoid_dynamics.contact.schedule import ContactSchedule
from humanoid_dynamics.motion.approach import add_approach
from humanoid_dynamics.motion.playback import Playback, build_playback
from humanoid_dynamics.nodes.adapter import Act, AdapterNode
from humanoid_dynamics.nodes.messages import write_base_trajectory, write_joint_trajectory
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.statuses import PlayerStatus

RATE = 20.0  # Hz
MARGIN = 1.0  # s around the schedule
AHEAD = 30.0  # s; how long before its time a piece is sent where time is simulated, and may run faster than we look
LARGEST = 100  # points of a piece
SETTLED = 0.3  # s; nobody began to listen for so long: nobody is about to
LATER = 1e-6  # s
TOPICS = ("reference/joints", "reference/base", "reference/contacts")


class MotionPlayerNode(AdapterNode):
    """Publishes the points of a motion ``publish_lead_time`` before their time, earlier in simulated time, and a heartbeat.

    The followed motion therefore depends on simulated time alone.  A late subscriber receives the remaining points again: the latched
    schedule of contacts is harmful without the motion it belongs to.
    """

    good = (PlayerStatus.IDLE, PlayerStatus.PLAYING, PlayerStatus.ENDED, PlayerStatus.STOPPED)

    def __init__(self, **keywords: Any) -> None:
        super().__init__("motion_player", **keywords)
        self._playback: Playback | None = None
        self._start = np.nan
        self._sent = 0
        self._due = False
        self._listeners, self._since = (0,), 0.0

    @property
    def sent_until(self) -> float:
        """Time up to which the motion has been sent; minus infinity before any has been [s]."""
        playback = self._playback
        return (
            -np.inf
            if playback is None or not self._sent
            else float(self._start + playback.times[self._sent - 1])
        )

    def prepare(self) -> None:
        """Make the motion."""
        if self.robot is not None:
            playback = build_playback(
                self.robot, self.config.motion, self.config.point_rate, self.config.fps or None
            )
            recorded = playback.schedule is None  # scenarios and walks begin in the resting posture
            self._playback = (
                add_approach(self.robot, playback, self.config.point_rate)
                if self.config.approach and recorded
                else playback
            )
            self._start = np.nan

    def acts(self) -> Mapping[str, Act]:
        """Return what plays and stops."""
        return {"play": self._play, "stop": self._stop}

    def facts(self) -> Mapping[str, Any]:
        """Return what is played and how far it is."""
        playback = self._playback
        return (
            {}
            if playback is None
            else {"motion": playback.name, "points": f"{self._sent} of {len(playback.times)}"}
        )

    def begin(self) -> None:
        """Wait, or play at once."""
        self.tell(PlayerStatus.IDLE)
        self._due, self._listeners = bool(self.config.play), (0,)

    def tick(self) -> None:
        """Send the points whose time has come."""
        with self.lock:
            playback = self._playback
            if not self.active or playback is None:
                return
            self.out("reference/heartbeat").publish(Empty())
            now, more = self.now(), self._count_listeners()
            if self._due and self._is_awaited(now):
                self._play(None)
            if np.isfinite(self._start):
                if more:
                    self._sent = min(
                        self._sent, int(np.searchsorted(playback.times, now - self._start))
                    )
                self._send(playback, now)
            self.tell(
                self.status or PlayerStatus.IDLE,
                "no subscriber to the reference, or no clock" if self._due else "",
            )

    def _count_listeners(self) -> bool:
        """Return whether more listen than when it was counted last."""
        before, self._listeners = (
            self._listeners,
            tuple(self.out(topic).get_subscription_count() for topic in TOPICS),
        )
        if self._listeners != before:
            self._since = monotonic()
        return sum(self._listeners) > sum(before)

    def _is_awaited(self, now: float) -> bool:
        """Return whether there is a time, and somebody who follows, joints and base, and to whom nothing would be lost."""
        return now > 0.0 and min(self._listeners[:2]) > 0 and monotonic() - self._since > SETTLED

    def _play(self, _request: Any) -> str:
        if self._playback is None:
            return "not configured"
        self._begin(self.now() + 2.0 * self.config.publish_lead_time)
        return ""

    def _begin(self, start: float) -> None:
        self._start, self._sent, self._due = start, 0, False
        if self._playback is not None and self._playback.schedule is not None:
            self._send_schedule(self._playback, self._playback.schedule)
        self.tell(PlayerStatus.PLAYING)

    def _stop(self, _request: Any) -> str:
        playback, self._due = self._playback, False
        if playback is not None and np.isfinite(
            self._start
        ):  # what was sent for later is taken back
            at = int(
                np.searchsorted(
                    playback.times, self.now() + self.config.publish_lead_time - self._start
                )
            )
            if at < self._sent:
                self._send_points(playback, slice(at, at + 1), still=True)
        self._start = np.nan
        self.tell(PlayerStatus.STOPPED)
        return ""

    def _send(self, playback: Playback, now: float) -> None:
        times = playback.times
        ahead = (
            max(self.config.publish_lead_time, AHEAD)
            if self.get_parameter("use_sim_time").value
            else self.config.publish_lead_time
        )
        until = int(np.searchsorted(times, now + ahead + LATER - self._start, side="right"))
        if until > self._sent:
            until = min(until, self._sent + LARGEST)
            self._send_points(playback, slice(self._sent, until))
            self._sent = until
        if self._sent == len(times) and now > self._start + float(times[-1]):
            end, self._start = self._start + float(times[-1]), np.nan
            if self.config.repeat:
                self._begin(
                    max(end, now - self.config.publish_lead_time)
                    + 2.0 * self.config.publish_lead_time
                )
            else:
                self.tell(PlayerStatus.ENDED)

    def _send_points(self, playback: Playback, part: slice, *, still: bool = False) -> None:
        """Send some points; where the motion is to stand still there, without velocities."""
        times = playback.times[part]
        tables = {
            name: table[part] * (not still or name == "positions")
            for name, table in playback.tables.items()
        }
        self.out("reference/joints").publish(
            write_joint_trajectory(playback.joints, self._start, times, tables)
        )
        if playback.base is not None and self.robot is not None:
            rows = np.array(playback.base[part])
            rows[:, 7:] *= not still
            self.out("reference/base").publish(
                write_base_trajectory(self.robot.links[0], self._start, times, rows)
            )

    def _send_schedule(self, playback: Playback, schedule: ContactSchedule) -> None:
        moved = ContactSchedule(
            tuple(
                replace(i, start=i.start + self._start, end=i.end + self._start)
                for i in schedule.intervals
            ),
            schedule.profile,
        )
        times, loads = loads_of_schedule(
            moved, self._start - MARGIN, self._start + float(playback.times[-1]) + MARGIN
        )
        message = write_joint_trajectory(
            schedule.surfaces, float(times[0]), times - times[0], {"positions": loads}
        )
        self.out("reference/contacts").publish(message)


def main() -> None:
    """Run the node."""

    def loop(node: MotionPlayerNode, stop: threading.Event) -> None:
        keep_rate(RATE, stop, node.tick)

    run(MotionPlayerNode, loop)
