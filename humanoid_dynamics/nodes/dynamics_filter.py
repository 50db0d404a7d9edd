# SPDX-License-Identifier: Apache-2.0
"""Node ``dynamics_filter``: any reference, or the poses of an operator, in; motion, torques and contact forces that are possible, out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from humanoid_dynamics.control.reference import joint_position, measured_joints
from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.filtering.live.command import GOOD, LiveCommand, LiveFilterStatus
from humanoid_dynamics.filtering.live.motion import LiveMotion
from humanoid_dynamics.filtering.live.poses import LivePoses
from humanoid_dynamics.filtering.slope import normal_of
from humanoid_dynamics.model.robot import RobotModel
from humanoid_dynamics.motion.body_points import find_soles
from humanoid_dynamics.nodes.adapter import Act, AdapterNode, Handler
from humanoid_dynamics.nodes.contact_table import ContactTable
from humanoid_dynamics.nodes.heartbeat import HeartbeatMonitor
from humanoid_dynamics.nodes.messages import (
    SECOND,
    doubles,
    read_odometry,
    read_pose,
    seconds,
    to_stamp,
    write_base_trajectory,
    write_joint_trajectory,
    write_wrench,
)
from humanoid_dynamics.nodes.running import keep_rate, run
from humanoid_dynamics.nodes.trajectory_wire import (
    TrajectoryRefusedError,
    read_base_message,
    read_joint_message,
)
from humanoid_dynamics.spatial.arrays import Vector, read_only

WORLD = "odom"
BASE = 6
NOW = read_only([0.0])
ANY_JUMP = JumpThreshold(min_forward=Duration(nanoseconds=1), min_backward=Duration(nanoseconds=-1))


class DynamicsFilterNode(AdapterNode):
    """Hears references or poses in callbacks, sends what is due at an even rate."""

    good = GOOD
    failed = (LiveFilterStatus.FALLEN,)
    raw = ("reference/joints", "reference/base")

    def __init__(self, **keywords: Any) -> None:
        super().__init__("dynamics_filter", **keywords)
        self._motion: LiveMotion | None = None
        self._poses: LivePoses | None = None
        self._jumps: Any = None
        self._sent = 0
        self._sender = HeartbeatMonitor(
            (LiveFilterStatus.FOLLOWING, LiveFilterStatus.LIMITED),
            LiveFilterStatus.REFERENCE_ENDED,
            LiveFilterStatus.HEARTBEAT_LOST,
        )

    @property
    def live(self) -> LiveMotion | LivePoses | None:
        """What does the work; None before there is a robot."""
        return self._motion or self._poses

    def prepare(self) -> None:
        """Make the filter."""
        robot, config = self.robot, self.config
        self._motion = self._poses = None
        if robot is None:
            return
        own: dict[str, Any] = {
            "rate": config.rate,
            "publish_lead_time": config.publish_lead_time,
            "timeout": config.timeout,
            "measures": config.state == "measured",
        }
        if config.follow == "poses":
            if config.slope:
                raise HumanoidDynamicsError(
                    f"slope: received {config.slope:g} rad, expected 0 rad where follow is 'poses'"
                )
            self._poses = LivePoses(
                robot, config.frames, relative=config.relative, scale=config.scale, **own
            )
        else:
            normal = normal_of(config.slope, config.uphill) if config.slope else None
            self._motion = LiveMotion(
                robot,
                mode=config.mode,
                delay=config.delay,
                normal=normal,
                toe_roll=config.toe_roll,
                **own,
            )
        self._soles = tuple(surface.name for surface in find_soles(robot))
        self._joints = measured_joints(robot)
        self._names = [joint.name for joint in self._joints]
        self._v_at = np.array([joint.v.start for joint in self._joints], dtype=np.intp)
        self._contacts = ContactTable(self._soles)

    def handlers(self) -> Mapping[str, Handler]:
        """Return what hears states, and references or poses."""
        heard: dict[str, Handler] = (
            {"joint_states": self._on_joints, "odom": self._on_base}
            if self.config.state == "measured"
            else {}
        )
        if self._poses is not None:
            return {**heard, "teleop/<frame>/pose": self._on_pose}
        asked = {
            "reference/joints": self._on_joint_reference,
            "reference/base": self._on_base_reference,
        }
        return {**heard, **asked, "reference/heartbeat": self._sender.hear}

    def acts(self) -> Mapping[str, Act]:
        """Return what engages and holds."""
        return {"engage": lambda _: self._engage(True), "hold": lambda _: self._engage(False)}

    def names(self, placeholder: str) -> tuple[str, ...]:
        """Return the soles, and the frames that are led."""
        if self.robot is None:
            return ()
        return (
            self._soles
            if placeholder == "surface"
            else self.config.frames
            if placeholder == "frame"
            else ()
        )

    def facts(self) -> Mapping[str, Any]:
        """Return what was sent, how much later than it was asked for, and how each frame is led."""
        streams = {} if self._poses is None else self._poses.streams
        lag = {} if self._motion is None else {"lag": f"{self._motion.lag:.3f}"}
        return {"sent": self._sent, **lag, **streams}

    def begin(self) -> None:
        """Forget what was known before."""
        live = self.live
        if live is not None:
            live.restart()
            self._sender.forget()
            self._engage(self.config.auto_engage)
            self._contacts.forget()
            self.tell(LiveFilterStatus.WAITING, live.reason)
        if (
            self._jumps is None and self.get_parameter("use_sim_time").value
        ):  # then ticks come with the clock
            self._jumps = self.get_clock().create_jump_callback(
                ANY_JUMP, post_callback=lambda _: self.tick()
            )

    def end(self) -> None:
        """Let the clock go."""
        if self._jumps is not None:
            self._jumps.unregister()
            self._jumps = None

    def tick(self) -> None:
        """Send what is due."""
        with self.lock:
            live, robot = self.live, self.robot
            if not self.active or live is None or robot is None:
                return
            for command in live.advance(self.now()):
                self._send(robot, command)
            self.tell(*self._sender.judge(live.status, live.reason))

    def _engage(self, engaged: bool) -> str:
        live = self.live
        if live is None:
            return "not configured"
        if engaged:
            live.engage()
        else:
            live.hold()
        return ""

    def _send(self, robot: RobotModel, command: LiveCommand) -> None:
        frame, stamp = command.frame, to_stamp(command.stamp)
        self._sent += 1
        positions = np.array([joint_position(joint, frame.q) for joint in self._joints])
        v = command.v
        rates = {
            "positions": positions[None],
            "velocities": v[self._v_at][None],
            "accelerations": frame.vdot[self._v_at][None],
        }
        self.out("filtered/joints").publish(
            write_joint_trajectory(self._names, command.stamp, NOW, rates)
        )
        row = write_base_row(frame.q, v)
        self.out("filtered/base").publish(
            write_base_trajectory(robot.links[0], command.stamp, NOW, row[None])
        )
        table = self._contacts.put(command.stamp, frame.stands)
        if table is not None:
            self.out("filtered/contacts").publish(table)
        if self.is_heard("filtered/torques"):
            torques = JointState(
                name=self._names, position=doubles(positions), velocity=doubles(v[self._v_at])
            )
            torques.effort = doubles(frame.tau[self._v_at - BASE])
            torques.header.stamp = stamp
            self.out("filtered/torques").publish(torques)
        for name, wrench in zip(self._soles, frame.wrenches, strict=True):
            self.out("filtered/wrenches/<surface>", name).publish(
                write_wrench(wrench[:3], wrench[3:], stamp, self.frame_prefix + name)
            )
        if self.is_heard("filtered/certificate"):
            c = frame.certificate
            numbers = (
                c.residual,
                c.cop,
                c.friction,
                c.pull,
                c.torque,
                c.joint,
                c.speed,
                c.slip,
                frame.rung,
            )
            self.out("filtered/certificate").publish(
                Float64MultiArray(data=[float(number) for number in numbers])
            )

    def _on_joint_reference(self, message: bytes) -> None:
        self._take_reference(
            lambda motion, now: motion.put_joints(
                *read_joint_message(message, round(now * SECOND)), now
            )
        )

    def _on_base_reference(self, message: bytes) -> None:
        self._take_reference(
            lambda motion, now: motion.put_base(
                *read_base_message(message, round(now * SECOND)), now
            )
        )

    def _take_reference(self, take: Callable[[LiveMotion, float], object]) -> None:
        if self._motion is not None:
            now = self.now()
            try:
                take(self._motion, now)
            except TrajectoryRefusedError as refusal:
                self._motion.refuse_reference(str(refusal), now)

    def _on_pose(self, message: PoseStamped, frame: str) -> None:
        if self._poses is None:
            return
        now, axes = self.now(), message.header.frame_id
        world = self.frame_prefix + WORLD
        if axes not in {"", WORLD, world} and not self.config.relative:
            self._poses.refuse_pose(
                f"{frame}: received a pose in {axes!r}, expected {world!r}", now
            )
            return
        self._poses.observe_pose(frame, seconds(message.header.stamp), read_pose(message.pose), now)

    def _on_joints(self, message: JointState) -> None:
        if self.live is not None:
            arrays = (np.asarray(message.position), np.asarray(message.velocity))
            self.live.state.observe_joints(
                message.name, *arrays, seconds(message.header.stamp), self.now()
            )

    def _on_base(self, message: Odometry) -> None:
        if self.live is not None:
            self.live.state.observe_base(
                *read_odometry(message), seconds(message.header.stamp), self.now()
            )


def write_base_row(q: Vector, v: Vector) -> Vector:
    """Return pose and velocities of a base (13,), these in axes of the world.

    Args:
        q: (nq,) configuration.
        v: (nv,) velocity, that of the base in its own axes [m/s, rad/s].
    """
    x, y, z, w = q[3:7]
    R = np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )
    return np.concatenate((q[:7], R @ v[:3], R @ v[3:BASE]))


def main() -> None:
    """Run the node."""

    def loop(node: DynamicsFilterNode, stop: threading.Event) -> None:
        keep_rate(node.config.rate, stop, node.tick)

    run(DynamicsFilterNode, loop)
