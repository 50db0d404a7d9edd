"""Node ``snake_driver``: joint states and a heading in, the torques that make a snake follow it out."""

from __future__ import annotations

import threading
from dataclasses import replace
from time import monotonic

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from humanoid_dynamics.control.joint_readings import JointReadings
from humanoid_dynamics.control.snake_driver import GAIT, STATUSES, Drive, SnakeDriver
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.nodes.configs import SnakeDriverConfig
from humanoid_dynamics.nodes.parameters import declare_parameters
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.telling import write_diagnostics, write_efforts, write_peak

DIAGNOSTICS_PERIOD = 0.5  # s
MOVING = ("driving", "singular", "gripping")  # come and go within a swing: one state of affairs to the log
LEVELS = {"stale": DiagnosticStatus.ERROR, "invalid_input": DiagnosticStatus.ERROR, "slipping": DiagnosticStatus.WARN}


class SnakeDriverNode(Node):
    """Publishes driving torques at a fixed rate; they are zero until all joints and a heading have been heard of."""

    def __init__(self) -> None:
        super().__init__("snake_driver")
        self.config = config = declare_parameters(self, SnakeDriverConfig)
        robot = load_robot(config.robot)
        gait = replace(GAIT, speed=config.speed, swing=config.swing, period=config.period)
        own = {"friction": config.friction, "turn_rate": config.turn_rate, "timeout": config.timeout, "decay": config.decay}
        self._driver = SnakeDriver(robot, gait, **own)
        self._names = list(robot.actuated)
        self._lock = threading.Lock()  # guards the four below, which callbacks set and the loop reads
        self._readings = JointReadings(robot)
        self._complaint = ""
        self._seen = -np.inf
        self._heading: float | None = None
        self._affairs = ""
        self._next_diagnostics = -np.inf
        self._named = self.create_publisher(JointState, "joint_torque_commands", 10)
        self._plain = self.create_publisher(Float64MultiArray, "effort_commands", 10)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_subscription(JointState, "joint_states", self._on_state, qos_profile_sensor_data)
        self.create_subscription(Float64, "heading", self._on_heading, 10)
        self.get_logger().info(f"{robot.name}: {len(robot.wheels)} links, {len(self._names)} motors")

    def tick(self) -> None:
        """Publish the torques of this period, and now and then how things stand."""
        now = monotonic()
        drive = self._drive(now)
        named, plain = write_efforts(self._names, drive.tau, self.get_clock().now().to_msg())
        self._named.publish(named)
        self._plain.publish(plain)
        affairs = "moving" if drive.status in MOVING else drive.status
        if affairs != self._affairs:
            self._affairs, self._next_diagnostics = affairs, now
            self._tell(drive)
        if now >= self._next_diagnostics:
            self._next_diagnostics = now + DIAGNOSTICS_PERIOD
            self._diagnose(drive)

    def _drive(self, now: float) -> Drive:
        with self._lock:
            missing, complaint = self._readings.missing, self._complaint
            q, v, age, heading = self._readings.q.copy(), self._readings.v.copy(), now - self._seen, self._heading
        said = f"joint state {complaint}" if complaint else ""
        if missing:
            return Drive(np.zeros(len(self._names)), "waiting", said or missing)
        drive = self._driver.tick(now, q, v, heading, age)
        return replace(drive, reason=f"{drive.reason}; {said}") if said and drive.status == "stale" else drive

    def _tell(self, drive: Drive) -> None:
        text = f"{drive.status}: {drive.reason or STATUSES[drive.status]}"
        if drive.status in {"waiting", *MOVING}:
            self.get_logger().info(text)
        else:
            self.get_logger().warning(text)

    def _diagnose(self, drive: Drive) -> None:
        facts = {"reason": drive.reason, "largest torque": write_peak(drive.tau)}
        facts |= {"aim": f"{drive.aim:.3f}", "head": f"{drive.head:.3f}", "slip margin": f"{drive.slip_margin:.3f}"}
        level = LEVELS.get(drive.status, DiagnosticStatus.OK)
        name = f"{self.get_fully_qualified_name()}: driving torques"
        self._diagnostics.publish(write_diagnostics(name, level, drive.status, facts, self.get_clock().now().to_msg()))

    def _on_state(self, message: JointState) -> None:
        with self._lock:
            self._complaint = self._readings.take(message.name, np.asarray(message.position), np.asarray(message.velocity))
            if not self._complaint:
                self._seen = monotonic()

    def _on_heading(self, message: Float64) -> None:
        with self._lock:
            self._heading = message.data


def main() -> None:
    """Run the node."""

    def loop(node: SnakeDriverNode, stop: threading.Event) -> None:
        keep_rate(node.config.rate, stop, node.tick)

    run(SnakeDriverNode, loop)
