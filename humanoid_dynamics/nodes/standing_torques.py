"""Node ``standing_torques``: joint states in, the torques that hold the robot still out."""

from __future__ import annotations

import threading
from time import monotonic

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from humanoid_dynamics.control.holding import STATUSES, Command, HoldingTorques
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.catalogue import find_description
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.nodes.configs import StandingTorquesConfig
from humanoid_dynamics.nodes.parameters import declare_parameters
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.telling import write_diagnostics, write_efforts, write_peak
from humanoid_dynamics.resolution.rules import find_rule

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DIAGNOSTICS_PERIOD = 0.5  # s
NO_ROBOT = Command(np.zeros(0), "no_robot", "no robot_description has come")
LEVELS = {"holding": DiagnosticStatus.OK, "stale": DiagnosticStatus.ERROR, "infeasible": DiagnosticStatus.ERROR}


class StandingTorques(Node):
    """Publishes holding torques at a fixed rate, from the first robot description on."""

    def __init__(self) -> None:
        super().__init__("standing_torques")
        self.config = declare_parameters(self, StandingTorquesConfig)
        find_rule(self.config.rule)
        self._description = find_description(self.config.config)
        self._lock = threading.Lock()  # guards the four below, which callbacks set and the loop reads
        self._holding: HoldingTorques | None = None
        self._names: list[str] = []
        self._seen = -np.inf
        self._source = ""
        self._status = ""
        self._next_diagnostics = -np.inf
        self._named = self.create_publisher(JointState, "joint_torque_commands", 10)
        self._plain = self.create_publisher(Float64MultiArray, "effort_commands", 10)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        if self.config.robot:
            self._prepare(self.config.robot)
        else:
            self.create_subscription(String, "robot_description", self._on_description, LATCHED)
        self.create_subscription(JointState, "joint_states", self._on_state, qos_profile_sensor_data)

    def tick(self) -> None:
        """Publish the torques of this period, and now and then how things stand."""
        now = monotonic()
        with self._lock:
            names = self._names
            command = self._holding.command(now - self._seen) if self._holding else NO_ROBOT
        if names:
            self._publish(names, command)
        if command.status != self._status:
            self._status, self._next_diagnostics = command.status, now
            self._tell(command)
        if now >= self._next_diagnostics:
            self._next_diagnostics = now + DIAGNOSTICS_PERIOD
            self._diagnose(command)

    def _publish(self, names: list[str], command: Command) -> None:
        named, plain = write_efforts(names, command.tau, self.get_clock().now().to_msg())
        self._named.publish(named)
        self._plain.publish(plain)

    def _tell(self, command: Command) -> None:
        text = f"{command.status}: {command.reason or STATUSES[command.status]}"
        if command.status in {"holding", "waiting", "no_robot"}:
            self.get_logger().info(text)
        else:
            self.get_logger().warning(text)

    def _diagnose(self, command: Command) -> None:
        facts = {"reason": command.reason, "largest torque": write_peak(command.tau)}
        level = LEVELS.get(command.status, DiagnosticStatus.WARN)
        name = f"{self.get_fully_qualified_name()}: holding torques"
        self._diagnostics.publish(write_diagnostics(name, level, command.status, facts, self.get_clock().now().to_msg()))

    def _on_description(self, message: String) -> None:
        if message.data == self._source:
            return  # the same robot announced again
        try:
            self._prepare(message.data)
        except HumanoidDynamicsError as refusal:
            self.get_logger().error(f"robot description refused: {refusal}")

    def _on_state(self, message: JointState) -> None:
        with self._lock:
            if self._holding is not None and self._holding.observe(message.name, np.asarray(message.position)):
                self._seen = monotonic()

    def _prepare(self, source: str) -> None:
        robot = load_robot(source, description=self._description)
        holding = HoldingTorques(robot, self.config.rule, self.config.timeout, self.config.decay)
        with self._lock:
            self._holding, self._names, self._seen, self._source = holding, list(robot.actuated), -np.inf, source
        self._introduce(robot)

    def _introduce(self, robot: RobotModel) -> None:
        self.get_logger().info(f"{robot.name}: {len(robot.actuated)} joints, standing on {', '.join(robot.stance) or 'nothing'}")
        for warning in robot.warnings:
            self.get_logger().warning(warning)


def main() -> None:
    """Run the node."""

    def loop(node: StandingTorques, stop: threading.Event) -> None:
        keep_rate(node.config.rate, stop, node.tick)

    run(StandingTorques, loop)
