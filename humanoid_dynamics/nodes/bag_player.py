# SPDX-License-Identifier: Apache-2.0
"""Node ``bag_player``: says again what a bag holds, byte by byte, in the time in which it was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock

from humanoid_dynamics.errors import HumanoidDynamicsError, RecordError
from humanoid_dynamics.nodes.adapter import GLOBAL_CLOCK, Act, AdapterNode, find_type
from humanoid_dynamics.nodes.messages import SECOND, to_stamp
from humanoid_dynamics.nodes.running import keep_rate_until_over, run
from humanoid_dynamics.nodes.statuses import BagStatus
from humanoid_dynamics.series.bag_file import BagPlay

RATE = 1000.0  # Hz; how often it looks what is due
Message = tuple[str, int, bytes]


class BagPlayerNode(AdapterNode):
    """Publishes raw messages as they become due."""

    good = (BagStatus.WAITING, BagStatus.PLAYING, BagStatus.PAUSED, BagStatus.ENDED)
    failed = (BagStatus.BROKEN,)

    def __init__(self, **keywords: Any) -> None:
        self._bag: BagPlay | None = None
        self._messages: Iterator[Message] = iter(())
        self._next: Message | None = None
        self._clock_out: Any = None
        self._paused, self.count, self._at = False, 0, 0
        self._last, self._next_clock = 0.0, 0.0
        super().__init__("bag_player", **keywords)
        if self.get_parameter(
            "use_sim_time"
        ).value:  # every time the clock tells counts, or runs would differ
            self._jumps = self.get_clock().create_jump_callback(
                JumpThreshold(
                    min_forward=Duration(nanoseconds=1), min_backward=None, on_clock_change=False
                ),
                post_callback=lambda _jump: self.tick(),
            )

    def needs_robot(self) -> bool:
        """Return that bytes need no robot."""
        return False

    def prepare(self) -> None:
        """Open the bag."""
        config = self.config
        if config.clock and self.get_parameter("use_sim_time").value:
            raise HumanoidDynamicsError(
                f"clock: received {config.clock:g} Hz with use_sim_time, expected 0.0"
            )
        if not Path(config.file).exists():
            raise RecordError(
                config.file, "does not exist; expected an .mcap file or the folder of a bag"
            )
        self._bag = BagPlay(Path(config.file), config.topics)

    def acts(self) -> Mapping[str, Act]:
        """Return what pauses and begins anew."""
        return {"pause": self._pause, "restart": self._restart}

    def begin(self) -> None:
        """Make publishers, and begin."""
        bag = self._bag
        if bag is None:
            return
        self._publishers_of_bag: dict[str, Any] = {}
        clocks = {GLOBAL_CLOCK, self.resolve_topic_name(self.clock_topic)}
        for topic, kind in bag.topics.items():
            if topic in clocks and self.config.clock:
                continue
            try:
                made = self.create_publisher(
                    find_type(kind.replace("/msg/", "/")), topic, _choose_qos(topic in bag.latched)
                )
            except (ImportError, AttributeError):
                self.get_logger().warning(
                    f"{topic} is not played: messages of type {kind} are not known here"
                )
                continue
            self._publishers_of_bag[topic] = made
            self._made.append((self.destroy_publisher, made))
        if self.config.clock:
            self._clock_out = self.create_publisher(Clock, self.clock_topic, 10)
            self._made.append((self.destroy_publisher, self._clock_out))
        self._rewind()
        self._last += self.config.delay

    def end(self) -> None:
        """Say nothing more."""
        self._next = None

    def release(self) -> None:
        """Close the bag."""
        with self.lock:
            if self._bag is not None:
                self._messages, self._next = iter(()), None
                self._bag.close()
                self._bag = None

    def facts(self) -> Mapping[str, Any]:
        """Return how far it is."""
        bag = self._bag
        return (
            {}
            if bag is None
            else {
                "at": f"{(self._at - bag.start) / SECOND:.3f} of {(bag.end - bag.start) / SECOND:.3f} s"
            }
        )

    def is_over(self) -> bool:
        """Return whether the bag is at its end, and nobody wants to hear it again."""
        return self.active and self._next is None and not self.config.stay

    def tick(self) -> None:
        """Publish what is due."""
        with self.lock:
            if not self.active or self._bag is None:
                return
            ready = self._move_on()
            while ready and self._next is not None and self._next[1] <= self._at:
                self._publish(self._next)
            self._tick_clock()
            if self._next is None and self.config.loop and self.count:
                self._rewind()
            self.tell(
                BagStatus.PAUSED
                if self._paused
                else BagStatus.PLAYING
                if self._next is not None
                else BagStatus.ENDED
            )

    def _move_on(self) -> bool:
        """Set how far in the bag it is, and return whether what is due may be said."""
        if self.get_parameter("use_sim_time").value:
            self._at = self.get_clock().now().nanoseconds
            return not self._paused
        now = monotonic()
        if now < self._last or self._paused:
            self._last = max(now, self._last)
            return False
        self._at += round((now - self._last) * self.config.speed * SECOND)
        self._last = now
        return True

    def _publish(self, message: Message) -> None:
        topic, stamp, raw = message
        if self._clock_out is not None and stamp >= self._next_clock:
            self._tell_time(stamp)
        if topic in self._publishers_of_bag:
            self._publishers_of_bag[topic].publish(raw)
            self.count += 1
        self._step()

    def _tick_clock(self) -> None:
        if (
            self._clock_out is not None
            and self._at >= self._next_clock
            and self._next is not None
            and not self._paused
        ):
            self._tell_time(self._at)

    def _tell_time(self, stamp: int) -> None:
        self._next_clock = stamp + SECOND / self.config.clock
        self._clock_out.publish(Clock(clock=to_stamp(stamp / SECOND)))

    def _step(self) -> None:
        try:
            self._next = next(self._messages, None)
        except RecordError as fault:
            self._next = None
            self.tell(BagStatus.BROKEN, str(fault))

    def _rewind(self) -> None:
        if self._bag is not None:
            start = self._bag.start + round(self.config.start * SECOND)
            self._messages = self._bag.messages(start)
            self._at, self._last, self._next_clock, self.count = start, monotonic(), 0.0, 0
            self._step()
        self.tell(BagStatus.PLAYING)

    def _pause(self, request: Any) -> str:
        self._paused, self._last = bool(request.data), monotonic()
        return ""

    def _restart(self, _request: Any) -> str:
        self._rewind()
        return ""


def _choose_qos(latched: bool) -> QoSProfile:
    return (
        QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        if latched
        else QoSProfile(depth=100)
    )


def main() -> None:
    """Run the node."""
    run(BagPlayerNode, lambda node, stop: keep_rate_until_over(RATE, stop, node))
