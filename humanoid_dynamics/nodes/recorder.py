# SPDX-License-Identifier: Apache-2.0
"""Node ``recorder``: writes what is said on topics into a bag, byte by byte as it comes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.nodes.adapter import AdapterNode, find_type
from humanoid_dynamics.nodes.running import keep_rate_until_over, run
from humanoid_dynamics.nodes.security import list_topics
from humanoid_dynamics.nodes.statuses import RecorderStatus
from humanoid_dynamics.series.bag_file import BagFile

RATE = 10.0  # Hz; how often it looks for topics
DEPTH = 1000  # messages that may wait
EARLY = 10_000  # messages that may wait for a clock


class RecorderNode(AdapterNode):
    """Hears raw messages of every topic that is wanted, as soon as somebody says something there."""

    good = (RecorderStatus.WAITING, RecorderStatus.RECORDING)
    failed = (RecorderStatus.FAILED,)

    def __init__(self, **keywords: Any) -> None:
        self._bag: BagFile | None = None
        self._connections: dict[str, Any] = {}
        self._passed_over: set[str] = set()
        self._early: list[tuple[str, bytes]] = []
        self.counts: Counter[str] = Counter()
        self._bytes = 0
        self._began = monotonic()
        super().__init__("recorder", **keywords)

    def needs_robot(self) -> bool:
        """Return that bytes need no robot."""
        return False

    def prepare(self) -> None:
        """Open the bag."""
        if not self.config.file:
            raise HumanoidDynamicsError(
                "file: received an empty path, expected an .mcap file or a folder that does not exist yet"
            )
        patterns = self.config.topics or ((".*",) if self.config.all_topics else list_patterns())
        self._wanted = [re.compile(self._resolve(pattern)) for pattern in patterns]
        self._bag = BagFile(Path(self.config.file))
        self._connections, self._early, self.counts, self._bytes = {}, [], Counter(), 0

    def begin(self) -> None:
        """Begin to hear."""
        self._began = monotonic()
        self.tell(RecorderStatus.WAITING)

    def release(self) -> None:
        """Close the bag."""
        with self.lock:
            bag, self._bag = self._bag, None
            if bag is not None:
                self._write_early(bag, 0)
                bag.close()
                self.get_logger().info(
                    f"{self.config.file}: {self.counts.total()} messages of {len(self._connections)} topics"
                )

    def facts(self) -> Mapping[str, Any]:
        """Return how much was written."""
        return {
            "file": self.config.file,
            "topics": len(self._connections),
            "messages": self.counts.total(),
            "bytes": self._bytes,
        }

    def is_over(self) -> bool:
        """Return whether it has recorded as long as it was to."""
        return bool(self.config.seconds and monotonic() - self._began > self.config.seconds)

    def tick(self) -> None:
        """Look for topics, and tell how it goes."""
        with self.lock:
            if not self.active or self._bag is None:
                return
            for topic, kinds in self.get_topic_names_and_types():
                if (
                    topic not in self._connections
                    and topic not in self._passed_over
                    and self._is_wanted(topic)
                ):
                    self._join(self._bag, topic, kinds)
            self.tell(RecorderStatus.RECORDING if self.counts else RecorderStatus.WAITING)

    def _resolve(self, pattern: str) -> str:
        """Return the pattern of a whole name, in the namespace of this node and by its remappings."""
        plain = re.fullmatch(r"[\w/~]+", pattern)
        if plain:
            return str(self.resolve_topic_name(pattern))
        return (
            pattern
            if pattern.startswith(("/", "."))
            else self.get_namespace().rstrip("/") + "/" + pattern
        )

    def _is_wanted(self, topic: str) -> bool:
        return (
            any(pattern.fullmatch(topic) for pattern in self._wanted)
            and self.count_publishers(topic) > 0
        )

    def _join(self, bag: BagFile, topic: str, kinds: list[str]) -> None:
        kind = kinds[0]
        try:
            kind_class = find_type(kind.replace("/msg/", "/"))
        except (ImportError, AttributeError):
            kind_class = None
        if len(kinds) > 1 or kind_class is None or not bag.knows(kind):
            self._passed_over.add(topic)
            self.get_logger().warning(
                f"{topic} is not recorded: messages of type {', '.join(kinds)} are not known here"
            )
            return
        profiles = [info.qos_profile for info in self.get_publishers_info_by_topic(topic)]
        latched = bool(profiles) and all(
            profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for profile in profiles
        )
        reliable = bool(profiles) and all(
            profile.reliability == ReliabilityPolicy.RELIABLE for profile in profiles
        )
        qos = QoSProfile(
            depth=DEPTH,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        )
        self._connections[topic] = bag.connect(topic, kind, latched=latched)
        made = self.create_subscription(
            kind_class, topic, partial(self._on_message, topic), qos, raw=True
        )
        self._made.append((self.destroy_subscription, made))

    def _on_message(self, topic: str, raw: bytes) -> None:
        with self.lock:
            bag = self._bag
            if bag is None or not self.active:
                return
            stamp = self.get_clock().now().nanoseconds
            if (
                not stamp and len(self._early) < EARLY
            ):  # a simulated clock that has not been heard yet
                self._early.append((topic, raw))
                return
            try:
                self._write_early(bag, stamp)
                self._write(bag, topic, stamp, raw)
            except OSError as cause:
                self._bag = None
                with suppress(OSError):
                    bag.close()
                self.tell(RecorderStatus.FAILED, str(cause))

    def _write_early(self, bag: BagFile, stamp: int) -> None:
        early, self._early = self._early, []
        for topic, raw in early:
            self._write(bag, topic, stamp, raw)

    def _write(self, bag: BagFile, topic: str, stamp: int, raw: bytes) -> None:
        bag.write(self._connections[topic], stamp, raw)
        self.counts[topic] += 1
        self._bytes += len(raw)


def list_patterns() -> tuple[str, ...]:
    """Return the topics of our nodes, names or patterns of names."""
    return tuple(re.sub(r"<\w+>", "[^/]+", name) for name in list_topics())


def main() -> None:
    """Run the node."""
    run(RecorderNode, lambda node, stop: keep_rate_until_over(RATE, stop, node))
