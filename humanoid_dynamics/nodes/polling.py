# SPDX-License-Identifier: Apache-2.0
"""Callbacks without sleep: messages are looked for again and again, which takes a core and saves the time it takes to wake.

A message is handled after all that came before it on other topics, so that the order is that in which one publisher sent them.
"""

from __future__ import annotations

import os
from time import monotonic
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock

from humanoid_dynamics.program import wait_for_end

REST = 0.02  # s between looks at all that is no message: services, parameters, the graph


class _OfTheRest(SingleThreadedExecutor):
    """Runs everything but subscriptions."""

    def can_execute(self, entity: Any) -> bool:
        """Return whether this is to be run here."""
        return not isinstance(entity, Subscription) and bool(super().can_execute(entity))


class Poller:
    """Runs the callbacks of a node in the thread that waits; not for several threads at once."""

    def __init__(self, node: Node) -> None:
        """Take the node.

        Args:
            node: The node; no other executor may have it.
        """
        self._node = node
        self._rest = _OfTheRest()
        self._rest.add_node(node)
        self._rest_due = -1.0
        self._subscriptions: list[Any] = []

    def wait(self, due: float) -> bool:
        """Run callbacks until a time, and return whether a signal to end came.

        Args:
            due: When to return, on the monotonic clock [s].
        """
        while True:
            if not self.look():
                os.sched_yield()
            now = monotonic()
            if now >= self._rest_due:
                self._rest_due = now + REST
                if wait_for_end(0.0):
                    return True
                self._rest.spin_once(timeout_sec=0.0)
                # The clock is told before the states: looked at last, it is heard first.
                self._subscriptions = sorted(
                    self._node.subscriptions, key=lambda each: each.msg_type is Clock
                )
            if now >= due:
                return False

    def look(self) -> bool:
        """Handle the messages that have come, and return whether there was one."""
        came = []
        for subscription in self._subscriptions:
            handle, kind, raw = subscription.handle, subscription.msg_type, subscription.raw
            queued = []
            while (taken := handle.take_message(kind, raw)) is not None:
                queued.append(taken[0])
            if queued:
                came.append((subscription.callback, queued))
        for callback, queued in reversed(came):
            for message in queued:
                callback(message)
        return bool(came)

    def close(self) -> None:
        """Let go of the node."""
        self._rest.shutdown()
