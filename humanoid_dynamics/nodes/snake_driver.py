# SPDX-License-Identifier: Apache-2.0
"""Node ``snake_driver``: joint states and a heading in, the torques that make a snake follow it out."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from humanoid_dynamics.control.measured import MeasuredState
from humanoid_dynamics.control.snake_driver import GAIT, Drive, SnakeDriver, SnakeDriverStatus
from humanoid_dynamics.nodes.adapter import AdapterNode, Handler
from humanoid_dynamics.nodes.messages import doubles, to_stamp, write_efforts
from humanoid_dynamics.nodes.running import keep_rate, run


class SnakeDriverNode(AdapterNode):
    """Sends driving torques at an even rate; they are zero until all joints and a heading have been heard of."""

    good = (
        SnakeDriverStatus.DRIVING,
        SnakeDriverStatus.SINGULAR,
        SnakeDriverStatus.GRIPPING,
        SnakeDriverStatus.WAITING,
    )

    def __init__(self, **keywords: Any) -> None:
        super().__init__("snake_driver", **keywords)
        self._driver: SnakeDriver | None = None
        self._heading: float | None = None
        self._drive = Drive(np.zeros(0), SnakeDriverStatus.WAITING)

    def prepare(self) -> None:
        """Make the driver."""
        config, robot = self.config, self.robot
        if robot is None:
            return
        gait = replace(GAIT, speed=config.speed, swing=config.swing, period=config.period)
        own = {
            "friction": config.friction,
            "turn_rate": config.turn_rate,
            "timeout": config.timeout,
            "fade_out_duration": config.fade_out_duration,
        }
        self._driver, self._measured = SnakeDriver(robot, gait, **own), MeasuredState(robot)
        self._unheard = {joint.name for joint in robot.joints if joint.v.stop > joint.v.start}

    def handlers(self) -> Mapping[str, Handler]:
        """Return what hears states and headings."""
        return {"joint_states": self._on_state, "heading": self._on_heading}

    def facts(self) -> Mapping[str, Any]:
        """Return where the head goes, and how much the wheels have left."""
        drive = self._drive
        return {
            "aim": f"{drive.aim:.3f}",
            "head": f"{drive.head:.3f}",
            "slip margin": f"{drive.slip_margin:.3f}",
        }

    def begin(self) -> None:
        """Ease in."""
        if self._driver is not None:
            self._driver.reset()

    def end(self) -> None:
        """Send nothing but zero from now on."""
        if self.robot is not None:
            self._publish(np.zeros(len(self.robot.actuated)))

    def tick(self) -> None:
        """Send the torques of this period."""
        with self.lock:
            if self.active and self._driver is not None:
                self._drive = drive = self._compute(self._driver, self.now())
                self._publish(drive.tau)
                self.tell(drive.status, drive.reason)

    def _compute(self, driver: SnakeDriver, now: float) -> Drive:
        measured = self._measured
        if self._unheard:
            missing = f"no joint state yet of {', '.join(sorted(self._unheard)[:4])}{', ...' if len(self._unheard) > 4 else ''}"
            return Drive(
                np.zeros(len(driver.robot.actuated)),
                SnakeDriverStatus.WAITING,
                measured.fault or missing,
            )
        drive = driver.tick(now, measured.q, measured.v, self._heading, now - measured.joints_at)
        return (
            replace(drive, reason=f"{drive.reason}; {measured.fault}")
            if measured.fault and drive.status is SnakeDriverStatus.STALE
            else drive
        )

    def _publish(self, tau: Any) -> None:
        if self.robot is not None:
            self.out("unguarded/joint_torque_commands").publish(
                write_efforts(self.robot.actuated, tau, to_stamp(self.now()))
            )
            self.out("unguarded/effort_commands").publish(Float64MultiArray(data=doubles(tau)))

    def _on_state(self, message: JointState) -> None:
        if self._measured.put_joints(
            message.name, np.asarray(message.position), np.asarray(message.velocity), self.now()
        ):
            self._unheard.difference_update(message.name)

    def _on_heading(self, message: Float64) -> None:
        self._heading = message.data


def main() -> None:
    """Run the node."""

    def loop(node: SnakeDriverNode, stop: threading.Event) -> None:
        keep_rate(node.config.rate, stop, node.tick)

    run(SnakeDriverNode, loop)
