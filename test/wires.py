# SPDX-License-Identifier: Apache-2.0
"""Nodes in this process, over the real middleware: one executor in a thread, a probe that says and hears everything."""

import contextlib
import threading
from time import monotonic

import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_msgs.msg import UInt8

from humanoid_dynamics.nodes.adapter import find_type, make_qos
from humanoid_dynamics.nodes.interfaces import Topic
from humanoid_dynamics.nodes.running import make_executor

PATIENCE = 60.0  # s; it costs nothing where all goes well, and a machine under load stalls for many


class Clock:
    """The time of a node under test: it goes on when a test says so, as that of a simulator does, and never because a machine stalls."""

    def __init__(self, node, period=0.01):
        self.node, self.period, self.t = node, period, 1000.0
        node.now = lambda: self.t

    def stamp(self, shift=0.0):
        t = round((self.t + shift) * 1e9)
        return Time(sec=t // 10**9, nanosec=t % 10**9)

    def run(self, periods=1):
        """Let the node take so many periods."""
        for _ in range(periods):
            self.t += self.period
            self.node.tick()


class Wires:
    """A node under test and a probe on the other end of all its topics."""

    def __init__(self, make, **parameters):
        self.node = make(
            parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()]
        )
        self.probe = Node(f"probe_of_{self.node.get_name()}")
        self.statuses = list(self.node.interface.statuses)
        self.changed = threading.Condition()
        self.heard, self.counts, self.out, self.clients = {}, {}, {}, {}
        self.status, self.reason, self.level = "", "", b""
        name = self.node.get_name()
        self.probe.create_subscription(
            UInt8, f"/{name}/status", self._on_status, make_qos(Topic("", "in", "", "latched", ""))
        )
        self.probe.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 100)
        self.executor = make_executor()
        self.executor.add_node(self.node)
        self.executor.add_node(self.probe)
        self.thread = threading.Thread(target=self._spin, daemon=True)

    def begin(self):
        self.node.start()
        handled = {*self.node.handlers(), "robot_description"}
        for topic in self.node.interface.topics:
            if topic.name.startswith(("~", "/diag")) or (
                topic.way == "in" and topic.name not in handled
            ):
                continue
            head, _, rest = topic.name.partition("<")
            placeholder, _, tail = rest.partition(">")
            if not rest:
                self._connect(topic, topic.name)
            elif topic.way == "in":
                for of in self.node.names(placeholder):
                    self._connect(topic, f"{head}{of}{tail}")
        # Clients are there from the start: an answer to one that the node has not found yet is lost.
        for service in self.node.interface.services:
            if "<" not in service.name:
                kind, name = find_type(service.kind, "srv"), service.name
                self.clients[name] = self.probe.create_client(
                    kind, f"/{self.node.get_name()}/{name}"
                )
        self.thread.start()
        self.wait(
            lambda: all(publisher.get_subscription_count() for publisher in self.out.values()),
            "every topic is heard",
        )
        return self

    def _connect(self, topic, name):
        kind = find_type(topic.kind)
        if topic.way == "in":
            self.out[name] = self.probe.create_publisher(
                kind, name, make_qos(Topic("", "out", "", topic.qos, ""))
            )
        else:
            self.counts[name] = 0
            self.probe.create_subscription(
                kind, name, lambda m, n=name: self._on_message(n, m), make_qos(topic)
            )

    def _spin(self):
        with contextlib.suppress(rclpy.executors.ExternalShutdownException):
            self.executor.spin_until_future_complete(Future(), timeout_sec=1e5)

    def _on_message(self, name, message):
        with self.changed:
            self.heard[name] = message
            self.counts[name] += 1
            self.changed.notify_all()

    def _on_status(self, message):
        with self.changed:
            self.status = self.statuses[message.data]
            self.changed.notify_all()

    def _on_diagnostics(self, message):
        with self.changed:
            for status in message.status:
                if status.name == f"/{self.node.get_name()}":
                    self.level = status.level
                    self.reason = next(pair.value for pair in status.values if pair.key == "reason")
            self.changed.notify_all()

    def wait(self, condition, what):
        end = monotonic() + PATIENCE
        with self.changed:
            while not condition():
                if not self.changed.wait(0.02) and monotonic() > end:
                    raise AssertionError(
                        f"waited in vain until {what}; status {self.status}, reason {self.reason}"
                    )

    def expect(self, status):
        self.wait(lambda: self.status == status, f"the status is {status}")

    def exchange(self, name, message, answer):
        """Publish, and return the first answer that comes after."""
        before = self.counts[answer]
        self.out[name].publish(message)
        self.wait(lambda: self.counts[answer] > before, f"{answer} comes")
        return self.heard[answer]

    def call(self, name, **fields):
        """Ask one of the node's services, and return what it answers."""
        client = self.clients[name]
        assert client.wait_for_service(PATIENCE)
        future = client.call_async(client.srv_type.Request(**fields))
        self.wait(future.done, f"{name} answers")
        return future.result()

    def now(self, shift=0.0):
        t = round((self.node.now() + shift) * 1e9)
        return Time(sec=t // 10**9, nanosec=t % 10**9)

    def end(self):
        self.node.silence()
        self.executor.shutdown()
        self.thread.join(PATIENCE)
        self.probe.destroy_node()
        self.node.destroy_node()
