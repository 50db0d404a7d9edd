"""Node ``standing_torques``: joint states in, the torques that hold the robot still out."""

from __future__ import annotations

import array
import threading
from dataclasses import dataclass
from time import monotonic

import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from humanoid_dynamics.control.holding import HoldingTorques
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.catalogue import find_entry
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.nodes.parameters import declare_parameters, parameter
from humanoid_dynamics.nodes.running import keep_rate, run

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True)
class StandingTorquesConfig:
    """Parameters of the node ``standing_torques``."""

    robot: str = parameter("", "Catalogue name or URDF path; empty to wait for /robot_description")
    config: str = parameter("", "Catalogue name or YAML path that adds to /robot_description what a URDF cannot say")
    rule: str = parameter("minimum_torque", "Rule that chooses among the torques")
    rate: float = parameter(500.0, "Rate of the torque commands", unit="Hz", lowest=1.0, highest=2000.0)
    timeout: float = parameter(0.1, "Age at which a joint state is stale", unit="s", lowest=0.001, highest=10.0)
    decay: float = parameter(0.5, "Time in which the torques of a stale state fade to zero", unit="s", lowest=0.001, highest=60.0)


class StandingTorques(Node):
    """Publishes holding torques at a fixed rate, from the first robot description on."""

    def __init__(self) -> None:
        super().__init__("standing_torques")
        self.config = declare_parameters(self, StandingTorquesConfig)
        self._holding: HoldingTorques | None = None
        self._seen = -np.inf
        self._status = ""
        self._lock = threading.Lock()
        self._named = self.create_publisher(JointState, "joint_torque_commands", 10)
        self._plain = self.create_publisher(Float64MultiArray, "effort_commands", 10)
        self.create_subscription(JointState, "joint_states", self._on_state, qos_profile_sensor_data)
        if self.config.robot:
            self._prepare(self.config.robot)
        else:
            self.create_subscription(String, "robot_description", self._on_description, LATCHED)

    def tick(self) -> None:
        """Publish the torques of this period."""
        with self._lock:
            if self._holding is None:
                return
            command = self._holding.command(monotonic() - self._seen)
        if command.status != self._status:
            self._status = command.status
            self.get_logger().info(f"{command.status} {command.reason}".strip())
        tau = array.array("d", command.tau.tobytes())
        message = JointState(name=list(self._names), effort=tau)
        message.header.stamp = self.get_clock().now().to_msg()
        self._named.publish(message)
        self._plain.publish(Float64MultiArray(data=tau))

    def _on_description(self, message: String) -> None:
        try:
            self._prepare(message.data)
        except HumanoidDynamicsError as refusal:
            self.get_logger().error(f"robot description refused: {refusal}")

    def _on_state(self, message: JointState) -> None:
        with self._lock:
            if self._holding is not None:
                self._holding.observe(message.name, np.asarray(message.position))
                self._seen = monotonic()

    def _prepare(self, source: str) -> None:
        entry = find_entry(self.config.config)
        robot = load_robot(source, description=entry.description if entry else self.config.config or None)
        holding = HoldingTorques(robot, self.config.rule, self.config.timeout, self.config.decay)
        with self._lock:
            self._holding, self._names = holding, robot.actuated
        self.get_logger().info(f"{robot.name}: {len(robot.actuated)} joints, standing on {', '.join(robot.stance) or 'nothing'}")


def main() -> None:
    """Run the node."""

    def loop(node: StandingTorques, stop: threading.Event) -> None:
        keep_rate(node.config.rate, stop, node.tick)

    run(StandingTorques, loop)
