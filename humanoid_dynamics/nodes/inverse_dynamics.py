# SPDX-License-Identifier: Apache-2.0
"""Node ``inverse_dynamics``: state and reference in, torques that keep the robot on its feet out, each stamped as the state it answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from std_msgs.msg import Float64MultiArray

from humanoid_dynamics.contact.planned import schedule_from_loads
from humanoid_dynamics.control.balance import BalanceController
from humanoid_dynamics.control.balance_settings import BalanceSettings, BalanceStatus, Torques
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.nodes.adapter import AdapterNode, Handler
from humanoid_dynamics.nodes.heartbeat import HeartbeatMonitor
from humanoid_dynamics.nodes.messages import (
    SECOND,
    doubles,
    to_stamp,
    write_efforts,
    write_wrench,
)
from humanoid_dynamics.nodes.observation import Observation
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.trajectory_wire import (
    TrajectoryRefusedError,
    read_base_message,
    read_joint_message,
)
from humanoid_dynamics.nodes.wire import Form, JointStateReader, NumbersReader, OdometryReader, mark
from humanoid_dynamics.spatial.arrays import Vector

WORLD = "odom"


class InverseDynamicsNode(AdapterNode):
    """Computes torques in the callback of the state that completes a pair of joint states and odometry."""

    good = (
        BalanceStatus.WAITING,
        BalanceStatus.STANDING,
        BalanceStatus.FOLLOWING,
        BalanceStatus.REFERENCE_ENDED,
        BalanceStatus.LIMITED,
    )
    failed = (BalanceStatus.FALLEN,)
    raw = (
        "joint_states",
        "odom",
        "contact_wrenches/<surface>",
        "contact_states",
        "reference/joints",
        "reference/base",
        "reference/contacts",
    )

    def __init__(self, **keywords: Any) -> None:
        super().__init__("inverse_dynamics", **keywords)
        self._controller: BalanceController | None = None
        self._answered = 0
        self._sender = HeartbeatMonitor(
            (BalanceStatus.FOLLOWING, BalanceStatus.VELOCITIES_ESTIMATED),
            BalanceStatus.REFERENCE_ENDED,
            BalanceStatus.HEARTBEAT_LOST,
        )

    def prepare(self) -> None:
        """Make the controller."""
        if self.robot is not None:
            self._joint_reader, self._base_reader = JointStateReader(), OdometryReader()
            self._contact_reader = JointStateReader()
            self._wrench_readers = {
                name: NumbersReader(WrenchStamped, 1, 6) for name in self.robot.surfaces
            }
            names = self.robot.actuated
            self._efforts = Form(write_efforts(names, mark(0, len(names)), Time()), len(names))
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
            "contact_states": self._on_contacts,
            "reference/joints": self._on_joint_reference,
            "reference/base": self._on_base_reference,
            "reference/contacts": self._on_contact_reference,
            "reference/heartbeat": self._sender.hear,
        }

    def names(self, placeholder: str) -> tuple[str, ...]:
        """Return the soles."""
        return (
            self._controller.law.names
            if self._controller is not None and placeholder == "surface"
            else ()
        )

    def facts(self) -> Mapping[str, Any]:
        """Return how many states were answered, and by which rule."""
        return {"rule": self.config.rule, "answered": self._answered}

    def begin(self) -> None:
        """Forget what was known before."""
        self._sender.forget()
        if self._controller is not None:
            self._controller.forget()
        self.tell(BalanceStatus.WAITING, "no state received")

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

    @property
    def motors(self) -> tuple[str, ...]:
        """Names of the torques it sends."""
        return self.robot.actuated if self.robot is not None else ()

    def answer(self, state: Observation, shown: bool) -> Vector | None:
        """Return the torques for a state that comes by call, (na,) [N·m or N]; None where there are none.

        Args:
            state: The state.
            shown: Whether the torques go out on their topic as well.
        """
        controller, t = self._controller, state.at / SECOND
        if not self.active or controller is None:
            return None
        for name, force in state.forces:
            controller.observe_contact(name, force, t)
        if state.pose is not None:
            controller.observe_base(state.pose, state.twist, t, t)
        controller.observe_joints(state.names, state.position, state.velocity, t, t)
        torques = controller.command(t)
        if torques.status is BalanceStatus.WAITING:
            self.tell(BalanceStatus.WAITING, torques.reason)
            return None
        self._answered += 1
        if shown:
            self._send(torques, Time(sec=state.at // SECOND, nanosec=state.at % SECOND))
        else:
            self.tell(*self._sender.judge(torques.status, torques.reason))
        return torques.tau

    def _settings(self) -> BalanceSettings:
        known = {entry.name for entry in fields(BalanceSettings)}
        return BalanceSettings(
            **{name: value for name, value in vars(self.config).items() if name in known}
        )

    def _on_joints(self, message: bytes) -> None:
        controller = self._controller
        if controller is None:
            return
        now, found = self.now(), self._joint_reader.read(message)
        if found is None:
            controller.complain("a joint state cannot be read")
            self._refuse(controller)
            return
        names, position, velocity, _, stamp = found
        if not controller.observe_joints(names, position, velocity, stamp / SECOND, now):
            self._refuse(controller)
            return
        self._joint_stamp, self._pending = stamp, True
        if stamp == self._base_stamp or not self._paired or controller.robot.root != "free_flyer":
            self._paired = self._paired or stamp == self._base_stamp
            self._answer_message(controller, stamp, now)

    def _on_base(self, message: bytes) -> None:
        controller = self._controller
        if controller is None:
            return
        now, found = self.now(), self._base_reader.read(message)
        if found is None:
            controller.complain("odometry cannot be read")
            self._refuse(controller)
            return
        pose, twist, stamp = found
        if not controller.observe_base(pose, twist, stamp / SECOND, now):
            self._refuse(controller)
            return
        self._base_stamp = stamp
        if stamp == self._joint_stamp:
            self._paired = True
            if self._pending:
                self._answer_message(controller, stamp, now)

    def _answer_message(self, controller: BalanceController, at: int, now: float) -> None:
        torques = controller.command(at / SECOND)
        self._pending = torques.status is BalanceStatus.WAITING
        if self._pending:
            self.tell(BalanceStatus.WAITING, torques.reason)
            return
        self._answered += 1
        stamp = Time(sec=at // SECOND, nanosec=at % SECOND)
        self._send(torques, stamp)
        if torques.answer is not None and (now >= self._detail_due or now < self._detail_due - 1.0):
            self._detail_due = now + 1.0 / self.config.detail_rate
            self._send_details(torques, stamp, self.now() - at / SECOND)

    def _refuse(self, controller: BalanceController) -> None:
        refused = controller.refused()
        if refused is not None:
            self._send(refused, to_stamp(self.now()))

    def _send(self, torques: Torques, stamp: Any) -> None:
        if self.robot is not None:
            self.out("unguarded/joint_torque_commands").publish(
                self._efforts.write(stamp, torques.tau)
            )
            if self.is_heard("unguarded/effort_commands"):
                self.out("unguarded/effort_commands").publish(
                    Float64MultiArray(data=doubles(torques.tau))
                )
            self.tell(*self._sender.judge(torques.status, torques.reason))

    def _send_details(self, torques: Torques, stamp: Any, age: float) -> None:
        if torques.answer is None:
            return
        heard = (
            (name, wrench)
            for name, wrench in torques.answer.wrenches.items()
            if self.is_heard("planned_wrenches/<surface>", name)
        )
        for name, wrench in heard:
            self.out("planned_wrenches/<surface>", name).publish(
                write_wrench(wrench.f_W, wrench.m_W, stamp, self.frame_prefix + WORLD)
            )
        if not self.is_heard("certificate"):
            return
        c = torques.answer.certificate
        numbers = (
            c.residual,
            c.normal_margin,
            c.friction_margin,
            c.cop_margin,
            c.torque_margin,
            age,
        )
        self.out("certificate").publish(
            Float64MultiArray(data=[float(number) for number in numbers])
        )

    def _on_wrench(self, message: bytes, surface: str) -> None:
        if self._controller is not None:
            found = self._wrench_readers[surface].read(message)
            if found is not None:
                numbers, stamp = found
                self._controller.observe_contact(surface, float(numbers[2]), stamp / SECOND)

    def _on_contacts(self, message: bytes) -> None:
        found = self._contact_reader.read(message)
        if found is not None and self._controller is not None:
            names, probabilities, *_, stamp = found
            for name, probability in zip(names, probabilities.tolist(), strict=False):
                self._controller.observe_contact_probability(name, probability, stamp / SECOND)

    def _on_joint_reference(self, message: bytes) -> None:
        self._take_reference(
            lambda controller, now: controller.reference.put_joints(
                *read_joint_message(message, now)
            )
        )

    def _on_base_reference(self, message: bytes) -> None:
        self._take_reference(
            lambda controller, now: controller.reference.put_base(*read_base_message(message, now))
        )

    def _on_contact_reference(self, message: bytes) -> None:
        def take(controller: BalanceController, now: int) -> None:
            surfaces, times, tables = read_joint_message(message, now)
            controller.schedule(
                schedule_from_loads(surfaces, [t / SECOND for t in times], tables["positions"]),
                now / SECOND,
            )

        self._take_reference(take)

    def _take_reference(self, take: Callable[[BalanceController, int], object]) -> None:
        controller = self._controller
        if controller is None:
            return
        try:
            take(controller, round(self.now() * SECOND))
        except TrajectoryRefusedError as refusal:
            controller.reference.fault = str(refusal)
        except HumanoidDynamicsError as refusal:
            controller.reference.fault = f"contact schedule: {refusal}"


def main() -> None:
    """Run the node."""

    def loop(node: InverseDynamicsNode, stop: threading.Event) -> None:
        keep_rate(node.config.watch_rate, stop, node.tick, node.wait)

    run(InverseDynamicsNode, loop)
