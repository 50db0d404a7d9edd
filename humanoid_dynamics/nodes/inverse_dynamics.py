"""Node ``inverse_dynamics``: state and reference in, torques that keep the robot on its feet out, each stamped as the state it answers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from humanoid_dynamics.contact.planned import schedule_from_loads
from humanoid_dynamics.control.balance import BalanceController
from humanoid_dynamics.control.balance_settings import BalanceSettings, Torques
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.nodes.adapter import AdapterNode, Handler
from humanoid_dynamics.nodes.messages import (
    SECOND,
    doubles,
    nanoseconds,
    read_base_trajectory,
    read_joint_trajectory,
    read_odometry,
    seconds,
    to_stamp,
    write_efforts,
    write_wrench,
)
from humanoid_dynamics.nodes.running import keep_rate, run

WORLD = "odom"


class InverseDynamicsNode(AdapterNode):
    """Computes torques in the callback of the state that completes a pair of joint states and odometry."""

    good = ("waiting", "standing", "following", "reference_ended", "limited")

    def __init__(self, **keywords: Any) -> None:
        super().__init__("inverse_dynamics", **keywords)
        self._controller: BalanceController | None = None
        self._answered = 0

    def prepare(self) -> None:
        """Make the controller."""
        if self.robot is not None:
            self._controller = BalanceController(self.robot, self._settings())
        self._base_stamp = self._joint_stamp = self._last_stamp = 0
        self._paired, self._pending = False, False
        self._detail_due = -np.inf
        self._sent_at = -np.inf

    def change(self) -> None:
        """Take other settings while running."""
        if self._controller is not None:
            self._controller.change(self._settings())

    def handlers(self) -> Mapping[str, Handler]:
        """Return what hears states and references."""
        return {
            "joint_states": self._on_joints,
            "odom": self._on_base,
            "contact_wrenches/<surface>": self._on_wrench,
            "reference/joints": self._on_joint_reference,
            "reference/base": self._on_base_reference,
            "reference/contacts": self._on_contact_reference,
        }

    def names(self, placeholder: str) -> tuple[str, ...]:
        """Return the soles."""
        return self._controller.law.names if self._controller is not None and placeholder == "surface" else ()

    def facts(self) -> Mapping[str, Any]:
        """Return how many states were answered, and by which rule."""
        return {"rule": self.config.rule, "answered": self._answered}

    def begin(self) -> None:
        """Forget what was known before."""
        if self._controller is not None:
            self._controller.forget()
        self.tell("waiting", "no state has come")

    def tick(self) -> None:
        """Send what is due where no good state comes."""
        with self.lock:
            controller = self._controller
            if not self.active or controller is None:
                return
            now = self.now()
            torques = controller.watch(now)
            if torques is not None:
                self._send(torques, to_stamp(now))
            elif self.status:
                self.tell(self.status, self.reason)

    def _settings(self) -> BalanceSettings:
        known = {entry.name for entry in fields(BalanceSettings)}
        return BalanceSettings(**{name: value for name, value in vars(self.config).items() if name in known})

    def _on_joints(self, message: JointState) -> None:
        controller = self._controller
        if controller is None:
            return
        stamp = nanoseconds(message.header.stamp)
        arrays = (np.asarray(message.position), np.asarray(message.velocity))
        if not controller.observe_joints(message.name, *arrays, stamp / SECOND, self.now()):
            self._refuse(controller)
            return
        self._joint_stamp, self._pending = stamp, True
        if stamp == self._base_stamp or not self._paired or controller.robot.root != "free_flyer":
            self._paired = self._paired or stamp == self._base_stamp
            self._answer(controller, message.header.stamp)

    def _on_base(self, message: Odometry) -> None:
        controller = self._controller
        if controller is None:
            return
        stamp = nanoseconds(message.header.stamp)
        if not controller.observe_base(*read_odometry(message), stamp / SECOND, self.now()):
            self._refuse(controller)
            return
        self._base_stamp = stamp
        if self._pending and stamp == self._joint_stamp:
            self._paired = True
            self._answer(controller, message.header.stamp)

    def _answer(self, controller: BalanceController, stamp: Any) -> None:
        torques = controller.command(nanoseconds(stamp) / SECOND)
        self._pending = torques.status == "waiting"
        if self._pending:
            self.tell("waiting", torques.reason)
            return
        self._answered += 1
        self._send(torques, stamp)
        now = self.now()
        if torques.answer is not None and (now >= self._detail_due or now < self._detail_due - 1.0):
            self._detail_due = now + 1.0 / self.config.detail_rate
            self._send_details(torques, stamp, now - seconds(stamp))

    def _refuse(self, controller: BalanceController) -> None:
        refused = controller.refused()
        if refused is not None:
            self._send(refused, to_stamp(self.now()))

    def _send(self, torques: Torques, stamp: Any) -> None:
        if self.robot is not None:
            self.out("joint_torque_commands").publish(write_efforts(self.robot.actuated, torques.tau, stamp))
            if self.is_heard("effort_commands"):
                self.out("effort_commands").publish(Float64MultiArray(data=doubles(torques.tau)))
            self.tell(torques.status, torques.reason)

    def _send_details(self, torques: Torques, stamp: Any, age: float) -> None:
        if torques.answer is None:
            return
        for name, wrench in torques.answer.wrenches.items():
            self.out("planned_wrenches/<surface>", name).publish(write_wrench(wrench.f_W, wrench.m_W, stamp, WORLD))
        c = torques.answer.certificate
        numbers = (c.residual, c.normal_margin, c.friction_margin, c.cop_margin, c.torque_margin, age)
        self.out("certificate").publish(Float64MultiArray(data=[float(number) for number in numbers]))

    def _on_wrench(self, message: WrenchStamped, surface: str) -> None:
        if self._controller is not None:
            self._controller.observe_contact(surface, float(message.wrench.force.z), seconds(message.header.stamp))

    def _on_joint_reference(self, message: JointTrajectory) -> None:
        if self._controller is not None:
            times, tables = read_joint_trajectory(message, round(self.now() * SECOND))
            self._controller.reference.put_joints(message.joint_names, times, tables)

    def _on_base_reference(self, message: MultiDOFJointTrajectory) -> None:
        if self._controller is not None:
            self._controller.reference.put_base(*read_base_trajectory(message, round(self.now() * SECOND)))

    def _on_contact_reference(self, message: JointTrajectory) -> None:
        controller = self._controller
        if controller is None:
            return
        times, tables = read_joint_trajectory(message, round(self.now() * SECOND))
        try:
            schedule = schedule_from_loads(message.joint_names, [t / SECOND for t in times], tables["positions"])
            controller.schedule(schedule, self.now())
        except HumanoidDynamicsError as refusal:
            controller.reference.fault = f"contact schedule: {refusal}"


def main() -> None:
    """Run the node."""

    def loop(node: InverseDynamicsNode, stop: threading.Event) -> None:
        keep_rate(node.config.watch_rate, stop, node.tick)

    run(InverseDynamicsNode, loop)
