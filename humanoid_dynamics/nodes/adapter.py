# SPDX-License-Identifier: Apache-2.0
"""What all nodes share: a life cycle, parameters, a robot that comes by name or by topic, a status, and diagnostics.

A node says what it hears and tells in ``interfaces``.  Publishers, subscriptions and services are made when it is configured and gone
when it is cleaned up; handlers run only while it is active.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from time import monotonic
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String, UInt8

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.graphs.kernels import (
    PROGRESS_PERIOD,
    KernelProgress,
    compile_jobs,
    find_stale_jobs,
)
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.catalogue import find_description
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.nodes.configs import AUTO, CONFIGS
from humanoid_dynamics.nodes.interfaces import ANY, INTERFACES, Topic
from humanoid_dynamics.nodes.parameters import declare_parameters, refuse_or_change
from humanoid_dynamics.program import interruptible
from humanoid_dynamics.status import StatusEnum

DIAGNOSTICS_PERIOD = 0.5  # s
LOG_PERIOD = 1.0  # s
PATIENCE = 0.5  # s; how long the way out waits for a handler
CLOCK, GLOBAL_CLOCK = "clock", "/clock"
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
Handler = Callable[..., None]
Act = Callable[[Any], str]


def make_qos(topic: Topic) -> QoSProfile:
    """Return the quality of service of one side of a topic [REP-2003]."""
    if topic.qos == "latched":
        return QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    if topic.qos == "command":
        return QoSProfile(depth=1)
    if topic.qos in {"clock", "state"} and topic.way == "in":
        return QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    return QoSProfile(depth=10)


def find_type(kind: str, part: str = "msg") -> Any:
    """Return the class of a message or service type, such as ``std_msgs/String``."""
    package, _, name = kind.partition("/")
    return getattr(import_module(f"{package}.{part}"), name)


class AdapterNode(LifecycleNode):
    """A node of ours; children say what is particular."""

    good: tuple[StatusEnum, ...] = ()  # statuses at level OK
    failed: tuple[StatusEnum, ...] = ()  # statuses at level ERROR; all others are WARN
    places: tuple[str, ...] = ("surface", "frame", "connection", "imu")
    raw: tuple[str, ...] = ()  # topics whose handlers take the bytes as they come

    def __init__(self, name: str, **keywords: Any) -> None:
        super().__init__(name, **keywords)
        self.interface, self.interface_name = INTERFACES[name], name
        self.config: Any = declare_parameters(self, CONFIGS[name])
        self.lock = threading.RLock()
        self.deaf: frozenset[str] = (
            frozenset()
        )  # topics that are not heard, because what they tell comes another way
        self.wait: Callable[[float], bool] | None = (
            None  # how its loop waits for its next tick; asleep where None
        )
        self.robot: RobotModel | None = None
        self.active = False
        self.status: StatusEnum | None = None
        self.reason = "not configured"
        self._codes = {status: code for code, status in enumerate(self.interface.statuses)}
        self._topics = {topic.name: topic for topic in self.interface.topics}
        self._source = ""
        self._made: list[tuple[Callable[[Any], Any], Any]] = []
        self._next_diagnostics = 0.0
        self._logged: dict[str, float] = {}
        self._status_out = self.create_publisher(
            UInt8, "~/status", make_qos(self._topics["~/status"])
        )
        self._diagnostics_out = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.add_on_set_parameters_callback(self._on_parameters)
        if "robot_description" in self._topics and self._topics["robot_description"].way == "in":
            self.create_subscription(
                String,
                "robot_description",
                self._on_description,
                make_qos(self._topics["robot_description"]),
            )

    # What children say.

    def prepare(self) -> None:
        """Make what the node works with, once its robot is known; raises ``HumanoidDynamicsError`` where that cannot be."""

    def handlers(self) -> Mapping[str, Handler]:
        """Return what is called for each topic that comes in; it gets the message, and the name that a placeholder stands for."""
        return {}

    def acts(self) -> Mapping[str, Act]:
        """Return what is called for each service; it gets the request, and returns why it refuses, or an empty string."""
        return {}

    def names(self, placeholder: str) -> tuple[str, ...]:
        """Return what a placeholder in the name of a topic stands for."""
        return (
            tuple(self.robot.surfaces)
            if self.robot is not None and placeholder == "surface"
            else ()
        )

    def change(self) -> None:
        """Take the configuration as it is now, while configured."""

    def begin(self) -> None:
        """Called on activation."""

    def end(self) -> None:
        """Called on deactivation."""

    def release(self) -> None:
        """Let go of what was prepared."""

    def tick(self) -> None:
        """Do what is due although nothing came; called at an even rate."""

    def facts(self) -> Mapping[str, str]:
        """Return what goes into the diagnostics besides status and reason."""
        return {}

    def needs_robot(self) -> bool:
        """Return whether nothing can be done without a robot."""
        return True

    def create_subscription(
        self, msg_type: Any, topic: str, *arguments: Any, **keywords: Any
    ) -> Any:
        """Subscribe; simulated time comes on the clock of the namespace."""
        return super().create_subscription(
            msg_type, self.clock_topic if topic == GLOBAL_CLOCK else topic, *arguments, **keywords
        )

    # What children use.

    @property
    def clock_topic(self) -> str:
        """Topic of simulated time: ``clock`` in the namespace, so that each robot has its own, or what ``/clock`` is remapped to."""
        return GLOBAL_CLOCK if self.resolve_topic_name(GLOBAL_CLOCK) != GLOBAL_CLOCK else CLOCK

    @property
    def frame_prefix(self) -> str:
        """What the names of frames begin with, so that those of several robots differ."""
        prefix = str(self.config.frame_prefix)
        space = self.get_namespace().strip("/")
        return prefix if prefix != AUTO else f"{space}/" if space else ""

    def now(self) -> float:
        """Return the time of the node [s]."""
        return float(self.get_clock().now().nanoseconds * 1e-9)

    def start(self) -> None:
        """Configure and activate where that is wanted and possible."""
        possible = self.config.autostart and (self._find_source() or not self.needs_robot())
        if possible and (self.trigger_configure() != SUCCESS or self.trigger_activate() != SUCCESS):
            raise HumanoidDynamicsError(self.reason)

    def out(self, name: str, of: str = "") -> Any:
        """Return the publisher of a topic.

        Args:
            name: Its name in ``interfaces``.
            of: What its placeholder stands for.
        """
        return self._publishers_of[name, of]

    def is_heard(self, name: str, of: str = "") -> bool:
        """Return whether somebody hears a topic: what nobody does costs nothing.

        Args:
            name: Its name in ``interfaces``.
            of: What its placeholder stands for.
        """
        return bool(self._publishers_of[name, of].get_subscription_count())

    def tell(self, status: StatusEnum, reason: str = "") -> None:
        """Set how things stand; a change is published at once, the rest twice a second.

        Args:
            status: One of the statuses of ``interfaces``.
            reason: What is wrong, in words.
        """
        changed, self.reason = status != self.status, reason
        if not changed and monotonic() < self._next_diagnostics:
            return
        if changed:
            self.status = status
            self._log(status, f"{status}: {reason or status.description}")
            self._status_out.publish(UInt8(data=self._codes[status]))
        self._diagnose()

    def silence(self) -> None:
        """Let no handler run any more, because there will be nothing to publish on; one that takes long is not waited for."""
        locked = self.lock.acquire(timeout=PATIENCE)
        self.active = False
        if locked:
            self.lock.release()

    def _log(self, status: StatusEnum, said: str) -> None:
        """Log a change of status, each at most once a second."""
        if monotonic() - self._logged.get(status, -LOG_PERIOD) < LOG_PERIOD:
            return
        self._logged[status] = monotonic()
        if status in self.good:
            self.get_logger().info(said)
        elif status in self.failed:
            self.get_logger().error(said)
        else:
            self.get_logger().warning(said)

    def _diagnose(self) -> None:
        self._next_diagnostics = monotonic() + DIAGNOSTICS_PERIOD
        facts = {"reason": self.reason, **self.facts()}
        status = DiagnosticStatus(
            level=self._level(),
            name=self.get_fully_qualified_name(),
            message=str(self.status or ""),
            hardware_id=self.robot.name if self.robot is not None else "",
            values=[KeyValue(key=key, value=str(value)) for key, value in facts.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics_out.publish(message)

    def _level(self) -> Any:
        """Return how serious the status is, as a level of ``DiagnosticStatus``; STALE while the node is not active."""
        if self.status in self.good:
            return DiagnosticStatus.OK
        if not self.active:
            return DiagnosticStatus.STALE
        return DiagnosticStatus.ERROR if self.status in self.failed else DiagnosticStatus.WARN

    # The life cycle.

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load the robot and make publishers, subscriptions and services."""
        with interruptible():
            done = self._try("configure", self._load, self._compile, self.prepare, self._connect)
        if not done:
            return FAILURE
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let handlers run."""
        with self.lock:
            self.active, self.status = True, None
            began = False
            try:
                began = self._try("activate", self.begin)
            finally:
                self.active = began
        return super().on_activate(state) if began else FAILURE

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let nothing through any more."""
        with self.lock:
            self.end()
            self.active = False
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let go of everything made since."""
        with self.lock:
            self._disconnect()
        return super().on_cleanup(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let go of everything after a transition that broke, so that it can be tried anew."""
        del state
        with self.lock:
            self.active = False
            self._disconnect()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let go of everything made since."""
        with self.lock:
            self.active = False
            self._disconnect()
        return super().on_shutdown(state)

    def _compile(self) -> None:
        """Compile kernels that are not in the cache, in other processes, so that this one only loads them."""
        jobs = find_stale_jobs((self.interface_name,))
        if not jobs:
            return
        due = monotonic() + PROGRESS_PERIOD

        def log(progress: KernelProgress) -> None:
            nonlocal due
            if monotonic() > due:
                due = monotonic() + PROGRESS_PERIOD
                self.get_logger().info(
                    f"compiling kernels, once per machine: {progress.share:.0%}, {progress.seconds_left:.0f} s left"
                )

        for report in compile_jobs(jobs, progress=log):
            if report.reason:
                self.get_logger().warning(f"kernels of the {report.job}: {report.reason}")

    def _try(self, what: str, *steps: Callable[[], None]) -> bool:
        """Take the steps of a transition, and return whether all could be taken; rclpy itself says nothing of what they raise."""
        try:
            with self.lock:
                for step in steps:
                    step()
        except HumanoidDynamicsError as refusal:
            self.reason = " ".join(str(refusal).split())
            self.get_logger().error(f"cannot {what}: {self.reason}")
            return False
        finally:
            failure = sys.exc_info()[1]
            if failure is not None:
                self.reason = f"{type(failure).__name__}: {failure}"
                self.get_logger().error(f"cannot {what}: {traceback.format_exc()}")
        return True

    def _find_source(self) -> str:
        return getattr(self.config, "robot", "") or self._source

    def _load(self) -> None:
        source = self._find_source()
        if not source:
            if self.needs_robot():
                raise HumanoidDynamicsError(
                    "parameter robot is empty and no robot_description was received"
                )
            self.robot = None
            return
        self.robot = load_robot(source, description=find_description(self.config.config))
        robot = self.robot
        self.get_logger().info(
            f"{robot.name}: {len(robot.actuated)} joints, standing on {', '.join(robot.stance) or 'nothing'}"
        )
        for warning in robot.warnings:
            self.get_logger().warning(warning)

    def _connect(self) -> None:
        self._publishers_of: dict[tuple[str, str], Any] = {}
        handlers = self.handlers()
        for topic in self.interface.topics:
            if topic.name == ANY or (
                topic.way == "out" and topic.name in {"~/status", "/diagnostics"}
            ):
                continue
            for of, name in self._expand(topic.name):
                kind, qos = find_type(topic.kind), make_qos(topic)
                name = self.clock_topic if name == CLOCK else name
                if topic.way == "out":
                    publisher = self.create_publisher(kind, name, qos)
                    self._publishers_of[topic.name, of] = publisher
                    self._made.append((self.destroy_publisher, publisher))
                elif topic.name in handlers and topic.name not in self.deaf:
                    handler, raw = self._guarded(handlers[topic.name], of), topic.name in self.raw
                    subscription = self.create_subscription(kind, name, handler, qos, raw=raw)
                    self._made.append((self.destroy_subscription, subscription))
        self._serve()

    def _serve(self) -> None:
        acts = self.acts()
        for service in self.interface.services:
            for of, name in self._expand(service.name):
                if service.name in acts:
                    made = self.create_service(
                        find_type(service.kind, "srv"),
                        f"~/{name}",
                        self._serving(acts[service.name], of),
                    )
                    self._made.append((self.destroy_service, made))

    def _disconnect(self) -> None:
        self.release()
        for destroy, made in self._made:
            destroy(made)
        self._made.clear()
        self._publishers_of = {}

    def _expand(self, name: str) -> list[tuple[str, str]]:
        for placeholder in self.places:
            if f"<{placeholder}>" in name:
                return [
                    (of, name.replace(f"<{placeholder}>", of)) for of in self.names(placeholder)
                ]
        return [("", name)]

    def _guarded(self, handler: Handler, of: str) -> Callable[[Any], None]:
        arguments = (of,) if of else ()

        def handle(message: Any) -> None:
            with self.lock:
                if self.active:
                    handler(message, *arguments)

        return handle

    def _serving(self, act: Act, of: str) -> Callable[[Any, Any], Any]:
        def serve(request: Any, response: Any) -> Any:
            with self.lock:
                refusal = act(of or request) if self.active else "the node is not active"
            response.success, response.message = not refusal, refusal
            return response

        return serve

    def _on_description(self, message: String) -> None:
        if self.config.robot or message.data == self._source or not message.data:
            return
        with self.lock:
            if self.robot is not None:
                self.get_logger().warning(
                    "another robot_description has come; clean up and configure to use it"
                )
            self._source = message.data
            if self.robot is None and self.config.autostart and self.trigger_configure() == SUCCESS:
                self.trigger_activate()

    def _on_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        with self.lock:
            changes = {parameter.name: parameter.value for parameter in parameters}
            refusal, config = refuse_or_change(self.config, changes, configured=bool(self._made))
            if refusal:
                return SetParametersResult(successful=False, reason=refusal)
            before, self.config = self.config, config
            if self._made:
                try:
                    self.change()
                except HumanoidDynamicsError as refused:
                    self.config = before
                    return SetParametersResult(successful=False, reason=str(refused))
            return SetParametersResult(successful=True)
