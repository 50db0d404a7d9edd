# SPDX-License-Identifier: Apache-2.0
"""Node ``viewer``: the robot on topics as a page in the browser; drags and gizmos go out as pushes and poses."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from humanoid_dynamics.errors import HumanoidDynamicsError, MissingExtraError
from humanoid_dynamics.filtering import Teleoperation
from humanoid_dynamics.nodes.adapter import AdapterNode, Handler, make_qos
from humanoid_dynamics.nodes.messages import (
    read_odometry,
    read_wrench,
    seconds,
    write_pose,
    write_wrench,
)
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.statuses import ViewerStatus
from humanoid_dynamics.nodes.topic_session import TopicSession, Wires
from humanoid_dynamics.nodes.wire import JointStateReader
from humanoid_dynamics.spatial.arrays import Vector

if TYPE_CHECKING:
    from humanoid_dynamics.viewer.page import Page

WORLD = "odom"
COMMANDS = "joint_torque_commands"
SILENT = 1.0  # s without states
UNWATCHED = 0.1  # s between states that are read while nobody looks


class ViewerNode(AdapterNode):
    """Hears the state in callbacks, draws it and fulfils wishes at an even rate."""

    good = (ViewerStatus.SHOWING, ViewerStatus.UNWATCHED)

    def __init__(self, **keywords: Any) -> None:
        super().__init__("viewer", **keywords)
        self.session: TopicSession | None = None
        self.page: Page | None = None
        self._heard_at = -np.inf
        self._asked: dict[str, Any] = {}
        self._torques_in: Any = None
        self._torques_due, self._reader = -np.inf, JointStateReader()

    def prepare(self) -> None:
        """Open the page."""
        robot, config = self.robot, self.config
        if robot is None:
            return
        try:
            from humanoid_dynamics.viewer.page import Page
        except ImportError as cause:
            raise MissingExtraError("viser", "viewer", "the page in the browser") from cause
        frames = {}
        if config.leads:
            teleoperation = Teleoperation(robot, config.frames)
            frames = {name: teleoperation.pose(name) for name in config.frames}
        self._close()
        self.session = TopicSession(
            robot,
            Wires(self._push, self._lead, self._choose_rule, self._ask),
            rule=config.rule,
            frames=frames,
            connections=config.connections,
            push_time=config.push_time,
            simple=config.simple,
        )
        self.page = Page(
            self.session,
            host=config.host,
            port=config.port,
            token=config.token,
            origins=config.origins,
        )
        token = "" if self.page.access.open else f", token to touch: {self.page.access.token}"
        self.get_logger().info(f"open {self.page.address} in a browser{token}")

    def handlers(self) -> Mapping[str, Handler]:
        """Return what hears states, forces, certificate and diagnostics."""
        return {
            "joint_states": self._on_joints,
            "odom": self._on_base,
            "contact_wrenches/<surface>": self._on_wrench,
            "certificate": self._on_certificate,
            "/diagnostics": self._on_diagnostics,
        }

    def names(self, placeholder: str) -> tuple[str, ...]:
        """Return the surfaces, and the frames that are led."""
        if placeholder == "frame":
            return tuple(self.session.offer.frames) if self.session is not None else ()
        return super().names(placeholder)

    def facts(self) -> Mapping[str, Any]:
        """Return where the page is."""
        return {} if self.page is None else {"page": self.page.address}

    def begin(self) -> None:
        """Wait for a state."""
        self.tell(ViewerStatus.INPUT_TIMEOUT, "no state received")

    def tick(self) -> None:
        """Draw, and fulfil what was wished."""
        with self.lock:
            page, session = self.page, self.session
            if not self.active or page is None or session is None:
                return
            self._hear_torques(page.watched)
            if page.watched:
                page.show(session)
                session.advance(1.0 / self.config.rate)
            else:
                session.let_go()
            if monotonic() - self._heard_at > SILENT:
                self.tell(ViewerStatus.INPUT_TIMEOUT, session.measured.fault or "no state comes")
            else:
                self.tell(ViewerStatus.SHOWING if page.watched else ViewerStatus.UNWATCHED)

    def destroy_node(self) -> None:
        """Close the page, too."""
        self._close()
        super().destroy_node()

    def _close(self) -> None:
        self._hear_torques(False)
        if self.page is not None:
            self.page.close()
            self.page = None

    def _looks(self) -> bool:
        """Return whether a state is read: all while somebody looks, a few while nobody does."""
        return (
            self.page is not None and self.page.watched
        ) or monotonic() - self._heard_at > UNWATCHED

    def _on_joints(self, message: JointState) -> None:
        session = self.session
        if session is not None and self._looks():
            stamp = seconds(message.header.stamp)
            arrays = (np.asarray(message.position), np.asarray(message.velocity))
            if session.measured.put_joints(message.name, *arrays, stamp):
                session.t, self._heard_at = stamp, monotonic()

    def _hear_torques(self, watched: bool) -> None:
        """Hear commands while somebody looks, and cost nothing while nobody does."""
        if watched and self._torques_in is None:
            topic = self._topics[COMMANDS]
            heard = self._guarded(self._on_torques, "")
            self._torques_in = self.create_subscription(
                JointState, topic.name, heard, make_qos(topic), raw=True
            )
        elif not watched and self._torques_in is not None:
            self.destroy_subscription(self._torques_in)
            self._torques_in = None

    def _on_torques(self, data: bytes) -> None:
        if self.session is None or monotonic() < self._torques_due:
            return
        self._torques_due = monotonic() + 1.0 / self.config.rate
        read = self._reader.read(data)
        if read is not None and len(read[0]) == len(read[3]):
            self.session.torques.update(zip(read[0], read[3].tolist(), strict=True))

    def _on_base(self, message: Odometry) -> None:
        if self.session is not None and self._looks():
            self.session.measured.put_base(*read_odometry(message), seconds(message.header.stamp))

    def _on_wrench(self, message: WrenchStamped, surface: str) -> None:
        if self.session is not None:
            self.session.wrenches[surface] = np.concatenate(read_wrench(message))

    def _on_certificate(self, message: Float64MultiArray) -> None:
        if self.session is not None:
            self.session.certificate = tuple(message.data)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        if self.session is None:
            return
        for status in (
            each for each in message.status if each.name.startswith(self.get_namespace())
        ):
            reason = next((pair.value for pair in status.values if pair.key == "reason"), "")
            if status.level == DiagnosticStatus.OK:
                self.session.troubles.pop(status.name, None)
            else:
                self.session.troubles[status.name] = f"{status.message} {reason}".strip()

    def _push(self, link: str, force: Vector, moment: Vector) -> None:
        self.out("push").publish(
            write_wrench(force, moment, self.get_clock().now().to_msg(), self.frame_prefix + link)
        )

    def _lead(self, frame: str, pose: Vector) -> None:
        message = PoseStamped()
        message.header.stamp, message.header.frame_id = (
            self.get_clock().now().to_msg(),
            self.frame_prefix + WORLD,
        )
        write_pose(message.pose, pose)
        self.out("teleop/<frame>/pose", frame).publish(message)

    def _choose_rule(self, rule: str) -> None:
        request = SetParameters.Request(
            parameters=[Parameter("rule", value=rule).to_parameter_msg()]
        )
        self._call(SetParameters, f"{self.config.controller}/set_parameters", request)

    def _ask(self, name: str, on: bool | None) -> None:
        kind, request = (
            (Trigger, Trigger.Request()) if on is None else (SetBool, SetBool.Request(data=on))
        )
        self._call(kind, f"{self.config.simulator}/{name}", request)

    def _call(self, kind: Any, name: str, request: Any) -> None:
        """Ask a service, without waiting for its answer."""
        if name not in self._asked:
            self._asked[name] = self.create_client(kind, name)
        if not self._asked[name].service_is_ready():
            raise HumanoidDynamicsError(f"service {name} is not available")
        self._asked[name].call_async(request).add_done_callback(
            lambda future: self._on_answer(name, future.result())
        )

    def _on_answer(self, name: str, answer: Any) -> None:
        results = getattr(answer, "results", None) or [answer]
        for result in results:
            if not getattr(result, "success", getattr(result, "successful", True)):
                self.get_logger().warning(
                    f"{name}: {getattr(result, 'message', '') or getattr(result, 'reason', '')}"
                )


def main() -> None:
    """Run the node."""

    def loop(node: ViewerNode, stop: threading.Event) -> None:
        keep_rate(node.config.rate, stop, node.tick)

    run(ViewerNode, loop)
